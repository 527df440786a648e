"""Hand-written stand-ins for what needs privilege or a network."""

import contextlib
import hashlib
import os
import re
import shutil
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from sandbox.api import Changes, Gate, HostFacts, LauncherReport, Pack, WorkspaceRequest
from sandbox.spec import AGENT_HOME, WORKSPACE_ROOT, ObjectId, UnitSpec, WorkspaceId
from sandbox.termination import Cause, Stop, Termination, Usage
from sandbox.tree import Kind, tree_digest

_STOPS = {
    Stop.TIMEOUT: Cause.TIMEOUT,
    Stop.OUTPUT_LIMIT: Cause.OUTPUT_LIMIT,
    Stop.OOM: Cause.OOM,
    Stop.KILLED: Cause.KILLED,
}


@dataclass(kw_only=True)
class PlainRunning:
    """A started program in place of a unit."""

    report: LauncherReport
    process: subprocess.Popen[bytes]
    stdin: int
    stdout: int
    stderr: int
    handle: int
    wall_seconds: float
    stopped: Stop | None = None
    begun: float = 0.0

    def go(self) -> None:
        self.begun = time.monotonic()
        self._timer = threading.Timer(self.wall_seconds, self.stop, [Stop.TIMEOUT])
        self._timer.start()

    def stop(self, why: Stop) -> None:
        if self.process.poll() is None:
            self.stopped = self.stopped or why
            with contextlib.suppress(ProcessLookupError):  # it has ended by itself, and was waited for meanwhile
                os.killpg(self.process.pid, signal.SIGKILL)

    def used_us(self) -> int | None:
        """Add up what the processes of its session have used; those that have ended do not count."""
        used = 0
        for folder in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                session = (folder / "stat").read_text().rpartition(")")[2].split()[3]
                if int(session) == self.process.pid:
                    used += int((folder / "schedstat").read_text().split()[0]) // 1000
        return used if self.process.poll() is None else None

    def close_stdin(self) -> None:
        if self.stdin >= 0:
            os.close(self.stdin)
            self.stdin = -1

    def termination(self) -> Termination:
        status = self.process.wait()
        self._timer.cancel()
        usage = Usage(wall_ms=int((time.monotonic() - self.begun) * 1000))
        if self.stopped is not None:
            return Termination(cause=_STOPS[self.stopped], status=None, usage=usage)
        cause = Cause.EXIT if status >= 0 else Cause.SIGNAL
        return Termination(cause=cause, status=abs(status), usage=usage)


@dataclass
class PlainSandbox:
    """A `Sandbox` without walls: it shows what programs do with each other, and proves no protection.

    Units are plain processes; unit paths in argv, stdin and environment become folders below `folder`.
    """

    folder: Path
    started: list[UnitSpec] = field(default_factory=list)
    ends: list[Termination] = field(default_factory=list)
    """Ends to tell instead of the true ones, first to last."""

    def facts(self) -> HostFacts:
        return HostFacts(kernel="fake", systemd="fake", manager="private", cgroups="v2", layers="copy", image="tmpfs")

    def store(self, pack: Pack) -> ObjectId:
        name = ObjectId(tree_digest(pack.entries))
        place = self.folder / "objects" / name
        if not place.exists():
            place.mkdir(parents=True)
            lay(pack, place)
        return name

    def adopt(self, folder: Path) -> ObjectId:
        """Take a folder as a stored object, as it is."""
        name = ObjectId(hashlib.sha256(bytes(folder)).hexdigest())
        (self.folder / "objects").mkdir(exist_ok=True)
        (self.folder / "objects" / name).symlink_to(folder)
        return name

    @contextlib.contextmanager
    def workspace(self, request: WorkspaceRequest) -> Iterator[WorkspaceId]:
        place = Path(tempfile.mkdtemp(dir=self.folder))
        work = place / "work"
        work.mkdir()
        for layer in reversed(request.layers):
            shutil.copytree(self.folder / "objects" / layer, work, symlinks=True, dirs_exist_ok=True)
        if request.lay is not None:
            lay(request.lay, work)
        (place / "tmp").mkdir()
        (place / "home").mkdir()
        yield WorkspaceId(place.name)
        shutil.rmtree(place)

    def changes(self, workspace: WorkspaceId) -> contextlib.AbstractContextManager[tuple[WorkspaceId, Changes]]:
        raise NotImplementedError(workspace)

    def gate(self) -> contextlib.AbstractContextManager[Gate]:
        raise NotImplementedError

    @contextlib.contextmanager
    def start(self, spec: UnitSpec) -> Iterator[PlainRunning]:
        self.started.append(spec)
        place = self.folder / (spec.workspace or "alone")
        for name in ("tmp", "home", "work"):
            (place / name).mkdir(parents=True, exist_ok=True)
        paths = {WORKSPACE_ROOT: place / "work", AGENT_HOME: place / "home", "/tmp": place / "tmp"}
        paths |= {mount.target: self.folder / "objects" / mount.object for mount in spec.mounts}
        environment = {"PATH": "/usr/bin:/bin", "HOME": str(place / "home"), "TMPDIR": str(place / "tmp")}
        environment |= {name: moved(value, paths) for name, value in spec.environment}
        out, err, inward, ended = os.pipe(), os.pipe(), os.pipe(), os.pipe()
        process = subprocess.Popen(
            [moved(argument, paths) for argument in spec.argv],
            stdin=subprocess.PIPE,
            stdout=out[1],
            stderr=err[1],
            env=environment,
            cwd=moved(spec.working_directory, paths),
            start_new_session=True,
        )
        os.close(out[1])
        os.close(err[1])
        feeder = threading.Thread(target=_feed, args=(inward[0], process, paths))
        waiter = threading.Thread(target=_wait, args=(process, ended[1]))
        feeder.start()
        waiter.start()
        running = _Ended if self.ends else PlainRunning
        started = running(
            report=LauncherReport(seen={}),
            process=process,
            stdin=inward[1],
            stdout=out[0],
            stderr=err[0],
            handle=ended[0],
            wall_seconds=spec.limits.wall.total_seconds(),
        )
        if isinstance(started, _Ended):
            started.end = self.ends.pop(0)
        try:
            yield started
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            started.close_stdin()
            feeder.join()
            waiter.join()
            for descriptor in (out[0], err[0], ended[0]):
                os.close(descriptor)


