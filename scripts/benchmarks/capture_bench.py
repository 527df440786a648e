"""Prepare and capture: a workspace of many files and the change made in it, against copies and git's own look."""

import os
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass
from datetime import timedelta
from hashlib import sha256
from pathlib import Path

from figures import Figure, Measured
from rooms import patient_sandbox, state_folder

from sandbox.api import Pack, WorkspaceRequest
from sandbox.capture import Base, Capture, capture, harness_pack
from sandbox.client import KeeperSandbox
from sandbox.contents import MemoryContents
from sandbox.inspected import CaptureLimits
from sandbox.patch import Repository
from sandbox.spec import PYTHON, Limits, Mount, ObjectId, Role, UnitSpec
from sandbox.tree import Entry, Kind, snapshot
from sandbox.unit import run

_FEW, _MANY, _MOST = 5_000, 50_000, 100_000
_FOLDER_FILES = 50
_ROUNDS, _WARM = 9, 1
_FASTER, _GROWTH = 50.0, 1.5
_LIMITS = Limits(wall=timedelta(seconds=60))
_CHANGES = 10
_CHANGE = """
import os
for place in range(5):
    with open(f"d{place}/f{place}.py", "a") as file:
        file.write("changed\\n")
for place in range(2):
    with open(f"d{place}/new{place}.py", "w") as file:
        file.write("new\\n")
os.unlink("d5/f5.py")
os.unlink("d6/f6.py")
os.symlink("f1.py", "d7/link")
"""


