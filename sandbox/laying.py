"""Put a pack beneath one folder: nothing outside it is touched, whatever links lie in it already.

No program may run in the folder meanwhile. Afterwards every path of the pack is what its entry says: what
stood in the way is gone with everything beneath it.
"""

import errno
import hashlib
import os
from dataclasses import dataclass, field

from sandbox.beneath import FOLDER, make_folder, names, open_folder, remove
from sandbox.errors import PackError, PatchError
from sandbox.pack import Packed, read_exactly, read_header
from sandbox.tree import Entry, Kind

FROZEN_TIME = 1_577_836_800
"""When every stored file was changed last: the first second of 2020."""
LAID_TIME = FROZEN_TIME + 86_400
"""The same for what is laid over stored files: later, so that whoever compares times sees a newer file."""
_NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_CHUNK = 1 << 20
_ABSENT = frozenset({errno.ENOENT, errno.ENOTDIR, errno.ELOOP})
"""How the kernel says that no such folder is there: nothing, something else, or a link."""


def lay(pack: int, folder: int, *, owner: int, time: int, private: bool = False) -> None:
    """Apply a pack beneath `folder`; all that it makes belongs to `owner` and has the one time.

    Files that are `private` nobody but the owner may read.

    Raises:
        PackError: the pack is malformed, or a file's bytes have not the digest its entry says.
        PatchError: what should go is not there.
    """
    lay_entries(pack, read_header(pack), Ground(folder=folder, owner=owner, time=time, private=private))


def lay_entries(pack: int, packed: tuple[Packed, ...], ground: "Ground") -> None:
    """Apply the entries of a pack whose header was read: deletions from below, then the rest from above."""
    ordered = sorted(packed, key=lambda each: each.entry.path.split(b"/"))
    try:
        for each in reversed(ordered):
            if each.entry.kind is Kind.GONE:
                ground.take_away(each.entry.path)
        for each in ordered:
            _place(pack, each, ground)
        ground.settle()
    finally:
        ground.leave()


def _place(pack: int, packed: Packed, ground: "Ground") -> None:
    entry = packed.entry
    match entry.kind:
        case Kind.GONE:
            pass
        case Kind.FOLDER:
            ground.enter(entry.path)
        case Kind.LINK:
            ground.place_link(entry)
        case Kind.FILE:
            with open(ground.new_file(entry), "wb", buffering=0) as file:  # noqa: PTH123 - a descriptor
                _copy(pack, packed, file.fileno())
                ground.finish(file.fileno())


def _copy(pack: int, packed: Packed, file: int) -> None:
    """Copy a file's bytes and prove them."""
    digest, offset, left = hashlib.sha256(), packed.offset, packed.entry.size
    while left:
        chunk = read_exactly(pack, offset, min(left, _CHUNK))
        digest.update(chunk)
        offset, left = offset + len(chunk), left - len(chunk)
        while chunk:
            chunk = chunk[os.write(file, chunk) :]
    if digest.hexdigest() != packed.entry.sha256:
        raise PackError(f"the bytes of {packed.entry.path!r} have not the digest its entry says")


@dataclass(slots=True, kw_only=True)
class Ground:
    """The folder that is laid on. The folder entered last stays open: neighbours come one after another."""

    folder: int
    owner: int
    time: int
    private: bool = False
    here: int | None = None
    path: bytes = b""
    changed: set[bytes] = field(default_factory=set)
    removed: set[bytes] = field(default_factory=set)

    def enter(self, path: bytes) -> int:
        """Open a folder, making it and those above it where they are missing or something else."""
        if self.here is not None and self.path == path:
            return self.here
        self.leave()
        try:
            self.here = open_folder(self.folder, path)
        except OSError as error:
            if error.errno not in _ABSENT:
                raise
            self.here = self._make(path)
        self.path = path
        return self.here

    def place_link(self, entry: Entry) -> None:
        """Make a link."""
        place, name = self._parent(entry.path)
        target = entry.target or b""
        try:
            os.symlink(target, name, dir_fd=place)
        except FileExistsError:
            remove(place, name)
            os.symlink(target, name, dir_fd=place)
        os.chown(name, self.owner, self.owner, dir_fd=place, follow_symlinks=False)
        os.utime(name, (self.time, self.time), dir_fd=place, follow_symlinks=False)

    def new_file(self, entry: Entry) -> int:
        """Make a file that was not there a moment ago and give its descriptor."""
        place, name = self._parent(entry.path)
        try:
            file = os.open(name, _NEW_FILE, 0o600, dir_fd=place)
        except FileExistsError:
            remove(place, name)
            file = os.open(name, _NEW_FILE, 0o600, dir_fd=place)
        mode = 0o755 if entry.executable else 0o644
        os.fchmod(file, mode & 0o700 if self.private else mode)
        return file

    def finish(self, file: int) -> None:
        """Give a written file its owner and time."""
        os.fchown(file, self.owner, self.owner)
        os.utime(file, (self.time, self.time))

    def take_away(self, path: bytes) -> None:
        """Remove a path, and the folders above it that this leaves empty."""
        if path in self.removed:
            return
        self._remove(path)
        above = path.rpartition(b"/")[0]
        while above and not names(self.enter_existing(above)):
            self._remove(above)
            above = above.rpartition(b"/")[0]

    def enter_existing(self, path: bytes) -> int:
        """Open a folder that has to be there."""
        if self.here is None or self.path != path:
            self.leave()
            self.here, self.path = open_folder(self.folder, path), path
        return self.here

    def settle(self) -> None:
        """Give every folder whose names changed the one time."""
        for path in self.changed:
            try:
                os.utime(self.enter_existing(path), (self.time, self.time))
            except OSError as error:
                if error.errno not in _ABSENT:  # it went with a folder above it
                    raise

    def leave(self) -> None:
        """Close the folder entered last."""
        if self.here is not None:
            os.close(self.here)
            self.here = None

    def _remove(self, path: bytes) -> None:
        above, _, name = path.rpartition(b"/")
        try:
            remove(self.enter_existing(above), name)
        except OSError as error:
            if error.errno not in _ABSENT:
                raise
            raise PatchError(f"{path!r} should go, but is not there") from error
        self.removed.add(path)
        self.changed.add(above)

    def _parent(self, path: bytes) -> tuple[int, bytes]:
        above, _, name = path.rpartition(b"/")
        self.changed.add(above)
        return self.enter(above), name

    def _make(self, path: bytes) -> int:
        """Go down part by part; what is no folder gives way to one."""
        here, above = open_folder(self.folder, b""), b""
        for name in path.split(b"/"):
            try:
                there = self._folder_in(here, name, above)
            finally:
                os.close(here)
            here = there
            above = above + b"/" + name if above else name
        return here

    def _folder_in(self, place: int, name: bytes, above: bytes) -> int:
        try:
            return os.open(name, FOLDER, dir_fd=place)
        except FileNotFoundError:
            pass
        except OSError as error:
            if error.errno not in {errno.ENOTDIR, errno.ELOOP}:
                raise
            remove(place, name)
        self.changed |= {above, above + b"/" + name if above else name}
        return make_folder(place, name, self.owner)
