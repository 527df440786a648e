"""Whether an evaluator's verdict and score follow from its cases, as far as its kind lets anybody tell. Pure."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

from evaluators.model import VerdictCause
from runner.documents.nomination import EvaluatorTable
from runner.verification.model import Finding, differ

_RULED = frozenset({VerdictCause.PASSED, VerdictCause.FAILED})


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """What an evaluator said, in private or in public."""

    passed: bool
    cause: VerdictCause
    score: str | None
    cases: Sequence[bool]
    """Whether each passed."""


def check_verdict(file: Path | str, place: str, said: Said, table: EvaluatorTable) -> Iterator[Finding]:
    """Find that a verdict does not follow from its cases; `place` is put before the fields."""
    yield from differ(file, f"{place}passed", said.passed, said.cause is VerdictCause.PASSED)
    rule = _rule(table)
    if rule is not None and said.cause in _RULED:
        yield from rule(file, place, said, table)


def follows_from_cases(table: EvaluatorTable) -> bool:
    """Whether the score of a kind can be computed again from the cases alone."""
    return _rule(table) is _check_whole


Rule = Callable[[Path | str, str, Said, EvaluatorTable], Iterator[Finding]]


def _rule(table: EvaluatorTable) -> Rule | None:
    if "sites" in table.options:
        return _check_threshold
    return _RULES.get(table.kind)


def _check_whole(file: Path | str, place: str, said: Said, table: EvaluatorTable) -> Iterator[Finding]:
    """All cases must pass; the score is 1 or 0."""
    del table
    yield from differ(file, f"{place}passed", said.passed, bool(said.cases) and all(said.cases))
    yield from differ(file, f"{place}score", said.score, "1" if said.passed else "0")


def _check_threshold(file: Path | str, place: str, said: Said, table: EvaluatorTable) -> Iterator[Finding]:
    """The score must reach the nomination's threshold."""
    threshold = table.options.get("pass_threshold", "1")
    if said.score is not None and isinstance(threshold, str):
        yield from differ(file, f"{place}passed", said.passed, Decimal(said.score) >= Decimal(threshold))


_RULES: Mapping[str, Rule] = {
    "json-match": _check_whole,
    "mutation": _check_threshold,
    "pytest": _check_whole,
    "review-findings": _check_threshold,
    "speedup": _check_threshold,
}
