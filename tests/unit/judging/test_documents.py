"""Laws of the documents that judging writes."""

import pytest
from pydantic import ValidationError

from runner.documents.judging import (
    Asked,
    Cell,
    Choice,
    Flag,
    FlagKind,
    PairItem,
    PairVerdict,
    RubricItem,
    RubricScore,
    RubricVerdict,
)

SHA = "0" * 64
CELL = Cell(candidate="c", nomination="n", attempt=1, try_=1, submission_sha256=SHA)
ASKED = Asked(
    judge="j",
    model=None,
    number=1,
    packet_sha256=SHA,
    prompt_sha256=SHA,
    settings_sha256=SHA,
    solution="never",
    answer_sha256=SHA,
    duration_ms=1,
)


def pair(verdict: Choice, *flags: Flag) -> PairVerdict:
    item = PairItem(nomination="n", first=CELL, second=CELL, shown_a="second")
    return PairVerdict(
        release="r",
        manifest_sha256=SHA,
        item=item,
        asked=ASKED,
        verdict=verdict,
        reason="why",
        quotes=(),
        injection_seen=False,
        flags=flags,
    )


def rubric(*criteria: str, reason: str = "why") -> RubricVerdict:
    return RubricVerdict(
        release="r",
        manifest_sha256=SHA,
        item=RubricItem(cell=CELL, criteria=("scope", "clarity")),
        asked=ASKED,
        scores=tuple(RubricScore(criterion=each, points=7, reason=reason) for each in criteria),
        quotes=(),
        injection_seen=False,
        flags=(),
    )


@pytest.mark.parametrize(
    ("verdict", "slot"), [(Choice.FIRST, "B"), (Choice.SECOND, "A"), (Choice.TIE, None), (Choice.ABSTAIN, None)]
)
def test_the_letter_that_won_follows_from_the_order_that_was_shown(verdict: Choice, slot: str | None) -> None:
    assert pair(verdict).slot == slot


def test_only_a_name_that_was_left_makes_a_verdict_not_blind() -> None:
    kinds = {kind: pair(Choice.TIE, Flag(side="first", kind=kind, count=1)).blind for kind in FlagKind}
    assert [kind for kind, blind in kinds.items() if not blind] == [FlagKind.IDENTITY_LEFT]


def test_each_criterion_that_was_asked_for_has_its_points() -> None:
    assert rubric("scope", "clarity").points == {"scope": 7, "clarity": 7}
    for odd in [("scope",), ("clarity", "scope"), ("scope", "clarity", "clarity")]:
        with pytest.raises(ValidationError):
            rubric(*odd)


@pytest.mark.parametrize("text", ["two\nlines", "\x1b[31m", "a\u202eb", "x" * 1001], ids=ascii)
def test_a_reason_is_one_bounded_line_of_visible_characters(text: str) -> None:
    with pytest.raises(ValidationError):
        rubric("scope", "clarity", reason=text)
