"""Releases as reports see them, made up without any run."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from evaluators.model import Assurance
from runner.canonical import canonical, sha256
from runner.documents.aggregate import Aggregate, Evidence, Row
from runner.documents.facts import Controls, Phases, Spent
from runner.documents.manifest import Manifest, PlannedAttempt
from runner.outcome import Outcome
from runner.reports.aggregate import standing
from runner.reports.report_building import Release
from runner.roster import Agent, Candidate
from tests.unit.runner.evidence_maker import a_manifest

ENDS = {
    "s": (Outcome.COMPLETED, "passed", "passed", "public tests passed, hidden checks passed (hidden)"),
    "o": (Outcome.COMPLETED, "passed", "failed", "public tests passed, hidden check hidden failed"),
    "t": (Outcome.TESTS_FAILED, "failed", "failed", "public tests failed, hidden check hidden failed"),
    "f": (Outcome.FORBIDDEN_CHANGES, "passed", "passed", "forbidden: tests/test_x.py may not be changed"),
    "a": (Outcome.AGENT_FAILURE, "failed", "failed", "the agent outlived its time; public tests failed"),
    "v": (Outcome.VOID, None, None, "the provider failed during solution: request 3 failed: overloaded, status 503"),
    "u": (Outcome.UNAVAILABLE, None, None, "the model did not answer `hi`: '<b>Hello</b>!'; the task was never shown"),
    "m": (Outcome.MISSING_ARTIFACTS, None, None, "the evidence lacks a try: it was never run"),
}  # fmt: skip
"""How an attempt ended, by a letter: outcome, public tests, verdict, reason."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One candidate; its ends are a word a nomination and a letter an attempt."""

    ends: str
    label: str | None = None
    cost: str | None = "0.25"
    agent: Agent = Agent.NATIVE
    provider: str | None = None


def a_release(
    entries: Mapping[str, Entry], *, name: str = "pilot", supersedes: str | None = None, tasks: Sequence[str] = ()
) -> Release:
    """Make a release of candidates; nominations are task-1, task-2 and so on, unless they are named."""
    manifest = _manifest(entries, name, supersedes, tasks)
    rows = tuple(row for candidate, entry in entries.items() for row in _rows(candidate, entry, tasks))
    objective = frozenset(each.id for each in manifest.nominations)
    gathered = Aggregate(
        release=name,
        manifest_sha256=sha256(canonical(manifest)),
        controls=Controls.RAN,
        scripted=False,
        candidates=tuple(
            standing(candidate, tuple(row for row in rows if row.candidate == candidate.id), objective)
            for candidate in manifest.candidates
        ),
        attempts=rows,
    )
    return Release(manifest=manifest, aggregate=gathered, aggregate_sha256=sha256(canonical(gathered)))


def task(at: int, tasks: Sequence[str]) -> str:
    return tasks[at] if tasks else f"task-{at + 1}"


def _manifest(entries: Mapping[str, Entry], name: str, supersedes: str | None, tasks: Sequence[str]) -> Manifest:
    bare = a_manifest()
    names = dict.fromkeys(task(at, tasks) for each in entries.values() for at in range(len(each.ends.split())))
    return bare.model_copy(
        update={
            "release": name,
            "supersedes": supersedes,
            "candidates": tuple(_candidate(who, entry) for who, entry in entries.items()),
            "nominations": tuple(
                bare.nominations[0].model_copy(update={"id": each, "nomination_sha256": sha256(each.encode())})
                for each in names
            ),
            "planned": tuple(
                PlannedAttempt(candidate=who, nomination=task(at, tasks), attempt=number)
                for who, entry in entries.items()
                for at, word in enumerate(entry.ends.split())
                for number in range(1, len(word) + 1)
            ),
        }
    )


def _candidate(who: str, entry: Entry) -> Candidate:
    control = entry.agent in {Agent.ORACLE, Agent.NOP}
    return Candidate(
        id=who,
        agent=entry.agent,
        model=None if control else f"maker/{who}",
        route=None if control else "scripted",
        label=entry.label,
        provider=entry.provider,
        role="anchor" if control else "candidate",
    )


def _rows(candidate: str, entry: Entry, tasks: Sequence[str]) -> Iterator[Row]:
    for at, word in enumerate(entry.ends.split()):
        for number, letter in enumerate(word, 1):
            yield _row(candidate, task(at, tasks), number, entry, letter)


def _row(candidate: str, nomination: str, number: int, entry: Entry, letter: str) -> Row:
    outcome, public, verdict, reason = ENDS[letter]
    worked = letter not in "um"
    digest = sha256(f"{candidate} {nomination} {number} {letter}".encode())
    wall = 1000 + int(digest[:4], 16) % 90_000
    cost = None if entry.cost is None else str(Decimal(entry.cost) * (50 + int(digest[4:6], 16) % 100) / 100)
    return Row.model_validate(
        {
            "candidate": candidate,
            "nomination": nomination,
            "attempt": number,
            "tries": int(letter != "m"),
            "outcome": outcome,
            "verdict": verdict,
            "public_tests": public,
            "changed": letter not in "vum" or None,
            "solved": letter == "s",
            "score": None if verdict is None else "1" if verdict == "passed" else "0",
            "reason": reason,
            "failure": None,
            "assurance": None if verdict is None else Assurance.SPLIT,
            "scripted": False,
            "phases": Phases(solution=Spent(wall_ms=wall, cost_usd=cost) if worked else None),
            "voids": Spent(cost_usd="0.02") if letter == "v" else None,
            "evidence": Evidence(
                submission_sha256=None,
                grading_sha256=digest if letter in "sotfa" else None,
                void_sha256=digest if letter in "vu" else None,
            ),
        }
    )
