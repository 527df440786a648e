"""Whether a candidate answers at all before it may work: a frozen question, a frozen answer. Pure."""

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

from runner.agents.traffic import sum_traffic
from runner.documents.ledger import FailureKind, LedgerLine
from runner.documents.telemetry import Preflight, ProbeReason, ProbeTry, Telemetry
from sandbox.termination import Cause, Termination

PROBE_PROMPT = "Reply with exactly: hi"
EXPECTED = "hi"
TRIES = 2
ANSWER_LIMIT = 500

SENTENCES: dict[ProbeReason, str] = {
    "timeout": "the probe was not over in time",
    "output_limited": "the probe printed more than it may",
    "process_failure": "the agent's process failed on the probe",
    "no_model_response": "no answer of the model came back",
    "wrong_answer": "the model did not answer `hi`",
    "auth": "the provider did not accept the credential",
    "quota": "the provider's quota or credit is used up",
    "unknown_model": "the provider does not know the model",
    "overloaded": "the provider was overloaded or failed",
    "network": "the provider could not be reached",
    "malformed": "the provider's answer was none",
    "refused": "the request was refused",
    "context_length": "the provider found even the probe too long",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """One asking: how the unit ended, what the agent says, what the gateway saw."""

    termination: Termination
    telemetry: Telemetry
    lines: tuple[LedgerLine, ...]
    metered: bool = True
    """Whether the gateway saw what was asked and answered."""


def normalise(answer: str) -> str:
    """Leave out case, space and punctuation."""
    kept = (char for char in unicodedata.normalize("NFKC", answer) if not _is_dressing(char))
    return "".join(kept).casefold()


def _is_dressing(char: str) -> bool:
    return unicodedata.category(char)[0] in "PZC" or char in "`*"


def judge_try(probe: Probe) -> ProbeReason | None:
    """Say why one asking did not bring the answer; None where it did.

    Raises:
        ValueError: The unit's end is a fault, which says nothing of the candidate.
    """
    if probe.termination.is_fault:
        raise ValueError(f"a fault is no answer: {probe.termination.detail}")
    by_cause: dict[Cause, ProbeReason] = {Cause.TIMEOUT: "timeout", Cause.OUTPUT_LIMIT: "output_limited"}
    reason = by_cause.get(probe.termination.cause)
    failure = _last_failure(probe.lines)
    if reason is not None or failure is not None:
        # A provider that hung is the reason for a time-out, and the better word for it.
        return failure or reason
    if not probe.termination.succeeded:
        return _unreached(probe.lines) or "process_failure"
    if probe.metered and not any(line.asks_model and line.complete for line in probe.lines):
        return "no_model_response"
    return _judge_answer(probe.telemetry.final_message)


def _judge_answer(answer: str | None) -> ProbeReason | None:
    if answer is None or not answer.strip():
        return "no_model_response"
    return None if normalise(answer) == EXPECTED else "wrong_answer"


def _last_failure(lines: Sequence[LedgerLine]) -> FailureKind | None:
    chats = sorted((line for line in lines if line.asks_model), key=lambda line: line.sequence)
    return chats[-1].failure if chats else None


def _unreached(lines: Sequence[LedgerLine]) -> FailureKind | None:
    """Say why no tunnel came about, where there was to be one."""
    failures = [line.failure for line in lines if line.tunnel is not None]
    return failures[-1] if failures and all(failures) else None


def wants_another(probes: Sequence[Probe]) -> bool:
    """Say whether to ask (again): a wrong answer is asked once more, nothing else is."""
    return not probes or (len(probes) < TRIES and judge_try(probes[-1]) == "wrong_answer")


def judge_probe(probes: Sequence[Probe]) -> Preflight:
    """Make the preflight's document of what was asked; the last asking decides."""
    if not probes:
        raise ValueError("nothing was asked")
    tries = tuple(_document(probe) for probe in probes)
    reason = tries[-1].reason
    return Preflight(
        needed=True,
        prompt=PROBE_PROMPT,
        available=reason is None,
        reason=reason,
        detail=_sentence(reason, tries),
        tries=tries,
    )


def no_probe_needed() -> Preflight:
    """Make the document for an agent without a model."""
    return Preflight(needed=False, prompt=None, available=True, reason=None, detail="this agent asks no model")


def _document(probe: Probe) -> ProbeTry:
    answer = probe.telemetry.final_message
    return ProbeTry(
        answer=None if answer is None else answer[:ANSWER_LIMIT],
        reason=judge_try(probe),
        wall_ms=probe.termination.usage.wall_ms,
        traffic=sum_traffic(probe.lines) if probe.metered else None,
    )


def _sentence(reason: ProbeReason | None, tries: Sequence[ProbeTry]) -> str:
    if reason is None:
        return "the model answered" if len(tries) == 1 else "the model answered when asked once more"
    said = f": {tries[-1].answer!r}"[:200] if reason == "wrong_answer" else ""
    return SENTENCES[reason] + said
