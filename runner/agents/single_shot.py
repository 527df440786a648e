"""Single-shot: one question, whole files as the answer (`native_loop/once.py` is what runs inside)."""

import json
from dataclasses import dataclass

from runner.agents.errors import AgentTaskError
from runner.agents.model import AGENT_TARGET, AgentCommand, AgentTask, Dialect, Exchange, RuntimeName
from runner.agents.native import PATIENCE_S, read_events, told_story
from runner.agents.program import folder_program
from runner.documents.telemetry import Telemetry
from sandbox.spec import PYTHON, WORKSPACE_ROOT
from sandbox.termination import Termination

TOKENS = 8_192
"""The most an answer may have where the protocol must be told and nobody has said it."""

SILENT = "(an empty answer)"
"""What stands for one in the second conversation: providers refuse an empty message."""


@dataclass(frozen=True, slots=True)
class SingleShot:
    """A model that answers once, as an agent."""

    name: str = "single-shot"
    needs_gateway: bool = True
    dialect: Dialect | None = "chat"
    runtime: RuntimeName | None = None

    def command(self, task: AgentTask) -> AgentCommand:
        """Start the program with the whole conversation on standard input."""
        model, port = task.served("single-shot")
        if not task.targets and not task.probe:
            raise AgentTaskError("single-shot needs the files that an answer may hold")
        config = {
            "messages": conversation(task.prompt, task.before),
            "model": model,
            "base_url": f"http://127.0.0.1:{port}/v1",
            "targets": task.targets,
            "root": WORKSPACE_ROOT,
            "dialect": self.dialect,
            "more": _more(self.dialect, task),
            "probe": task.probe,
            "patience_s": PATIENCE_S,
        }
        return AgentCommand(
            argv=(PYTHON, "-I", "-S", "-B", AGENT_TARGET),
            stdin=json.dumps(config).encode(),
            packs=((AGENT_TARGET, folder_program("native_loop", "once")),),
        )

    def telemetry(self, stdout: bytes, stderr: bytes, termination: Termination) -> Telemetry:
        """Read the program's events."""
        del stderr, termination
        return told_story(self.name, stdout)


def _more(dialect: Dialect | None, task: AgentTask) -> dict[str, object]:
    """Give the members that a protocol alone knows."""
    if dialect == "messages":
        return {"max_tokens": task.answer_tokens or TOKENS}
    if task.reasoning is None:
        return {}
    return {"reasoning": {"effort": task.reasoning}} if dialect == "responses" else {"reasoning_effort": task.reasoning}


def conversation(prompt: str, before: Exchange | None) -> list[dict[str, str]]:
    """Give the messages of a shot: the second's are the first's, its answer, and what came of it."""
    messages = [{"role": "user", "content": prompt}]
    if before is not None:
        messages.append({"role": "assistant", "content": before.answer or SILENT})
        messages.append({"role": "user", "content": before.news})
    return messages


def answer_of(stdout: bytes) -> str:
    """Give the answer as the program told it; empty where there was none."""
    events, _ = read_events(stdout)
    texts = [text for event in events if event["event"] == "turn" and isinstance(text := event.get("text"), str)]
    return texts[-1] if texts else ""
