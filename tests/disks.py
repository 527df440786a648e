"""Disks that tell what was asked of them, forget what they were told to keep, refuse a call, or die."""

import errno
import os
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from runner.disk import Disk
from tests.crashes import Cut, Event, Link, Move, Node, Sync, Told, Unlink, Write

T = TypeVar("T")


class KilledError(BaseException):
    """The process has ended here: nothing of it is run any more, no cleaning up either."""


@dataclass(slots=True, kw_only=True)
class RecordingDisk(Disk):
    """Works below one folder, and writes down what decides about what a crash leaves. Nothing is really synced."""

    root: Path
    trace: list[Event] = field(default_factory=list)
    keeps: Callable[[Path], bool] = lambda _: True
    """Which syncs this disk obeys: a protocol that lacks some is the real one on a disk that forgets them."""
    killed_at: int | None = None
    """After how many events the process is killed."""
    _nodes: dict[Path, Node] = field(default_factory=dict)
    _opened: dict[int, Path] = field(default_factory=dict)
    _last: Node = 0

    def tell(self, what: Hashable) -> None:
        """Note that somebody is told something now."""
        self._live()
        self._tell(Told(what=what))

    def restart(self) -> None:
        """Begin another process on the same disk."""
        self.killed_at = None
        for file in self._opened:
            os.close(file)
        self._opened.clear()

    def open(self, path: Path, flags: int, mode: int = 0o777) -> int:
        self._live()
        is_new = bool(flags & os.O_CREAT) and not os.path.lexists(path)
        opened = Disk.open(self, path, flags, mode)
        if is_new:
            self._link(path, is_folder=False)
        self._opened[opened] = path
        return opened

    def write(self, file: int, data: memoryview) -> int:
        self._live()
        taken = Disk.write(self, file, data)
        self._tell(Write(node=self._node(self._opened[file]), data=bytes(data[:taken])))
        return taken

    def truncate(self, file: int, size: int) -> None:
        self._live()
        Disk.truncate(self, file, size)
        self._tell(Cut(node=self._node(self._opened[file]), size=size))

    def chmod(self, file: int, mode: int) -> None:
        self._live()
        Disk.chmod(self, file, mode)

    def sync(self, file: int) -> None:
        self._live()
        path = self._opened[file]
        if path != self.root.parent and self.keeps(path):
            self._tell(Sync(node=self._node(path)))

    def close(self, file: int) -> None:
        self._live()
        del self._opened[file]
        Disk.close(self, file)

    def make_folder(self, path: Path, mode: int) -> None:
        self._live()
        Disk.make_folder(self, path, mode)
        self._link(path, is_folder=True)

    def rename(self, source: Path, target: Path) -> None:
        self._live()
        Disk.rename(self, source, target)
        self._move(source, target)

    def rename_new(self, source: Path, target: Path) -> None:
        self._live()
        Disk.rename_new(self, source, target)
        self._move(source, target)

    def remove(self, path: Path) -> None:
        self._live()
        Disk.remove(self, path)
        self._tell(Unlink(folder=self._node(path.parent), name=path.name))
        del self._nodes[path]

    def remove_folder(self, path: Path) -> None:
        self._live()
        Disk.remove_folder(self, path)
        self._tell(Unlink(folder=self._node(path.parent), name=path.name))
        del self._nodes[path]

    def _live(self) -> None:
        if self.killed_at is not None and len(self.trace) >= self.killed_at:
            raise KilledError

    def _tell(self, event: Event) -> None:
        self.trace.append(event)

    def _node(self, path: Path) -> Node:
        return 0 if path == self.root else self._nodes[path]

    def _link(self, path: Path, *, is_folder: bool) -> None:
        self._last += 1
        self._nodes[path] = self._last
        folder = self._node(path.parent)
        self._tell(Link(folder=folder, name=path.name, node=self._last, is_folder=is_folder))

    def _move(self, source: Path, target: Path) -> None:
        if source.parent != target.parent:
            raise AssertionError("the model knows moves within one folder alone")
        self._tell(Move(folder=self._node(source.parent), old=source.name, new=target.name))
        for path in [each for each in self._nodes if each.is_relative_to(target)]:
            del self._nodes[path]
        for path in [each for each in self._nodes if each.is_relative_to(source)]:
            self._nodes[target / path.relative_to(source)] = self._nodes.pop(path)


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """How calls fail."""

    code: int
    lasts: bool = False
    """Whether all calls after it that could change something fail too."""
    happened: bool = False
    """Whether the call has done its work nevertheless."""


CODES = (errno.ENOSPC, errno.EIO, errno.EINTR, errno.EDQUOT, errno.EROFS)
FAULTS = (
    *(Fault(code=code) for code in CODES),
    *(Fault(code=code, lasts=True) for code in CODES),
    *(Fault(code=code, happened=True) for code in CODES),
)


@dataclass(slots=True, kw_only=True)
class FailingDisk(Disk):
    """A disk whose n-th call fails. Nothing is really synced."""

    number: int
    """Counted from 1."""
    fault: Fault | None
    """None: the call is a write that takes a part alone."""
    calls: int = 0
    held: set[int] = field(default_factory=set)
    unsynced: set[int] = field(default_factory=set)
    """Descriptors whose sync has failed."""

    @property
    def is_untouched(self) -> bool:
        """Whether no call came so far that it failed."""
        return self.calls < self.number

    def open(self, path: Path, flags: int, mode: int = 0o777) -> int:
        refused = self._refused()
        if refused is not None and not self._happens():
            raise refused
        opened = Disk.open(self, path, flags, mode)
        if refused is not None:
            os.close(opened)
            raise refused
        self.held.add(opened)
        return opened

    def write(self, file: int, data: memoryview) -> int:
        if self.fault is None and self.calls + 1 == self.number:
            data = data[: (len(data) + 1) // 2]
        return self._do(lambda: Disk.write(self, file, data))

    def truncate(self, file: int, size: int) -> None:
        self._do(lambda: Disk.truncate(self, file, size))

    def chmod(self, file: int, mode: int) -> None:
        self._do(lambda: Disk.chmod(self, file, mode))

    def sync(self, file: int) -> None:
        if file in self.unsynced:
            raise AssertionError("what a failed sync was about is gone; it must not be asked again")
        self.unsynced.add(file)
        self._do(lambda: None)
        self.unsynced.discard(file)

    def close(self, file: int) -> None:
        # The kernel takes a descriptor back whatever close says (close(2)).
        self.held.discard(file)
        self.unsynced.discard(file)
        os.close(file)
        self._do(lambda: None)

    def make_folder(self, path: Path, mode: int) -> None:
        self._do(lambda: Disk.make_folder(self, path, mode))

    def rename(self, source: Path, target: Path) -> None:
        self._do(lambda: Disk.rename(self, source, target))

    def rename_new(self, source: Path, target: Path) -> None:
        self._do(lambda: Disk.rename_new(self, source, target))

    def remove(self, path: Path) -> None:
        self._do(lambda: Disk.remove(self, path))

    def remove_folder(self, path: Path) -> None:
        self._do(lambda: Disk.remove_folder(self, path))

    def _do(self, work: Callable[[], T]) -> T:
        refused = self._refused()
        if refused is not None and not self._happens():
            raise refused
        done = work()
        if refused is not None:
            raise refused
        return done

    def _refused(self) -> OSError | None:
        self.calls += 1
        fault = self.fault
        if fault is None or self.calls < self.number or (self.calls > self.number and not fault.lasts):
            return None
        return OSError(fault.code, os.strerror(fault.code))

    def _happens(self) -> bool:
        return self.fault is not None and self.fault.happened