def figures() -> list[Figure]:
    """Measure three sizes, and the middle one against the copies."""
    _require_rsync()
    with state_folder() as state:
        trees = {count: _tree(count, state) for count in (_FEW, _MANY, _MOST)}
        rival = _Rival.build(state / "rival", trees[_MANY])
        # The copies take their time: before and after, so that the host's clean room is held for ours alone.
        theirs = [rival.once()]
        ours = _measure(state, trees)
        theirs.append(rival.once())
    few, many, most = (Measured(name=f"{count} files", seconds=tuple(ours[count])) for count in trees)
    copies = Measured(name="rsync and git", seconds=tuple(theirs))
    what = "prepare + capture"
    return [
        Figure(what=f"{what}: {_MANY} files", ours=many, theirs=copies, least=_FASTER),
        Figure(what=f"{what}: {_MOST} against {_FEW} files", ours=most, theirs=few, most=_GROWTH),
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Tree:
    """A tree of many files, ingested."""

    entries: tuple[Entry, ...]
    base: Base
    repository: Repository

    def pack(self) -> Pack:
        """Give it as it travels to the keeper."""
        contents = {entry.sha256: _content(entry.path) for entry in self.entries}
        return Pack(entries=self.entries, blobs=contents.__getitem__)


def _content(path: bytes) -> bytes:
    return b"".join(b"line %d of %s\n" % (line, path) for line in range(12))


def _tree(count: int, state: Path) -> _Tree:
    paths = [b"d%d/f%d.py" % (number // _FOLDER_FILES, number % _FOLDER_FILES) for number in range(count)]
    contents = {path: _content(path) for path in paths}
    entries = tuple(
        Entry(path=path, kind=Kind.FILE, sha256=sha256(content).hexdigest(), size=len(content))
        for path, content in contents.items()
    )
    blobs = {sha256(content).hexdigest(): content for content in contents.values()}
    listings = MemoryContents()
    repository = Repository(state / f"git-{count}")
    commit = repository.ingest(entries, blobs.__getitem__)
    base = Base(digest=snapshot(entries, listings), commit=commit, listings=listings)
    return _Tree(entries=entries, base=base, repository=repository)


def _measure(state: Path, trees: dict[int, _Tree]) -> dict[int, list[float]]:
    ours: dict[int, list[float]] = {count: [] for count in trees}
    with patient_sandbox(state) as sandbox:
        harness = Mount(object=sandbox.store(harness_pack()), target="/opt/harness")
        layers = {count: sandbox.store(tree.pack()) for count, tree in trees.items()}
        for _ in range(_WARM + _ROUNDS):
            for count, tree in trees.items():
                ours[count].append(_once(sandbox, layers[count], tree, harness))
    return {count: times[_WARM:] for count, times in ours.items()}


def _once(sandbox: KeeperSandbox, layer: ObjectId, tree: _Tree, harness: Mount) -> float:
    """Prepare a workspace, have it changed (not timed), capture it, and give the seconds of both."""
    began = time.perf_counter()
    with sandbox.workspace(WorkspaceRequest(layers=(layer,), limits=_LIMITS)) as workspace:
        prepared = time.perf_counter() - began
        argv = (PYTHON, "-I", "-S", "-c", _CHANGE)
        result = run(sandbox, UnitSpec(role=Role.CANDIDATE, argv=argv, limits=_LIMITS, workspace=workspace))
        if not result.termination.succeeded:
            raise RuntimeError(f"the change failed: {result.stderr!r}")
        began = time.perf_counter()
        captured = capture(sandbox, workspace, tree.base, tree.repository, CaptureLimits(), harness)
        took = time.perf_counter() - began
    _check(captured)
    return prepared + took


def _check(captured: Capture) -> None:
    if len(captured.changes) != _CHANGES or captured.patch.count(b"diff --git ") != _CHANGES:
        raise RuntimeError(f"{len(captured.changes)} changes were captured instead of {_CHANGES}")


def _require_rsync() -> None:
    if shutil.which("rsync") is None:
        print("bench: installing the Debian package rsync, which is measured against", flush=True)
        environment = {"PATH": os.environ["PATH"], "DEBIAN_FRONTEND": "noninteractive"}
        argv = ["apt-get", "install", "-y", "--no-install-recommends", "rsync"]
        subprocess.run(argv, env=environment, check=True, stdout=subprocess.DEVNULL)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Rival:
    """A frozen tree in a folder, and a clone of a repository that holds it."""

    folder: Path

    @classmethod
    def build(cls, folder: Path, tree: _Tree) -> "_Rival":
        """Lay out both."""
        rival = cls(folder=folder)
        for entry in tree.entries:
            path = folder / "frozen" / os.fsdecode(entry.path)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(_content(entry.path))
        _run("rsync", "-a", f"{folder}/frozen/", f"{folder}/base/")
        rival.git("init", "-q")
        rival.git("add", "-A")
        rival.git("commit", "-q", "-m", "base")
        return rival

    def once(self) -> float:
        """Copy, change (not timed), mirror into the clone, have git look, and give the seconds."""
        copy, base = self.folder / "copy", self.folder / "base"
        began = time.perf_counter()
        _run("rsync", "-a", f"{self.folder}/frozen/", f"{copy}/")
        prepared = time.perf_counter() - began
        _run(sys.executable, "-I", "-S", "-c", _CHANGE, where=copy)
        began = time.perf_counter()
        _run("rsync", "-a", "--checksum", "--delete", "--exclude=/.git", f"{copy}/", f"{base}/")
        self.git("add", "-N", ".")
        patch = self.git("diff", "--binary", "HEAD")
        took = time.perf_counter() - began
        if patch.count(b"diff --git ") != _CHANGES:
            raise RuntimeError(f"git saw {patch.count(b'diff --git ')} changes instead of {_CHANGES}")
        shutil.rmtree(copy)
        self.git("reset", "-q", "--hard")
        self.git("clean", "-q", "-d", "-f")
        return prepared + took

    def git(self, *arguments: str) -> bytes:
        """Run git in the clone."""
        who = ("-c", "user.name=bench", "-c", "user.email=bench@localhost", "-c", "gc.auto=0")
        return _run("git", *who, *arguments, where=self.folder / "base")


def _run(*argv: str, where: Path | None = None) -> bytes:
    environment = {"PATH": "/usr/bin:/bin", "HOME": "/nonexistent", "GIT_CONFIG_NOSYSTEM": "1"}
    return subprocess.run(argv, cwd=where, env=environment, check=True, stdout=subprocess.PIPE).stdout
