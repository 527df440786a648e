"""Claude Code: how it is started without anything of its own world, and what its stream says."""

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal

from runner.agents.login import way_out
from runner.agents.model import AGENT_TARGET, AgentCommand, AgentTask, Dialect, RuntimeName
from runner.agents.reading import (
    FINAL_LIMIT,
    NAME_LIMIT,
    Event,
    agent_error,
    count_of,
    finish_reasons,
    json_lines,
    member,
    text_of,
    tool_uses,
)
from runner.documents.ledger import Tokens
from runner.documents.telemetry import AgentError, Claims, Telemetry
from runner.documents.writing import decimal_text
from sandbox.termination import Termination

TOOLS = "Bash,Read,Edit,Write"
READING_TOOLS = "Read,Glob,Grep"
FLAGS = (
    *("-p", "--output-format", "stream-json", "--verbose", "--dangerously-skip-permissions", "--setting-sources="),
    *("--strict-mcp-config", "--no-session-persistence", "--disable-slash-commands"),
)
SETTINGS = (
    ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
    ("DISABLE_AUTOUPDATER", "1"),
    ("DISABLE_TELEMETRY", "1"),
    ("DISABLE_ERROR_REPORTING", "1"),
    ("API_TIMEOUT_MS", "1800000"),
)
NO_RETRIES = ("CLAUDE_CODE_MAX_RETRIES", "0")
"""It is the gateway that tries again and gives up."""
SOME_RETRIES = ("CLAUDE_CODE_MAX_RETRIES", "4")
"""Where there is no gateway that does."""

_UNKNOWN_MODEL = 404
"""A status in whose place Claude Code tells its own words."""
_SYNTHETIC = "<synthetic>"
"""The model of messages that Claude Code makes up, to show errors."""


@dataclass(frozen=True, slots=True)
class Claude:
    """Claude Code's print mode, once, on the prompt it gets on standard input."""

    name: str = "claude"
    needs_gateway: bool = True
    dialect: Dialect | None = "messages"
    runtime: RuntimeName | None = "claude"

    def command(self, task: AgentTask) -> AgentCommand:
        """Start it with the gateway as its maker's address, or, with a login, as its way there."""
        model, port = task.served("Claude Code")
        tools = READING_TOOLS if task.reading else TOOLS
        effort = () if task.reasoning is None else ("--effort", task.reasoning)
        return AgentCommand(
            argv=(f"{AGENT_TARGET}/claude", *FLAGS, f"--tools={tools}", "--model", model, *effort),
            stdin=task.prompt.encode(),
            environment=_direct(port) if task.direct else _gated(port),
        )

    def telemetry(self, stdout: bytes, stderr: bytes, termination: Termination) -> Telemetry:
        """Read its events; the last one, `result`, sums up, and may call an error a success."""
        del stderr, termination
        events, unreadable = json_lines(stdout)
        result = next((event for event in reversed(events) if event.get("type") == "result"), None)
        calls = [block for event in events if event.get("type") == "assistant" for block in _blocks(event, "tool_use")]
        replies = [block for event in events if event.get("type") == "user" for block in _blocks(event, "tool_result")]
        wrong = {str(block.get("tool_use_id")) for block in replies if block.get("is_error") is True}
        error = _final_error(result)
        sessions = (text_of(event.get("session_id"), NAME_LIMIT) for event in events)
        return Telemetry(
            agent=self.name,
            session=next((session for session in sessions if session), None),
            turns=count_of(member(result, "num_turns")) or len({_message_id(event) for event in events} - {None}),
            tool_calls=tool_uses((call.get("name"), str(call.get("id")) in wrong) for call in calls),
            error_replies=len(wrong),
            cap_reached=member(result, "subtype") == "error_max_turns",
            finish_reasons=finish_reasons([] if result is None else [member(result, "stop_reason")]),
            ended=_ended(result),
            final_message=_final_message(events, result),
            final_error=error,
            unreadable_lines=unreadable,
            claims=_claims(result),
        )


def _gated(port: int) -> tuple[tuple[str, str], ...]:
    address = f"http://127.0.0.1:{port}"
    return (("ANTHROPIC_BASE_URL", address), ("ANTHROPIC_API_KEY", "none"), *SETTINGS, NO_RETRIES)


def _direct(port: int) -> tuple[tuple[str, str], ...]:
    return (*way_out(port), *SETTINGS, SOME_RETRIES)


def _blocks(event: Event, kind: str) -> list[Event]:
    if member(event, "message", "model") == _SYNTHETIC:
        return []
    content = member(event, "message", "content")
    blocks = content if isinstance(content, list) else []
    return [block for block in blocks if isinstance(block, dict) and block.get("type") == kind]


def _message_id(event: Event) -> str | None:
    identity = member(event, "message", "id")
    return identity if event.get("type") == "assistant" and isinstance(identity, str) else None


def _ended(result: Event | None) -> str | None:
    if result is None:
        return None
    if result.get("is_error") is True:
        return "error"
    return text_of(result.get("terminal_reason") or result.get("subtype"), NAME_LIMIT)


def _final_message(events: Iterable[Event], result: Event | None) -> str | None:
    if result is not None and result.get("is_error") is not True:
        return text_of(result.get("result"), FINAL_LIMIT)
    texts = (
        block.get("text") for event in events if event.get("type") == "assistant" for block in _blocks(event, "text")
    )
    told = [text for each in texts if (text := text_of(each, FINAL_LIMIT))]
    return told[-1] if told else None


def _final_error(result: Event | None) -> AgentError | None:
    if result is None or result.get("is_error") is not True:
        return None
    message = text_of(result.get("result"), FINAL_LIMIT) or text_of(result.get("subtype"), NAME_LIMIT) or ""
    status = result.get("api_error_status")
    return agent_error(message, kind="unknown_model" if status == _UNKNOWN_MODEL else None, status=status)


def _claims(result: Event | None) -> Claims:
    cost = member(result, "total_cost_usd")
    usage = member(result, "usage")
    return Claims(
        tokens=Tokens(
            input=count_of(member(usage, "input_tokens")),
            cached=count_of(member(usage, "cache_read_input_tokens")),
            cache_write=count_of(member(usage, "cache_creation_input_tokens")),
            output=count_of(member(usage, "output_tokens")),
        ),
        cost=decimal_text(Decimal(cost)) if isinstance(cost, int | Decimal) and cost >= 0 else None,
    )
