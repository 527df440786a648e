"""What was found in a workspace beside its tree: all that a patch does not carry, or that breaks a rule."""

import errno
import re
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from sandbox.inspected import Inspection, Seen
from sandbox.patch_text import refusal
from sandbox.tree import Kind

_EXPECTED = {"file": (0o644, 0o755), "too_large": (0o644, 0o755), "folder": (0o755,)}
_SET_ID = stat.S_ISUID | stat.S_ISGID
_BLOCK, _SLACK = 512, 4096
"""Bytes; a file that lacks no more than one block of the file system is not called sparse."""


class FindingKind(StrEnum):
    """What was found."""

    MODE = "mode"
    """Permission bits other than 644 or 755; for a folder, other than 755."""
    EMPTY_FOLDER = "empty_folder"
    HARD_LINK = "hard_link"
    SPARSE = "sparse"
    GIT_TOUCHED = "git_touched"
    """The workspace's own `.git`, which is no part of a submission, is not as it was given."""
    SPECIAL = "special"
    """A FIFO, socket or device."""
    SET_ID = "set_id"
    UNCAPTURABLE = "uncapturable"
    """A name that a patch cannot carry, such as a nested repository's `.git`."""
    TOO_LARGE = "too_large"
    UNREADABLE = "unreadable"
    TOO_DEEP = "too_deep"
    """A folder in which something lies deeper, or has a longer path, than the limits allow."""
    INCOMPLETE = "incomplete"
    """More entries changed than the limit; what is beyond it was not looked at."""


VIOLATIONS = frozenset(FindingKind) - {
    FindingKind.MODE,
    FindingKind.EMPTY_FOLDER,
    FindingKind.HARD_LINK,
    FindingKind.SPARSE,
    FindingKind.GIT_TOUCHED,
}
"""What no policy may pass: the submission is not what was left behind, or could not be given to anyone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One finding; `mode` is raw and `size` is of bytes where they were seen, `detail` is for people."""

    kind: FindingKind
    path: bytes
    mode: int | None = None
    size: int | None = None
    detail: str = ""

    @property
    def violates(self) -> bool:
        """Whether it breaks a rule whatever a nomination allows."""
        return self.kind in VIOLATIONS


def findings_of(inspection: Inspection, *, git_touched: bool) -> tuple[Finding, ...]:
    """List what an inspection found, by path and kind."""
    found = {each for seen in inspection.seen for each in _of(seen)}
    if git_touched:
        found.add(Finding(kind=FindingKind.GIT_TOUCHED, path=b".git"))
    if inspection.overflow:
        found.add(Finding(kind=FindingKind.INCOMPLETE, path=b"", detail=f"after {len(inspection.seen)} entries"))
    return tuple(sorted(found, key=lambda each: (each.path, each.kind, each.detail)))


def _of(seen: Seen) -> Iterator[Finding]:
    path, mode, size = seen.path, seen.numbers.get("mode"), seen.numbers.get("size")
    if path and (refused := _refused(seen)):
        yield refused
    match seen.kind:
        case "special":
            yield Finding(kind=FindingKind.SPECIAL, path=path, mode=mode, detail=_special(mode or 0))
        case "too_large":
            yield Finding(kind=FindingKind.TOO_LARGE, path=path, mode=mode, size=size)
        case "deep":
            yield Finding(kind=FindingKind.TOO_DEEP, path=path)
        case "unreadable":
            why = errno.errorcode.get(seen.numbers["why"], "unknown")
            yield Finding(kind=FindingKind.UNREADABLE, path=path, detail=why)
        case "folder" if path and seen.numbers["empty"]:
            yield Finding(kind=FindingKind.EMPTY_FOLDER, path=path)
    if mode is not None:
        yield from _of_status(seen, mode)


def _of_status(seen: Seen, mode: int) -> Iterator[Finding]:
    path, size, numbers = seen.path, seen.numbers["size"], seen.numbers
    if mode & _SET_ID and seen.kind != "link":
        yield Finding(kind=FindingKind.SET_ID, path=path, mode=mode)
    elif seen.kind in _EXPECTED and stat.S_IMODE(mode) not in _EXPECTED[seen.kind]:
        yield Finding(kind=FindingKind.MODE, path=path, mode=mode)
    if not stat.S_ISREG(mode):
        return
    if numbers["links"] > 1:
        where = f"one of {numbers['links']} names of {numbers['device']}:{numbers['inode']}"
        yield Finding(kind=FindingKind.HARD_LINK, path=path, detail=where)
    if size - numbers["blocks"] * _BLOCK > _SLACK:
        yield Finding(kind=FindingKind.SPARSE, path=path, size=size)


def _refused(seen: Seen) -> Finding | None:
    """Give the finding of a name that no patch carries, at the first folder that has it."""
    why = refusal(seen.path, Kind.LINK if seen.kind == "link" else Kind.FILE)
    if why is None:
        return None
    parts = re.split(rb"(/)", seen.path)
    starts = (b"".join(parts[:end]) for end in range(1, len(parts), 2))
    path = next((start for start in starts if refusal(start) is not None), seen.path)
    return Finding(kind=FindingKind.UNCAPTURABLE, path=path, detail=why)


def _special(mode: int) -> str:
    names = {stat.S_IFIFO: "FIFO", stat.S_IFSOCK: "socket", stat.S_IFCHR: "device", stat.S_IFBLK: "device"}
    return names.get(stat.S_IFMT(mode), "unknown")
