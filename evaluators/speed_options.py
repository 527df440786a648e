"""The options of kind `speedup`, read strictly. Pure."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from enum import StrEnum

from evaluators.errors import OptionError
from evaluators.model import EvaluatorSpec
from evaluators.options import (
    is_relative,
    read_choice,
    read_count,
    read_fraction,
    read_names,
    read_path,
    read_texts,
    read_wall,
    refuse_unknown,
)
from evaluators.speed_calls import Clock
from evaluators.speed_ruling import FEWEST_PAIRS
from evaluators.speed_values import Scale

MOST_PAIRS = 100
_BOUNDARY = re.compile(r"(0|[1-9][0-9]{0,5})(\.[0-9]{1,6})?")
_SCORE = re.compile(r"0(\.[0-9]{1,6})?|1(\.0{1,6})?")
_FUNCTION = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*:[A-Za-z_]\w*(\.[A-Za-z_]\w*)*", re.ASCII)
_SHARED = frozenset({"protocol", "function", "plan", "buckets", "pass_threshold", "pairs", "seed", "impure", "wall_s"})


class Protocol(StrEnum):
    """How a speed-up is found."""

    PAIRED_V2 = "paired-v2"
    """Two units, timed from outside."""
    PAIRED_V1 = "paired-v1"
    """One process."""
    SELF_REPORTED = "self-reported"
    """A program says it."""


PAIRS = {Protocol.PAIRED_V2: 11, Protocol.PAIRED_V1: 7}
"""How many are measured, where nobody says it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SpeedOptions:
    """What is timed, against what, and what it is worth."""

    function: str
    """`module:callable`, in the base and in a submission."""
    plan: str
    """The private module with oracle cases and inputs."""
    scale: Scale
    pairs: int
    seed: int
    clock: Clock
    pure: bool
    """Whether a call must leave its arguments as they are."""
    wall: timedelta | None
    editable: tuple[str, ...] = ()
    allowed_imports: tuple[str, ...] = ()

    @property
    def seeds(self) -> range:
        """One for each pair, and one for the warm-up before them."""
        return range(self.seed, self.seed + self.pairs + 1)


def protocol_of(spec: EvaluatorSpec) -> Protocol:
    """Give the protocol; the first where none is named.

    Raises:
        OptionError: there is no such protocol.
    """
    return Protocol(read_choice(spec, "protocol", tuple(Protocol)))


def read_speed(spec: EvaluatorSpec, protocol: Protocol) -> SpeedOptions:
    """Read the options of one of the paired protocols.

    Raises:
        OptionError: an option is not what it must be.
    """
    is_first = protocol is Protocol.PAIRED_V1
    refuse_unknown(spec, _SHARED | ({"editable", "allowed_imports"} if is_first else {"clock"}))
    editable = read_texts(spec, "editable")
    if is_first and not (editable and all(map(is_relative, editable))):
        raise _wrong(spec, "editable", repr(editable), "the paths that a candidate may edit")
    return SpeedOptions(
        function=_function(spec),
        plan=read_path(spec, "plan"),
        scale=read_scale(spec, above=Decimal(0) if is_first else Decimal(1)),
        pairs=_pairs(spec, protocol),
        seed=_seed(spec),
        clock=Clock.WALL if is_first else Clock(read_choice(spec, "clock", tuple(Clock))),
        pure=not _impure(spec),
        wall=read_wall(spec),
        editable=editable,
        allowed_imports=read_names(spec, "allowed_imports"),
    )


def read_scale(spec: EvaluatorSpec, *, above: Decimal = Decimal(0)) -> Scale:
    """Read `buckets` and `pass_threshold`."""
    table = spec.options.get("buckets")
    if not isinstance(table, Mapping) or not table:
        raise _wrong(spec, "buckets", repr(table), "a table: a boundary -> a score, both as texts")
    buckets = {
        _number(spec, str(name), name, _BOUNDARY): _number(spec, str(name), score, _SCORE)
        for name, score in table.items()
    }
    if len(buckets) != len(table) or min(buckets) <= above:
        raise _wrong(spec, "buckets", ", ".join(map(str, table)), f"boundaries above {above}, each of them once")
    ordered = dict(sorted(buckets.items()))
    if list(ordered.values()) != sorted(set(ordered.values())) or min(ordered.values()) == 0:
        raise _wrong(spec, "buckets", ", ".join(map(str, ordered.values())), "scores above 0 that rise")
    threshold = read_fraction(spec, "pass_threshold", "1")
    if not 0 < threshold <= max(ordered.values()):
        raise _wrong(spec, "pass_threshold", str(threshold), "a score that a bucket gives")
    return Scale(buckets=ordered, threshold=threshold)


def _number(spec: EvaluatorSpec, name: str, value: object, form: re.Pattern[str]) -> Decimal:
    if not isinstance(value, str) or form.fullmatch(value) is None:
        raise _wrong(spec, f"buckets.{name}", repr(value), "a decimal number as a text, such as '1.5'")
    return Decimal(value)


def _pairs(spec: EvaluatorSpec, protocol: Protocol) -> int:
    fewest = 1 if protocol is Protocol.PAIRED_V1 else FEWEST_PAIRS
    count = read_count(spec, "pairs", PAIRS[protocol]) or PAIRS[protocol]
    if not fewest <= count <= MOST_PAIRS:
        raise _wrong(spec, "pairs", str(count), f"{fewest} to {MOST_PAIRS}")
    return count


def _seed(spec: EvaluatorSpec) -> int:
    value = spec.options.get("seed", 0)
    if not isinstance(value, int) or isinstance(value, bool):
        raise _wrong(spec, "seed", repr(value), "a whole number")
    return value


def _impure(spec: EvaluatorSpec) -> bool:
    value = spec.options.get("impure", False)
    if not isinstance(value, bool):
        raise _wrong(spec, "impure", repr(value), "true where a call may change its arguments")
    return value


def _function(spec: EvaluatorSpec) -> str:
    value = spec.options.get("function")
    if not isinstance(value, str) or _FUNCTION.fullmatch(value) is None:
        raise _wrong(spec, "function", repr(value), "'package.module:callable'")
    return value


def _wrong(spec: EvaluatorSpec, field: str, found: str, expected: str) -> OptionError:
    return OptionError(evaluator=spec.id, field=field, found=found, expected=expected)
