"""Holding what an agent asked in a replay against what it had asked when it was recorded. Pure."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import zip_longest

from runner.gateway.recording import Exchange, Recording
from runner.gateway.relay.matching import readable, without_varying

AROUND, LONGEST = 30, 90
"""How much of two texts is shown before the place where they part, and of each in all."""
NOTHING = "nothing"


@dataclass(frozen=True, slots=True, kw_only=True)
class Divergence:
    """One way in which a replay was another run."""

    request: int
    """Of the replay; for what was not asked, of the recording."""
    says: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """What came of a replay's requests."""

    recorded: int
    asked: int
    answered: int
    """From the recording."""
    divergences: tuple[Divergence, ...]
    """Every miss in the order in which it was asked, then what was never asked. Empty: the same run."""


def compare(recorded: Recording, again: Recording) -> Comparison:
    """Say what of a replay was not in the recording, and what of the recording was not in the replay."""
    answers = [each.given.played for each in again.exchanges if each.given is not None]
    played = [number for number in answers if number is not None]
    left = {each.sequence: each for each in recorded.exchanges}
    misses = tuple(_misses(recorded, again, left))
    return Comparison(
        recorded=len(recorded.exchanges),
        asked=len(again.exchanges),
        answered=len(played),
        divergences=(*misses, *_unasked(left.values())),
    )


def _misses(recorded: Recording, again: Recording, left: dict[int, Exchange]) -> Iterator[Divergence]:
    """Find what was missed; what it stands for, and what was played, is taken out of `left`."""
    for asked in again.exchanges:
        if asked.given is not None and asked.given.played is not None:
            left.pop(asked.given.played, None)
            continue
        meant = next((each for each in left.values() if each.asked.operation == asked.asked.operation), None)
        name = f"request {asked.sequence} ({asked.asked.operation})"
        if meant is None:
            yield Divergence(request=asked.sequence, says=f"{name} is one more than were recorded")
        else:
            left.pop(meant.sequence)
            told = _difference(recorded, meant, again, asked)
            yield Divergence(request=asked.sequence, says=f"{name} is not recorded request {meant.sequence}: {told}")


def _difference(recorded: Recording, meant: Exchange, again: Recording, asked: Exchange) -> str:
    if meant.asked.cut or meant.given is None or meant.given.cut:
        return "that one was not kept whole, and cannot be played"
    for name in ("method", "target"):
        before, now = getattr(meant.asked, name), getattr(asked.asked, name)
        if before != now:
            return f"{name}: recorded {before!r}, asked {now!r}"
    return first_difference(recorded.request(meant), again.request(asked))


def _unasked(left: Iterable[Exchange]) -> Iterator[Divergence]:
    for each in left:
        says = f"recorded request {each.sequence} ({each.asked.operation}) was not asked"
        yield Divergence(request=each.sequence, says=says)


def first_difference(before: bytes, now: bytes) -> str:
    """Say in a line where two bodies part, what varies from run to run left out."""
    old, new = readable(before), readable(now)
    if old is None or new is None:
        return _parting("the body", before.decode("utf-8", "replace"), now.decode("utf-8", "replace"))
    found = _first(without_varying(old), without_varying(new), "")
    return "nothing but its place" if found is None else found


def _first(before: object, now: object, place: str) -> str | None:
    """Find the first place, in the order in which bodies are written, where two values differ."""
    if isinstance(before, dict) and isinstance(now, dict):
        pairs = [(name, before.get(name, _NONE), now.get(name, _NONE)) for name in dict.fromkeys((*before, *now))]
    elif isinstance(before, list) and isinstance(now, list):
        pairs = [(str(at), old, new) for at, (old, new) in enumerate(zip_longest(before, now, fillvalue=_NONE))]
    elif isinstance(before, str) and isinstance(now, str):
        return None if before == now else _parting(place or "the body", before, now)
    else:
        return None if before == now and type(before) is type(now) else _plain(place, before, now)
    return next((found for name, old, new in pairs if (found := _first(old, new, f"{place}/{name}"))), None)


_NONE = object()


def _plain(place: str, before: object, now: object) -> str:
    texts = (NOTHING if each is _NONE else _cut(repr(each)) for each in (before, now))
    return "{}: recorded {}, asked {}".format(place or "the body", *texts)


def _parting(place: str, before: str, now: str) -> str:
    same = next((at for at, (old, new) in enumerate(zip(before, now, strict=False)) if old != new), None)
    start = max(0, (min(len(before), len(now)) if same is None else same) - AROUND)
    old, new = (repr(text[start : start + LONGEST]) for text in (before, now))
    ahead = "..." if start else ""
    return f"{place}: recorded {ahead}{old}, asked {ahead}{new}"


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}..."
