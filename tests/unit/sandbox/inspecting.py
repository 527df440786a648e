"""Ways to inspect a folder in tests: the harness itself as a plain program, and a sandbox that shows one."""

import contextlib
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from sandbox.api import Changes
from sandbox.capture import HARNESS
from sandbox.contents import MemoryContents
from sandbox.inspected import CaptureLimits, Inspection, InspectionReader, outermost, request
from sandbox.spec import PYTHON, WorkspaceId
from tests.fakes import PlainSandbox

SOURCE = Path(__file__).parents[3] / "sandbox" / HARNESS
ROOT = Changes(touched=(), whole=(b"",))
NOBODY = 65534


@dataclass(kw_only=True)
class ShowingSandbox(PlainSandbox):
    """A `PlainSandbox` that says which changes a keeper would have seen."""

    told: Changes

    @contextlib.contextmanager
    def changes(self, workspace: WorkspaceId) -> Iterator[tuple[WorkspaceId, Changes]]:
        yield workspace, self.told


def answer(folder: Path, asked: bytes, *, user: int | None = None) -> bytes:
    argv = [PYTHON, "-I", "-S", "-B", str(SOURCE)]
    done = subprocess.run(argv, input=asked, cwd=folder, stdout=subprocess.PIPE, check=True, user=user, timeout=20)
    return done.stdout


def inspect(
    folder: Path, changes: Changes = ROOT, limits: CaptureLimits | None = None, *, user: int | None = None
) -> tuple[Inspection, MemoryContents]:
    limits, changes, kept = limits or CaptureLimits(), outermost(changes), MemoryContents()
    reader = InspectionReader(changes, limits, kept)
    reader.feed(answer(folder, request(changes, limits), user=user))
    return reader.finish(), kept


def touched(*paths: bytes) -> Changes:
    return Changes(touched=paths, whole=())
