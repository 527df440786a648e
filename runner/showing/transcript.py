"""What an agent and its model said to each other, from the recording of its requests. Pure.

Each request holds the whole conversation so far. What it adds to the request before is new; the model's own words in
it were seen as the answer already. An agent may hold several conversations, and may shorten one.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

from runner.gateway.recording import Exchange, Recording
from runner.gateway.relay.matching import readable
from runner.showing.protocols import PROTOCOLS, error_in, parts_of
from runner.showing.steps import OF_THE_MODEL, Kind, Step


@dataclass(slots=True)
class _Talk:
    """One conversation, as its last request had it."""

    asked: tuple[Step, ...] = ()
    answered: bool = False
    seen: set[Step] = field(default_factory=set)


def transcript(recording: Recording) -> tuple[Step, ...]:
    """Give every step in the order in which it was seen."""
    talks: list[_Talk] = []
    steps = [step for exchange in recording.exchanges for step in _exchange(recording, exchange, talks)]
    if recording.torn:
        steps.append(_note("the recording ends here: its writer was killed"))
    return tuple(with_names(steps))


def with_names(steps: Iterable[Step]) -> Iterator[Step]:
    """Name the tool of each reply, where its call was seen."""
    names: dict[str, str] = {}
    for step in steps:
        if step.kind is Kind.CALL and step.key:
            names[step.key] = step.name
        yield step if step.kind is not Kind.REPLY or step.name else replace(step, name=names.get(step.key, ""))


def _exchange(recording: Recording, exchange: Exchange, talks: list[_Talk]) -> Iterator[Step]:
    protocol = PROTOCOLS.get(exchange.asked.operation)
    if protocol is None:
        return
    asked, given = protocol
    body = None if exchange.asked.cut else readable(recording.request(exchange))
    number = exchange.sequence
    talk = _Talk()
    if body is None:
        yield _note("what was asked was not kept, or is no request", number)
    else:
        system, told = _parted(asked(body))
        talk = _talk_of(talks, told)
        if talk not in talks:
            yield from (_note("another conversation begins", number) for _ in talks[:1])
            talks.append(talk)
            yield from (replace(step, request=number) for step in system)
        yield from (replace(step, request=number) for step in _new(talk, told, number))
    answer = list(_answer(recording, exchange, given))
    talk.answered = any(step.kind in OF_THE_MODEL for step in answer)
    talk.seen.update(answer)
    yield from (replace(step, request=number) for step in answer)


def _parted(steps: Iterable[Step]) -> tuple[tuple[Step, ...], tuple[Step, ...]]:
    """Part what the agent says of itself, which it may vary, from the conversation."""
    whole = tuple(steps)
    system = tuple(step for step in whole if step.kind is Kind.SYSTEM)
    return system, tuple(step for step in whole if step.kind is not Kind.SYSTEM)


def _talk_of(talks: list[_Talk], told: tuple[Step, ...]) -> _Talk:
    """Give the conversation that a request goes on with: the one that it has most of; else a new one."""
    best = max(talks, key=lambda talk: _common(talk.asked, told), default=None)
    return _Talk() if best is None or not _common(best.asked, told) else best


def _common(before: tuple[Step, ...], now: tuple[Step, ...]) -> int:
    pairs = zip(before, now, strict=False)
    return next((at for at, (old, new) in enumerate(pairs) if old != new), min(len(before), len(now)))


def _new(talk: _Talk, told: tuple[Step, ...], number: int) -> Iterator[Step]:
    """Give what a request adds, and remember it."""
    common = _common(talk.asked, told)
    added = told[common:]
    if common < len(talk.asked):
        yield _note("the agent shortened or rewrote the conversation", number)
        added = tuple(step for step in added if step not in talk.seen)
    elif talk.answered:
        own = next((at for at, step in enumerate(added) if step.kind not in OF_THE_MODEL), len(added))
        added = added[own:]
    talk.asked = told
    talk.seen.update(told[common:])
    yield from added


def _answer(recording: Recording, exchange: Exchange, given: object) -> Iterator[Step]:
    told = exchange.given
    if told is None:
        yield Step(kind=Kind.ERROR, text="no answer: the gateway ended before there was one")
        return
    parts = [] if told.cut else parts_of(recording.given(exchange))
    if told.cut:
        yield _note("the answer was not kept whole")
    if callable(given):
        yield from given(parts)
    if told.failure is not None or told.refusal is not None:
        why = told.refusal and f"the gateway refused it ({told.refusal})"
        words = error_in(parts)
        status = "no status" if told.status is None else f"status {told.status}"
        text = f"{why or told.failure}, {status}{f': {words}' if words else ''}"
        yield Step(kind=Kind.ERROR, text=text)


def _note(text: str, request: int | None = None) -> Step:
    return Step(kind=Kind.NOTE, text=text, request=request)
