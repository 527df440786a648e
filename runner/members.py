"""Files on their way into a fixture, before anything of them is written anywhere."""

from collections.abc import Iterable
from dataclasses import dataclass

from runner.errors import FixtureError
from runner.folder import Caps
from sandbox.patch_text import refusal
from sandbox.spec import MIB
from sandbox.tree import Kind

CAPS = Caps(files=200_000, file_bytes=64 * MIB, total_bytes=512 * MIB)
"""How much a fixture may hold."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """One file (`data`) or one symbolic link (`target`). Folders are what stands in between."""

    path: bytes
    data: bytes = b""
    executable: bool = False
    target: bytes | None = None


def named(path: bytes) -> str:
    """Give a path as an error message may print it: on one line, whatever bytes it has."""
    return ascii(path.decode("utf-8", "surrogateescape"))[1:-1]


def checked_path(path: bytes, origin: str, kind: Kind = Kind.FILE) -> bytes:
    """Give `path` back if it is relative, stays inside, and a patch could carry it.

    Raises:
        FixtureError: it is not.
    """
    wrong = refusal(path, kind)
    if wrong is not None:
        raise FixtureError(
            file=origin,
            field=named(path),
            found=f"a path that cannot be placed: {wrong}",
            expected="relative paths below one folder that git can carry",
            mend="drop it in the nomination, or name another source",
        )
    return path


def checked_members(members: Iterable[Member], origin: str, caps: Caps) -> tuple[Member, ...]:
    """Give the members sorted by path, if together they are one tree within the caps.

    Raises:
        FixtureError: a path twice, a file above another, a link that leads out, or too much of it.
    """
    taken: dict[bytes, Member] = {}
    total = 0
    for member in members:
        checked_path(member.path, origin, Kind.FILE if member.target is None else Kind.LINK)
        if member.path in taken:
            raise _refused(origin, member.path, "the same path twice", "each path once")
        if member.target is not None and not _leads_inside(member.path, member.target):
            raise _refused(origin, member.path, "a link that leads out", "links that stay inside the fixture")
        total += len(member.data)
        taken[member.path] = member
        if len(taken) > caps.files or len(member.data) > caps.file_bytes or total > caps.total_bytes:
            raise too_much(origin, member.path, caps)
    for path in taken:
        for above in _folders(path):
            if above in taken:
                found = f"a file below {named(above)}, which is no folder"
                raise _refused(origin, path, found, "each path either a file or a folder")
    return tuple(taken[path] for path in sorted(taken))


def too_much(origin: str, path: bytes, caps: Caps) -> FixtureError:
    """Give the error for a source that goes beyond its caps at `path`."""
    return _refused(
        origin,
        path,
        "more than a fixture may hold",
        f"at most {caps.files} files, {caps.file_bytes} bytes each and {caps.total_bytes} bytes together",
    )


def _folders(path: bytes) -> Iterable[bytes]:
    parts = path.split(b"/")
    return (b"/".join(parts[:count]) for count in range(1, len(parts)))


def _leads_inside(path: bytes, target: bytes) -> bool:
    """Whether a link stays below the top folder; `..` may only lead, else another link could bend it."""
    parts = [part for part in target.split(b"/") if part not in {b"", b"."}]
    climbs = next((count for count, part in enumerate(parts) if part != b".."), len(parts))
    plain = bool(target) and not target.startswith(b"/") and b"\0" not in target
    return plain and climbs <= path.count(b"/") and b".." not in parts[climbs:]


def _refused(origin: str, path: bytes, found: str, expected: str) -> FixtureError:
    return FixtureError(
        file=origin,
        field=named(path),
        found=found,
        expected=expected,
        mend="name another source, or make the fixture a folder without it",
    )
