"""A killed keeper: its units end at once, and the next keeper takes the rest down, whoever runs the units."""

import os
import shutil
import signal
from collections.abc import Iterator
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from secrets import token_hex

import pytest

from sandbox.api import Pack, WorkspaceRequest
from sandbox.client import open_sandbox
from sandbox.errors import KeeperError
from sandbox.loop import backing_below
from sandbox.mounts import mount_points_below
from sandbox.room import USERDB, leftovers
from sandbox.spec import MIB, Limits, Role, UnitSpec
from sandbox.unit import run
from tests.flow.bench import await_
from tests.flow.traces import traces

pytestmark = pytest.mark.systemd

LIMITS = Limits(wall=timedelta(minutes=9), memory_bytes=64 * MIB, disk_bytes=16 * MIB, disk_inodes=2000)


@pytest.fixture
def states() -> Iterator[tuple[Path, Path]]:
    """Two state folders that a private service manager can see."""
    folders = tuple(Path("/var/lib/cleanroom", f"test-{token_hex(4)}") for _ in range(2))
    yield folders[0], folders[1]
    for folder in folders:
        shutil.rmtree(folder)


@pytest.mark.parametrize("whom", ["outer", "inner"])
def test_units_end_with_their_keeper_and_the_next_one_removes_what_it_left(
    states: tuple[Path, Path], whom: str, capfd: pytest.CaptureFixture[str]
) -> None:
    state, other = states
    with suppress(KeeperError), open_sandbox(state) as sandbox:
        layer = sandbox.store(Pack(entries=(), blobs=lambda _: b""))
        with sandbox.workspace(WorkspaceRequest(layers=(layer,), limits=LIMITS)) as workspace:
            spec = UnitSpec(role=Role.CANDIDATE, argv=("/usr/bin/sleep", "500"), limits=LIMITS, workspace=workspace)
            with sandbox.start(spec) as running:
                running.go()
                account = int(str(running.report.seen["status"]).split("Uid:\t")[1].split()[0])
                assert leftovers(account), "it runs"
                seen = traces(os.getpid())
                os.kill((seen.outer if whom == "outer" else seen.inner).pid, signal.SIGKILL)
                await_(lambda: not leftovers(account), "the end of the unit")
                with pytest.raises(KeeperError):
                    running.termination()
    with open_sandbox(other) as sandbox:
        assert list(USERDB.glob(f"*{account}*")) == []
        assert mount_points_below(state) == []
        assert backing_below(state) == []
        assert not (state / "run").exists()
        assert run(sandbox, UnitSpec(role=Role.TESTS, argv=("/usr/bin/true",), limits=LIMITS)).termination.succeeded
        kind = sandbox.facts().manager
    told = capfd.readouterr().err
    assert (f"account {account}" in told) is (kind == "system"), "a private manager's records went with it"
