"""What judges say: one document an answer, with fields that were read from it and never the answer itself."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, ClassVar, Literal, Self

from pydantic import AfterValidator, Field, StringConstraints, model_validator

from runner.documents.facts import RuntimeFact
from runner.documents.ledger import Tokens
from runner.documents.model import DecimalText, Document, Identifier, Milliseconds, Sha256, Shape
from runner.documents.seal import Ordinal
from runner.fields import Criterion, refusal

Points = Annotated[int, Field(ge=0, le=10)]
"""What a criterion is given."""

Repeat = Annotated[int, Field(ge=0, le=99)]
"""0 for the planned asking; 1 and on for the same asking once more."""


def _plain(text: str) -> str:
    if not text.isprintable():
        raise ValueError("a text without control or invisible characters")
    return text


Remark = Annotated[str, StringConstraints(max_length=1000), AfterValidator(_plain)]
"""A judge's reason: one bounded line, cleaned of what cannot be seen and of names."""


class Choice(StrEnum):
    """A pairwise verdict, told of the plan's sides and never of the letters that were shown."""

    FIRST = "first"
    SECOND = "second"
    TIE = "tie"
    ABSTAIN = "abstain"


Side = Literal["first", "second"]
"""A side of a pair as the plan names it."""


class View(StrEnum):
    """Which form of the changes a judge saw."""

    FULL = "full"
    BARE = "bare"
    """Without comments."""


class UnscoredWhy(StrEnum):
    """Why an asking has no verdict. None of these is a loss or a zero."""

    UNPARSABLE = "unparsable"
    """The answer was not the one JSON object that was asked for."""
    TRUNCATED = "truncated"
    """The answer ended before its end."""
    REFUSED = "refused"
    """The judge would not answer."""
    UNSUPPORTED = "unsupported"
    """It quotes what does not stand in the packet."""
    CANARY = "canary"
    """It repeats the secret word of its instructions."""
    PROVIDER = "provider"
    """No answer came."""
    TOO_LARGE = "too_large"
    """A change is beyond the packet's ceilings; nobody was asked."""


class FlagKind(StrEnum):
    """What was seen in a change before a judge was asked."""

    IDENTITY_REPLACED = "identity_replaced"
    """Names were replaced by neutral marks."""
    IDENTITY_LEFT = "identity_left"
    """A name stands in code, where replacing it would change the code. Such a verdict is not blind."""
    INJECTION = "injection"
    """Text that speaks to a judge."""
    HIDDEN_CHARACTERS = "hidden_characters"
    """Control, bidirectional or invisible characters, shown escaped."""
    LOOKALIKES = "lookalikes"
    """Letters of several alphabets in one word."""
    LONG_LINES = "long_lines"
    """Lines were cut, with a mark."""
    COMMENTS_LEFT = "comments_left"
    """The view without comments could not be made of every file."""


class Flag(Shape):
    """One thing seen in one change."""

    side: Side | None
    """Null in a rubric's packet, which has one change."""
    kind: FlagKind
    """What was seen."""
    count: Annotated[int, Field(ge=1)]
    """How often."""


class Cell(Shape):
    """One sealed submission."""

    candidate: Identifier
    nomination: Identifier
    attempt: Ordinal
    try_: Ordinal = Field(alias="try")
    """The try's number."""
    submission_sha256: Sha256
    """Digest of its sealed folder."""


class ControlKind(StrEnum):
    """What a hidden control tries, and so which verdict is right."""

    IDENTICAL = "identical"
    """A change beside itself: a tie."""
    PADDED = "padded"
    """A change beside itself with idle lines: a tie."""
    INJECTED = "injected"
    """A change beside itself with a comment that speaks to the judge: a tie."""
    KNOWN_WINNER = "known_winner"
    """The reference solution beside a change known to be wrong: the solution."""
    NULL_PATCH = "null_patch"
    """A change beside one that does nothing: the change."""
    TRUNCATED_PATCH = "truncated_patch"
    """A change beside its own beginning: the change."""


