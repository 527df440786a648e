"""One attempt of a release of the reference system: what its files say of each other."""

from dataclasses import dataclass

from runner.canonical import sha256
from runner.reference_system.documents import (
    ArtifactHash,
    Judge,
    Number,
    Objective,
    Run,
    TestResult,
)
from runner.reference_system.files import DIFF, OBJECTIVE, RUN, TESTS, Files, Place
from runner.reference_system.judging import Frozen, check_judges, check_reviews, same_entry
from runner.reference_system.rules import forbidden_of, outcome_of, paths_of_diff
from runner.reference_system.values import hash_without


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """An attempt that could be read, with what was derived again."""

    place: Place
    run: Run
    outcome: str
    objective: Objective | None
    judges: dict[str, Judge]


def check_attempt(files: Files, place: Place, frozen: Frozen) -> Attempt | None:
    """Verify an attempt; None where there is no run.json that could be read."""
    path = f"{place.folder}/{RUN}"
    if not files.holds(path):
        files.find(path, "nothing", f"the run of {place}, whose other files are there")
        return None
    run = files.document(path, Run, 1, legacy=place.legacy)
    if run is None:
        return None
    _identity(files, place, run, frozen)
    outcome = _outcome(files, path, run, frozen)
    files.elapsed(path, run, "")
    _metrics(files, path, run)
    if outcome == "unavailable":
        _unavailable(files, place, run, frozen)
        objective = None
    else:
        if frozen.preflight is not None and frozen.preflight.status != "available":
            files.find(path, f"a run of a candidate that was {frozen.preflight.status}", "unavailable")
        _evidence(files, place, run)
        _tests(files, place, run)
        objective = _objective(files, place, run, frozen)
    judges = check_judges(files, place, run, frozen, outcome)
    check_reviews(files, place, run, objective)
    return Attempt(place=place, run=run, outcome=outcome, objective=objective, judges=judges)


def _identity(files: Files, place: Place, run: Run, frozen: Frozen) -> None:
    path = f"{place.folder}/{RUN}"
    name = run.task if run.nomination is None and place.legacy else run.nomination
    files.differ(path, "release", run.release, frozen.release)
    files.differ(path, "nomination", name, place.nomination)
    if run.run_id is not None or not place.legacy:
        files.differ(path, "run_id", run.run_id, f"{frozen.release}:{place.candidate}:{place.nomination}")
    if run.attempt is not None or not place.legacy:
        files.differ(path, "attempt", run.attempt, place.attempt)
    same_entry(files, path, "candidate", run.candidate, frozen.candidate)


def _outcome(files: Files, path: str, run: Run, frozen: Frozen) -> str:
    """Derive forbidden changes and the outcome again."""
    if frozen.nomination is None:
        forbidden = run.forbidden_changes or []
    else:
        forbidden = forbidden_of(run.changed_files, frozen.nomination.allowed_changes)
        if run.forbidden_changes is not None:
            files.differ(path, "forbidden_changes", run.forbidden_changes, forbidden)
    outcome = outcome_of(run, forbidden)
    if run.outcome is not None:
        files.differ(path, "outcome", run.outcome, outcome)
    return outcome


def _metrics(files: Files, path: str, run: Run) -> None:
    for name, part in (("agent", run.agent), ("tests", run.tests), ("availability", run.availability)):
        if part is not None:
            files.elapsed(path, part, f"{name}.")
    told = run.benchmark_metrics
    if told is None:
        return
    tests = None if run.tests is None else run.tests.duration_ms
    usage = None if run.agent is None else run.agent.usage
    figures: dict[str, tuple[Number | None, Number | None]] = {
        "duration_ms": (told.duration_ms, run.duration_ms),
        "model_duration_ms": (told.model_duration_ms, None if run.agent is None else run.agent.duration_ms),
        "public_tests_duration_ms": (told.public_tests_duration_ms, tests),
        "cost_usd": (told.cost_usd, None if usage is None else usage.reported_cost_usd),
    }
    for name, (found, expected) in figures.items():
        files.differ(path, f"benchmark_metrics.{name}", found, expected)


