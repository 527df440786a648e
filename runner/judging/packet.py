"""What a judge gets to see, and nothing else: task, criteria, changes, whether public tests pass, maybe the solution.

A packet has no room for anything more: no author, agent, model, text of a commit, time, cost, hidden result. Pure.
"""

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

from runner.documents.judging import Flag, FlagKind, PacketRecord, Seen, ShownChange, Side, View
from runner.judges import AnchoredCriterion
from runner.judging.changes import FileChange
from runner.judging.letters import shown as visible
from runner.judging.render import Replaced, Shown

IsTest = Callable[[bytes], bool]
Letter = Literal["A", "B", "C"]


class PublicTests(StrEnum):
    """The one fact about a submission that judges are told."""

    PASSED = "passed"
    FAILED = "failed"
    NOT_RUN = "not_run"


@dataclass(frozen=True, slots=True, kw_only=True)
class Submitted:
    """One change in a packet."""

    shown: Shown
    tests: PublicTests


@dataclass(frozen=True, slots=True, kw_only=True)
class Packet:
    """Everything that is shown for one asking, but for its secrets. Two changes stand as A and B, one as C."""

    task: str
    criteria: tuple[str | AnchoredCriterion, ...]
    changes: tuple[Submitted, ...]
    solution: Shown | None
    """Projected to the allowed paths; None where the release never shows it."""
    view: View

    def __post_init__(self) -> None:
        if len(self.changes) not in {1, 2} or not self.criteria:
            raise ValueError("a packet has one change or two, and at least one criterion")

    @property
    def letters(self) -> tuple[Letter, ...]:
        """What its changes are called."""
        return ("C",) if len(self.changes) == 1 else ("A", "B")


_TEST_NAMES = re.compile(
    rb"(?:^|/)(?:tests?|__tests__|testing|spec)/|(?:^|/)(?:test_[^/]*|[^/]*_test|conftest)\.[^/]+$"
    rb"|\.(?:test|spec)\.[^/]+$"
)


def matches_tests(public: Iterable[str]) -> IsTest:
    """Say which paths are tests: by the usual names, or among the nomination's own public files."""
    own = frozenset(path.encode() for path in public)
    return lambda path: path in own or _TEST_NAMES.search(path) is not None


def without_tests(changes: Iterable[FileChange], is_test: IsTest) -> tuple[FileChange, ...]:
    """Leave out what a candidate did to tests; so are changes compared."""
    return tuple(change for change in changes if not is_test(change.path))


def only_allowed(changes: Iterable[FileChange], allowed: IsTest) -> tuple[FileChange, ...]:
    """Leave out what stands at other paths than a candidate may change; so is the solution shown."""
    return tuple(change for change in changes if allowed(change.path))


def refusal(packet: Packet) -> str | None:
    """Say which part of a packet is beyond its ceilings; None where it may be shown."""
    parts = [(f"change {letter}", change.shown) for letter, change in zip(packet.letters, packet.changes, strict=True)]
    parts += [] if packet.solution is None else [("the solution", packet.solution)]
    return next((f"{name}: {shown.excess}" for name, shown in parts if shown.excess), None)


def flags(packet: Packet, sides: tuple[Side | None, ...]) -> tuple[Flag, ...]:
    """List what was seen in each change; `sides` says what the changes are in the plan, in the order shown."""
    return tuple(
        Flag(side=side, kind=kind, count=count)
        for side, change in zip(sides, packet.changes, strict=True)
        for kind, count in change.shown.seen
    )


def is_flagged(packet: Packet) -> bool:
    """Whether something in a packet speaks to a judge."""
    return any(change.shown.flagged(FlagKind.INJECTION) for change in packet.changes)


def packet_digest(packet: Packet) -> str:
    """Give the SHA-256 over all that is shown."""
    return hashlib.sha256(netstrings(packet)).hexdigest()


def netstrings(packet: Packet) -> bytes:
    """Give all that is shown: each text with its length in front (netstrings), in a fixed order."""
    parts = (part.encode("utf-8", "surrogatepass") for part in texts(packet))
    return b"".join(b"%d:%b," % (len(part), part) for part in parts)


def packet_record(packet: Packet) -> PacketRecord:
    """Give the list of what was replaced, left and labelled in a packet."""
    changes = zip(packet.letters, packet.changes, strict=True)
    return PacketRecord(
        packet_sha256=packet_digest(packet),
        view=packet.view,
        changes=tuple(_recorded(letter, change.shown) for letter, change in changes),
    )


def _recorded(letter: Letter, shown: Shown) -> ShownChange:
    return ShownChange(
        letter=letter,
        lines=len(shown.lines),
        replaced=tuple(_seen(each) for each in shown.replaced),
        left=tuple(_seen(each) for each in shown.left),
        spoken=tuple(Seen(what=each.label, line=each.line) for each in shown.spoken),
    )


def _seen(found: Replaced) -> Seen:
    return Seen(what=found.trace, line=found.line, text=visible(" ".join(found.text.split()))[0][:_LONGEST_SEEN])


_LONGEST_SEEN = 300


def texts(packet: Packet) -> Iterator[str]:
    """Yield all texts of a packet in a fixed order."""
    yield f"cleanroom/packet/1 {packet.view}"
    yield packet.task
    for criterion in packet.criteria:
        yield criterion if isinstance(criterion, str) else criterion.model_dump_json()
    for change in packet.changes:
        yield change.tests
        yield "\n".join(change.shown.visible)
    yield "" if packet.solution is None else "\n".join(packet.solution.visible)
