"""Laws of the capture: what was left behind, and nothing else, is the submission."""

import contextlib
import os
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import given

from sandbox.api import Changes, Pack, WorkspaceRequest
from sandbox.capture import Base, Capture, capture, harness_pack, settle
from sandbox.contents import MemoryContents
from sandbox.errors import CaptureError
from sandbox.findings import FindingKind
from sandbox.inspected import CaptureLimits, outermost
from sandbox.patch import Applied, Repository
from sandbox.spec import Limits, Mount
from sandbox.termination import Cause, Termination, Usage
from sandbox.tree import Kind, read_folder, snapshot, tree_digest
from tests.fakes import lay
from tests.unit.sandbox.doing import do
from tests.unit.sandbox.doings import Doings, doings
from tests.unit.sandbox.inspecting import ROOT, ShowingSandbox, inspect, touched
from tests.unit.sandbox.trees import FEW, File, Link, Tree, blobs, changed, changed_paths, changes, entries, lay_out

WALL = timedelta(seconds=30)
BASE: Tree = {
    b"a.py": File(b"one\ntwo\n"),
    b"run": File(b"#!/bin/sh\n", executable=True),
    b"d/x": File(b"x\n"),
    b"d/e/y": File(b"y\n"),
    b"l": Link(b"d/x"),
}


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Repository:
    return Repository(tmp_path_factory.mktemp("git") / "bases.git")


def base_of(repository: Repository, tree: Tree) -> Base:
    listings = MemoryContents()
    commit = repository.ingest(entries(tree), blobs(tree).get)
    return Base(digest=snapshot(entries(tree), listings), commit=commit, listings=listings)


def captured(
    folder: Path, repository: Repository, work: Callable[[Path], None], told: Changes, *, base: Tree = BASE
) -> Capture:
    """Let `work` change a workspace of `base`, and capture it through a sandbox that tells these changes."""
    sandbox = ShowingSandbox(folder=folder, told=told)
    harness = Mount(object=sandbox.store(harness_pack()), target="/opt/inspection")
    fixture = sandbox.store(Pack(entries=entries(base), blobs=blobs(base).get))
    limits = Limits(wall=WALL)
    with sandbox.workspace(WorkspaceRequest(layers=(fixture,), limits=limits)) as workspace:
        work(folder / workspace / "work")
        (folder / workspace / "work").chmod(0o755)
        return capture(sandbox, workspace, base_of(repository, base), repository, CaptureLimits(), harness)


def test_a_touched_file_with_the_same_content_is_no_change(tmp_path: Path, repository: Repository) -> None:
    def work(folder: Path) -> None:
        (folder / "a.py").write_bytes(b"one\ntwo\n")

    seen = captured(tmp_path, repository, work, touched(b"a.py", b"d", b"d/x", b"l"))
    assert (seen.changes, seen.patch, seen.findings) == ((), b"", ())
    assert seen.tree_digest == seen.base_digest


def test_each_kind_of_change_is_captured(tmp_path: Path, repository: Repository) -> None:
    def work(folder: Path) -> None:
        (folder / "a.py").write_bytes(b"one\n")
        (folder / "run").chmod(0o644)
        (folder / "l").unlink()
        (folder / "l").mkdir()
        (folder / "l/new").write_bytes(b"\0")
        (folder / "d/e/y").unlink()
        (folder / "d/e").rmdir()
        (folder / "d/e").symlink_to("nowhere")

    seen = captured(tmp_path, repository, work, Changes(touched=(b"a.py", b"run", b"d", b"d/e"), whole=(b"l",)))
    after: Tree = {
        b"a.py": File(b"one\n"),
        b"run": File(b"#!/bin/sh\n"),
        b"d/x": File(b"x\n"),
        b"d/e": Link(b"nowhere"),
        b"l/new": File(b"\0"),
    }
    assert seen.tree_digest == tree_digest(entries(after))
    assert changed_paths(seen) == (b"a.py", b"d/e", b"d/e/y", b"l", b"l/new", b"run")
    assert [each.path for each in seen.changes if each.kind is Kind.GONE] == [b"d/e/y", b"l"]


def test_a_removed_folder_is_told_file_by_file(tmp_path: Path, repository: Repository) -> None:
    def work(folder: Path) -> None:
        for name in ("d/x", "d/e/y"):
            (folder / name).unlink()
        (folder / "d/e").rmdir()
        (folder / "d").rmdir()

    seen = captured(tmp_path, repository, work, touched(b"d"))
    assert changed_paths(seen) == (b"d/e/y", b"d/x")


