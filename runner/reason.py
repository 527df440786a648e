"""Why an attempt ended as it did, in one plain sentence for tables. Pure."""

from evaluators.model import VerdictCause
from runner.documents.facts import Facts, FailureCause, Judged, Violation
from runner.documents.writing import printable
from runner.outcome import Outcome, is_void, outcome
from runner.policy import Reason as Rule

FAILURES = {
    FailureCause.EXIT_STATUS: "the agent ended with status {status}",
    FailureCause.SIGNAL: "the agent was ended by signal {status}",
    FailureCause.TIMEOUT: "the agent outlived its time",
    FailureCause.OOM: "the agent used more memory than it had",
    FailureCause.OUTPUT_LIMIT: "the agent printed more than it may",
    FailureCause.BUDGET: "the agent spent its whole budget",
    FailureCause.REQUEST_REFUSED: "the provider refused the agent's request",
    FailureCause.AGENT_ERROR: "the agent ended with an error, though its program ended well",
    FailureCause.NO_ANSWER: "the agent ended well without any answer of its model",
    FailureCause.MALFORMED_ANSWER: "the answer was not in the form that was asked for",
}
VERDICTS = {
    VerdictCause.PASSED: "passed",
    VerdictCause.FAILED: "failed",
    VerdictCause.TIMEOUT: "ran out of time",
    VerdictCause.CRASHED: "crashed",
    VerdictCause.REJECTED: "could not judge it as submitted",
    VerdictCause.TAMPERED: "was tampered with",
}
BREACHES = {
    Rule.NOT_ALLOWED: "{path} may not be changed",
    Rule.DENIED: "{path} is protected",
    Rule.DELETION: "{path} may not be deleted",
    Rule.MODE: "the mode of {path} may not be changed",
    Rule.TYPE: "{path} may not become another kind of file",
    Rule.LINK: "{path} may not be a link",
    Rule.LINK_OUTSIDE: "{path} is a link that leaves the tree",
    Rule.TOO_MANY_FILES: "too many files changed",
    Rule.PATCH_TOO_LARGE: "the patch is too large",
    Rule.FIFO: "{path} is a pipe",
    Rule.SOCKET: "{path} is a socket",
    Rule.DEVICE: "{path} is a device",
    Rule.SET_ID: "{path} has a set-id bit",
    Rule.NAME: "{path} is a name that no patch can carry",
    Rule.FILE_TOO_LARGE: "{path} is too large",
    Rule.UNREADABLE: "{path} cannot be read",
}
_BREACHES = {rule.value: said for rule, said in BREACHES.items()}
_SHOWN = 2


def reason(facts: Facts) -> str:
    """Say which stage decided the outcome, and what was observed there."""
    return printable(_said(facts))


def _said(facts: Facts) -> str:
    match outcome(facts):
        case Outcome.MISSING_ARTIFACTS:
            return f"the evidence lacks {_listed(facts.missing)}"
        case Outcome.UNAVAILABLE:
            return _unavailable(facts)
        case Outcome.FORBIDDEN_CHANGES:
            return _forbidden(facts)
        case Outcome.VOID:
            return _void(facts)
        case Outcome.AGENT_FAILURE:
            return f"{_failure(facts)}; {_judged(facts)}"
        case Outcome.TESTS_FAILED | Outcome.COMPLETED:
            return _judged(facts)


def _listed(names: tuple[str, ...]) -> str:
    shown = ", ".join(names[:_SHOWN])
    rest = len(names) - _SHOWN
    return f"{shown} and {rest} more" if rest > 0 else shown


def _unavailable(facts: Facts) -> str:
    if facts.unavailable is None:
        return "the candidate was not available"
    said = printable(facts.unavailable.detail) or f"the probe failed ({facts.unavailable.reason})"
    return f"{said}; the task was never shown"


def _forbidden(facts: Facts) -> str:
    also = "" if is_void(facts) else f"; {_judged(facts)}"
    return f"forbidden: {_listed(tuple(_breach(each) for each in facts.violations))}{also}"


def _breach(violation: Violation) -> str:
    said = _BREACHES.get(violation.rule, f"{violation.rule} at {{path}}").format(path=violation.path or "a path")
    return f"{said} ({violation.detail})" if violation.detail else said


def _void(facts: Facts) -> str:
    if facts.void is not None:
        phase = facts.void.phase.replace("_", " ")
        return f"the {facts.void.blame} failed during {phase}: {facts.void.reason}"
    if not facts.captured:
        return "the runner failed: nothing was captured, and nobody knows why"
    gap = "public tests" if facts.tests_passed is None else "evaluators"
    return f"the runner failed: the {gap} did not all run, and nobody knows why"


def _failure(facts: Facts) -> str:
    if facts.failure is None:
        return "the agent failed"
    said = FAILURES[facts.failure.cause].format(status=facts.failure.status)
    return f"{said} ({facts.failure.detail})" if facts.failure.detail else said


def _judged(facts: Facts) -> str:
    tests = "public tests passed" if facts.tests_passed else "public tests failed"
    return f"{tests}, {_evaluators(facts.evaluators)}"


def _evaluators(judged: tuple[Judged, ...]) -> str:
    if not judged:
        return "no hidden check"
    if all(each.passed for each in judged):
        return f"hidden checks passed ({_listed(tuple(each.id for each in judged))})"
    return _listed(tuple(f"hidden check {each.id} {VERDICTS[each.cause]}" for each in judged if not each.passed))