class _Ended(PlainRunning):
    """A unit whose end is told as a test wants it."""

    end: Termination

    def termination(self) -> Termination:
        super().termination()
        return self.end


def moved(text: str, paths: dict[str, Path]) -> str:
    """Replace unit paths at the beginnings of a text's path-like parts."""
    targets = "|".join(re.escape(target) for target in sorted(paths, key=len, reverse=True))
    return re.sub(rf'(^|[=:"])({targets})(?=[/:"]|$)', lambda found: f"{found[1]}{paths[found[2]]}", text)


def lay(pack: Pack, place: Path) -> None:
    """Lay a pack into a plain folder."""
    for entry in sorted(pack.entries, key=lambda each: (each.kind is not Kind.GONE, each.path)):
        path = place / os.fsdecode(entry.path)
        if path.is_symlink() or path.is_file():
            path.unlink()
        elif path.is_dir() and entry.kind is not Kind.FOLDER:
            shutil.rmtree(path)
        if entry.kind is Kind.GONE:
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        if entry.kind is Kind.FOLDER:
            path.mkdir(exist_ok=True)
        elif entry.kind is Kind.LINK:
            path.symlink_to(os.fsdecode(entry.target or b""))
        else:
            path.write_bytes(pack.blobs(entry.sha256 or ""))
            path.chmod(0o755 if entry.executable else 0o644)


def _feed(source: int, process: subprocess.Popen[bytes], paths: dict[str, Path]) -> None:
    """Pass on what a program is given: one text, or frames (their lengths begin with a zero byte) as they come."""
    sink = process.stdin
    with os.fdopen(source, "rb", buffering=0) as stream, contextlib.suppress(BrokenPipeError):
        if sink is None:
            return
        with sink:
            head = stream.read(4) or b""
            if not head.startswith(b"\0"):
                sink.write(moved((head + _rest(stream)).decode(), paths).encode())
                return
            while len(head) == 4:
                length, frame = int.from_bytes(head, "big"), b""
                while len(frame) < length and (more := stream.read(length - len(frame))):
                    frame += more
                frame = moved(frame.decode(), paths).encode()
                sink.write(len(frame).to_bytes(4, "big") + frame)
                sink.flush()
                head = stream.read(4) or b""


def _rest(stream: IO[bytes]) -> bytes:
    parts = []
    while more := stream.read(1 << 20):
        parts.append(more)
    return b"".join(parts)


def _wait(process: subprocess.Popen[bytes], ended: int) -> None:
    process.wait()
    os.close(ended)
