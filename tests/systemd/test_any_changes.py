"""Whatever a program does to a real workspace is captured as it was left, and laid again gives the same."""

import json
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings

from sandbox import profiles
from sandbox.api import Pack, WorkspaceRequest
from sandbox.capture import Base, capture, harness_pack
from sandbox.client import KeeperSandbox
from sandbox.contents import MemoryContents
from sandbox.findings import FindingKind
from sandbox.inspected import CaptureLimits
from sandbox.patch import Repository
from sandbox.spec import MIB, PYTHON, Limits, Mount
from sandbox.tree import snapshot, tree_digest
from sandbox.unit import run
from sandbox.workspace_git import workspace_git
from tests.unit.hostile import TIMES
from tests.unit.sandbox.doings import PROGRAM, Doings, doings
from tests.unit.sandbox.trees import blobs, changes, entries

pytestmark = pytest.mark.systemd

LIMITS = Limits(wall=timedelta(seconds=30), disk_bytes=16 * MIB, disk_inodes=4000)
SOME = settings(
    max_examples=15 * TIMES,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)


@SOME
@given(doings())
def test_whatever_was_done_is_captured_and_laid_again_gives_the_same(
    sandbox: KeeperSandbox, tmp_path: Path, done: Doings
) -> None:
    repository, kept, listings = Repository(tmp_path / "bases.git"), blobs(done.before), MemoryContents()
    tree = entries(done.before)
    base = Base(digest=snapshot(tree, listings), commit=repository.ingest(tree, kept.get), listings=listings)
    layers = sandbox.store(workspace_git(tree, kept.get)), sandbox.store(Pack(entries=tree, blobs=kept.get))
    harness = Mount(object=sandbox.store(harness_pack()), target="/opt/inspection")
    with sandbox.workspace(WorkspaceRequest(layers=layers, limits=LIMITS)) as workspace:
        program = profiles.Program(argv=(PYTHON, "-I", "-S", "-c", PROGRAM))
        ended = run(sandbox, profiles.tests(program, LIMITS, workspace), stdin=json.dumps(done.lines).encode())
        assert ended.termination.succeeded, ended.stderr
        seen = capture(sandbox, workspace, base, repository, CaptureLimits(), harness)
    assert seen.tree_digest == tree_digest(entries(done.after))
    assert set(seen.changes) == set(changes(done.before, done.after))
    assert {each.path for each in seen.findings if each.kind is FindingKind.SPECIAL} <= done.beside
    again = WorkspaceRequest(layers=layers, limits=LIMITS, lay=seen.pack())
    with sandbox.workspace(again) as workspace:
        laid = capture(sandbox, workspace, base, repository, CaptureLimits(), harness)
    assert (laid.tree_digest, laid.changes, laid.patch) == (seen.tree_digest, seen.changes, seen.patch)
    assert laid.findings == ()
