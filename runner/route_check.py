"""What a route can do, line by line, from one `hi` and one offered tool. Pure."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from runner.agents.native import TOOLS
from runner.documents.ledger import LedgerLine
from runner.documents.telemetry import AgentError, Preflight, ProbeReason, Telemetry
from runner.preflight import SENTENCES
from runner.roster import Route
from sandbox.check import Check, Line, State

TOOL_PROMPT = "Call the tool done once, with the summary: hi. Write nothing else."
OFFERED = (*TOOLS, "done")


@dataclass(frozen=True, slots=True, kw_only=True)
class Heard:
    """One question through a route: what the agent says of it, what the gateway saw."""

    telemetry: Telemetry
    lines: tuple[LedgerLine, ...]
    parts: int = 0
    """Chunks that the answer came in; none for one that came whole."""
    reason: ProbeReason | None = None
    """Why no answer came, if so."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RouteCheck:
    """One line about a route, and why it failed in the words of evidence."""

    check: Check
    reason: ProbeReason | None = None


def judge_route(route: Route, preflight: Preflight, hi: Heard, tool: Heard | None) -> tuple[RouteCheck, ...]:
    """Judge one `hi`, and one question with tools, which is not asked where nothing answers."""
    return (
        _answered(route, preflight, hi),
        *(_plain(check) for check in _answer_checks(route, hi)),
        _tool_call(route, tool),
    )


def without_key(route: Route) -> RouteCheck:
    """Say that the key is missing: nothing was asked."""
    line = _line(route, "answered", "a key in the environment", "everything: nothing was asked", "")
    check = line.fails(f"{route.credential} is not set", mend=f"run: export {route.credential}=...")
    return RouteCheck(check=_failed(check), reason="auth")


def answers(heard: Heard) -> bool:
    """Tell whether a completion came, whatever it says."""
    return any(line.operation == "chat" and line.complete and line.failure is None for line in heard.lines)


def _line(route: Route, name: str, expected: str, lost: str, mend: str) -> Line:
    return Line(topic=f"route {route.id}", name=name, expected=expected, lost=lost, mend=mend)


def _failed(check: Check) -> Check:
    return replace(check, state=State.FAILED) if check.state is State.UNFIT else check


def _plain(check: Check) -> RouteCheck:
    return RouteCheck(check=_failed(check))


def _answered(route: Route, preflight: Preflight, hi: Heard) -> RouteCheck:
    lost = "every candidate and judge of this route: they would be unavailable"
    line = _line(route, "answered", "hi", lost, "")
    if preflight.reason is None:
        model = next((each.model_answered for each in hi.lines if each.model_answered), None)
        return RouteCheck(check=line.holds(f"{preflight.detail}{'' if model is None else f', as {model}'}"))
    said = f"{preflight.reason}: {preflight.detail}{_told(hi.lines, hi.telemetry.final_error)}"
    return RouteCheck(check=_failed(line.fails(said, mend=_mend(route, preflight.reason))), reason=preflight.reason)


def _told(lines: tuple[LedgerLine, ...], error: AgentError | None) -> str:
    """Add the provider's status and words."""
    status = next((line.status_upstream for line in reversed(lines) if line.status_upstream is not None), None)
    retries = sum(line.retries for line in lines)
    parts = [] if status is None else [f"status {status}"]
    parts += [f"after {retries} more tries"] if retries else []
    parts += [error.message.strip()[:200]] if error is not None and error.message.strip() else []
    return f" ({'; '.join(parts)})" if parts else ""


def _mend(route: Route, reason: ProbeReason) -> str:
    place = f"routes[{route.id}]"
    key = route.credential
    fresh = (
        f"run: export {key}=... with a key that the provider takes"
        if key
        else f"name the key's variable in {place}.credential"
    )
    mends: dict[ProbeReason, str] = {
        "auth": fresh,
        "quota": f"top the provider's account up, or {fresh}",
        "unknown_model": f"mend the model's name; the provider lists its own below {place}.base_url, at /models",
        "overloaded": "ask again later, or use another route: this provider is overloaded, broken, or hit too often",
        "network": f"mend {place}.base_url, or this machine's way to it (name service, proxy, firewall)",
        "malformed": f"let {place}.base_url lead to an API of protocol {route.protocol}: no such answer came",
        "refused": f"mend what the provider refuses: the model, its reasoning variant, or {place}.extra_body",
        "context_length": "use a model that takes more than a line",
        "timeout": "raise limits.preflight.wall_ms, or use a quicker model",
        "output_limited": "raise limits.preflight.output_bytes",
        "process_failure": "run it again; if it stays, look at what the agent printed",
        "no_model_response": "run it again, or use another model: it answered with nothing",
        "wrong_answer": "use another model or reasoning variant: this one does not do as it is told",
    }
    return mends[reason]


def _answer_checks(route: Route, hi: Heard) -> Iterator[Check]:
    streamed = _line(
        route,
        "streamed",
        "an answer in more than one part",
        "time to the first token, and an early end of an agent that runs wild",
        "use a provider that streams, and none that keeps an answer back until it is whole",
    )
    usage = _line(
        route,
        "usage",
        "tokens of the question and of the answer",
        "budgets in tokens, and every column of tokens",
        f'add "include_usage" to routes[{route.id}].amendments',
    )
    cost = _line(route, "cost", "the provider's own figure, or none at all", "the displayed price", "")
    if not answers(hi):
        for line in (streamed, usage, cost):
            yield line.unseen("nothing answered", mend="mend the line above")
        return
    last = next(each for each in reversed(hi.lines) if each.operation == "chat" and each.failure is None)
    parts = f"{hi.parts} parts" if hi.parts else "it came whole"
    yield streamed.holds(parts) if hi.parts > 1 else streamed.fails("1 part" if hi.parts == 1 else parts)
    tokens = last.tokens
    counted = f"{_count(tokens.input)} in, {_count(tokens.output)} out"
    known = tokens.input is not None and tokens.output is not None
    yield usage.holds(counted) if known else usage.fails(counted)
    yield cost.holds(f"{last.cost}, as the provider tells it" if last.cost else "none told: prices will be N/A")


def _count(tokens: int | None) -> str:
    return "unknown" if tokens is None else str(tokens)


def _tool_call(route: Route, tool: Heard | None) -> RouteCheck:
    line = _line(
        route,
        "tool call",
        "a tool that was offered is called, with arguments it takes",
        "every agent that works with tools",
        "use a model, or a provider of it, that calls tools",
    )
    if tool is None:
        return RouteCheck(check=line.unseen("nothing answered", mend="mend the line above"))
    if tool.reason is not None:
        said = f"{tool.reason}: {SENTENCES[tool.reason]}{_told(tool.lines, tool.telemetry.final_error)}"
        return RouteCheck(check=_failed(line.fails(said, mend=_mend(route, tool.reason))), reason=tool.reason)
    called = [use.name for use in tool.telemetry.tool_calls]
    strange = [name for name in called if name not in OFFERED]
    if not called:
        return _plain(line.fails(f"none was called; it said {(tool.telemetry.final_message or '')[:80]!r}"))
    if strange or tool.telemetry.malformed_arguments:
        return _plain(line.fails(f"{', '.join(called)}: {'never offered' if strange else 'malformed arguments'}"))
    return _plain(line.holds(f"{', '.join(called)} was called"))
