"""What judges and people said of an attempt: held against it, and against what the release froze of them."""

from collections.abc import Sequence
from dataclasses import dataclass

from runner.reference_system.documents import (
    Entry,
    Execution,
    Judge,
    Manifest,
    ManualReview,
    Nomination,
    Objective,
    Preflight,
    Run,
)
from runner.reference_system.files import JUDGES, REVIEWS, Files, Place
from runner.reference_system.rules import UNJUDGED, is_number, mean, valid_scores

_NEAR = 0.005
"""Manual averages are rounded to two digits."""
_FILLED = {"reasoning_variant": "provider_default"}
"""What the system writes for a member that an entry of its configuration lacks."""
_COPIED = frozenset({"id", "agent", "model", "subscription", "reasoning_variant"})
"""The members of a judge's entry that its artifacts have."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Frozen:
    """What an attempt is held against."""

    manifest: Manifest | None
    """None: an early release has none."""
    release: str
    candidate: Entry
    nomination: Nomination | None
    preflight: Preflight | None


def same_entry(files: Files, path: str, field: str, found: Entry, frozen: Entry) -> None:
    """Hold an entry of the configuration, as it was copied, against the frozen one."""
    for name in sorted(found.keys() | frozen.keys()):
        wanted = frozen.get(name, _FILLED.get(name) if name in found else None)
        files.differ(path, f"{field}.{name}", found.get(name), wanted)


def check_judges(files: Files, place: Place, run: Run, frozen: Frozen, outcome: str) -> dict[str, Judge]:
    """Verify the judges' answers; give those of configured judges, in their order."""
    manifest = frozen.manifest
    configured = {str(each.get("id")): each for each in (() if manifest is None else manifest.judges)}
    found = {}
    for name in files.names(f"{place.folder}/{JUDGES}"):
        path = f"{place.folder}/{JUDGES}/{name}"
        judge = files.document(path, Judge, 1, legacy=place.legacy)
        if judge is None:
            continue
        identity = name.removesuffix(".json")
        files.differ(path, "judge.id", judge.judge.get("id"), identity)
        _judged(files, path, judge, place, run, frozen)
        _ruled(files, path, judge, outcome, () if manifest is None else manifest.criteria)
        if manifest is not None and identity not in configured:
            files.find(path, "a judge that the release does not have", "one of its judges")
        elif manifest is not None:
            entry = {key: each for key, each in configured[identity].items() if key in _COPIED}
            same_entry(files, path, "judge", judge.judge, entry)
        found[identity] = judge
    return {name: found[name] for name in (configured or found) if name in found}


def _judged(files: Files, path: str, judge: Judge, place: Place, run: Run, frozen: Frozen) -> None:
    name = judge.task if judge.nomination is None and place.legacy else judge.nomination
    files.differ(path, "candidate", judge.candidate, place.candidate)
    files.differ(path, "nomination", name, place.nomination)
    files.differ(path, "run_id", judge.run_id, run.run_id)
    files.differ(path, "attempt", judge.attempt, run.attempt)
    prompt = None if frozen.manifest is None else frozen.manifest.judge_prompt
    if judge.judge_prompt_version is not None and prompt is not None and not place.legacy:
        files.differ(path, "judge_prompt_version", judge.judge_prompt_version, prompt.version)


def _ruled(files: Files, path: str, judge: Judge, outcome: str, criteria: Sequence[str]) -> None:
    """A judge's status follows from how it ended and from what it scored."""
    if outcome in UNJUDGED and judge.status != "skipped" and judge.run_id is not None:
        files.find(path, f"a judge that was asked about {outcome}", "skipped")
    if judge.status == "skipped":
        files.differ(path, "reason", judge.reason, outcome)
        return
    ended: Execution | None = judge.execution
    if ended is not None:
        files.elapsed(path, ended, "execution.")
        files.differ(path, "having failed", judge.status == "failed", ended.failed)
    if criteria:
        files.differ(path, "having valid scores", valid_scores(judge.scores, criteria), judge.status == "completed")


def check_reviews(files: Files, place: Place, run: Run, objective: Objective | None) -> None:
    """Hold what people wrote against what they wrote about; nothing else speaks of it."""
    for name in files.names(f"{place.folder}/{REVIEWS}"):
        path = f"{place.folder}/{REVIEWS}/{name}"
        review = files.document(path, ManualReview, 1)
        if review is None:
            continue
        files.differ(path, "release", review.release, run.release)
        files.differ(path, "candidate", review.candidate, place.candidate)
        files.differ(path, "nomination", review.nomination, place.nomination)
        files.differ(path, "attempt", review.attempt, place.attempt)
        scores = [each for each in review.scores.values() if is_number(each)]
        average = mean(scores)
        if review.average is not None and (average is None or abs(average - review.average) > _NEAR):
            files.differ(path, "average", review.average, average)
        seen = review.evidence
        if seen is not None:
            passed = None if run.tests is None else not run.tests.failed
            told = None if objective is None else objective.passed
            files.differ(path, "evidence.public_tests_passed", seen.public_tests_passed, passed)
            files.differ(path, "evidence.objective_evaluator_passed", seen.objective_evaluator_passed, told)
