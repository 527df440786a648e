"""Plain patches put onto a base in memory: exact hunks of regular files, as our own diffs are. Pure.

Starting git costs more than all other work on an attempt's evidence. A patch is plain if it is in the very form that
our diffs have, and fits: every line of context, every count, and both object names of each file, which git's own hash
binds to the contents before and after. Whatever is not so is left to git, whose word on it counts
(`sandbox/patch.py`); a test holds one against the other.
"""

import hashlib
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from sandbox.contents import digest_of
from sandbox.patch_text import refusal
from sandbox.tree import Entry, Kind

_NOTHING = b"0" * 40
"""The name of an object that is not there."""
_FILE = re.compile(
    rb"diff --git a/(?P<path>[A-Za-z0-9._/+-]+) b/(?P=path)\n"
    rb"(?:old mode (?P<old>100644|100755)\nnew mode (?P<new>100644|100755)\n"
    rb"|new file mode (?P<born>100644|100755)\n|deleted file mode (?P<gone>100644|100755)\n)?"
    rb"(?:index (?P<before>[0-9a-f]{40})\.\.(?P<after>[0-9a-f]{40})(?: (?P<kept>100644|100755))?\n"
    rb"(?:--- (?P<source>a/(?P=path)|/dev/null)\n\+\+\+ (?P<target>b/(?P=path)|/dev/null)\n)?)?"
)
_HUNK = re.compile(rb"@@ -([0-9]{1,9})(?:,([0-9]{1,9}))? \+([0-9]{1,9})(?:,([0-9]{1,9}))? @@[^\n]*\n")
_LINE = re.compile(rb"[^\n]*\n|[^\n]+")
_UNENDED = b"\\ No newline at end of file\n"


class _OddError(Exception):
    """It is not plain, or does not fit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlainFile:
    """A regular file of a base."""

    content: bytes
    executable: bool


Before = Callable[[bytes], PlainFile | None]
"""Gives the regular file at a path of a base; None where nothing stands, nor at a path above it."""


def plain_changes(patch: bytes, before: Before) -> tuple[Entry, ...] | None:
    """Give what a patch makes of a base, in the order of paths; None where git must say.

    `before` may raise LookupError for what is neither a file nor nothing.
    """
    changes: dict[bytes, Entry] = {}
    at = 0
    try:
        while at < len(patch):
            at, entry = _file(patch, at, before)
            if entry.path in changes:
                return None
            changes[entry.path] = entry
    except (_OddError, LookupError):
        return None
    if any(above in changes for path in changes for above in _above(path)):
        return None
    return tuple(changes[path] for path in sorted(changes))


def _above(path: bytes) -> Iterator[bytes]:
    parts = path.split(b"/")
    return (b"/".join(parts[:depth]) for depth in range(1, len(parts)))


def _file(patch: bytes, at: int, before: Before) -> tuple[int, Entry]:
    """Read one file's part from a place of a patch, and apply it; give where it ends."""
    head = _FILE.match(patch, at)
    if head is None or refusal(head["path"]) is not None:
        raise _OddError
    path = head["path"]
    found = before(path)
    at, content = _content(patch, head, b"" if found is None else found.content)
    _check_modes(head, found)
    if (head["before"] or head["after"]) is not None:
        _check_name(head["before"], None if found is None else found.content)
        _check_name(head["after"], None if head["gone"] else content)
    if head["gone"]:
        return at, Entry(path=path, kind=Kind.GONE)
    mode = head["new"] or head["born"]
    executable = mode == b"100755" if mode else found is not None and found.executable
    if found is not None and (content, executable) == (found.content, found.executable):
        raise _OddError
    return at, Entry(path=path, kind=Kind.FILE, executable=executable, sha256=digest_of(content), size=len(content))


def _check_modes(head: re.Match[bytes], found: PlainFile | None) -> None:
    """A file that is born was not there, any other was, with the mode that is told of it."""
    if (found is None) != (head["born"] is not None):
        raise _OddError
    mode = None if found is None else b"100755" if found.executable else b"100644"
    told = {each for each in (head["old"], head["gone"], head["kept"]) if each is not None}
    if found is not None and told and told != {mode}:
        raise _OddError
    if head["before"] is None and head["old"] is None:
        raise _OddError


def _check_name(name: bytes, content: bytes | None) -> None:
    """Hold an object's name against a content; nothing has the name of nothing."""
    if content is None:
        made = _NOTHING
    else:
        whole = b"blob %d\0%s" % (len(content), content)
        made = hashlib.sha1(whole, usedforsecurity=False).hexdigest().encode()
    if name != made:
        raise _OddError


def _content(patch: bytes, head: re.Match[bytes], content: bytes) -> tuple[int, bytes]:
    """Apply a file's hunks; give where they end, and the content that they make."""
    at = head.end()
    if head["source"] is None:
        return at, content
    sides = head["source"] == b"/dev/null", head["target"] == b"/dev/null"
    if sides != (head["born"] is not None, head["gone"] is not None):
        raise _OddError
    old = _LINE.findall(content)
    new: list[bytes] = []
    done = 0
    while (hunk := _HUNK.match(patch, at)) is not None:
        start, taken, place, given = _counts(hunk)
        if start < done or start > len(old):
            raise _OddError
        new += old[done:start]
        if place != len(new):
            raise _OddError
        at, lines = _hunk(patch, hunk.end(), taken, given)
        before = [text for mark, text in lines if mark != b"+"]
        if old[start : start + taken] != before:
            raise _OddError
        new += (text for mark, text in lines if mark != b"-")
        done = start + taken
    return at, b"".join((*new, *old[done:]))


def _counts(hunk: re.Match[bytes]) -> tuple[int, int, int, int]:
    """Give a hunk's places, counted from 0, and its lines; a side without lines names the line before."""
    start, taken, place, given = (1 if each is None else int(each) for each in hunk.groups())
    return start - (taken > 0), taken, place - (given > 0), given


def _hunk(patch: bytes, at: int, taken: int, given: int) -> tuple[int, list[tuple[bytes, bytes]]]:
    """Read a hunk's lines, each with its mark."""
    lines: list[tuple[bytes, bytes]] = []
    while taken or given:
        line = _LINE.match(patch, at)
        if line is None or line[0][:1] not in {b" ", b"-", b"+"} or not line[0].endswith(b"\n"):
            raise _OddError
        at, mark, text = line.end(), line[0][:1], line[0][1:]
        if patch.startswith(_UNENDED, at):
            at, text = at + len(_UNENDED), text[:-1]
        lines.append((mark, text))
        taken, given = taken - (mark != b"+"), given - (mark != b"-")
        if taken < 0 or given < 0:
            raise _OddError
    return at, lines
