"""A submission of any captured size is laid and judged in real units, however small the release's rooms are."""

import hashlib
from dataclasses import replace
from datetime import timedelta

import pytest

from evaluators.model import Bench, Submission
from evaluators.public_tests import PublicTests, run_public_tests
from runner.staging import roomy
from sandbox.api import Pack
from sandbox.client import KeeperSandbox
from sandbox.errors import WorkspaceError
from sandbox.spec import MIB, Limits
from sandbox.tree import Entry, Kind

pytestmark = pytest.mark.systemd

ZEROS = bytes(20 * MIB)
DIGEST = hashlib.sha256(ZEROS).hexdigest()
NOTHING = Pack(entries=(), blobs=lambda _: b"")
SMALL = Limits(wall=timedelta(seconds=20), disk_bytes=16 * MIB, disk_inodes=1000)


def test_sparse_files_from_a_small_disk_fit_where_they_are_judged(sandbox: KeeperSandbox) -> None:
    entries = (Entry(path=name, kind=Kind.FILE, sha256=DIGEST, size=len(ZEROS)) for name in (b"one", b"two"))
    change = Pack(entries=tuple(entries), blobs=lambda _: ZEROS)
    submission = Submission(base=(sandbox.store(NOTHING),), change=change, tree_digest="0" * 64)
    bench = Bench(sandbox=sandbox, toolchain=(), python_path=(), root=".", limits=SMALL)
    tests = PublicTests(command=("/usr/bin/cmp", "one", "two"), files=NOTHING)
    with pytest.raises(WorkspaceError, match="No space left"):
        run_public_tests(tests, submission, bench)
    assert run_public_tests(tests, submission, roomy(bench, submission)).passed
    few = replace(submission, change=NOTHING)
    assert roomy(bench, few) == bench
