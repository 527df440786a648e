"""What an inspection unit is asked, its answer read strictly, and what that means for a tree. Pure."""

import hashlib
import json
import stat
from base64 import b64decode, b64encode
from collections.abc import Iterator
from dataclasses import dataclass

from sandbox.api import Changes
from sandbox.contents import Contents
from sandbox.errors import CaptureError
from sandbox.patch_text import LONGEST_PATH, refusal
from sandbox.tree import Entry, Kind

_LONGEST_HEADER = 1 << 14
_STATUS = frozenset({"mode", "size", "blocks", "links", "device", "inode"})
_FIELDS = {
    "file": _STATUS,
    "link": _STATUS,
    "folder": _STATUS | {"empty"},
    "gone": frozenset[str](),
    "special": _STATUS,
    "too_large": _STATUS,
    "unreadable": frozenset({"why"}),
    "deep": frozenset[str](),
}
_CARRIED = {"file": Kind.FILE, "link": Kind.LINK}
_OF_A_WHOLE = frozenset({"folder", "deep", "unreadable"})


@dataclass(frozen=True, slots=True, kw_only=True)
class CaptureLimits:
    """What one capture may hold; beyond it, findings say so.

    A change as large as this, and be it of nothing but line ends, is made a patch in time and in memory, and fits where
    it is graded (`runner.staging`): no size of what was left behind is a fault of ours.
    """

    entries: int = 50_000
    file_bytes: int = 32 << 20
    total_bytes: int = 64 << 20
    depth: int = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """One entry as the harness told it; `content` is a file's digest or a link's text."""

    path: bytes
    kind: str
    numbers: dict[str, int]
    content: str | bytes | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Inspection:
    """All that was told, in the order of the telling; `overflow` says that there was more."""

    seen: tuple[Seen, ...]
    overflow: bool


def outermost(changes: Changes) -> Changes:
    """Leave out what lies beneath a folder that is walked whole anyway."""
    whole: set[bytes] = set()
    for path in sorted(set(changes.whole)):
        if not _is_beneath(path, whole):
            whole.add(path)
    touched = sorted(path for path in set(changes.touched) - whole if not _is_beneath(path, whole))
    return Changes(touched=tuple(touched), whole=tuple(sorted(whole)), git_touched=changes.git_touched)


def request(changes: Changes, limits: CaptureLimits) -> bytes:
    """Write what the harness reads from its standard input."""
    numbers = limits.entries, limits.file_bytes, limits.total_bytes, limits.depth, LONGEST_PATH
    lines = [b"limits " + " ".join(map(str, numbers)).encode()]
    lines += (b"touched " + b64encode(path) for path in changes.touched)
    lines += (b"whole " + b64encode(path) for path in changes.whole)
    return b"\n".join(lines) + b"\n"


class InspectionReader:
    """Reads the harness's answer as it comes; files' bytes go to `contents`, one at most is held here."""

    def __init__(self, changes: Changes, limits: CaptureLimits, contents: Contents) -> None:
        self._changes = changes
        self._whole = frozenset(changes.whole)
        self._expected = self._whole | frozenset(changes.touched)
        self._limits = limits
        self._contents = contents
        self._buffer = bytearray()
        self._sum = hashlib.sha256()
        self._open: Seen | None = None
        self._seen: dict[tuple[bytes, bool], Seen] = {}
        self._total = 0
        self._end: dict[str, object] | None = None

    def feed(self, data: bytes) -> None:
        """Take the next bytes of the answer.

        Raises:
            CaptureError: they deviate in any way from what the harness writes.
        """
        self._buffer += data
        while self._content() if self._open else self._header():
            pass

    def finish(self) -> Inspection:
        """Give what was told, once the stream has ended.

        Raises:
            CaptureError: the answer is cut short, or lacks what was asked for.
        """
        if self._end is None or self._buffer:
            raise CaptureError("the inspection's answer is cut short")
        seen = tuple(self._seen.values())
        overflow = self._end.get("overflow") == 1
        self._sum.update(b'"entries":%d,"overflow":%d' % (len(seen), overflow))
        wanted = {"kind": "end", "entries": len(seen), "overflow": int(overflow), "sha256": self._sum.hexdigest()}
        if self._end != wanted:
            raise CaptureError("the inspection's answer does not add up")
        if not overflow and not self._expected <= {each.path for each in seen}:
            raise CaptureError("the inspection did not look at all that changed")
        return Inspection(seen=seen, overflow=overflow)

    def _header(self) -> bool:
        """Take the next header; tell whether there was a whole one."""
        if len(self._buffer) < 4:  # noqa: PLR2004 - the length before it
            return False
        size = int.from_bytes(self._buffer[:4], "big")
        if size > _LONGEST_HEADER or self._end is not None:
            raise CaptureError("the inspection's answer has a header too long, or one after its end")
        if len(self._buffer) < 4 + size:
            return False
        frame = self._take(4 + size)
        header = _parse(frame[4:])
        if header.get("kind") == "end":
            self._end = header
        else:
            self._sum.update(frame)
            self._accept(_seen(header))
        return True

    def _accept(self, seen: Seen) -> None:
        key = seen.path, seen.kind == "deep"
        if key in self._seen or len(self._seen) >= self._limits.entries:
            raise CaptureError(f"the inspection tells {seen.path!r} twice, or more than it may")
        if seen.path not in self._expected and not _is_beneath(seen.path, self._whole):
            raise CaptureError(f"the inspection tells {seen.path!r}, which it was not asked for")
        if seen.path in self._whole and seen.kind not in _OF_A_WHOLE:
            raise CaptureError(f"the inspection tells {seen.path!r} as {seen.kind}, the keeper as a folder")
        self._seen[key] = seen
        if seen.kind in _CARRIED:
            self._total += seen.numbers["size"] if seen.kind == "file" else 0
            if seen.numbers["size"] > self._limits.file_bytes or self._total > self._limits.total_bytes:
                raise CaptureError(f"the inspection sends {seen.path!r} beyond its limits")
            self._open = seen

    def _content(self) -> bool:
        """Take the open entry's content; tell whether it is whole."""
        if self._open is None or len(self._buffer) < self._open.numbers["size"]:
            return False
        content = self._take(self._open.numbers["size"])
        self._sum.update(content)
        kept = content if self._open.kind == "link" else self._contents.put(content)
        path, kind, numbers = self._open.path, self._open.kind, self._open.numbers
        self._seen[path, False] = Seen(path=path, kind=kind, numbers=numbers, content=kept)
        self._open = None
        return True

    def _take(self, size: int) -> bytes:
        taken = bytes(memoryview(self._buffer)[:size])
        del self._buffer[:size]
        return taken


