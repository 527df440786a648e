"""The files beside a run.json: patch, tests and evaluators against what it says, and the policy judged again."""

from collections.abc import Iterator
from dataclasses import dataclass

from runner.canonical import sha256
from runner.documents.facts import Facts, Judged, Violation, path_bytes
from runner.documents.manifest import FrozenNomination
from runner.documents.published import (
    Artifacts,
    Execution,
    Left,
    Objective,
    ObjectiveEvaluator,
    PublishedFile,
    Run,
    TestResult,
)
from runner.documents.writing import change as written_change
from runner.documents.writing import entry
from runner.documents.writing import finding as captured_finding
from runner.errors import RunnerError
from runner.judging.reviews import REVIEWS
from runner.policy import Change, Reason, as_fact, check_policy, rules_of
from runner.publishing.attempt import DIFF, OBJECTIVE, TESTS
from runner.verification.model import Finding, Rebuild, Rebuilt, differ
from runner.verification.published_run import check_execution
from runner.verification.published_tree import PublishedTree
from runner.verification.verdicts import Said, check_verdict
from sandbox.errors import PatchError, SandboxError, TreeError
from sandbox.patch_text import named_paths
from sandbox.termination import Cause

_NEED_BASE = frozenset({Reason.MODE.value, Reason.TYPE.value})
"""Breaches that show only beside what stood there before."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """A submission, or the first shot of one, as its run.json tells it."""

    place: str
    """The run.json."""
    artifacts: Artifacts
    left: Left | None
    tests: Execution | None
    facts: Facts
    nomination: FrozenNomination


def sides(place: str, run: Run, nomination: FrozenNomination) -> Iterator[Side]:
    """Give the submission of a run, and its first shot where there were two."""
    yield Side(
        place=place,
        artifacts=run.artifacts,
        left=run.submission,
        tests=run.tests,
        facts=run.facts,
        nomination=nomination,
    )
    first = run.first_shot
    if first is not None and run.shots:
        yield Side(
            place=place,
            artifacts=first.artifacts,
            left=first.submission,
            tests=first.tests,
            facts=run.shots[0].facts,
            nomination=nomination,
        )


def check_side(tree: PublishedTree, side: Side, folder: str, rebuild: Rebuild | None) -> Iterator[Finding]:
    """Find what does not follow between a run.json and the files that it names."""
    file = tree.folder / side.place
    yield from differ(file, "artifacts.public_dir", side.artifacts.public_dir, folder)
    named = {DIFF: side.artifacts.candidate_diff, TESTS: side.artifacts.test_result}
    named[OBJECTIVE] = side.artifacts.objective_evaluator
    for name, each in named.items():
        yield from _check_named(tree, side, f"{folder}/{name}", each)
    for each in side.artifacts.manual_reviews:
        name = each.path.removeprefix(f"{folder}/{REVIEWS}/")
        yield from _check_named(tree, side, f"{folder}/{REVIEWS}/{name}", each)
    yield from _check_tests(tree, side)
    yield from _check_objective(tree, side)
    if side.left is None:
        yield from differ(file, "artifacts", [name for name, each in named.items() if each is not None], [])
    else:
        yield from _check_patch(tree, side, side.left, f"{folder}/{DIFF}", rebuild)


def named_files(side: Side) -> frozenset[str]:
    """Give the paths of the files that a side names."""
    artifacts = side.artifacts
    every = (artifacts.candidate_diff, artifacts.test_result, artifacts.objective_evaluator)
    named = (*every, *artifacts.manual_reviews)
    return frozenset(each.path for each in named if each is not None)


def _check_named(tree: PublishedTree, side: Side, path: str, named: PublishedFile | None) -> Iterator[Finding]:
    if named is None:
        return
    yield from differ(tree.folder / side.place, "artifacts", named.path, path)
    data = tree.files.get(named.path)
    if data is None:
        yield tree.finding(named.path, "nothing", f"a file, as {side.place} names it")
    elif sha256(data) != named.sha256:
        yield tree.finding(named.path, f"sha256 {sha256(data)}", f"{named.sha256}, as {side.place} says")


def _check_patch(tree: PublishedTree, side: Side, left: Left, path: str, rebuild: Rebuild | None) -> Iterator[Finding]:
    yield from differ(tree.folder / side.place, "base_sha256", left.base_sha256, side.nomination.fixture_sha256)
    patch = tree.files.get(path)
    if patch is None:
        if side.artifacts.candidate_diff is None:
            yield tree.finding(path, "nothing", "the patch that was captured")
        return
    changed = {path_bytes(each.path) for each in left.changes}
    try:
        touched = named_paths(patch)
    except PatchError as error:
        yield tree.finding(path, str(error), "a patch in git's form")
        return
    if touched != changed:
        odd = min(touched ^ changed)
        expected = f"exactly the {len(changed)} changed paths that {side.place} lists"
        yield tree.finding(path, f"{len(touched)} changed paths; the first that differs is {odd!r}", expected)
    yield from _check_change(tree, side, left, patch, rebuild)


def _check_change(
    tree: PublishedTree, side: Side, left: Left, patch: bytes, rebuild: Rebuild | None
) -> Iterator[Finding]:
    """Apply the patch where the base is at hand, and judge the policy again."""
    file = tree.folder / side.place
    try:
        entries = tuple(entry(each) for each in left.changes)
        rebuilt = None if rebuild is None else rebuild(side.nomination.id, patch)
    except TreeError as error:
        yield Finding(file=str(file), found=str(error), expected="changes that a tree can have")
        return
    except (SandboxError, RunnerError) as error:
        diff = f"{side.artifacts.public_dir}/{DIFF}"
        yield tree.finding(diff, str(error), "a patch that applies to the frozen base")
        return
    if rebuilt is not None:
        yield from differ(file, "base + patch", rebuilt.tree_sha256, left.tree_sha256)
        yield from differ(file, "changes", left.changes, tuple(written_change(each) for each in rebuilt.changes))
    change = Change(
        entries=entries,
        findings=tuple(captured_finding(each) for each in left.findings),
        patch_bytes=len(patch),
    )
    yield from differ(file, "facts.violations", _shown(side.facts.violations, rebuilt), _broken(side, change, rebuilt))


def _shown(violations: tuple[Violation, ...], rebuilt: Rebuilt | None) -> tuple[Violation, ...]:
    """Give the violations that can be derived again: without the base, all but those that need it."""
    return tuple(each for each in violations if rebuilt is not None or each.rule not in _NEED_BASE)


def _broken(side: Side, change: Change, rebuilt: Rebuilt | None) -> tuple[Violation, ...]:
    before = (lambda _path: None) if rebuilt is None else rebuilt.before
    return tuple(as_fact(each) for each in check_policy(change, before, rules_of(side.nomination.spec)))


def _check_tests(tree: PublishedTree, side: Side) -> Iterator[Finding]:
    file, named = tree.folder / side.place, side.artifacts.test_result
    yield from differ(file, "tests", side.tests is not None, named is not None)
    if named is None:
        yield from differ(file, "facts.tests_passed", side.facts.tests_passed, None)
        return
    found, findings = tree.read(TestResult, named.path) if named.path in tree.files else (None, ())
    yield from findings
    if not isinstance(found, TestResult):
        return
    place = tree.folder / named.path
    ended = found.execution
    yield from check_execution(place, "execution", ended)
    yield from differ(place, "passed", found.passed, ended.cause is Cause.EXIT and ended.status == 0)
    yield from differ(place, "tree_sha256", found.tree_sha256, None if side.left is None else side.left.tree_sha256)
    yield from differ(file, "tests", side.tests, ended)
    yield from differ(file, "facts.tests_passed", side.facts.tests_passed, found.passed)


def _check_objective(tree: PublishedTree, side: Side) -> Iterator[Finding]:
    file, named = tree.folder / side.place, side.artifacts.objective_evaluator
    if side.facts.captured:
        planned = tuple(each.id for each in side.nomination.evaluators)
        yield from differ(file, "facts.planned_evaluators", side.facts.planned_evaluators, planned)
    if named is None:
        yield from differ(file, "facts.evaluators", side.facts.evaluators, ())
        return
    found, findings = tree.read(ObjectiveEvaluator, named.path) if named.path in tree.files else (None, ())
    yield from findings
    if not isinstance(found, ObjectiveEvaluator):
        return
    place = tree.folder / named.path
    yield from differ(place, "passed", found.passed, all(each.passed for each in found.evaluators))
    yield from differ(place, "tree_sha256", found.tree_sha256, None if side.left is None else side.left.tree_sha256)
    for each in found.evaluators:
        yield from _check_evaluator(tree, named.path, each, side.nomination)
    yield from differ(
        file, "facts.evaluators", side.facts.evaluators, tuple(_judged(each) for each in found.evaluators)
    )


def _check_evaluator(
    tree: PublishedTree, path: str, found: Objective, nomination: FrozenNomination
) -> Iterator[Finding]:
    name = f"evaluator {found.evaluator.id}"
    frozen = next((each for each in nomination.evaluators if each.id == found.evaluator.id), None)
    table = next((each for each in nomination.spec.evaluators if each.id == found.evaluator.id), None)
    if frozen is None or table is None:
        yield tree.finding(path, name, "evaluators of the nomination alone")
        return
    file = tree.folder / path
    cases = tuple(case.passed for case in found.cases)
    said = Said(passed=found.passed, cause=found.cause, score=found.score, cases=cases)
    yield from check_verdict(file, f"{name}: ", said, table)
    if frozen.cases is not None:
        yield from differ(file, f"{name}: sha256", found.evaluator.sha256, frozen.sha256)
        yield from differ(file, f"{name}: cases", len(found.cases), frozen.cases)


def _judged(found: Objective) -> Judged:
    return Judged(
        id=found.evaluator.id,
        passed=found.passed,
        cause=found.cause,
        assurance=found.assurance,
        score=found.score,
    )