def test_what_no_patch_carries_is_found_and_is_not_in_the_tree(tmp_path: Path, repository: Repository) -> None:
    def work(folder: Path) -> None:
        (folder / "a.py").unlink()
        os.mkfifo(folder / "a.py")
        lay_out(folder, {b"sub/.git/HEAD": File(b"ref\n"), b"sub/code": File(b"1\n"), b".gitignore": File(b"*\n")})
        (folder / "empty").mkdir()
        with (folder / "huge").open("wb") as file:
            file.truncate(1 << 40)

    told = Changes(touched=(b"a.py", b".gitignore", b"huge"), whole=(b"sub", b"empty"), git_touched=True)
    seen = captured(tmp_path, repository, work, told)
    assert changed_paths(seen) == (b".gitignore", b"a.py", b"sub/code")
    assert [(each.kind, each.path) for each in seen.findings] == [
        (FindingKind.GIT_TOUCHED, b".git"),
        (FindingKind.SPECIAL, b"a.py"),
        (FindingKind.EMPTY_FOLDER, b"empty"),
        (FindingKind.SPARSE, b"huge"),
        (FindingKind.TOO_LARGE, b"huge"),
        (FindingKind.UNCAPTURABLE, b"sub/.git"),
    ]


def test_the_captured_changes_laid_over_the_base_give_the_captured_tree(tmp_path: Path, repository: Repository) -> None:
    def work(folder: Path) -> None:
        (folder / "d/x").unlink()
        lay_out(folder, {b"new/f": File(b"n\n", executable=True)})

    seen = captured(tmp_path / "one", repository, work, ROOT)
    rebuilt = tmp_path / "rebuilt"
    lay_out(rebuilt, BASE)
    lay(seen.pack(), rebuilt)
    assert tree_digest(read_folder(rebuilt)) == seen.tree_digest
    applied = repository.apply(base_of(repository, BASE).commit, seen.patch)
    assert applied.changes == seen.changes


@FEW
@given(changed())
def test_any_change_is_captured_whole(
    repository: Repository, tmp_path_factory: pytest.TempPathFactory, pair: tuple[Tree, Tree]
) -> None:
    before, after = pair
    folder = tmp_path_factory.mktemp("left")
    lay_out(folder, after)
    base = base_of(repository, before)
    for told in (ROOT, touched(*before, *(path for path in after if path not in before))):
        asked = outermost(told)
        seen, kept = inspect(folder, asked)
        result = settle(seen, asked, base, repository, kept)
        assert result.tree_digest == tree_digest(entries(after))
        assert set(result.changes) == set(changes(before, after))


@FEW
@given(doings())
def test_whatever_was_done_is_captured_as_it_was_left(
    repository: Repository, tmp_path_factory: pytest.TempPathFactory, done: Doings
) -> None:
    folder = tmp_path_factory.mktemp("done")
    lay_out(folder, done.before)
    with contextlib.chdir(folder):
        do(done.lines)
    asked = outermost(ROOT)
    seen, kept = inspect(folder, asked)
    result = settle(seen, asked, base_of(repository, done.before), repository, kept)
    assert result.tree_digest == tree_digest(entries(done.after))
    assert set(result.changes) == set(changes(done.before, done.after))


class Forgetful(Repository):
    """A repository whose patches lose their last file."""

    def apply(self, base: str, patch: bytes) -> Applied:
        applied = super().apply(base, patch)
        return Applied(changes=applied.changes[:-1], contents=applied.contents)


def test_a_patch_that_does_not_give_the_tree_is_never_a_capture(tmp_path: Path) -> None:
    def work(folder: Path) -> None:
        (folder / "a.py").write_bytes(b"one\n")

    with pytest.raises(CaptureError, match="base and patch give tree"):
        captured(tmp_path, Forgetful(tmp_path / "git"), work, touched(b"a.py"))


def test_an_inspection_that_did_not_end_well_is_a_fault(tmp_path: Path, repository: Repository) -> None:
    end = Termination(cause=Cause.OOM, status=None, usage=Usage(wall_ms=1))
    sandbox = ShowingSandbox(folder=tmp_path, told=ROOT, ends=[end])
    harness = Mount(object=sandbox.store(harness_pack()), target="/opt/inspection")
    with (
        sandbox.workspace(WorkspaceRequest(layers=(), limits=Limits(wall=WALL))) as workspace,
        pytest.raises(CaptureError, match="oom"),
    ):
        capture(sandbox, workspace, base_of(repository, {}), repository, CaptureLimits(), harness)


def test_a_folder_that_the_keeper_told_and_the_inspection_did_not_see_is_a_fault(tmp_path: Path) -> None:
    lay_out(tmp_path, {b"a": File()})
    with pytest.raises(CaptureError, match="the keeper as a folder"):
        inspect(tmp_path, Changes(touched=(), whole=(b"a",)))
