"""The native tool loop: our own agent, the same for every model (`native_loop` is what runs inside)."""

import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from runner.agents.errors import AgentTaskError
from runner.agents.model import AGENT_TARGET, AgentCommand, AgentTask
from runner.agents.program import folder_program
from runner.documents.telemetry import AgentError, FinishReason, Telemetry, ToolUse
from sandbox.spec import PYTHON, WORKSPACE_ROOT
from sandbox.termination import Termination

SYSTEM = (
    "You are an engineer at work in a real repository; paths are relative to its top. Look around with the "
    "tools, make minimal, consistent changes, and check them as far as the tools allow. Each tool reply says "
    "how many turns are left. When the work is finished call done with a summary: what you changed and why, "
    "and what you left alone on purpose."
)

TOOLS = ("list_dir", "read_file", "search", "write_file", "edit")
LIMITS = {"read_chars": 60_000, "output_chars": 20_000, "run_s": 240, "search_s": 10}
PATIENCE_S = 1_800
"""Above the gateway's own: it is the gateway that gives up on a provider."""

FINAL_LIMIT, MESSAGE_LIMIT, NAMES = 100_000, 4_000, 64

Event = dict[str, object]


@dataclass(frozen=True, slots=True)
class Native:
    """The loop as an agent."""

    name: str = "native"
    needs_gateway: bool = True

    def command(self, task: AgentTask) -> AgentCommand:
        """Start the loop with everything it needs on standard input."""
        if task.model is None or task.gate_port is None:
            raise AgentTaskError("the native loop needs a model and a gateway's port")
        allowed = () if task.probe else (*TOOLS, *(tool for tool in task.tools if tool == "run"), "done")
        config = {
            "prompt": task.prompt,
            "system": None if task.probe else SYSTEM,
            "model": task.model,
            "base_url": f"http://127.0.0.1:{task.gate_port}/v1",
            "turns": 1 if task.probe else task.turns,
            "tools": allowed,
            "limits": LIMITS,
            "root": WORKSPACE_ROOT,
            "more": {} if task.reasoning is None else {"reasoning_effort": task.reasoning},
            "stream": True,
            "patience_s": PATIENCE_S,
        }
        return AgentCommand(
            argv=(PYTHON, "-I", "-S", "-B", AGENT_TARGET),
            stdin=json.dumps(config).encode(),
            packs=((AGENT_TARGET, folder_program("native_loop")),),
        )

    def telemetry(self, stdout: bytes, stderr: bytes, termination: Termination) -> Telemetry:
        """Read the loop's events."""
        del stderr, termination
        events, unreadable = read_events(stdout)
        tools = [event for event in events if event["event"] == "tool"]
        turns = [event for event in events if event["event"] == "turn"]
        end = next((event for event in reversed(events) if event["event"] in {"end", "error"}), None)
        ended = None if end is None else text_of(end.get("reason"), 200) or "error"
        return Telemetry(
            agent=self.name,
            turns=len(turns),
            tool_calls=_tool_uses(tools),
            malformed_arguments=sum(event.get("malformed") is True for event in tools),
            error_replies=sum(event.get("failed") is True for event in tools),
            nudges=sum(event["event"] == "nudge" for event in events),
            cap_reached=ended == "turns",
            finish_reasons=_finish_reasons(turns),
            ended=ended,
            final_message=_final_message(end, turns),
            final_error=_final_error(end),
            unreadable_lines=unreadable,
        )


def read_events(stdout: bytes) -> tuple[list[Event], int]:
    """Give the events of a stream of JSON lines, and how many lines were none."""
    events: list[Event] = []
    unreadable = 0
    for line in stdout.splitlines():
        try:
            event = json.loads(line)
        except (ValueError, RecursionError):
            event = None
        if isinstance(event, dict) and isinstance(event.get("event"), str):
            events.append(event)
        else:
            unreadable += 1
    return events, unreadable


def _tool_uses(tools: Iterable[Event]) -> tuple[ToolUse, ...]:
    calls: Counter[str] = Counter()
    errors: Counter[str] = Counter()
    for event in tools:
        name = text_of(event.get("name"), 200) or "?"
        # A model may make up any number of names.
        name = name if name in calls or len(calls) < NAMES else "?"
        calls[name] += 1
        errors[name] += event.get("failed") is True
    return tuple(ToolUse(name=name, calls=calls[name], errors=errors[name]) for name in sorted(calls))


def _finish_reasons(turns: Iterable[Event]) -> tuple[FinishReason, ...]:
    times = Counter(text_of(event.get("finish_reason"), 200) or "unknown" for event in turns)
    kept = sorted(times.most_common(NAMES))
    return tuple(FinishReason(reason=reason, times=count) for reason, count in kept)


def _final_message(end: Event | None, turns: list[Event]) -> str | None:
    if end is not None and end["event"] == "end":
        return text_of(end.get("message"), FINAL_LIMIT)
    texts = [text for event in turns if (text := text_of(event.get("text"), FINAL_LIMIT))]
    return texts[-1] if texts else None


def _final_error(end: Event | None) -> AgentError | None:
    if end is None or end["event"] != "error":
        return None
    status = end.get("status")
    known = isinstance(status, int) and not isinstance(status, bool) and 100 <= status <= 599  # noqa: PLR2004 - HTTP
    return AgentError(
        kind=text_of(end.get("kind"), 200) or "unknown",
        status=status if known and isinstance(status, int) else None,
        message=text_of(end.get("message"), MESSAGE_LIMIT) or "",
    )


def text_of(value: object, limit: int) -> str | None:
    """Give a text as a document can hold it."""
    return value[:limit].encode("utf-8", "replace").decode() if isinstance(value, str) else None
