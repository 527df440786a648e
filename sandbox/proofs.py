"""What is tried against a unit, and what came of it: values, and the one way from an observation to a proof. Pure."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from sandbox.spec import Role


class Area(StrEnum):
    """What an attack is aimed at: the classes of the attack catalogue."""

    SANDBOX = "sandbox"
    NETWORK = "network"
    RESOURCE = "resource"
    CAPTURE = "capture"
    ARTIFACT = "artifact"


@dataclass(frozen=True, slots=True, kw_only=True)
class Ruling:
    """What an observation says: whether the wall held, and what was seen, in words for an operator."""

    held: bool
    observed: str


Judge = Callable[[object], Ruling]
"""From a raw observation, whatever it is, to a ruling. It never raises, and never holds what it does not know."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Attack:
    """One thing that is tried from inside a unit."""

    id: str
    """Kebab-case, unique."""
    items: tuple[int, ...]
    """Numbers of the project's attack catalogue."""
    area: Area
    roles: tuple[Role, ...]
    """The roles it is tried from."""
    says: str
    """What is tried, in one line."""
    expects: str
    """What a unit that holds answers, in one line."""
    probe: str
    """Name of the observation that decides, as `unit/name`."""
    judge: Judge


@dataclass(frozen=True, slots=True, kw_only=True)
class Proof:
    """What came of one attack from one role's unit."""

    attack: str
    area: str
    items: tuple[int, ...]
    role: Role
    tried: str
    expected: str
    observed: str
    held: bool


Row = tuple[str, tuple[int, ...], tuple[Role, ...], str, str, str, Judge]
"""Id, items, roles, says, expects, probe, judge."""


def table(area: Area, *rows: Row) -> tuple[Attack, ...]:
    """Give the attacks of one area."""
    return tuple(
        Attack(id=name, items=items, area=area, roles=roles, says=says, expects=expects, probe=probe, judge=judge)
        for name, items, roles, says, expects, probe, judge in rows
    )


def proof_of(attack: Attack, role: Role, observation: object) -> Proof:
    """Decide one attack; an observation that is missing (None) or not understood holds nothing."""
    ruling = attack.judge(observation)
    return Proof(
        attack=attack.id,
        area=attack.area,
        items=attack.items,
        role=role,
        tried=attack.says,
        expected=attack.expects,
        observed=ruling.observed,
        held=ruling.held,
    )
