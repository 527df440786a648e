"""Agents without a model: `oracle` and `patch` apply a recorded change, `nop` leaves everything as it is."""

import base64
import json
from dataclasses import dataclass

from runner.agents.errors import AgentTaskError
from runner.agents.model import AGENT_TARGET, AgentCommand, AgentTask, Dialect, RuntimeName
from runner.agents.native import read_events
from runner.agents.program import file_program
from runner.agents.reading import MESSAGE_LIMIT, text_of
from runner.documents.telemetry import AgentError, Telemetry
from sandbox.api import Pack
from sandbox.spec import PYTHON, WORKSPACE_ROOT
from sandbox.termination import Termination
from sandbox.tree import Entry

PROGRAM = "apply_changes.py"


@dataclass(frozen=True, slots=True)
class Recorded:
    """Applies a change inside the unit: `oracle` and `patch` differ in whose change it is."""

    name: str
    needs_gateway: bool = False
    dialect: Dialect | None = None
    runtime: RuntimeName | None = None

    def command(self, task: AgentTask) -> AgentCommand:
        """Start the harness with the change on standard input."""
        if task.change is None:
            raise AgentTaskError(f"{self.name} has no change to apply")
        return AgentCommand(
            argv=(PYTHON, "-I", "-S", "-B", f"{AGENT_TARGET}/{PROGRAM}"),
            stdin=encode_change(task.change, task.words),
            packs=((AGENT_TARGET, file_program(PROGRAM)),),
        )

    def telemetry(self, stdout: bytes, stderr: bytes, termination: Termination) -> Telemetry:
        """Say how it ended."""
        del stderr, termination
        events, unreadable = read_events(stdout)
        last = events[-1] if events else {"event": "nothing"}
        failed = last["event"] == "error"
        message = text_of(last.get("message"), MESSAGE_LIMIT) or ""
        error = AgentError(kind="change", status=None, message=message) if failed else None
        ended = {"end": "done", "error": "error"}.get(str(last["event"]))
        return Telemetry(
            agent=self.name,
            turns=0,
            ended=ended,
            final_message=None if failed else message,
            final_error=error,
            unreadable_lines=unreadable,
        )


@dataclass(frozen=True, slots=True)
class Nop:
    """Does nothing."""

    name: str = "nop"
    needs_gateway: bool = False
    dialect: Dialect | None = None
    runtime: RuntimeName | None = None

    def command(self, task: AgentTask) -> AgentCommand:
        """Start a program that ends at once."""
        del task
        return AgentCommand(argv=("/usr/bin/true",))

    def telemetry(self, stdout: bytes, stderr: bytes, termination: Termination) -> Telemetry:
        """There is nothing to tell."""
        del stdout, stderr
        return Telemetry(agent=self.name, turns=0, ended="done" if termination.succeeded else None)


def encode_change(change: Pack, words: str | None = None) -> bytes:
    """Write a change down as `apply_changes.py` reads it."""
    entries = [_encode(entry, change) for entry in change.entries]
    return json.dumps({"root": WORKSPACE_ROOT, "changes": entries, "words": words}).encode()


def _encode(entry: Entry, change: Pack) -> dict[str, object]:
    encoded: dict[str, object] = {"path": base64.b64encode(entry.path).decode(), "kind": entry.kind.value}
    if entry.sha256 is not None:
        content = base64.b64encode(change.blobs(entry.sha256)).decode()
        encoded.update(content=content, executable=entry.executable)
    if entry.target is not None:
        encoded["target"] = base64.b64encode(entry.target).decode()
    return encoded
