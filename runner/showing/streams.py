"""What an agent's own stream tells of its steps, where nobody recorded its requests: a claim, all of it. Pure."""

from collections.abc import Callable, Iterator, Mapping

from runner.agents.reading import Event, json_lines, member
from runner.showing.protocols import messages_content
from runner.showing.steps import Kind, Step, arguments, said, text_in, word
from runner.showing.transcript import with_names

_CODEX_ARGUMENTS = ("command", "changes", "query", "arguments", "server", "tool")


def streamed(agent: str, stdout: bytes) -> tuple[Step, ...]:
    """Give the steps that a stream tells; none for agents whose stream tells none."""
    read = _READERS.get(agent)
    events, _ = json_lines(stdout)
    return () if read is None else tuple(with_names(step for event in events for step in read(event)))


def _codex(event: Event) -> Iterator[Step]:
    item = event.get("item")
    if event.get("type") == "turn.failed":
        yield from said(member(event, "error", "message"), Kind.ERROR)
    if event.get("type") != "item.completed" or not isinstance(item, dict):
        return
    kind = word(item.get("type"), "?")
    match kind:
        case "agent_message":
            yield from said(item.get("text"))
        case "reasoning":
            yield from said(item.get("text"), Kind.THOUGHT)
        case "error":
            yield from said(item.get("message"), Kind.NOTE)
        case _:
            asked = {name: item[name] for name in _CODEX_ARGUMENTS if name in item}
            yield Step(kind=Kind.CALL, name=kind, text=arguments(asked))
            failed = item.get("status") == "failed"
            reply = text_in(item.get("aggregated_output") or item.get("result"))
            yield Step(kind=Kind.REPLY, name=kind, text=reply, failed=failed)


def _claude(event: Event) -> Iterator[Step]:
    content = member(event, "message", "content")
    match event.get("type"):
        case "assistant":
            yield from messages_content(content, Kind.SAID)
        case "user":
            yield from messages_content(content, Kind.TOLD)
        case _:
            return


def _opencode(event: Event) -> Iterator[Step]:
    part = event.get("part")
    match event.get("type"):
        case "text":
            yield from said(member(part, "text"))
        case "reasoning":
            yield from said(member(part, "text"), Kind.THOUGHT)
        case "tool_use":
            name, state = word(member(part, "tool"), "?"), member(part, "state")
            yield Step(kind=Kind.CALL, name=name, text=arguments(member(state, "input")))
            reply = text_in(member(state, "output") or member(state, "error"))
            yield Step(kind=Kind.REPLY, name=name, text=reply, failed=member(state, "status") == "error")
        case "error":
            yield from said(member(event, "error", "data", "message") or member(event, "error", "name"), Kind.ERROR)
        case _:
            return


_READERS: Mapping[str, Callable[[Event], Iterator[Step]]] = {"codex": _codex, "claude": _claude, "opencode": _opencode}
