"""The harness of an inspection unit: it reads what a program left in the folder it stands in. Stdlib only.

It is loaded by its path, imports none of ours, and holds CAP_DAC_READ_SEARCH alone on a read-only view in
which nothing runs any more. It decides nothing: the runner gets every entry as it is, and judges.

Request (standard input, ASCII lines, then the end of file):

    limits <entries> <bytes of a file> <bytes of all files> <depth> <bytes of a path>
    touched <base64 path>      one entry to look at
    whole <base64 path>        a folder to be walked whole; without a path, the root

Answer (standard output): for each entry a 4-byte big-endian length, that many bytes of a JSON header, and,
for a file or link, `size` bytes of content. The last header has the kind `end`, counts, and the SHA-256 of
all before it. Kinds: file, link, folder (`empty` 0 or 1), gone, special (FIFO, socket, device), too_large,
unreadable (`why`, an errno), deep (a folder in which something lies beyond the limits of depth or of a
path's length).

Whatever stands there, it never blocks and never recurses: entries are looked at before they are opened,
opened without following a link or waiting for a writer, and reached component by component from the root.
"""

import errno
import os
import stat
import sys
from binascii import a2b_base64, b2a_base64

TYPE_CHECKING = False  # typing's own costs as much as the rest of the start, hashlib too
if TYPE_CHECKING:
    from hashlib import sha256
    from typing import BinaryIO
else:
    try:
        from _sha256 import sha256
    except ImportError:
        from hashlib import sha256

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_CHUNK = 1 << 18
_ABSENT = (errno.ENOENT, errno.ENOTDIR, errno.ELOOP)
_GIT = b".git"


class OverflowedError(Exception):
    """There are more entries than the limit."""


class Answer:
    """The stream of entries, with its running digest."""

    def __init__(self, out: "BinaryIO") -> None:
        self._out = out
        self._sum = sha256()
        self.entries = 0

    def send(self, content: bytes) -> None:
        """Write bytes and take them into the digest."""
        self._sum.update(content)
        self._out.write(content)

    def entry(self, path: bytes, kind: str, status: os.stat_result | None = None, **more: int) -> None:
        """Write the header of an entry; a file's or link's content is the caller's."""
        fields = {} if status is None else _told(status)
        numbers = "".join(f',"{name}":{value}' for name, value in (fields | more).items())
        name = b2a_base64(path, newline=False).decode()
        header = f'{{"path":"{name}","kind":"{kind}"{numbers}}}'.encode()
        self.entries += 1
        self.send(len(header).to_bytes(4, "big") + header)

    def end(self, *, overflow: bool) -> None:
        """Write the footer, and whatever was held back."""
        counts = f'"entries":{self.entries},"overflow":{int(overflow)}'
        self._sum.update(counts.encode())
        footer = f'{{"kind":"end",{counts},"sha256":"{self._sum.hexdigest()}"}}'.encode()
        self._out.write(len(footer).to_bytes(4, "big") + footer)
        self._out.flush()


