"""What an overlay's upper layer says has changed. Its programs have ended; no file of it is opened.

A removed or moved-away name is a 0/0 character device. A folder that took the place of another is opaque, one
that was moved is redirected; both marks are extended attributes that only root can set.
"""

import errno
import os
from dataclasses import dataclass, field

from sandbox.api import Changes
from sandbox.beneath import FOLDER, names, open_folder
from sandbox.errors import CaptureError

_MARKS = ("trusted.overlay.opaque", "trusted.overlay.redirect")
_GIT = b".git"


def read_upper(upper: int, layers: tuple[int, ...], *, most: int) -> Changes:
    """List where a walk of the merged tree has to look; the arguments are descriptors, the top layer first.

    Only folders that lie below too are entered, so a hostile tree's depth does not matter. It stops at `most`
    entries: the inspection, which takes fewer, then finds the change incomplete, and that is the candidate's doing.

    Raises:
        CaptureError: the layer cannot be read.
    """
    reading = _Reading(upper=upper, layers=layers, most=most)
    try:
        while reading.waiting:
            reading.read(reading.waiting.pop())
    except OSError as error:
        raise CaptureError(f"the upper layer cannot be read: {error}") from error
    touched, whole = sorted(reading.touched), sorted(reading.whole)
    return Changes(touched=tuple(touched), whole=tuple(whole), git_touched=reading.git_touched)


@dataclass(slots=True, kw_only=True)
class _Reading:
    """A walk on its way."""

    upper: int
    layers: tuple[int, ...]
    most: int
    waiting: list[bytes] = field(default_factory=lambda: [b""])
    touched: list[bytes] = field(default_factory=list)
    whole: list[bytes] = field(default_factory=list)
    git_touched: bool = False

    def read(self, path: bytes) -> None:
        """Sort one folder's entries into those to look at, those to walk whole, and those to enter here."""
        folder = open_folder(self.upper, path)
        try:
            for name, is_folder in names(folder):
                if not path and name == _GIT:
                    self.git_touched = True
                    continue
                if len(self.touched) + len(self.whole) >= self.most:
                    self.waiting.clear()
                    return
                below = path + b"/" + name if path else name
                if not is_folder:
                    self.touched.append(below)
                elif _is_marked(folder, name) or not self._lies_below(below):
                    self.whole.append(below)
                else:
                    self.touched.append(below)
                    self.waiting.append(below)
        finally:
            os.close(folder)

    def _lies_below(self, path: bytes) -> bool:
        """Whether the first layer that has anything at this path has a folder there."""
        for layer in self.layers:
            try:
                os.close(open_folder(layer, path))
            except OSError as error:
                if error.errno == errno.ENOENT:
                    continue
                if error.errno in {errno.ENOTDIR, errno.ELOOP}:
                    return False
                raise
            return True
        return False


def _is_marked(place: int, name: bytes) -> bool:
    folder = os.open(name, FOLDER, dir_fd=place)
    try:
        return not set(_MARKS).isdisjoint(os.listxattr(folder))
    finally:
        os.close(folder)
