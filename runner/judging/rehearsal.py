"""A judging before it is held: how many calls, what they may cost at most, and one whole question. Nobody is asked."""

from collections import Counter
from dataclasses import dataclass
from decimal import Decimal

from runner.documents.writing import decimal_text
from runner.judging.key import asking_id, secrets_of
from runner.judging.packet import packet_digest, refusal
from runner.judging.phase import Hearing
from runner.judging.planning import Question
from runner.judging.sitting import spoken
from runner.roster import Judge


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeCalls:
    """What one judge is asked."""

    judge: str
    model: str
    askings: dict[str, int]
    """By kind."""
    calls: int
    """At most: each asking may take several answers."""
    usd: str | None
    """At most; null where nothing bounds it."""
    tokens: int | None
    """As above."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgingRehearsal:
    """What would be done."""

    judges: tuple[JudgeCalls, ...]
    skipped: int
    too_large: int
    """Askings whose changes are beyond the ceilings: nobody is asked."""
    about: str
    """Which question is shown."""
    prompt: str
    """All of it, as the judge would read it."""
    packet_sha256: str | None

    def facts(self) -> dict[str, object]:
        """Give it as JSON values."""
        rows = [
            {
                "judge": each.judge,
                "model": each.model,
                "askings": each.askings,
                "calls": each.calls,
                "usd": each.usd,
                "tokens": each.tokens,
            }
            for each in self.judges
        ]
        return {
            "judges": rows,
            "skipped": self.skipped,
            "too_large": self.too_large,
            "about": self.about,
            "packet_sha256": self.packet_sha256,
            "prompt": self.prompt,
        }

    def text(self) -> str:
        """Give it for people."""
        lines = [
            f"{each.judge} ({each.model}): {_counts(each.askings)}; at most {each.calls} calls, "
            f"{_bound(each.usd, 'USD')}, {_bound(each.tokens, 'tokens')}"
            for each in self.judges
        ]
        lines.append(f"{self.skipped} askings are skipped: of a judge's own family")
        lines.append(f"{self.too_large} askings show changes beyond the ceilings: nobody is asked")
        head = (
            f"One whole question: {self.about}; packet {self.packet_sha256}" if self.prompt else "No question is asked"
        )
        return "\n".join([*lines, "", head, "", self.prompt, ""])


def rehearse_judging(hearing: Hearing) -> JudgingRehearsal:
    """Say what would be asked; the question shown is the first one, with what its first call would hold."""
    show, first = hearing.show, next(iter(hearing.questions), None)
    judges = {question.judge.id: question.judge for question in hearing.questions}
    too_large = sum(refusal(show.packet(question)) is not None for question in hearing.questions)
    prompt, digest, about = "", None, ""
    if first is not None:
        packet = show.packet(first)
        secrets = secrets_of(hearing.key, asking_id(first.judge.id, first.item, first.view), 1)
        prompt, digest = show.prompt(first, packet, secrets), packet_digest(packet)
        about = f"{first.judge.id}: {spoken(first)}"
    return JudgingRehearsal(
        judges=tuple(_calls(each, hearing.questions, show.judging.answers) for each in judges.values()),
        skipped=len(hearing.plan.document.skipped),
        too_large=too_large,
        about=about,
        prompt=prompt,
        packet_sha256=digest,
    )


def _calls(judge: Judge, questions: tuple[Question, ...], answers: int) -> JudgeCalls:
    kinds = Counter(question.item.kind for question in questions if question.judge.id == judge.id)
    calls = kinds.total() * answers
    budget = judge.budget
    return JudgeCalls(
        judge=judge.id,
        model=judge.model or "",
        askings={kind: kinds[kind] for kind in sorted(kinds)},
        calls=calls,
        usd=None if budget.usd is None else decimal_text(Decimal(budget.usd) * calls),
        tokens=None if budget.tokens is None else budget.tokens * calls,
    )


def _counts(askings: dict[str, int]) -> str:
    return ", ".join(f"{count} {kind}" for kind, count in askings.items())


def _bound(value: object, unit: str) -> str:
    return f"no ceiling of {unit}" if value is None else f"{value} {unit}"
