"""Agents without a model."""

import base64
import hashlib
from datetime import timedelta
from pathlib import Path

import pytest

from runner.agents.errors import AgentTaskError
from runner.agents.model import AgentTask
from runner.agents.recorded import Nop, Recorded
from runner.agents.registry import AGENTS
from sandbox.api import Pack
from sandbox.termination import Cause
from sandbox.tree import Entry, Kind
from tests.unit.agents.loop_rig import ended, run_program

WALL = timedelta(seconds=10)


def file(path: bytes, data: bytes, *, executable: bool = False) -> tuple[Entry, bytes]:
    digest = hashlib.sha256(data).hexdigest()
    return Entry(path=path, kind=Kind.FILE, sha256=digest, size=len(data), executable=executable), data


def pack(*made: Entry | tuple[Entry, bytes]) -> Pack:
    pairs = [each if isinstance(each, tuple) else (each, b"") for each in made]
    blobs = {entry.sha256: data for entry, data in pairs}
    return Pack(entries=tuple(entry for entry, _ in pairs), blobs=blobs.__getitem__)


def apply(tmp_path: Path, workspace: Path, change: Pack) -> tuple[int, str | None]:
    oracle = Recorded("oracle")
    command = oracle.command(AgentTask(prompt="", wall=WALL, change=change))
    status, stdout, stderr = run_program(command, tmp_path / "program", {"root": str(workspace)})
    assert stderr == b""
    return status, oracle.telemetry(stdout, stderr, ended(status)).ended


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "workspace"
    (folder / "old/deep").mkdir(parents=True)
    (folder / "old/deep/file").write_text("x")
    (folder / "keep").write_text("x")
    (folder / "turn").symlink_to("old")
    return folder


def test_a_change_of_every_kind_is_made(tmp_path: Path, workspace: Path) -> None:
    change = pack(
        Entry(path=b"old/deep/file", kind=Kind.GONE),
        Entry(path=b"old", kind=Kind.GONE),
        file(b"keep", b"\x00\xff", executable=True),
        file(b"new/odd-\xff", b"data"),
        Entry(path=b"link", kind=Kind.LINK, target=b"new/odd-\xff"),
        Entry(path=b"empty", kind=Kind.FOLDER),
        file(b"turn/inside", b"the link became a folder"),
    )
    assert apply(tmp_path, workspace, change) == (0, "done")
    assert not (workspace / "old").exists()
    assert (workspace / "keep").read_bytes() == b"\x00\xff"
    assert (workspace / "keep").stat().st_mode & 0o777 == 0o755
    assert (workspace / "link").read_bytes() == b"data"
    assert (workspace / "empty").is_dir()
    assert (workspace / "turn/inside").is_file()


def test_no_link_is_followed_out_of_the_workspace(tmp_path: Path, workspace: Path) -> None:
    (tmp_path / "outside").mkdir()
    (workspace / "out").symlink_to("../outside")
    assert apply(tmp_path, workspace, pack(file(b"out/x", b""), Entry(path=b"turn/deep", kind=Kind.GONE)))[0] == 0
    assert list((tmp_path / "outside").iterdir()) == []
    assert (workspace / "old/deep/file").exists()


@pytest.mark.parametrize("path", [b"../x", b"/x", b"a/../x", b"", b"a\0b"])
def test_a_path_that_is_none_fails_the_agent(tmp_path: Path, workspace: Path, path: bytes) -> None:
    command = Recorded("oracle").command(AgentTask(prompt="", wall=WALL, change=pack()))
    made = {"path": base64.b64encode(path).decode(), "kind": "file", "content": "", "executable": False}
    status, stdout, _ = run_program(command, tmp_path / "program", {"root": str(workspace), "changes": [made]})
    told = Recorded("oracle").telemetry(stdout, b"", ended(status))
    assert (status, told.ended) == (1, "error")
    assert told.final_error is not None


def test_no_change_is_a_fault() -> None:
    with pytest.raises(AgentTaskError):
        Recorded("patch").command(AgentTask(prompt="", wall=WALL))


def test_nop_does_nothing() -> None:
    nop = Nop()
    assert nop.command(AgentTask(prompt="", wall=WALL)).argv == ("/usr/bin/true",)
    assert nop.telemetry(b"", b"", ended(0)).ended == "done"
    assert nop.telemetry(b"", b"", ended(9, Cause.SIGNAL)).ended is None


def test_the_registry_knows_every_agent_by_its_name() -> None:
    assert {name: agent.needs_gateway for name, agent in AGENTS.items()} == {
        "native": True,
        "opencode": True,
        "codex": True,
        "claude": True,
        "single-shot": True,
        "oracle": False,
        "patch": False,
        "nop": False,
    }
