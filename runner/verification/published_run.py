"""What must follow within a run.json: identity from the plan, outcome from facts, numbers from phases. Pure."""

from collections.abc import Iterator
from pathlib import Path

from runner.agent_end import AgentRun, agent_end
from runner.documents.evidence import ShotResult
from runner.documents.facts import AgentFailure, Controls, Facts
from runner.documents.manifest import Manifest
from runner.documents.published import Execution, Run
from runner.documents.writing import decimal_text
from runner.outcome import COUNTED, Outcome, outcome, score, solved
from runner.publishing.run import (
    changed_files,
    forbidden_changes,
    lasted,
    metrics,
    notes_of,
    observed_of,
    run_id,
    verdict_word,
)
from runner.publishing.words import public_facts
from runner.reason import reason
from runner.roster import Agent
from runner.schedule import Cell
from runner.verification.model import Finding, differ
from runner.verification.norms import check_short
from sandbox.termination import Cause, Termination, Usage

_PLAIN_ENDS = frozenset({Cause.SIGNAL, Cause.TIMEOUT, Cause.OOM, Cause.OUTPUT_LIMIT})
"""Ends of an agent's unit that decide by themselves how the agent failed."""


def check_run(file: Path, run: Run, cell: Cell, manifest: Manifest, manifest_sha256: str) -> Iterator[Finding]:
    """Find what does not follow within a run.json from the plan and from its own facts."""
    if run.manifest_sha256 != manifest_sha256:
        expected = f"{manifest_sha256}, of the manifest beside it"
        yield Finding(
            file=str(file), found=f"another plan, of manifest sha256 {run.manifest_sha256}", expected=expected
        )
    yield from differ(file, "release", run.release, manifest.release)
    yield from differ(file, "run_id", run.run_id, run_id(manifest.release, cell))
    yield from differ(file, "nomination", run.nomination, cell.nomination)
    yield from differ(file, "attempt", run.attempt, cell.attempt)
    yield from differ(file, "candidate", run.candidate, manifest.candidate(cell.candidate))
    yield from _check_origin(file, run, manifest)
    yield from _check_words(file, run)
    yield from _check_numbers(file, run)
    yield from _check_shots(file, run)
    yield from _check_end(file, run.agent, run.facts)
    yield from _check_evidence(file, run)


def _check_origin(file: Path, run: Run, manifest: Manifest) -> Iterator[Finding]:
    interrupted = run.facts.void is not None and run.facts.void.interrupted
    if run.origin is None or interrupted:
        return
    routes = {route.id: route for route in manifest.routes}
    scripted = run.candidate.route in routes and routes[run.candidate.route].is_scripted
    yield from differ(file, "origin.controls", run.origin.controls, Controls(manifest.controls))
    yield from differ(file, "origin.scripted", run.origin.scripted, scripted)
    yield from differ(file, "origin.network", run.origin.network, run.candidate.network)
    if run.origin.proven is not None:
        proven = manifest.nomination(run.nomination).certificate is not None
        yield from differ(file, "origin.proven", run.origin.proven, proven)


def _check_words(file: Path, run: Run) -> Iterator[Finding]:
    """Derive outcome, reason, verdict and score again."""
    facts, points = run.facts, score(run.facts)
    yield from differ(file, "facts", facts, public_facts(facts))
    yield from differ(file, "outcome", run.outcome.value, outcome(facts).value)
    yield from differ(file, "reason", run.reason, reason(facts))
    yield from differ(file, "verdict", run.verdict, verdict_word(facts))
    yield from differ(file, "solved", run.solved, solved(facts))
    yield from differ(file, "score", run.score, None if points is None else decimal_text(points))
    says_something = outcome(facts) in COUNTED or outcome(facts) is Outcome.UNAVAILABLE
    if says_something is not (run.void is None):
        expected = "null, for the attempt has an end" if says_something else "why the attempt says nothing"
        yield Finding(file=str(file), found=f"void {run.void!r}", expected=expected)