def tree_changes(inspection: Inspection, changes: Changes) -> tuple[Entry, ...]:
    """Give what was seen as changes to the base, for `tree.apply_change`; what no tree can hold is gone."""
    whole = frozenset(changes.whole)
    gone = [Entry(path=path, kind=Kind.GONE) for path in changes.whole if path]
    return (*gone, *(entry for each in inspection.seen for entry in _changes(each, whole)))


def _changes(seen: Seen, whole: frozenset[bytes]) -> Iterator[Entry]:
    kind = _CARRIED.get(seen.kind)
    if kind is not None and refusal(seen.path, kind) is None:
        yield entry_of(seen)
    elif seen.path not in whole and not _is_beneath(seen.path, whole) and seen.kind != "deep":
        yield Entry(path=seen.path, kind=Kind.FOLDER if seen.kind == "folder" else Kind.GONE)


def entry_of(seen: Seen) -> Entry:
    """Give a file or link as an entry of a tree, its mode normalised."""
    if isinstance(seen.content, bytes):
        return Entry(path=seen.path, kind=Kind.LINK, target=seen.content)
    executable = bool(seen.numbers["mode"] & stat.S_IXUSR)
    size = seen.numbers["size"]
    return Entry(path=seen.path, kind=Kind.FILE, executable=executable, sha256=seen.content, size=size)


def _is_beneath(path: bytes, folders: frozenset[bytes] | set[bytes]) -> bool:
    if b"" in folders:
        return path != b""
    end = path.find(b"/")
    while end > 0:
        if path[:end] in folders:
            return True
        end = path.find(b"/", end + 1)
    return False


def _parse(header: bytes) -> dict[str, object]:
    try:
        parsed = json.loads(header)
    except ValueError as error:
        raise CaptureError("the inspection's answer has a header that is no JSON") from error
    if not isinstance(parsed, dict):
        raise CaptureError("the inspection's answer has a header that is no object")
    return parsed


def _seen(header: dict[str, object]) -> Seen:
    kind, path = header.get("kind"), header.get("path")
    fields = _FIELDS.get(kind) if isinstance(kind, str) else None
    numbers = {name: value for name, value in header.items() if type(value) is int and value >= 0}
    if fields is None or not isinstance(kind, str) or not isinstance(path, str) or numbers.keys() != fields:
        raise CaptureError(f"the inspection's answer has an unknown header: {sorted(header)}")
    try:
        raw = b64decode(path, validate=True)
    except ValueError as error:
        raise CaptureError(f"the inspection's answer has a path that is no base64: {path!r}") from error
    if len(header) != len(fields) + 2 or b"\0" in raw or raw.startswith(b"/"):
        raise CaptureError(f"the inspection's answer has an unknown header: {sorted(header)}")
    return Seen(path=raw, kind=kind, numbers=numbers)
