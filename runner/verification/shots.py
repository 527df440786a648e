"""The two shots of a single-shot attempt: what was asked, what followed from the first, how each was graded."""

import json
from collections.abc import Iterator

from runner.agents.model import Exchange
from runner.agents.native_loop.once import question
from runner.agents.single_shot import answer_of, conversation
from runner.canonical import sha256
from runner.documents.evidence import Grading, Policy, PublicTests, ShotResult, Submission
from runner.documents.ledger import LedgerLine
from runner.errors import SealBrokenError
from runner.kept import FIRST, LOGS, TOLD
from runner.roster import Agent
from runner.shots import tested_before
from runner.single_shot import is_tested, news
from runner.verification.derived import Graded, check_judged, check_submission, document, rulings_of
from runner.verification.model import Finding, Opened, Scope, differ, nomination_of
from sandbox.termination import Cause


def check_shots(opened: Opened, scope: Scope) -> Iterator[Finding]:
    """Find what does not follow among a submission's shots."""
    made = document(opened, Submission, "submission.json")
    if made is None:
        return
    view = opened.below(FIRST)
    if not is_shot(opened, scope):
        yield from differ(opened.folder, "shots", [each.path for each in view.sealed.seal.files], [])
        return
    first = document(view, Submission, "submission.json")
    tests = document(view, PublicTests, "public-tests.json")
    shot = first or made
    yield from differ(view.folder, "being tested", tests is not None, is_tested(shot.failure, shot.void))
    yield from differ(view.folder, "being followed", first is not None, tests is not None and not tests.passed)
    if tests is not None:
        yield from _check_tests(view, tests, shot)
    if first is not None:
        yield from differ(view.file("submission.json"), "origin", first.origin, made.origin)
        yield from check_submission(view, scope)
    yield from _check_told(opened, scope, first)


def is_shot(opened: Opened, scope: Scope) -> bool:
    """Whether a try is one of a single-shot candidate."""
    return scope.manifest.candidate(opened.trial.candidate).agent is Agent.SINGLE_SHOT


def _check_tests(view: Opened, tests: PublicTests, shot: Submission) -> Iterator[Finding]:
    file = view.file("public-tests.json")
    yield from differ(file, "tree_sha256", tests.tree_sha256, shot.tree_sha256)
    yield from differ(file, "passed", tests.passed, tests.end.cause is Cause.EXIT and tests.end.status == 0)
    logs = {each.path.removeprefix(f"{LOGS}/"): each.sha256 for each in view.sealed.seal.files if _is_log(each.path)}
    wanted = {name: name for name in (tests.stdout_sha256, tests.stderr_sha256)}
    yield from differ(view.file(LOGS), "logs", logs, wanted)


def _is_log(path: str) -> bool:
    return path.startswith(f"{LOGS}/")


def _check_told(opened: Opened, scope: Scope, first: Submission | None) -> Iterator[Finding]:
    """Write each shot's request down again: the ledger has the digest of what was really asked."""
    try:
        prompt = opened.sealed.bytes(TOLD).decode()
        yield from differ(opened.file(TOLD), "sha256", sha256(prompt.encode()), _frozen_told(opened, scope))
        if first is None:
            yield from _check_asked(opened, scope, prompt, None)
            return
        view = opened.below(FIRST)
        yield from _check_asked(view, scope, prompt, None)
        tested = tested_before(view.sealed)
        if tested is not None:
            before = Exchange(answer=answer_of(view.sealed.bytes("streams/stdout")), news=news(tested.result))
            yield from _check_asked(opened, scope, prompt, before)
    except SealBrokenError as error:
        yield Finding(file=error.file, found=error.found, expected=error.expected)


def _frozen_told(opened: Opened, scope: Scope) -> str | None:
    return nomination_of(scope, opened.trial).told_sha256


def _check_asked(opened: Opened, scope: Scope, prompt: str, before: Exchange | None) -> Iterator[Finding]:
    lines = opened.documents.get("ledger.jsonl")
    candidate = scope.manifest.candidate(opened.trial.candidate)
    more = {} if candidate.variant is None else {"reasoning_effort": candidate.variant}
    asked = question({"model": candidate.model, "messages": conversation(prompt, before), "more": more})
    body = json.dumps(asked).encode()
    file = opened.file("ledger.jsonl")
    for line in lines if isinstance(lines, tuple) else ():
        if isinstance(line, LedgerLine):
            yield from differ(file, "request_sha256", line.request_sha256, sha256(body))


def check_shot_results(opened: Opened, submitted: Opened, scope: Scope) -> Iterator[Finding]:
    """Find what does not follow in what a grading says of each shot."""
    found = document(opened, Grading, "grading.json")
    made = document(submitted, Submission, "submission.json")
    if found is None or made is None:
        return
    file = opened.file("grading.json")
    if not found.shots:
        wanted = is_shot(submitted, scope) and found.facts.void is None
        yield from differ(file, "results of shots", False, wanted)  # noqa: FBT003 - what is found
        return
    view = submitted.below(FIRST)
    first = document(view, Submission, "submission.json")
    yield from differ(file, "shots", [each.number for each in found.shots], [1] if first is None else [1, 2])
    last = found.shots[-1]
    yield from differ(file, "last shot", last, _result_of(found, last.number))
    if first is not None and len(found.shots) > 1:
        yield from _check_first(opened, found, view, first, scope)


def _result_of(found: Grading, number: int) -> ShotResult:
    return ShotResult(
        number=number,
        tree_sha256=found.tree_sha256,
        facts=found.facts,
        outcome=found.outcome,
        reason=found.reason,
        solved=found.solved,
        score=found.score,
    )


def _check_first(
    opened: Opened, found: Grading, submitted: Opened, first: Submission, scope: Scope
) -> Iterator[Finding]:
    """Hold the first shot's result against its policy, tests and verdicts, as those of any grading."""
    shot, view = found.shots[0], opened.below(FIRST)
    policy = document(view, Policy, "policy.json")
    if policy is None:
        yield Finding(file=view.file("policy.json"), found="nothing", expected="what breaks the policy")
        return
    told = {name: getattr(shot, name) for name in ShotResult.model_fields if name != "number"}
    graded = Graded(
        opened=view,
        grading=found.model_copy(update=told),
        policy=policy,
        tests=document(submitted, PublicTests, "public-tests.json"),
        rulings=tuple(rulings_of(view, shot.facts.planned_evaluators)),
    )
    yield from differ(view.file("policy.json"), "tree_sha256", policy.tree_sha256, first.tree_sha256)
    yield from differ(opened.file("grading.json"), "first shot's tree", shot.tree_sha256, first.tree_sha256)
    yield from check_judged(graded, submitted, first, scope)
    logs = sorted(each.log_sha256 for each in graded.rulings if not opened.sealed.holds(f"{LOGS}/{each.log_sha256}"))
    yield from differ(opened.file(LOGS), "missing logs", logs, [])