def _unavailable(files: Files, place: Place, run: Run, frozen: Frozen) -> None:
    """A candidate that was not there has no tests, no change, no evidence, and a probe that says so."""
    path = f"{place.folder}/{RUN}"
    for name, found in (("tests", run.tests), ("changed_files", run.changed_files or None)):
        files.differ(path, name, found, None)
    evidence = run.artifacts
    for name, hashed in ((DIFF, evidence.candidate_diff), (TESTS, evidence.test_result)):
        if hashed is not None or files.holds(f"{place.folder}/{name}"):
            files.find(f"{place.folder}/{name}", "evidence of a run that was none", "nothing")
    if frozen.preflight is not None:
        files.differ(path, "the probe's status", frozen.preflight.status, "unavailable")
        if run.availability is not None:
            files.differ(path, "availability.reason", run.availability.reason, frozen.preflight.reason)


def _evidence(files: Files, place: Place, run: Run) -> None:
    """Hash the files beside a run again; each that there is must be named, and the change always."""
    path = f"{place.folder}/{RUN}"
    named = {
        DIFF: run.artifacts.candidate_diff,
        TESTS: run.artifacts.test_result,
        OBJECTIVE: run.artifacts.objective_evaluator,
    }
    for name, each in named.items():
        if each is not None:
            _hash_of(files, path, f"{place.folder}/{name}", each, legacy=place.legacy)
        elif files.holds(f"{place.folder}/{name}") and not place.legacy:
            files.find(path, f"no hash of {name}, which is there", "its hash")
    if named[DIFF] is None and not place.legacy:
        files.find(path, f"no hash of {DIFF}", "the change, also where it is empty")
    if files.holds(f"{place.folder}/{DIFF}"):
        diff = files.data(f"{place.folder}/{DIFF}")
        strange = sorted(set(paths_of_diff(diff or b"")) - set(run.changed_files))
        for path_of_it in strange:
            files.find(f"{place.folder}/{DIFF}", f"a change of {path_of_it}", f"changes that {RUN} lists alone")


def _hash_of(files: Files, path: str, target: str, said: ArtifactHash, *, legacy: bool) -> None:
    """Hash a named file; early runs name JSON by the hash that it has within."""
    name = target.rpartition("/")[2]
    files.differ(path, f"path of {name}", said.path, name)
    if not files.holds(target):
        files.find(target, "nothing", f"the file with sha256 {said.sha256}")
        return
    if legacy and name.endswith(".json"):
        value = files.table(target)
        if value is not None and said.sha256 == hash_without(value, "artifact_hash"):
            return
    data = files.data(target)
    if data is not None and sha256(data) != said.sha256:
        files.find(target, f"sha256 {sha256(data)}", said.sha256)


def _tests(files: Files, place: Place, run: Run) -> None:
    """Hold the tests' own record against the run's."""
    path = f"{place.folder}/{TESTS}"
    if not files.holds(path):
        return
    found = files.document(path, TestResult, 1, legacy=place.legacy)
    if found is None or run.tests is None:
        return
    files.elapsed(path, found, "")
    for name in ("status", "timed_out", "output_limited", "started_at", "completed_at", "duration_ms"):
        files.differ(path, name, getattr(found, name), getattr(run.tests, name))


def _objective(files: Files, place: Place, run: Run, frozen: Frozen) -> Objective | None:
    """Hold a verdict against its execution, and its evaluator against the frozen one."""
    path = f"{place.folder}/{OBJECTIVE}"
    if run.artifacts.objective_evaluator is None or not files.holds(path):
        return None
    found = files.document(path, Objective, 1, legacy=place.legacy)
    if found is None:
        return None
    files.elapsed(path, found, "")
    evaluator = None if frozen.nomination is None else frozen.nomination.objective_evaluator
    if frozen.nomination is not None:
        files.differ(path, "evaluator.id", found.evaluator.id, None if evaluator is None else evaluator.id)
        files.differ(path, "evaluator.sha256", found.evaluator.sha256, None if evaluator is None else evaluator.sha256)
    if found.execution is not None:
        files.elapsed(path, found.execution, "execution.")
        files.differ(path, "passed", found.passed, not found.execution.failed)
    return found
