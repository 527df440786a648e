"""Laws of the candidate's own repository: it works, and tells nothing but the tree."""

import os
import re
import subprocess
from pathlib import Path

import pytest
from hypothesis import given

from sandbox.api import Pack
from sandbox.git import GIT
from sandbox.tree import Kind
from sandbox.workspace_git import workspace_git
from tests.unit.sandbox.trees import FEW, File, Link, Tree, blobs, entries, lay_out, trees

CLEAN = {
    "PATH": "/usr/bin",
    "HOME": "/nonexistent",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": "/dev/null",
}
TREE: Tree = {
    b"a.py": File(b"one\n"),
    b"d/run": File(b"#!/bin/sh\n", executable=True),
    b"l": Link(b"a.py"),
    b"\xff\n": File(b"odd\n"),
}


def show(folder: Path, tree: Tree) -> Pack:
    pack = workspace_git(entries(tree), blobs(tree).get)
    lay_out(folder, tree)
    for each in pack.entries:
        place = folder / os.fsdecode(each.path)
        if each.kind is Kind.FOLDER:
            place.mkdir(parents=True)
            continue
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(pack.blobs(each.sha256 or ""))
    return pack


def git(folder: Path, *arguments: str) -> str:
    argv = [GIT, *arguments]
    done = subprocess.run(argv, cwd=folder, env=CLEAN, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True)
    return os.fsdecode(done.stdout)


def test_it_holds_one_root_commit_and_no_other_object(tmp_path: Path) -> None:
    show(tmp_path, TREE)
    assert git(tmp_path, "rev-list", "--all", "--count") == "1\n"
    assert git(tmp_path, "fsck", "--unreachable", "--full", "--strict", "--no-progress") == ""
    assert git(tmp_path, "count-objects", "-v").startswith("count: 0\nsize: 0\nin-pack: 7\npacks: 1\n")
    assert git(tmp_path, "reflog") == git(tmp_path, "remote") == git(tmp_path, "tag") == ""
    assert git(tmp_path, "branch", "-a") == "* main\n"
    log = git(tmp_path, "log", "--format=%an %ae %ad %cn %s", "--date=iso")
    assert log == "dev dev@localhost 2000-01-01 00:00:00 +0000 dev base\n"


@FEW
@given(trees())
def test_the_workspace_is_clean_at_the_start(tmp_path_factory: pytest.TempPathFactory, tree: Tree) -> None:
    folder = tmp_path_factory.mktemp("work")
    show(folder, tree)
    assert git(folder, "status", "--porcelain", "--untracked-files=all", "--ignored") == ""


def test_an_edit_is_seen_and_can_be_committed(tmp_path: Path) -> None:
    show(tmp_path, TREE)
    (tmp_path / "a.py").write_bytes(b"two\n")
    assert git(tmp_path, "status", "--porcelain") == " M a.py\n"
    git(tmp_path, "-c", "user.name=x", "-c", "user.email=x@localhost", "commit", "-qam", "edit")
    assert git(tmp_path, "rev-list", "--all", "--count") == "2\n"


def test_the_same_tree_gives_the_same_bytes_and_only_expected_files(tmp_path: Path) -> None:
    pack = show(tmp_path, TREE)
    assert pack.entries == workspace_git(reversed(entries(TREE)), blobs(TREE).get).entries
    names = [re.sub(rb"-[0-9a-f]{40}", b"-X", each.path) for each in pack.entries]
    assert names == [
        b".git/HEAD",
        b".git/config",
        b".git/index",
        b".git/objects/info",
        b".git/objects/pack/pack-X.idx",
        b".git/objects/pack/pack-X.pack",
        b".git/refs/heads/main",
        b".git/refs/tags",
    ]