class Inspection:
    """One walk over what changed, within its limits."""

    def __init__(self, limits: tuple[int, ...], answer: Answer) -> None:
        self._entries, self._file_bytes, self._left, self._depth, self._path_bytes = limits
        self._answer = answer

    def touched(self, path: bytes) -> None:
        """Look at one entry, not entering it if it is a folder."""
        if self._look_at(path):
            self._folder(path, enter=False)

    def whole(self, path: bytes) -> None:
        """Look at a folder and all beneath it."""
        waiting = [path] if not path or self._look_at(path) else []
        while waiting:
            waiting += self._folder(waiting.pop(), enter=True)

    def _look_at(self, path: bytes) -> bool:
        if self._too_deep(path):
            self._tell(path, "deep")
            return False
        parent, _, name = path.rpartition(b"/")
        try:
            place = open_folder(parent)
        except OSError as error:
            self._lost(path, error)
            return False
        try:
            return self._look(place, path, name)
        finally:
            os.close(place)

    def _look(self, place: int, path: bytes, name: bytes) -> bool:
        """Tell what an entry of an open folder is; give whether it is a folder, which is told elsewhere."""
        try:
            status = os.stat(name, dir_fd=place, follow_symlinks=False)
            if stat.S_ISREG(status.st_mode):
                self._file(place, path, name, status)
            elif stat.S_ISLNK(status.st_mode):
                target = os.readlink(name, dir_fd=place)
                self._tell(path, "link", status, size=len(target))
                self._answer.send(target)
            elif not stat.S_ISDIR(status.st_mode):
                self._tell(path, "special", status)
        except OSError as error:
            self._lost(path, error)
            return False
        return stat.S_ISDIR(status.st_mode)

    def _file(self, place: int, path: bytes, name: bytes, status: os.stat_result) -> None:
        if status.st_size > min(self._file_bytes, self._left):
            self._tell(path, "too_large", status)
            return
        file = os.open(name, _FILE, dir_fd=place)
        try:
            self._tell(path, "file", status)
            self._left -= status.st_size
            left = status.st_size
            while left:
                chunk = os.read(file, min(left, _CHUNK))
                if not chunk:
                    sys.exit("a file shrank while it was read: something still runs")
                self._answer.send(chunk)
                left -= len(chunk)
        finally:
            os.close(file)

    def _folder(self, path: bytes, *, enter: bool) -> list[bytes]:
        """Tell a folder and, if it is to be entered, all in it; give the folders among that, last first."""
        try:
            place = open_folder(path)
        except OSError as error:
            self._lost(path, error)
            return []
        try:
            names = self._names(place, most=self._entries if enter else 0)
            self._tell(path, "folder", os.fstat(place), empty=int(not names))
            if not enter:
                return []
            below = [(path + b"/" + name if path else name, name) for name in names if path or name != _GIT]
            fitting = [each for each in below if not self._too_deep(each[0])]
            if len(fitting) < len(below):
                self._tell(path, "deep")
            return [each for each, name in fitting if self._look(place, each, name)][::-1]
        finally:
            os.close(place)

    def _names(self, place: int, *, most: int) -> list[bytes]:
        """Give a folder's names in order; of a folder that is not entered, one name says enough."""
        names: list[bytes] = []
        with os.scandir(place) as found:
            for each in found:
                names.append(os.fsencode(each.name))
                if len(names) > most:
                    if most:
                        raise OverflowedError
                    break
        return sorted(names)

    def _too_deep(self, path: bytes) -> bool:
        return path.count(b"/") >= self._depth or len(path) > self._path_bytes

    def _lost(self, path: bytes, error: OSError) -> None:
        if error.errno in _ABSENT:
            self._tell(path, "gone")
        else:
            self._tell(path, "unreadable", why=error.errno or 0)

    def _tell(self, path: bytes, kind: str, status: os.stat_result | None = None, **more: int) -> None:
        if self._answer.entries >= self._entries:
            raise OverflowedError
        self._answer.entry(path, kind, status, **more)


def open_folder(path: bytes) -> int:
    """Open a folder below the working directory, component by component; no path is too long for that."""
    place = os.open(b".", _FOLDER)
    for part in path.split(b"/") if path else ():
        try:
            below = os.open(part, _FOLDER, dir_fd=place)
        finally:
            os.close(place)
        place = below
    return place


def _told(status: os.stat_result) -> dict[str, int]:
    return {
        "mode": status.st_mode,
        "size": status.st_size,
        "blocks": status.st_blocks,
        "links": status.st_nlink,
        "device": status.st_dev,
        "inode": status.st_ino,
    }


def main() -> None:
    """Go to the folder that is named, if one is; read the request, walk, and answer."""
    if sys.argv[1:]:
        os.chdir(sys.argv[1])
    with open(0, "rb", closefd=False) as stream:
        lines = stream.read().decode("ascii").splitlines()
    limits = tuple(int(word) for word in lines[0].split()[1:])
    with open(1, "wb", buffering=_CHUNK, closefd=False) as out:
        answer = Answer(out)
        inspection = Inspection(limits, answer)
        overflow = False
        try:
            for line in lines[1:]:
                word, _, path = line.partition(" ")
                walk = inspection.whole if word == "whole" else inspection.touched
                walk(a2b_base64(path))
        except OverflowedError:
            overflow = True
        answer.end(overflow=overflow)


if __name__ == "__main__":
    main()
