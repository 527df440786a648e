"""Calls of git on repositories of our own: literal environment, no configuration but ours, bounded time.

No call has a work tree, and none ever looks at a folder that a candidate could write.
"""

import os
import resource
import select
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from sandbox.errors import PatchError
from sandbox.scratch import MEMORY, scratch_folder
from sandbox.tools import GIT, need_tools

_OWN_GROUP = 0
"""A terminal's Ctrl-C is for the runner, which lets a capture come to its end."""

TIMEOUT = 600.0
"""Seconds: far beyond what any call of ours needs. The longest captured change is a minute's work on a busy machine."""

_MEMORY = 4 << 30
"""Bytes a call may map: a patch is small, but what its binary deltas copy together is not bounded by that."""
_LARGEST = 1 << 30
"""Bytes of an object that is read into memory."""

_ENVIRONMENT = {
    "PATH": "/usr/bin",
    "HOME": "/nonexistent",
    "LC_ALL": "C",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_CONFIG_SYSTEM": "/dev/null",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_TERMINAL_PROMPT": "0",
}
_SETTINGS = (
    "core.attributesFile=/dev/null",
    "core.commitGraph=false",  # what others derived from objects is not asked; the objects are
    "core.hooksPath=/dev/null",
    "core.multiPackIndex=false",
    "core.protectNTFS=true",  # the default, and what stock git holds our patches against
    "core.protectHFS=false",
    "core.quotePath=true",
    "core.compression=1",
    "fastimport.unpackLimit=0",  # one pack: loose objects cost twice as long
    "gc.auto=0",
    "protocol.allow=never",  # nothing is ever fetched
)
_CONFIG = "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = true\n"
_ROOMY = 4 << 30
_DURABLE, _FLEETING = "core.fsync=committed", "core.fsync=none"


def run_git(git_dir: Path, *arguments: str, stdin: bytes | BinaryIO = b"", durable: bool = False) -> bytes:
    """Run git on a repository of ours and give its standard output.

    Raises:
        HostUnfitError: git is missing.
        PatchError: git did not end well, or not in time.
    """
    need_tools((GIT,))
    given, source = (stdin, subprocess.PIPE) if isinstance(stdin, bytes) else (None, stdin)
    argv, environment, pipe = _argv(arguments, durable=durable), _environment(git_dir), subprocess.PIPE
    try:
        with subprocess.Popen(
            argv, env=environment, cwd=git_dir, stdin=source, stdout=pipe, stderr=pipe, process_group=_OWN_GROUP
        ) as process:
            resource.prlimit(process.pid, resource.RLIMIT_AS, (_MEMORY, _MEMORY))
            try:
                out, told = process.communicate(given, timeout=TIMEOUT)
            finally:
                process.kill()
    except (OSError, subprocess.TimeoutExpired) as error:
        raise PatchError(f"git {arguments[0]} could not be run to its end: {error}") from error
    if process.returncode != 0:
        raise PatchError(f"git {arguments[0]} ended with {process.returncode}: {told[-500:]!r}")
    return out


def make_repository(git_dir: Path, *, below: Path | None = None) -> None:
    """Lay out an empty bare repository, which also finds the objects of the one `below`."""
    for folder in ("objects/info", "objects/pack", "refs/heads"):
        (git_dir / folder).mkdir(parents=True, exist_ok=True)
    if below is not None:
        objects = os.fsencode((below / "objects").resolve())
        (git_dir / "objects/info/alternates").write_bytes(quote(objects) + b"\n")
    (git_dir / "config").write_text(_CONFIG)
    (git_dir / "HEAD").write_text("ref: refs/heads/main\n")


@contextmanager
def scratch_repository(below: Path | None = None) -> Iterator[Path]:
    """Give a repository that is gone afterwards, with whatever was put into it."""
    with scratch_folder(_memory()) as place:
        make_repository(place, below=below)
        yield place


def _memory() -> str | None:
    """Give a folder in memory, if there is a roomy one: scratch repositories are many small files."""
    try:
        room = os.statvfs(MEMORY)
    except OSError:
        return None
    return MEMORY if room.f_bavail * room.f_frsize >= _ROOMY else None


def quote(path: bytes) -> bytes:
    """Write a path as git's C-style quoted string where any byte of it could be misread."""
    if path and all(byte in _PLAIN for byte in path):
        return path
    return b'"' + b"".join(b"%c" % byte if byte in _QUOTED_PLAIN else b"\\%03o" % byte for byte in path) + b'"'


_PLAIN = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._/-+")
_QUOTED_PLAIN = frozenset(range(0x20, 0x7F)) - frozenset(b'"\\')


class ObjectReader:
    """Objects of one repository, read through one process; made by `object_reader`."""

    def __init__(self, process: subprocess.Popen[bytes], deadline: float) -> None:
        self._process = process
        self._deadline = deadline
        self._read = bytearray()

    def read(self, name: str, kind: bytes) -> bytes:
        """Give an object of a known kind.

        Raises:
            PatchError: it is not there, or of another kind.
        """
        if self._process.stdin is None:
            raise PatchError("the reader of objects has no input")
        try:
            self._process.stdin.write(name.encode() + b"\n")
            self._process.stdin.flush()
        except OSError as error:
            raise PatchError("the reader of objects is gone") from error
        words = self._line().split()
        if len(words) != 3 or words[1] != kind:  # noqa: PLR2004 - "<name> <kind> <size>"
            raise PatchError(f"{name} is no {kind.decode()}: {words!r}")
        size = int(words[2])
        if size > _LARGEST:
            raise PatchError(f"{name} is of {size} bytes, which is more than a tree of ours holds")
        return self._take(size + 1)[:-1]

    def _line(self) -> bytes:
        while (end := self._read.find(b"\n")) < 0:
            self._more()
        return self._take(end + 1)

    def _take(self, size: int) -> bytes:
        while len(self._read) < size:
            self._more()
        taken = bytes(memoryview(self._read)[:size])
        del self._read[:size]
        return taken

    def _more(self) -> None:
        if self._process.stdout is None:
            raise PatchError("the reader of objects has no output")
        descriptor = self._process.stdout.fileno()
        waiting = select.poll()
        waiting.register(descriptor, select.POLLIN)
        left = max(0.0, self._deadline - time.monotonic())
        chunk = os.read(descriptor, 1 << 16) if waiting.poll(left * 1000) else b""
        if not chunk:
            raise PatchError("the reader of objects ended, or hung")
        self._read += chunk


@contextmanager
def object_reader(git_dir: Path) -> Iterator[ObjectReader]:
    """Start a reader of a repository's objects, and end it.

    Raises:
        HostUnfitError: git is missing.
    """
    need_tools((GIT,))
    argv = _argv(("cat-file", "--batch"), durable=False)
    pipe, null = subprocess.PIPE, subprocess.DEVNULL
    environment = _environment(git_dir)
    with subprocess.Popen(
        argv, env=environment, cwd=git_dir, stdin=pipe, stdout=pipe, stderr=null, process_group=_OWN_GROUP
    ) as process:
        try:
            yield ObjectReader(process, time.monotonic() + TIMEOUT)
        finally:
            process.kill()


def _argv(arguments: tuple[str, ...], *, durable: bool) -> list[str]:
    settings = (*_SETTINGS, _DURABLE if durable else _FLEETING)
    return [GIT, *(word for setting in settings for word in ("-c", setting)), *arguments]


def _environment(git_dir: Path) -> dict[str, str]:
    return {**_ENVIRONMENT, "GIT_DIR": str(git_dir.resolve())}
