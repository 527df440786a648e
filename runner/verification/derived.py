"""What must follow from the documents: bonds between them, facts from parts, outcomes from facts."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from runner.agent_end import agent_end, agent_run
from runner.canonical import canonical, sha256
from runner.documents.capture import Capture
from runner.documents.evidence import Grading, Policy, PublicTests, Ruling, Submission, Tree, UnitEnd, Void
from runner.documents.facts import AgentFailure, Controls, Facts, Origin, VoidFact
from runner.documents.ledger import LedgerLine
from runner.documents.manifest import FrozenNomination
from runner.documents.model import Document
from runner.documents.telemetry import Preflight, Telemetry
from runner.documents.writing import change as written_change
from runner.documents.writing import decimal_text, finding, termination
from runner.errors import RunnerError, SealBrokenError
from runner.grading import Parts, facts_of
from runner.kept import LOGS
from runner.outcome import Outcome, outcome, score, solved
from runner.policy import Change, as_fact, check_policy, rules_of
from runner.reason import reason
from runner.verification.model import Finding, Opened, Rebuilt, Scope, differ, nomination_of
from runner.verification.norms import check_norms
from runner.verification.speed import check_speed
from runner.verification.verdicts import Said, check_verdict
from sandbox.errors import SandboxError
from sandbox.termination import Cause

D = TypeVar("D", bound=Document)


def document(opened: Opened, model: type[D], name: str) -> D | None:
    """Give one of a folder's documents; None where it is missing or broken, which is a finding already."""
    found = opened.documents.get(name)
    return found if isinstance(found, model) else None


def check_submission(opened: Opened, scope: Scope) -> Iterator[Finding]:
    """Find what does not follow within a submission."""
    made = document(opened, Submission, "submission.json")
    if made is None:
        return
    file = opened.file("submission.json")
    yield from differ(file, "trial", made.trial, opened.trial)
    yield from differ(file, "base_sha256", made.base_sha256, nomination_of(scope, made.trial).fixture_sha256)
    yield from _check_origin(opened, made.origin, scope, "submission.json")
    yield from _check_end(opened, made)
    tree = document(opened, Tree, "tree.json")
    if tree is not None:
        yield from differ(opened.file("tree.json"), "base_sha256", tree.base_sha256, made.base_sha256)
        yield from differ(opened.file("tree.json"), "tree_sha256", tree.tree_sha256, made.tree_sha256)
    patch = _patch(opened)
    if patch is not None:
        yield from differ(file, "patch_sha256", made.patch_sha256, sha256(patch))
        if tree is not None:
            yield from _check_patch(opened, tree, patch, scope)


def _patch(opened: Opened) -> bytes | None:
    """Give the patch; None where it is missing or broken, which is a finding already."""
    try:
        return opened.sealed.bytes("candidate.diff")
    except SealBrokenError:
        return None


def _check_origin(opened: Opened, origin: Origin, scope: Scope, name: str) -> Iterator[Finding]:
    file = opened.file(name)
    yield from differ(file, "controls", origin.controls, Controls(scope.manifest.controls))
    if origin.proven is not None:
        proven = nomination_of(scope, opened.trial).certificate is not None
        yield from differ(file, "proven", origin.proven, proven)
    candidate = scope.manifest.candidate(opened.trial.candidate)
    routes = {route.id: route for route in scope.manifest.routes}
    scripted = candidate.route in routes and routes[candidate.route].is_scripted
    yield from differ(file, "scripted", origin.scripted, scripted)
    yield from differ(file, "network", origin.network, candidate.network)
    if "host.json" in opened.documents:
        # Its only form is what was read, so that its digest is the file's.
        yield from differ(file, "host_sha256", origin.host_sha256, opened.sealed.files["host.json"].sha256)


def _check_end(opened: Opened, made: Submission) -> Iterator[Finding]:
    """Derive again how the agent's run ended. The runner may know of a further fault, never of a failure."""
    ended = document(opened, UnitEnd, "termination.json")
    telemetry = document(opened, Telemetry, "telemetry.json")
    lines = opened.documents.get("ledger.jsonl")
    if ended is None or telemetry is None or not isinstance(lines, tuple):
        return
    ledger = tuple(line for line in lines if isinstance(line, LedgerLine))
    found = agent_end(agent_run(termination(ended.end), ledger, telemetry))
    file = opened.file("submission.json")
    yield from differ(file, "failure", made.failure, found if isinstance(found, AgentFailure) else None)
    if isinstance(found, VoidFact):
        yield from differ(file, "void", made.void, found)


