"""What a patch's text names, and which paths a patch can carry. Pure.

The paths are read by a parser of our own before git sees a patch: git is then given exactly these paths and
must not touch another one, so a text that git reads differently is refused, not obeyed.
"""

import re

from sandbox.errors import PatchError
from sandbox.tree import Kind

LONGEST_NAME = 255
LONGEST_PATH = 4000
"""Bytes: /work/ and a path must stay below the kernel's 4096, or no program could open it by its name."""

# What git takes for its own folder on some file system, and therefore refuses everywhere by default
# (is_ntfs_dotgit; a backslash separates too).
_OWN = re.compile(rb"(?i)(?:\.git|git~1)[. ]*(?::.*)?", re.DOTALL)
_MODULES = re.compile(rb"(?i)(?:\.gitmodules|gitmod~[1-4]|g?i?7?e?b?a?~[1-9][0-9]*)[. ]*(?::.*)?", re.DOTALL)

_HUNK = re.compile(rb"@@ -\d{1,15}(?:,(\d{1,15}))? \+\d{1,15}(?:,(\d{1,15}))? @@")
_MARKS = {b" ": (1, 1), b"\n": (1, 1), b"": (1, 1), b"-": (1, 0), b"+": (0, 1), b"\\": (0, 0)}
"""How many old and new lines a line of a hunk stands for, by its first byte; an empty one is context."""
_MODE = re.compile(rb"(?:old mode|new mode|deleted file mode|new file mode|index [0-9a-f]+\.\.[0-9a-f]+) (\d+)")
_INDEX = re.compile(rb"(?:index [0-9a-f]+\.\.[0-9a-f]+|(?:dis)?similarity index \d+%)")
_BINARY = re.compile(rb"(?:literal|delta) \d+")
_MOVED = re.compile(rb"(rename|copy) (from|to) (.+)", re.DOTALL)
_FROM_AND_TO = 2
_MODES = frozenset({b"100644", b"100755", b"120000"})
_ESCAPED = re.compile(rb"\\([0-3][0-7]{2}|.)", re.DOTALL)
_ESCAPES = {
    b"a": b"\a", b"b": b"\b", b"f": b"\f", b"n": b"\n", b"r": b"\r", b"t": b"\t", b"v": b"\v",
    b"\\": b"\\", b'"': b'"',
}  # fmt: skip


def refusal(path: bytes, kind: Kind = Kind.FILE) -> str | None:
    """Say why a patch cannot carry a path; None where it can."""
    parts = path.split(b"/")
    if path.startswith(b"/") or any(part in {b"", b".", b".."} for part in parts) or b"\0" in path:
        return "no path inside a tree"
    if any(_OWN.fullmatch(part) for part in re.split(rb"[/\\]", path)):
        return "a name that git keeps for itself"
    if kind is Kind.LINK and any(_MODULES.fullmatch(part) for part in re.split(rb"[/\\]", path)):
        return "a link by the name of git's module list"
    if b" /" in path:
        return "a folder's name that ends with a space, which git apply cannot read back"
    if len(path) > LONGEST_PATH or any(len(part) > LONGEST_NAME for part in parts):
        return "a path too long to be opened by its name"
    return None


def named_paths(patch: bytes) -> frozenset[bytes]:
    """Give every path that a patch's headers name; text between files is passed over, as by git.

    Raises:
        PatchError: it is no patch in git's or `diff -u`'s form with a/ and b/ before its paths, lacks
            content, or names a path twice, or a path or a mode that a tree of ours cannot have.
    """
    reader = _Reader(patch)
    while not reader.ended:
        line = reader.line
        if line.startswith(b"diff --git "):
            _git_file(reader)
        elif line.startswith(b"--- ") and reader.next_line.startswith(b"+++ "):
            _plain_file(reader)
        elif line.startswith((b"@@ -", b"GIT binary patch")):
            raise reader.refuse("content without a file")
        else:
            reader.step()
    for path in reader.paths:
        why = refusal(path)
        if why is not None:
            raise PatchError(f"the patch names {path!r}: {why}")
    return frozenset(reader.paths)


class _Reader:
    """A patch, where the reading stands, and what was named so far. Lines are cut one by one: there may be millions."""

    def __init__(self, patch: bytes) -> None:
        self.patch = patch
        self.at = 0
        """Where the current line begins; beyond the patch at its end."""
        self.paths: set[bytes] = set()
        self._removed: set[bytes] = set()
        self._written: set[bytes] = set()

    @property
    def ended(self) -> bool:
        return self.at > len(self.patch)

    @property
    def line(self) -> bytes:
        return self.patch[self.at : self._after(self.at) - 1]

    @property
    def next_line(self) -> bytes:
        start = self._after(self.at)
        return self.patch[start : self._after(start) - 1]

    def step(self) -> None:
        """Go on to the next line."""
        self.at = self._after(self.at)

    def _after(self, start: int) -> int:
        return self.patch.find(b"\n", start) + 1 or len(self.patch) + 1

    def refuse(self, why: str) -> PatchError:
        number = self.patch.count(b"\n", 0, self.at) + 1
        return PatchError(f"line {number} of the patch: {why}")

    def name(self, path: bytes, *, removed: bool) -> None:
        """Note a path; it may be removed once and written once (a change of type does both)."""
        seen = self._removed if removed else self._written
        if path in seen:
            raise self.refuse(f"{path!r} stands twice")
        seen.add(path)
        self.paths.add(path)


