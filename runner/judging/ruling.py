"""From what came back to a document: a verdict, or that there is none and why. Verifying reads answers the same way.

How an answer ended is taken from the ledger, which is kept, so that the same files give the same verdict again. Pure.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from runner.agents.traffic import sum_traffic
from runner.canonical import canonical_lines, sha256
from runner.documents.judging import Asked, Flag, PairVerdict, RubricItem, RubricVerdict, Unscored, UnscoredWhy
from runner.documents.ledger import LedgerLine
from runner.documents.writing import decimal_text
from runner.judging.answers import (
    Finish,
    NoVerdict,
    PairAnswer,
    Reply,
    RubricAnswer,
    Wanted,
    choice,
    quotes_of,
    read_pair,
    read_rubric,
)
from runner.judging.identity import Identities
from runner.judging.packet import Packet
from runner.judging.pairing import Item
from runner.judging.prompts import Secrets

Said = RubricVerdict | PairVerdict | Unscored

_FINISHES = {
    **dict.fromkeys(("stop", "completed", "end_turn", "stop_sequence"), Finish.COMPLETE),
    **dict.fromkeys(
        ("length", "incomplete", "max_output_tokens", "max_tokens", "model_context_window_exceeded"), Finish.LENGTH
    ),
    **dict.fromkeys(("content_filter", "refusal"), Finish.REFUSAL),
}
"""Reasons of all three protocols; `refusal` is also what some routers say."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Heard:
    """What came of one call."""

    text: str | None
    """The whole answer; None where none came."""
    lines: tuple[LedgerLine, ...]
    """What the gateway saw."""
    duration_ms: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Binding:
    """The release that a document belongs to."""

    release: str
    manifest_sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Exam:
    """One asking that was answered, or could not be."""

    item: Item
    packet: Packet
    secrets: Secrets
    known: Identities
    flags: tuple[Flag, ...]


def finish_of(lines: Sequence[LedgerLine]) -> Finish:
    """Say how an answer ended, as its provider told."""
    asked = [line for line in lines if line.asks_model]
    reason = asked[-1].finish_reason if asked else None
    return _FINISHES.get(reason or "", Finish.UNKNOWN)


def told(asked: Asked, heard: Heard) -> Asked:
    """Add what a call took, and which files it left."""
    traffic = sum_traffic(heard.lines)
    answered = [line.model_answered for line in heard.lines if line.model_answered is not None]
    return asked.model_copy(
        update={
            "model": answered[-1] if answered else None,
            "answer_sha256": None if heard.text is None else sha256(heard.text.encode()),
            "ledger_sha256": sha256(canonical_lines(heard.lines)) if heard.lines else None,
            "duration_ms": heard.duration_ms,
            "tokens": traffic.tokens,
            "cost": None if traffic.cost is None else decimal_text(Decimal(traffic.cost)),
        }
    )


def rule(binding: Binding, exam: Exam, asked: Asked, heard: Heard) -> Said:
    """Give the document of an answer; `asked` says already what the call took."""
    if heard.text is None:
        return unscored(binding, exam, asked, NoVerdict(why=UnscoredWhy.PROVIDER, detail=_failure(heard.lines)))
    reply = Reply(text=heard.text, finish=finish_of(heard.lines))
    item = exam.item
    wanted = Wanted(
        packet=exam.packet,
        criteria=item.criteria if isinstance(item, RubricItem) else (),
        nonce=exam.secrets.nonce,
        canary=exam.secrets.canary,
        known=exam.known,
    )
    read = read_rubric(reply, wanted) if isinstance(item, RubricItem) else read_pair(reply, wanted)
    if isinstance(read, NoVerdict):
        return unscored(binding, exam, asked, read)
    return _verdict(binding, exam, asked, read)


def _verdict(binding: Binding, exam: Exam, asked: Asked, read: RubricAnswer | PairAnswer) -> Said:
    item = exam.item
    shown_a = None if isinstance(item, RubricItem) else item.shown_a
    common = {
        "release": binding.release,
        "manifest_sha256": binding.manifest_sha256,
        "item": item,
        "asked": asked,
        "quotes": quotes_of(read.quotes, shown_a),
        "injection_seen": read.injection_seen,
        "flags": exam.flags,
    }
    if isinstance(read, RubricAnswer):
        return RubricVerdict.model_validate({**common, "scores": read.scores})
    if shown_a is None:
        raise TypeError("an answer about a pair to an asking about one submission")
    return PairVerdict.model_validate({**common, "verdict": choice(read.verdict, shown_a), "reason": read.reason})


def unscored(binding: Binding, exam: Exam, asked: Asked | None, none: NoVerdict) -> Unscored:
    """Give the document of an asking without a verdict; `asked` is None where nobody was asked."""
    return Unscored(
        release=binding.release,
        manifest_sha256=binding.manifest_sha256,
        item=exam.item,
        asked=asked,
        why=none.why,
        detail=none.detail,
        flags=exam.flags,
    )


def _failure(lines: Sequence[LedgerLine]) -> str:
    """Say in our words why no answer came."""
    if not lines:
        return "the judge's program ended before it asked"
    last = lines[-1]
    if last.refusal is not None:
        return f"the gateway let the question not pass: {last.refusal}"
    if last.failure is not None:
        status = "" if last.status_upstream is None else f", status {last.status_upstream}"
        return f"the provider gave no answer: {last.failure}{status}"
    return "the judge's program ended before it had told the answer"
