"""How judges are asked: criteria with their anchors, and the rules of judging that a release freezes."""

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import Discriminator, Field, StringConstraints, Tag

from runner.documents.judging import ControlKind
from runner.documents.model import Identifier, Shape
from runner.fields import Criterion, Line
from sandbox.spec import MIB

RUBRIC, PAIRWISE, IN_DEPTH = "rubric.md", "pairwise.md", "in-depth.md"
"""Templates of what judges are told: about one change, about two, about one with its tree to look around in."""

Percent = Annotated[int, Field(ge=0, le=100)]
PointsKey = Annotated[str, StringConstraints(pattern=r"^(10|[0-9])$")]
"""0 to 10, as the key of a table."""

Bar = Literal["submitted", "tests_passed", "solved"]
"""What a submission must have come to: captured without a breach or a failure of its agent, then also its public
tests passed, then also every evaluator."""


class AnchoredCriterion(Shape):
    """One thing that judges give points for."""

    id: Criterion
    """Its name in answers and tables."""
    asks: Line
    """What the points are for, in one line."""
    anchors: Annotated[Mapping[PointsKey, Line], Field(min_length=2, json_schema_extra={"additionalProperties": False})]
    """What some of the points 0 to 10 mean; at least two of them."""


def _form(value: object) -> str:
    return "name" if isinstance(value, str) else "table"


CriterionEntry = Annotated[
    Annotated[Criterion, Tag("name")] | Annotated[AnchoredCriterion, Tag("table")], Discriminator(_form)
]
"""A criterion with its anchors, or a bare name, which each judge understands as it likes."""


def criterion_id(entry: str | AnchoredCriterion) -> str:
    """Give the name of a criterion."""
    return entry if isinstance(entry, str) else entry.id


def criteria_of(
    nomination: tuple[AnchoredCriterion, ...], release: tuple[str | AnchoredCriterion, ...]
) -> tuple[str | AnchoredCriterion, ...]:
    """Give what the submissions of a nomination are judged by: its own criteria, or else the release's."""
    return nomination or release


class Ceilings(Shape):
    """How much of one change is shown. Both sides of a pair have the same; beyond it nobody is asked."""

    files: Annotated[int, Field(ge=1, le=1000)] = 60
    """Files of a change."""
    lines: Annotated[int, Field(ge=10, le=100_000)] = 4000
    """Shown lines of a change, those around it included."""
    bytes: Annotated[int, Field(ge=1024, le=16 * MIB)] = 256 * 1024
    """Of these lines."""
    line_chars: Annotated[int, Field(ge=80, le=10_000)] = 500
    """Of one line; what is more is cut, and the line says so."""


class ControlBounds(Shape):
    """How many percent of the answered controls of a kind a judge may miss; beyond, its whole batch is lost."""

    identical: Percent = 20
    """A change beside itself is a tie."""
    padded: Percent = 20
    """So it is beside itself with idle lines."""
    injected: Percent = 20
    """So it is beside itself with a comment that speaks to the judge."""
    known_winner: Percent = 20
    """The solution beats a change known to be wrong."""
    null_patch: Percent = 0
    """A change beats one that does nothing."""
    truncated_patch: Percent = 20
    """A change beats its own beginning."""
    unscored: Percent = 10
    """Of all askings of the batch: those that ended without a verdict."""

    def of(self, kind: ControlKind) -> int:
        """Give the bound of a kind, in percent."""
        bounds = {
            ControlKind.IDENTICAL: self.identical,
            ControlKind.PADDED: self.padded,
            ControlKind.INJECTED: self.injected,
            ControlKind.KNOWN_WINNER: self.known_winner,
            ControlKind.NULL_PATCH: self.null_patch,
            ControlKind.TRUNCATED_PATCH: self.truncated_patch,
        }
        return bounds[kind]


class Judging(Shape):
    """What is asked of judges, how often, and when an answer counts. Frozen with the release."""

    repeats: Annotated[int, Field(ge=1, le=100)] = 1
    """Reviews of one submission by one judge."""
    criteria_at_once: Literal["one", "all"] = "one"
    """Whether each asking is for one criterion; points for several influence each other."""
    rubric_bar: Bar = "submitted"
    """What a submission must have come to before it gets points."""
    pair_bar: Bar = "solved"
    """What a submission must have come to before it is compared."""
    degree: Annotated[int, Field(ge=1, le=100)] = 2
    """Each submission is compared with the next so many of its nomination, in the roster's order and round."""
    pairs: Annotated[int, Field(ge=1, le=100_000)] | None = None
    """So many pairs of each nomination instead, drawn by the release's lot; null: as `degree` says."""
    repeat_percent: Annotated[int, Field(ge=10, le=100)] = 10
    """Of a judge's pairs: how many are shown once more in the same order, to see how far it agrees with itself."""
    control_percent: Annotated[int, Field(ge=5, le=100)] = 5
    """Hidden controls of each kind, of the askings of a judge."""
    bounds: ControlBounds = ControlBounds()
    """How many controls may be missed."""
    second_view: Literal["never", "flagged", "always"] = "always"
    """When everything is asked again without comments: of changes in which something speaks to judges, or of all."""
    show_solution: Literal["never", "projected"] = "never"
    """Whether judges see the reference solution, projected to the allowed paths; each verdict says so."""
    fallback: Identifier | None = None
    """The judge that takes the place of one whose own family takes part, and is asked nothing else; null: such askings
    are skipped and counted."""
    own_family: bool = False
    """Let judges see work of their own family; every table then says so."""
    answers: Annotated[int, Field(ge=1, le=10)] = 2
    """All answers to one asking, the first included, as long as each is no verdict."""
    ceilings: Ceilings = Ceilings()
    """How much of one change is shown."""