def _git_file(reader: _Reader) -> None:
    name = _same_name(reader.line.removeprefix(b"diff --git "))
    removed, moves = False, 0
    reader.step()
    while not reader.ended:
        line = reader.line
        moved, mode = _MOVED.fullmatch(line), _MODE.fullmatch(line)
        if mode and mode[1] not in _MODES:
            raise reader.refuse(f"mode {mode[1].decode()} cannot be in a tree")
        if moved:
            _move(reader, moved)
            moves += 1
        elif not mode and not _INDEX.fullmatch(line):
            break
        removed = removed or line.startswith(b"deleted ")
        reader.step()
    if name is not None and not moves:
        reader.name(name, removed=removed)
    elif name is not None or moves != _FROM_AND_TO:
        raise reader.refuse("a file without its name")
    _content(reader)


def _move(reader: _Reader, moved: re.Match[bytes]) -> None:
    path = _unquote(moved[3])
    if (moved[1], moved[2]) == (b"copy", b"from"):
        reader.paths.add(path)
    else:
        reader.name(path, removed=moved[2] == b"from")


def _plain_file(reader: _Reader) -> None:
    old, new = _side(reader.line[4:], b"a/"), _side(reader.next_line[4:], b"b/")
    name = old if new is None else new
    if name is None or (old is not None and old != name):
        raise reader.refuse("no one name for one file")
    reader.name(name, removed=new is None)
    _hunks(reader)


def _content(reader: _Reader) -> None:
    if reader.line.startswith(b"--- ") and reader.next_line.startswith(b"+++ "):
        sides = _side(reader.line[4:], b"a/"), _side(reader.next_line[4:], b"b/")
        if not reader.paths.issuperset(name for name in sides if name is not None):
            raise reader.refuse("other names than the file has")
        _hunks(reader)
    elif reader.line == b"GIT binary patch":
        _binary(reader)
    elif reader.line.startswith(b"Binary files "):
        raise reader.refuse("a binary file without its content")


def _hunks(reader: _Reader) -> None:
    reader.step()
    reader.step()
    if not reader.line.startswith(b"@@ -"):
        raise reader.refuse("no hunk after the names")
    while reader.line.startswith(b"@@ -"):
        _hunk(reader)


def _binary(reader: _Reader) -> None:
    reader.step()
    while _BINARY.fullmatch(reader.line):
        while reader.line:
            reader.step()
        reader.step()


def _hunk(reader: _Reader) -> None:
    header = _HUNK.match(reader.line)
    if header is None:
        raise reader.refuse("no header of a hunk")
    reader.step()
    _pass_over(reader, int(header[1] or 1), int(header[2] or 1))
    while reader.line.startswith(b"\\"):
        reader.step()


def _pass_over(reader: _Reader, old: int, new: int) -> None:
    """Pass over as many lines of both sides as a hunk's header says."""
    patch, at = reader.patch, reader.at
    while old or new:
        lines = _MARKS.get(patch[at : at + 1])
        if lines is None or at > len(patch):
            reader.at = at
            raise reader.refuse("a hunk is cut short")
        old, new = old - lines[0], new - lines[1]
        if old < 0 or new < 0:
            reader.at = at
            raise reader.refuse("a hunk has more lines than its header says")
        at = patch.find(b"\n", at) + 1 or len(patch) + 1
    reader.at = at


def _side(text: bytes, prefix: bytes) -> bytes | None:
    name = _unquote(text if text.startswith(b'"') else text.split(b"\t")[0])
    if name == b"/dev/null":
        return None
    if not name.startswith(prefix):
        raise PatchError(f"the patch names {name!r} without {prefix.decode()} before it")
    return name.removeprefix(prefix)


def _same_name(text: bytes) -> bytes | None:
    """Give the name in 'a/name b/name'; None where the two differ, as in a rename."""
    if text.startswith(b'"'):
        halves = re.fullmatch(rb'("(?:[^"\\]|\\.)*") ("(?:[^"\\]|\\.)*")', text, re.DOTALL)
        one, other = (_unquote(halves[1]), _unquote(halves[2])) if halves else (b"", b"")
    else:
        one, other = text[: len(text) // 2], text[len(text) // 2 + 1 :]
    if one.startswith(b"a/") and other.startswith(b"b/") and one[2:] == other[2:]:
        return one[2:]
    return None


def _unquote(text: bytes) -> bytes:
    if not text.startswith(b'"'):
        return text
    closed = re.match(rb'"((?:[^"\\]|\\.)*)"', text, re.DOTALL)
    if closed is None:
        raise PatchError(f"the patch has a name without its closing quote: {text[:80]!r}")
    return _ESCAPED.sub(_unescape, closed[1])


def _unescape(found: re.Match[bytes]) -> bytes:
    code = found[1]
    if len(code) > 1:
        return bytes([int(code, 8)])
    if code not in _ESCAPES:
        raise PatchError(f"the patch has a name with an unknown escape: {found[0]!r}")
    return _ESCAPES[code]