def _check_patch(opened: Opened, tree: Tree, patch: bytes, scope: Scope) -> Iterator[Finding]:
    file = opened.file("candidate.diff")
    rebuilt = _rebuilt(opened, patch, scope)
    if isinstance(rebuilt, str):
        yield Finding(file=str(file), found=rebuilt, expected="a patch that applies to the frozen base")
    elif rebuilt is not None:
        yield from differ(file, "base + patch", rebuilt.tree_sha256, tree.tree_sha256)
        changes = tuple(written_change(entry) for entry in rebuilt.changes)
        yield from differ(opened.file("tree.json"), "changes", tree.changes, changes)


def _rebuilt(opened: Opened, patch: bytes, scope: Scope) -> Rebuilt | str | None:
    """Apply the patch to its base; a text says why it does not apply."""
    if scope.rebuild is None:
        return None
    try:
        return scope.rebuild(opened.trial.nomination, patch)
    except (SandboxError, RunnerError) as error:
        return str(error)


@dataclass(frozen=True, slots=True, kw_only=True)
class Graded:
    """A grading, or the part of it that one shot is, with what it was derived from."""

    opened: Opened
    grading: Grading
    policy: Policy
    tests: PublicTests | None
    rulings: tuple[Ruling, ...]


def check_grading(opened: Opened, submitted: Opened, scope: Scope) -> Iterator[Finding]:
    """Find what does not follow within a grading and from its submission."""
    found = document(opened, Grading, "grading.json")
    policy = document(opened, Policy, "policy.json")
    made = document(submitted, Submission, "submission.json")
    if found is None or policy is None or made is None:
        return
    graded = Graded(
        opened=opened,
        grading=found,
        policy=policy,
        tests=document(opened, PublicTests, "public-tests.json"),
        rulings=tuple(rulings_of(opened, found.facts.planned_evaluators)),
    )
    yield from _check_bonds(graded, submitted, made)
    yield from _check_origin(opened, found.origin, scope, "grading.json")
    yield from check_judged(graded, submitted, made, scope)
    patch = None if scope.manifest.norms is None else _patch(submitted)
    rebuilt = None if patch is None else _rebuilt(submitted, patch, scope)
    yield from check_norms(opened, found, rebuilt if isinstance(rebuilt, Rebuilt) else None, scope)
    yield from _check_logs(graded)


def check_judged(graded: Graded, submitted: Opened, made: Submission, scope: Scope) -> Iterator[Finding]:
    """Find what does not follow from policy, tests and verdicts."""
    yield from _check_evaluators(graded, scope)
    yield from _check_words(graded, made)
    yield from _check_policy(graded, submitted, scope)


def rulings_of(opened: Opened, planned: tuple[str, ...]) -> Iterator[Ruling]:
    """Give the verdicts of evaluators, in their order."""
    for name in planned:
        found = document(opened, Ruling, f"evaluators/{name}.json")
        if found is not None:
            yield found


def _check_bonds(graded: Graded, submitted: Opened, made: Submission) -> Iterator[Finding]:
    found, opened = graded.grading, graded.opened
    file = opened.file("grading.json")
    yield from differ(file, "id", found.id, opened.folder.name)
    yield from differ(file, "trial", found.trial, opened.trial)
    yield from differ(opened.file("SEAL.json"), "grading", opened.sealed.seal.grading, opened.folder.name)
    digest = submitted.sealed.digest
    yield from differ(opened.file("SEAL.json"), "submission", opened.sealed.seal.submission_sha256, digest)
    yield from differ(file, "submission_sha256", found.submission_sha256, digest)
    yield from differ(file, "tree_sha256", found.tree_sha256, made.tree_sha256)
    yield from differ(opened.file("policy.json"), "tree_sha256", graded.policy.tree_sha256, made.tree_sha256)
    if graded.tests is not None:
        tests = opened.file("public-tests.json")
        ended = graded.tests.end
        yield from differ(tests, "tree_sha256", graded.tests.tree_sha256, made.tree_sha256)
        yield from differ(tests, "passed", graded.tests.passed, ended.cause is Cause.EXIT and ended.status == 0)


def _check_evaluators(graded: Graded, scope: Scope) -> Iterator[Finding]:
    opened, found = graded.opened, graded.grading
    nomination = nomination_of(scope, found.trial)
    frozen = tuple(each.id for each in nomination.evaluators)
    file = opened.file("grading.json")
    yield from differ(file, "planned evaluators", found.facts.planned_evaluators, frozen)
    yield from differ(file, "evaluators", set(found.evaluators), set(frozen))
    names = {f"evaluators/{each.id}.json" for each in graded.rulings}
    for name in opened.documents:
        if name.startswith("evaluators/") and name not in names:
            expected = "a verdict of one of the nomination's evaluators"
            yield Finding(file=opened.file(name), found="a verdict", expected=expected)
    for each in graded.rulings:
        yield from _check_ruling(graded, each, nomination)


