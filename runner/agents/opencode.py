"""OpenCode: how it is started without anything of its own world, and what its stream says."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from evaluators.packing import pack_files
from runner.agents.login import way_out
from runner.agents.model import AGENT_TARGET, AgentCommand, AgentTask, Dialect, RuntimeName
from runner.agents.reading import (
    FINAL_LIMIT,
    NAME_LIMIT,
    Event,
    agent_error,
    finish_reasons,
    json_lines,
    member,
    sum_of,
    text_of,
    tool_uses,
)
from runner.documents.ledger import Tokens
from runner.documents.telemetry import AgentError, Claims, Telemetry
from sandbox.termination import Termination

CONFIG_TARGET = "/opt/config"
PROVIDER = "gateway"
PATIENCE_MS = 1_800_000
"""Above the gateway's own: it is the gateway that gives up on a provider."""
CONTEXT, OUTPUT = 200_000, 32_000
"""What OpenCode believes of every model: when to shorten its own memory, and how long an answer may be."""

NO_PLUGINS = "OPENCODE_DISABLE_DEFAULT_PLUGINS"
"""Also takes away what reads a login: where there is one, they stay."""
SWITCHES = (
    "OPENCODE_DISABLE_AUTOUPDATE",
    "OPENCODE_DISABLE_MODELS_FETCH",
    "OPENCODE_DISABLE_LSP_DOWNLOAD",
    NO_PLUGINS,
    "OPENCODE_PURE",
    "OPENCODE_DISABLE_SHARE",
    "OPENCODE_DISABLE_CLAUDE_CODE",
    "OPENCODE_DISABLE_EXTERNAL_SKILLS",
    "OPENCODE_DISABLE_PROJECT_CONFIG",
)
READING = {"*": "deny", **dict.fromkeys(("read", "grep", "glob", "list", "external_directory"), "allow")}
"""Looking around and nothing else: what is denied is not offered. Outside of where it starts, too."""
PERMISSIONS = {"*": "allow", "webfetch": "deny", "websearch": "deny", "question": "deny"}


@dataclass(frozen=True, slots=True)
class OpenCode:
    """OpenCode's `run`, once, on the prompt it gets on standard input."""

    name: str = "opencode"
    needs_gateway: bool = True
    dialect: Dialect | None = "chat"
    runtime: RuntimeName | None = "opencode"

    def command(self, task: AgentTask) -> AgentCommand:
        """Start it with one provider and a configuration folder that it cannot write to.

        The provider is the gateway, or, with a login, the one that the model's name begins with.
        """
        model, port = task.served("OpenCode")
        variant = () if task.reasoning is None else ("--variant", task.reasoning)
        permissions = READING if task.reading else PERMISSIONS
        configured = by_login(model) if task.direct else configuration(model, port, permissions)
        return AgentCommand(
            argv=(
                *(f"{AGENT_TARGET}/bin/opencode", "run", "--format", "json", "--title", "task"),
                *("--model", model if task.direct else f"{PROVIDER}/{model}", *variant),
            ),
            stdin=task.prompt.encode(),
            environment=(
                ("XDG_CONFIG_HOME", CONFIG_TARGET),
                ("OPENCODE_CONFIG_CONTENT", json.dumps(configured)),
                *(way_out(port) if task.direct else ()),
                *((name, "1") for name in SWITCHES if not (task.direct and name == NO_PLUGINS)),
            ),
            # A folder that is there and cannot be written: else it fetches its plugins into it.
            packs=((CONFIG_TARGET, pack_files({"opencode/.gitignore": b"*\n"})),),
        )

    def telemetry(self, stdout: bytes, stderr: bytes, termination: Termination) -> Telemetry:
        """Read its events: one a finished part of a step."""
        del stderr, termination
        events, unreadable = json_lines(stdout)
        parts = [member(event, "part") for event in events]
        tools = [part for event, part in zip(events, parts, strict=True) if event.get("type") == "tool_use"]
        steps = [part for event, part in zip(events, parts, strict=True) if event.get("type") == "step_finish"]
        texts = [
            text
            for event, part in zip(events, parts, strict=True)
            if event.get("type") == "text" and (text := text_of(member(part, "text"), FINAL_LIMIT))
        ]
        error = _final_error(events)
        reasons = [member(step, "reason") for step in steps]
        sessions = (text_of(event.get("sessionID"), NAME_LIMIT) for event in events)
        return Telemetry(
            agent=self.name,
            session=next((session for session in sessions if session), None),
            turns=len(steps),
            tool_calls=tool_uses((member(tool, "tool"), _failed(tool)) for tool in tools),
            malformed_arguments=sum(member(tool, "tool") == "invalid" for tool in tools),
            error_replies=sum(_failed(tool) for tool in tools),
            finish_reasons=finish_reasons(reasons),
            ended="error" if error else "stop" if reasons and reasons[-1] == "stop" else None,
            final_message=texts[-1] if texts else None,
            final_error=error,
            unreadable_lines=unreadable,
            claims=_claims(steps),
        )


def configuration(model: str, port: int, permissions: Mapping[str, str] = PERMISSIONS) -> Mapping[str, object]:
    """Give the whole configuration: the gateway as the one provider, and nothing fetched, shared or asked."""
    options = {
        "baseURL": f"http://127.0.0.1:{port}/v1",
        "apiKey": "none",
        "headerTimeout": PATIENCE_MS,
        "chunkTimeout": PATIENCE_MS,
    }
    known = {model: {"name": model, "tool_call": True, "limit": {"context": CONTEXT, "output": OUTPUT}}}
    provider = {"npm": "@ai-sdk/openai-compatible", "name": PROVIDER, "options": options, "models": known}
    alone = _alone(PROVIDER, f"{PROVIDER}/{model}")
    return {**alone, "permission": permissions, "provider": {PROVIDER: provider}}


def by_login(model: str) -> Mapping[str, object]:
    """Give the same for a provider that OpenCode knows by itself, and has a login of."""
    return _alone(model.partition("/")[0], model)


def _alone(provider: str, model: str) -> Mapping[str, object]:
    return {
        "autoupdate": False,
        "share": "disabled",
        "snapshot": False,
        "enabled_providers": [provider],
        "model": model,
        "small_model": model,
        "permission": PERMISSIONS,
    }


def _failed(tool: object) -> bool:
    return member(tool, "tool") == "invalid" or member(tool, "state", "status") == "error"


def _final_error(events: Iterable[Event]) -> AgentError | None:
    errors = [event.get("error") for event in events if event.get("type") == "error"]
    if not errors:
        return None
    data = member(errors[-1], "data")
    named = text_of(member(errors[-1], "name"), NAME_LIMIT)
    message = member(data, "message") or named
    # The gateway's own word stands in the body it answered with, or in the error that ended a stream.
    body = member(data, "responseBody")
    told = agent_error(body if isinstance(body, str) else message)
    kind = told.kind if told.kind != "unknown" else named
    return agent_error(message, kind=kind, status=member(data, "statusCode"))


def _claims(steps: list[object]) -> Claims:
    """Add up its own counts. Its cost is none: it multiplies prices that nobody gave it."""

    def total(*path: str) -> int | None:
        return sum_of(member(step, "tokens", *path) for step in steps)

    return Claims(
        tokens=Tokens(
            input=total("input"),
            cached=total("cache", "read"),
            cache_write=total("cache", "write"),
            output=total("output"),
            reasoning=total("reasoning"),
        )
    )