class RubricItem(Shape):
    """One asking about one submission."""

    kind: Literal["rubric"] = "rubric"
    """Points by criteria."""
    cell: Cell
    """The submission."""
    criteria: Annotated[tuple[Criterion, ...], Field(min_length=1)]
    """What is asked, in the order of asking."""
    repeat: Repeat = 0
    """0 for the planned asking; 1 and on for further ones."""


class PairItem(Shape):
    """One asking about two submissions of a nomination. The plan has each pair in both orders."""

    kind: Literal["pairwise"] = "pairwise"
    """Which of two is better."""
    nomination: Identifier
    first: Cell
    second: Cell
    shown_a: Side
    """Which of the two stands first, as A."""
    repeat: Repeat = 0
    """Above 0: the same order once more."""


class ControlItem(Shape):
    """One asking whose right verdict is known. It counts for no candidate."""

    kind: Literal["control"] = "control"
    """As a pair, with what was made for it."""
    control: ControlKind
    nomination: Identifier
    cell: Cell | None
    """The submission that it is made of; null: the reference solution."""
    shown_a: Side
    """Which of the two stands first, as A. The side `first` is the change itself, `second` what was made beside it."""
    expected: Choice
    """The right verdict."""
    number: Annotated[int, Field(ge=1)] = 1
    """Controls of one kind and nomination are counted."""


Item = Annotated[RubricItem | PairItem | ControlItem, Field(discriminator="kind")]
"""What a judge is asked."""


class Asked(Shape):
    """Who was asked what, how, and what it took."""

    judge: Identifier
    """Who answered."""
    runtime: RuntimeFact | None = None
    """The program that looked around, where it is somebody else's; null for programs of ours."""
    instead_of: Identifier | None = None
    """The judge whose place a fallback took, since its own family took part; null: nobody's."""
    model: str | None
    """As the answer names it; null where it does not."""
    view: View = View.FULL
    number: Annotated[int, Field(ge=1, le=9999)]
    """Answers to one asking are counted from 1; a further one follows an answer that was no verdict."""
    packet_sha256: Sha256
    """Of all that was shown, as it was shown."""
    workspace_sha256: Sha256 | None = None
    """Of the record of the tree that an in-depth judge could read besides; null for whoever has its packet alone."""
    prompt_sha256: Sha256
    """Of the instructions' template."""
    settings_sha256: Sha256
    """Of the judge's settings and the release's rules of judging."""
    solution: Literal["never", "projected"]
    """Whether the reference solution was shown, projected to the allowed paths."""
    answer_sha256: Sha256 | None
    """Of the answer's text, which is kept privately; null where none came."""
    ledger_sha256: Sha256 | None = None
    """Of the lines of what was asked of the provider, which lie beside; null where nothing was."""
    duration_ms: Milliseconds
    tokens: Tokens = Tokens()
    cost: DecimalText | None = None


class Quote(Shape):
    """A line that a judge names as evidence. It was found where it says."""

    side: Side | None
    """Null in a rubric's packet."""
    line: Annotated[int, Field(ge=1)]
    """Number of the shown line."""
    text: Remark


class RubricScore(Shape):
    """What one criterion was given, and why."""

    criterion: Criterion
    """Which it is."""
    points: Points
    reason: Remark
    """Written before the points."""


class RubricVerdict(Document):
    """judges/<judge>/...: the points that a judge gave to one submission."""

    SCHEMA_NAME: ClassVar[str] = "rubric-verdict"

    schema_: Literal["cleanroom/rubric-verdict/1"] = Field(default="cleanroom/rubric-verdict/1", alias="schema")
    release: Identifier
    manifest_sha256: Sha256
    item: RubricItem
    asked: Asked
    scores: Annotated[tuple[RubricScore, ...], Field(min_length=1)]
    """One a criterion that was asked for, in the order of asking."""
    quotes: tuple[Quote, ...]
    injection_seen: bool
    """The judge says that a text in the packet spoke to it."""
    flags: tuple[Flag, ...]

    @model_validator(mode="after")
    def _complete(self) -> Self:
        if tuple(score.criterion for score in self.scores) != self.item.criteria:
            raise refusal("one score for each criterion that was asked for", "ask again")
        return self

    @property
    def points(self) -> Mapping[str, int]:
        """Points by criterion."""
        return {score.criterion: score.points for score in self.scores}

    @property
    def blind(self) -> bool:
        """Whether nothing told the judge whose work it was; only then does it count in blind averages."""
        return is_blind(self.flags)


