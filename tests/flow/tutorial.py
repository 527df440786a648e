"""The tutorial as a program: its files, and its commands with what they print."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

_BLOCK = re.compile(r"^```(?P<kind>\w+)(?: (?P<name>\S+))?\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class File:
    """A block under a file's name."""

    name: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """A line that begins with `$`, and what must come of it; `...` is anything."""

    line: str
    printed: str

    def is_met(self, output: str) -> bool:
        """Tell whether an output is what the page shows."""
        pattern = ".*?".join(re.escape(part) for part in self.printed.split("..."))
        return re.fullmatch(pattern, output, re.DOTALL) is not None


def steps(page: str) -> Iterator[File | Command]:
    """Give what a page tells its reader to write and to run, in order."""
    for block in _BLOCK.finditer(page):
        if block["kind"] == "console":
            yield from _commands(block["body"])
        elif block["name"]:
            assert f"`{block['name']}`" in page[: block.start()], f"{block['name']} is not named before its text"
            yield File(name=block["name"], text=block["body"])


def _commands(body: str) -> Iterator[Command]:
    for part in re.split(r"^\$ ", body, flags=re.MULTILINE)[1:]:
        line, _, printed = part.partition("\n")
        yield Command(line=line, printed=printed)