def _check_numbers(file: Path, run: Run) -> Iterator[Finding]:
    """Derive what is shown beside a result again."""
    duration = lasted(run.started_at, run.completed_at)
    yield from differ(file, "duration_ms", run.duration_ms, duration)
    shown = metrics(observed_of(run).counted, duration)
    yield from differ(file, "benchmark_metrics", run.benchmark_metrics, shown)
    yield from differ(file, "changed_files", run.changed_files, changed_files(run.submission))
    yield from differ(file, "forbidden_changes", run.forbidden_changes, forbidden_changes(run.facts))
    yield from differ(file, "notes", run.notes, notes_of(run.origin))
    yield from check_short(str(file), "norms", run.norms)
    solution = run.phases.solution
    if run.agent is not None and solution is not None and solution.wall_ms is not None and run.first_shot is None:
        yield from differ(file, "phases.solution.wall_ms", solution.wall_ms, run.agent.duration_ms)


def _check_shots(file: Path, run: Run) -> Iterator[Finding]:
    """Derive each shot's result again; the last is what the run itself says."""
    if run.candidate.agent is not Agent.SINGLE_SHOT:
        yield from differ(file, "shots", run.shots, ())
        return
    if not run.shots:
        yield from differ(file, "shots", False, run.outcome in COUNTED)  # noqa: FBT003 - what is found
        return
    two = run.first_shot is not None
    yield from differ(file, "shots", tuple(each.number for each in run.shots), (1, 2) if two else (1,))
    for each in run.shots:
        yield from _check_shot(file, each)
    last, left = run.shots[-1], run.submission
    said = (last.facts, last.tree_sha256)
    yield from differ(file, "last shot", said, (run.facts, None if left is None else left.tree_sha256))


def _check_shot(file: Path, shot: ShotResult) -> Iterator[Finding]:
    place, facts, points = f"shots[{shot.number}]", shot.facts, score(shot.facts)
    yield from differ(file, f"{place}.facts", facts, public_facts(facts))
    yield from differ(file, f"{place}.outcome", shot.outcome.value, outcome(facts).value)
    yield from differ(file, f"{place}.reason", shot.reason, reason(facts))
    yield from differ(file, f"{place}.solved", shot.solved, solved(facts))
    yield from differ(file, f"{place}.score", shot.score, None if points is None else decimal_text(points))


def _check_end(file: Path, agent: Execution | None, facts: Facts) -> Iterator[Finding]:
    """Hold how the agent is said to have failed against how its unit ended, as far as that decides it."""
    if agent is None:
        return
    yield from check_execution(file, "agent", agent)
    if not facts.captured:
        return
    if agent.cause in _PLAIN_ENDS:
        usage = Usage(wall_ms=agent.duration_ms)
        ended = agent_end(AgentRun(termination=Termination(cause=agent.cause, status=agent.signal, usage=usage)))
        wanted = None if not isinstance(ended, AgentFailure) else (ended.cause, ended.status)
        found = None if facts.failure is None else (facts.failure.cause, facts.failure.status)
        yield from differ(file, "facts.failure", found, wanted)
    elif agent.cause is Cause.EXIT and agent.status != 0 and facts.failure is None and facts.void is None:
        said = f"an agent that ended with status {agent.status} and did not fail"
        yield Finding(file=str(file), found=said, expected="a failure, or a void")


def check_execution(file: Path, place: str, found: Execution) -> Iterator[Finding]:
    """Find that the words about a unit's end contradict each other."""
    yield from differ(file, f"{place}.timed_out", found.timed_out, found.cause is Cause.TIMEOUT)
    yield from differ(file, f"{place}.output_limited", found.output_limited, found.cause is Cause.OUTPUT_LIMIT)
    if found.cause is Cause.EXIT:
        yield from differ(file, f"{place}.signal", found.signal, None)
    else:
        yield from differ(file, f"{place}.status", found.status, None)


def _check_evidence(file: Path, run: Run) -> Iterator[Finding]:
    """Find digests of private folders that the facts rule out, or that are missing."""
    captured, evidence = run.submission is not None, run.evidence
    yield from differ(file, "facts.captured", run.facts.captured, captured)
    if captured:
        for name in ("submission_sha256", "grading_sha256"):
            yield from differ(file, f"evidence.{name}", getattr(evidence, name) is not None, True)  # noqa: FBT003
