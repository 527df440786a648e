"""A fixture with its own repository, a program that works on it in a real unit, and the capture of what it left."""

from dataclasses import replace
from datetime import timedelta

from sandbox import profiles
from sandbox.api import Pack, WorkspaceRequest
from sandbox.capture import Base, Capture, capture, harness_pack
from sandbox.client import KeeperSandbox
from sandbox.contents import MemoryContents
from sandbox.inspected import CaptureLimits
from sandbox.patch import Repository
from sandbox.spec import PYTHON, Limits, Mount
from sandbox.tree import Entry, Kind, snapshot
from sandbox.unit import run
from sandbox.workspace_git import workspace_git

LIMITS = Limits(wall=timedelta(seconds=30))
FILES = {
    b"a.py": b"one\n",
    b"run": b"#!/bin/sh\n",
    b"d/x": b"x\n",
    b"d/e/y": b"y\n",
    b"big/f": b"f\n",
    b"big/g": b"g\n",
}


def left(
    sandbox: KeeperSandbox, repository: Repository, program: str, *, limits: Limits = LIMITS, times: int = 1
) -> Capture:
    """Let a program work on the fixture with its own repository, and capture what it left; so many times alike."""
    kept = MemoryContents()
    entries = tuple(
        Entry(path=path, kind=Kind.FILE, sha256=kept.put(content), size=len(content)) for path, content in FILES.items()
    )
    listings = MemoryContents()
    base = Base(digest=snapshot(entries, listings), commit=repository.ingest(entries, kept.get), listings=listings)
    layers = (
        sandbox.store(workspace_git(entries, kept.get)),
        sandbox.store(Pack(entries=entries, blobs=kept.get)),
    )
    harness = Mount(object=sandbox.store(harness_pack()), target="/opt/inspection")
    with sandbox.workspace(WorkspaceRequest(layers=layers, limits=limits)) as workspace:
        argv = PYTHON, "-I", "-S", "-c", f"import os, socket, subprocess\n{program}"
        done = run(sandbox, profiles.tests(profiles.Program(argv=argv), limits, workspace))
        assert done.termination.succeeded, (done.termination, done.stderr)
        seen = [capture(sandbox, workspace, base, repository, CaptureLimits(), harness) for _ in range(times)]
    assert all(replace(each, report=None) == replace(seen[0], report=None) for each in seen)
    return seen[0]