def _check_ruling(graded: Graded, found: Ruling, nomination: FrozenNomination) -> Iterator[Finding]:
    file = graded.opened.file(f"evaluators/{found.id}.json")
    yield from differ(file, "tree_sha256", found.tree_sha256, graded.grading.tree_sha256)
    digest = graded.grading.evaluators.get(found.id)
    yield from differ(file, "evaluator_sha256", found.evaluator_sha256, digest)
    cases = tuple(case.passed for case in found.cases)
    said = Said(passed=found.passed, cause=found.cause, score=found.score, cases=cases)
    table = next((each for each in nomination.spec.evaluators if each.id == found.id), None)
    frozen = next((each for each in nomination.evaluators if each.id == found.id), None)
    if table is not None:
        yield from check_verdict(file, "", said, table)
        yield from check_speed(file, found, table)
    if frozen is not None and frozen.cases is not None:
        yield from differ(file, "evaluator_sha256", found.evaluator_sha256, frozen.sha256)
        # As runner.release froze it.
        ids = canonical({"cases": [case.id for case in found.cases]})
        yield from differ(file, "sha256 of the cases' ids", sha256(ids), frozen.cases_sha256)


def _check_words(graded: Graded, made: Submission) -> Iterator[Finding]:
    """Derive the facts, and what follows from them, again."""
    found = graded.grading
    file = graded.opened.file("grading.json")
    parts = Parts(
        policy=graded.policy,
        tests=graded.tests,
        rulings=graded.rulings,
        evaluators=tuple((name, "") for name in found.facts.planned_evaluators),
        fault=found.facts.void,
    )
    yield from differ(file, "facts", found.facts, facts_of(made, parts))
    yield from _check_outcome(file, found, found.facts)
    points = score(found.facts)
    yield from differ(file, "solved", found.solved, solved(found.facts))
    yield from differ(file, "score", found.score, None if points is None else decimal_text(points))


def _check_outcome(file: Path | str, found: Grading | Void, facts: Facts) -> Iterator[Finding]:
    yield from differ(file, "outcome", found.outcome.value, outcome(facts).value)
    yield from differ(file, "reason", found.reason, reason(facts))
    yield from differ(file, "missing", facts.missing, ())


def _check_policy(graded: Graded, submitted: Opened, scope: Scope) -> Iterator[Finding]:
    """Hold the change against the nomination's rules again."""
    captured = document(submitted, Capture, "capture.json")
    patch = _patch(submitted)
    rebuilt = None if patch is None else _rebuilt(submitted, patch, scope)
    if captured is None or patch is None or not isinstance(rebuilt, Rebuilt):
        return
    change = Change(
        entries=rebuilt.changes,
        findings=tuple(finding(each) for each in captured.findings),
        patch_bytes=len(patch),
    )
    rules = rules_of(nomination_of(scope, graded.opened.trial).spec)
    violations = tuple(as_fact(each) for each in check_policy(change, rebuilt.before, rules))
    file = graded.opened.file("policy.json")
    yield from differ(file, "violations", graded.policy.violations, violations)


def _check_logs(graded: Graded) -> Iterator[Finding]:
    """Every log is named by what it holds; each document's log is there."""
    opened = graded.opened
    wanted = {each.log_sha256 for each in graded.rulings}
    if graded.tests is not None:
        wanted |= {graded.tests.stdout_sha256, graded.tests.stderr_sha256}
    kept = {each.path.removeprefix(f"{LOGS}/"): each.sha256 for each in opened.sealed.seal.files if _is_log(each.path)}
    for name, digest in kept.items():
        yield from differ(opened.file(f"{LOGS}/{name}"), "sha256", digest, name)
    yield from differ(opened.file(LOGS), "missing logs", sorted(wanted - kept.keys()), [])


def _is_log(path: str) -> bool:
    return path.startswith(f"{LOGS}/")


def check_void(opened: Opened, scope: Scope) -> Iterator[Finding]:
    """Find what does not follow within the record of a try that left no submission."""
    found = document(opened, Void, "void.json")
    if found is None:
        return
    file = opened.file("void.json")
    yield from differ(file, "trial", found.trial, opened.trial)
    yield from _check_outcome(file, found, found.facts)
    if found.outcome not in {Outcome.VOID, Outcome.UNAVAILABLE} or found.facts.captured:
        yield Finding(file=str(file), found=found.outcome.value, expected="void or unavailable")
    if found.facts.void is None or not found.facts.void.interrupted:
        yield from _check_origin(opened, found.origin, scope, "void.json")
    probe = document(opened, Preflight, "preflight.json")
    if probe is not None and found.facts.void is None:
        told = None if found.facts.unavailable is None else found.facts.unavailable.reason
        yield from differ(file, "reason to be unavailable", told, probe.reason)
