"""The system calls that writing is made of. Whoever wants to see or refuse one gives a `Disk` of its own."""

import ctypes
import errno
import os
from pathlib import Path

_RENAME_NOREPLACE, _RENAME_EXCHANGE = 1, 2
_AT_FDCWD = -100


class Disk:
    """The machine's own file systems. Every call raises OSError, and does one thing."""

    def open(self, path: Path, flags: int, mode: int = 0o777) -> int:
        """Open a file or folder, never through a link in its last name."""
        return os.open(path, flags | os.O_NOFOLLOW | os.O_CLOEXEC, mode)

    def write(self, file: int, data: memoryview) -> int:
        """Write from where the file stands, and give how many bytes were taken."""
        return os.write(file, data)

    def truncate(self, file: int, size: int) -> None:
        """Cut a file to its first bytes."""
        os.ftruncate(file, size)

    def chmod(self, file: int, mode: int) -> None:
        """Set the mode of an open file or folder."""
        os.fchmod(file, mode)

    def sync(self, file: int) -> None:
        """Make durable what a file holds, or which names a folder has."""
        os.fsync(file)

    def close(self, file: int) -> None:
        """Give a descriptor back."""
        os.close(file)

    def make_folder(self, path: Path, mode: int) -> None:
        """Make one folder, whose parent is there."""
        path.mkdir(mode)

    def rename(self, source: Path, target: Path) -> None:
        """Move within a folder; a file that has the name is replaced."""
        source.rename(target)

    def rename_new(self, source: Path, target: Path) -> None:
        """Move within a folder, to a name that must be free."""
        libc = ctypes.CDLL(None, use_errno=True)
        old, new = os.fsencode(source), os.fsencode(target)
        if libc.renameat2(_AT_FDCWD, old, _AT_FDCWD, new, _RENAME_NOREPLACE) == 0:
            return
        code = ctypes.get_errno()
        if code not in {errno.EINVAL, errno.ENOSYS}:
            raise OSError(code, os.strerror(code), str(target))
        rename_plain(source, target)

    def exchange(self, one: Path, other: Path) -> None:
        """Let two names change places at once; both must be there."""
        libc = ctypes.CDLL(None, use_errno=True)
        if libc.renameat2(_AT_FDCWD, os.fsencode(one), _AT_FDCWD, os.fsencode(other), _RENAME_EXCHANGE) != 0:
            code = ctypes.get_errno()
            raise OSError(code, os.strerror(code), str(other))

    def remove(self, path: Path) -> None:
        """Remove a file."""
        path.unlink()

    def remove_folder(self, path: Path) -> None:
        """Remove an empty folder."""
        path.rmdir()


DISK = Disk()
"""What is used where nobody gives another."""


def rename_plain(source: Path, target: Path) -> None:
    """Move a folder where the file system knows no exclusive rename.

    Between the look and the move nothing can be lost: a folder only ever replaces an empty one, and a sealed
    folder is never empty.
    """
    if os.path.lexists(target):
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(target))
    source.rename(target)
