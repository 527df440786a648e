"""Codex CLI: how it is started without anything of its own world, and what its stream says."""

import json
from collections.abc import Iterable
from dataclasses import dataclass

from runner.agents.login import way_out
from runner.agents.model import AGENT_TARGET, AgentCommand, AgentTask, Dialect, RuntimeName
from runner.agents.reading import (
    FINAL_LIMIT,
    NAME_LIMIT,
    Event,
    agent_error,
    is_one_of,
    json_lines,
    member,
    sum_of,
    text_of,
    tool_uses,
)
from runner.documents.ledger import Tokens
from runner.documents.telemetry import AgentError, Claims, Telemetry
from sandbox.termination import Termination

PROVIDER = "gateway"
IDLE_MS = 1_800_000
"""Above the gateway's own patience: it is the gateway that gives up on a provider, and that tries again."""

FLAGS = (
    *("exec", "--json", "--skip-git-repo-check", "--ephemeral", "--ignore-rules", "--color", "never"),
    "--dangerously-bypass-approvals-and-sandbox",  # the unit is the sandbox
    *("--disable", "plugins", "--disable", "unbounded_connection_retries"),
)
SETTINGS = (
    "analytics.enabled=false",
    "check_for_update_on_startup=false",
    'web_search="disabled"',
    "project_doc_max_bytes=0",
)
LOGIN_FLAGS = ("--disable", "apps")
"""Else it asks its maker for the account's own connectors, which are servers of tools."""
LOGIN_SETTINGS = ('cli_auth_credentials_store="file"', 'model_provider="openai"')

TOOLS = frozenset({"command_execution", "file_change", "mcp_tool_call", "web_search", "collab_tool_call"})
"""Types of items that are calls of tools."""
ENDS = frozenset({"turn.completed", "turn.failed"})


@dataclass(frozen=True, slots=True)
class Codex:
    """Codex's `exec`, once, on the prompt it gets on standard input."""

    name: str = "codex"
    needs_gateway: bool = True
    dialect: Dialect | None = "responses"
    runtime: RuntimeName | None = "codex"

    def command(self, task: AgentTask) -> AgentCommand:
        """Start it with one provider: the gateway, which it sends no key, or, with a login, its maker."""
        model, port = task.served("Codex")
        asked = LOGIN_SETTINGS if task.direct else (_provider(port), f'model_provider="{PROVIDER}"')
        settings = [*SETTINGS, *asked]
        if task.reasoning is not None:
            settings.append(f"model_reasoning_effort={json.dumps(task.reasoning)}")
        options = (word for setting in settings for word in ("-c", setting))
        flags = (*FLAGS, *LOGIN_FLAGS) if task.direct else FLAGS
        return AgentCommand(
            argv=(f"{AGENT_TARGET}/bin/codex", *flags, *options, "-m", model, "-"),
            stdin=task.prompt.encode(),
            environment=way_out(port) if task.direct else (),
        )

    def telemetry(self, stdout: bytes, stderr: bytes, termination: Termination) -> Telemetry:
        """Read its events. It tells turns of the conversation, not the requests in one."""
        del stderr, termination
        events, unreadable = json_lines(stdout)
        items = [event.get("item") for event in events if event.get("type") == "item.completed"]
        tools = [item for item in items if is_one_of(member(item, "type"), TOOLS)]
        ends = [event for event in events if is_one_of(event.get("type"), ENDS)]
        messages = [
            text
            for item in items
            if member(item, "type") == "agent_message" and (text := text_of(member(item, "text"), FINAL_LIMIT))
        ]
        error = _final_error(events)
        sessions = (text_of(event.get("thread_id"), NAME_LIMIT) for event in events)
        return Telemetry(
            agent=self.name,
            session=next((session for session in sessions if session), None),
            turns=len(ends),
            tool_calls=tool_uses((member(tool, "type"), _failed(tool)) for tool in tools),
            error_replies=sum(_failed(tool) for tool in tools),
            ended="error" if error else "turn.completed" if ends else None,
            final_message=messages[-1] if messages else None,
            final_error=error,
            unreadable_lines=unreadable,
            claims=_claims(ends),
        )


def _provider(port: int) -> str:
    address = f"http://127.0.0.1:{port}/v1"
    return (
        f'model_providers.{PROVIDER}={{name="{PROVIDER}",base_url="{address}",wire_api="responses",'
        f"request_max_retries=0,stream_max_retries=0,stream_idle_timeout_ms={IDLE_MS}}}"
    )


def _failed(item: object) -> bool:
    """A command that ends with another status than 0 is a reply as any other."""
    return member(item, "status") == "failed" and member(item, "exit_code") is None


def _final_error(events: Iterable[Event]) -> AgentError | None:
    """Give what the turn failed of; error items and events before that are remarks."""
    failed = [event for event in events if event.get("type") == "turn.failed"]
    return agent_error(member(failed[-1], "error", "message")) if failed else None


def _claims(ends: list[Event]) -> Claims:
    def total(name: str) -> int | None:
        return sum_of(member(end, "usage", name) for end in ends)

    return Claims(
        tokens=Tokens(
            input=total("input_tokens"),
            cached=total("cached_input_tokens"),
            cache_write=total("cache_write_input_tokens"),
            output=total("output_tokens"),
            reasoning=total("reasoning_output_tokens"),
        )
    )
