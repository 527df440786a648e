"""What the model is offered, and what comes of a call. Nothing a model sends can break this."""

import json
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from .files import Files, ToolError
from .shell import Shell
from .text import shorten

Json = dict[str, object]

TEXT, NUMBER, COMMAND = "text", "number", "command"

SCHEMAS: Mapping[str, Json] = {
    TEXT: {"type": "string"},
    NUMBER: {"type": "integer"},
    COMMAND: {"type": "string", "description": "a shell command line"},
}


@dataclass(frozen=True)
class Tool:
    """A tool as it is offered: what it does and its parameters, each with its kind; required ones first."""

    about: str
    required: Mapping[str, str]
    optional: Mapping[str, str]


OFFERED: Mapping[str, Tool] = {
    "list_dir": Tool("List one folder. Folders end in /.", {}, {"path": TEXT}),
    "read_file": Tool(
        "Read a text file, or the lines first_line to last_line of it (from 1).",
        {"path": TEXT},
        {"first_line": NUMBER, "last_line": NUMBER},
    ),
    "search": Tool(
        "Find lines that match a Python regular expression below a path; glob limits the file names.",
        {"pattern": TEXT},
        {"path": TEXT, "glob": TEXT},
    ),
    "write_file": Tool(
        "Write a whole file; folders are made as needed.",
        {"path": TEXT, "content": TEXT},
        {},
    ),
    "edit": Tool(
        "Replace the exact text old by new in a file. old must stand there count times (default 1).",
        {"path": TEXT, "old": TEXT, "new": TEXT},
        {"count": NUMBER},
    ),
    "run": Tool(
        "Run a command in the workspace. Nothing it starts in the background outlives the call.",
        {"command": COMMAND},
        {"timeout_s": NUMBER},
    ),
    "done": Tool("Say that the work is finished.", {}, {"summary": TEXT}),
}


@dataclass(frozen=True)
class Reply:
    """What a call came to."""

    text: str
    failed: bool = False
    malformed: bool = False
    """The arguments were not what the tool takes; nothing was done."""
    summary: str | None = None
    """Of `done`."""


@dataclass(frozen=True)
class Toolbox:
    """The tools of one run."""

    calls: Mapping[str, Callable[..., str]]
    limit: int

    def offer(self) -> list[Json]:
        """Describe the tools as chat completions do."""
        return [_describe(name, OFFERED[name]) for name in self.calls]

    def call(self, name: str, arguments: str) -> Reply:
        """Do what the model asked, or tell it why not."""
        if name not in self.calls:
            return _malformed(f"there is no tool {name[:80]!r}; there are {', '.join(self.calls)}")
        try:
            given = _parse(arguments)
            _check(given, OFFERED[name])
        except ToolError as error:
            return _malformed(f"{error}. Nothing was done")
        try:
            text = self.calls[name](**given)
        except ToolError as error:
            return Reply(f"error: {error}", failed=True)
        except (OSError, ValueError, subprocess.SubprocessError, RecursionError, MemoryError) as error:
            # ValueError: a NUL or a lone surrogate in a path or an argument.
            return Reply(shorten(f"error: {type(error).__name__}: {error}", 1_000), failed=True)
        return Reply(text, summary=str(given.get("summary", "")) if name == "done" else None)


def open_toolbox(root: Path, names: list[str], limits: Mapping[str, int]) -> Toolbox:
    """Make the tools named, in their usual order."""
    files = Files(root, limits["read_chars"], limits["search_s"])
    shell = Shell(root, limits["output_chars"], limits["run_s"])
    every: dict[str, Callable[..., str]] = {
        "list_dir": files.list_dir,
        "read_file": files.read_file,
        "search": files.search,
        "write_file": files.write_file,
        "edit": files.edit,
        "run": shell.run,
        "done": _done,
    }
    return Toolbox({name: call for name, call in every.items() if name in names}, limits["read_chars"])


def _done(summary: str = "") -> str:
    del summary
    return "noted"


def _malformed(text: str) -> Reply:
    return Reply(f"error: {text}", failed=True, malformed=True)


def _describe(name: str, tool: Tool) -> Json:
    properties = {each: SCHEMAS[kind] for each, kind in {**tool.required, **tool.optional}.items()}
    parameters = {
        "type": "object",
        "properties": properties,
        "required": list(tool.required),
        "additionalProperties": False,
    }
    return {
        "type": "function",
        "function": {"name": name, "description": tool.about, "parameters": parameters},
    }


def _parse(arguments: str) -> Json:
    try:
        given = json.loads(arguments or "{}")
    except (ValueError, RecursionError) as error:
        raise ToolError(f"the arguments are not JSON ({str(error)[:100]}): {arguments[:200]}") from error
    if not isinstance(given, dict):
        raise ToolError(f"the arguments must be a JSON object, not {arguments[:80]}")
    return given


def _check(given: Json, tool: Tool) -> None:
    missing = [name for name in tool.required if name not in given]
    if missing:
        raise ToolError(f"missing: {', '.join(missing)}")
    kinds = {**tool.required, **tool.optional}
    for name, value in given.items():
        if name not in kinds:
            raise ToolError(f"there is no parameter {name[:80]!r}; there are {', '.join(kinds)}")
        if not _fits(value, kinds[name]):
            raise ToolError(f"{name} must be {_wanted(kinds[name])}, not {json.dumps(value)[:80]}")


def _fits(value: object, kind: str) -> bool:
    if kind == NUMBER:
        return isinstance(value, int) and not isinstance(value, bool)
    if kind == COMMAND and isinstance(value, list):
        return bool(value) and all(isinstance(part, str) for part in value)
    return isinstance(value, str)


def _wanted(kind: str) -> str:
    return {TEXT: "a text", NUMBER: "a whole number", COMMAND: "a text or a list of texts"}[kind]
