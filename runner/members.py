"""Files on their way into a fixture, before anything of them is written anywhere."""

from collections.abc import Iterable
from dataclasses import dataclass

from runner.errors import FixtureError
from sandbox.spec import MIB

MOST_NAME_BYTES = 255
MOST_PATH_BYTES = 4096


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """One file (`data`) or one symbolic link (`target`). Folders are what stands in between."""

    path: bytes
    data: bytes = b""
    executable: bool = False
    target: bytes | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Caps:
    """How much one source may bring."""

    members: int = 200_000
    file_bytes: int = 64 * MIB
    total_bytes: int = 512 * MIB


def named(path: bytes) -> str:
    """Give a path as an error message may print it: on one line, whatever bytes it has."""
    return ascii(path.decode("utf-8", "surrogateescape"))[1:-1]


def checked_path(path: bytes, origin: str) -> bytes:
    """Give `path` back if it is relative, stays inside, and can stand in a tree of ours.

    Raises:
        FixtureError: it is absolute, climbs, names `.git`, is too long, or holds what no path may hold.
    """
    parts = path.split(b"/")
    wrong = None
    if not path or path.startswith(b"/") or any(part in {b"", b".", b".."} for part in parts):
        wrong = "it is not a plain relative path"
    elif b"\0" in path:
        wrong = "it holds a NUL byte"
    elif any(part.lower() == b".git" for part in parts):
        wrong = "`.git` belongs to the workspace, which makes its own"
    elif len(path) > MOST_PATH_BYTES or any(len(part) > MOST_NAME_BYTES for part in parts):
        wrong = "it is longer than a file system can hold"
    if wrong is not None:
        raise FixtureError(
            file=origin,
            field=named(path),
            found=f"a path that cannot be placed: {wrong}",
            expected="relative paths below one folder",
            mend="take the path out of the source, or name another source",
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
        checked_path(member.path, origin)
        if member.path in taken:
            raise _refused(origin, member.path, "the same path twice", "each path once")
        if member.target is not None and not _leads_inside(member.path, member.target):
            raise _refused(origin, member.path, "a link that leads out", "links that stay inside the fixture")
        total += len(member.data)
        taken[member.path] = member
        if len(taken) > caps.members or len(member.data) > caps.file_bytes or total > caps.total_bytes:
            raise too_much(origin, member.path, caps)
    for path in taken:
        for above in _folders(path):
            if above in taken:
                raise _refused(origin, path, f"a file below {named(above)}, which is no folder", "one tree")
    return tuple(taken[path] for path in sorted(taken))


def too_much(origin: str, path: bytes, caps: Caps) -> FixtureError:
    """Give the error for a source that goes beyond its caps at `path`."""
    return _refused(
        origin,
        path,
        "more than a fixture may hold",
        f"at most {caps.members} files, {caps.file_bytes} bytes each and {caps.total_bytes} bytes together",
    )


def _folders(path: bytes) -> Iterable[bytes]:
    parts = path.split(b"/")
    return (b"/".join(parts[:count]) for count in range(1, len(parts)))


def _leads_inside(path: bytes, target: bytes) -> bool:
    """Whether a link stays below the top folder; `..` may only lead, else another link could bend it."""
    parts = [part for part in target.split(b"/") if part not in {b"", b"."}]
    climbs = next((count for count, part in enumerate(parts) if part != b".."), len(parts))
    absolute = target.startswith(b"/")
    return bool(target) and not absolute and climbs <= path.count(b"/") and b".." not in parts[climbs:]


def _refused(origin: str, path: bytes, found: str, expected: str) -> FixtureError:
    return FixtureError(
        file=origin,
        field=named(path),
        found=found,
        expected=expected,
        mend="drop the path in the nomination's fixture, or name another source",
    )