class PairVerdict(Document):
    """One verdict about two submissions, or about a hidden control."""

    SCHEMA_NAME: ClassVar[str] = "pair-verdict"

    schema_: Literal["cleanroom/pair-verdict/1"] = Field(default="cleanroom/pair-verdict/1", alias="schema")
    release: Identifier
    manifest_sha256: Sha256
    item: Annotated[PairItem | ControlItem, Field(discriminator="kind")]
    asked: Asked
    verdict: Choice
    reason: Remark
    """Written before the verdict."""
    quotes: tuple[Quote, ...]
    injection_seen: bool
    """The judge says that a text in the packet spoke to it."""
    flags: tuple[Flag, ...]

    @property
    def slot(self) -> Literal["A", "B"] | None:
        """The letter that won; None for a tie or an abstention."""
        if self.verdict not in {Choice.FIRST, Choice.SECOND}:
            return None
        return "A" if self.verdict.value == self.item.shown_a else "B"

    @property
    def blind(self) -> bool:
        """Whether nothing told the judge whose work it was."""
        return is_blind(self.flags)


class Unscored(Document):
    """One asking without a verdict. It is never a loss and never a zero."""

    SCHEMA_NAME: ClassVar[str] = "unscored"

    schema_: Literal["cleanroom/unscored/1"] = Field(default="cleanroom/unscored/1", alias="schema")
    release: Identifier
    manifest_sha256: Sha256
    item: Item
    asked: Asked | None
    """Null where nobody was asked."""
    why: UnscoredWhy
    detail: Remark = ""
    """A sentence of ours, never the model's words."""
    flags: tuple[Flag, ...]


class Seen(Shape):
    """One thing that was found in a shown change."""

    what: Identifier
    """Of traces: `name`, `signature`, `address`, `place` or `agent_file`. Of text that speaks to a judge: its label."""
    line: Annotated[int, Field(ge=1)]
    """Number of the shown line."""
    text: Annotated[str, StringConstraints(max_length=300), AfterValidator(_plain)] = ""
    """As it was written, with invisible characters escaped; empty for what still stands there."""


class ShownChange(Shape):
    """What was done to one change before it was shown."""

    letter: Literal["A", "B", "C"]
    """What it is called in the packet."""
    lines: Annotated[int, Field(ge=0)]
    """How many lines were shown."""
    replaced: tuple[Seen, ...]
    """Traces of who did it, replaced by marks."""
    left: tuple[Seen, ...]
    """Traces in code, which were left."""
    spoken: tuple[Seen, ...]
    """Text that speaks to a judge; it was left."""


class PacketRecord(Document):
    """What was scrubbed, left and labelled in a packet. It holds names, so it is private evidence."""

    SCHEMA_NAME: ClassVar[str] = "packet-record"

    schema_: Literal["cleanroom/packet-record/1"] = Field(default="cleanroom/packet-record/1", alias="schema")
    packet_sha256: Sha256
    """Of all that was shown, as it was shown."""
    view: View
    """Which form of the changes it has."""
    changes: Annotated[tuple[ShownChange, ...], Field(min_length=1, max_length=2)]
    """In the order in which they were shown."""


class SkippedWhy(StrEnum):
    """Why a planned asking was left out."""

    OWN_FAMILY = "own_family"
    """The judge and its fallback are of a family that takes part."""


class Skipped(Shape):
    """A planned asking that no judge may answer; counted, and no loss."""

    judge: Identifier
    item: Item
    why: SkippedWhy


def is_blind(flags: tuple[Flag, ...]) -> bool:
    """Whether no flag says that a name was left."""
    return all(flag.kind is not FlagKind.IDENTITY_LEFT for flag in flags)
