"""The native loop as a plain subprocess in a temporary workspace."""

import json
import os
import subprocess
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from runner.agents.model import AgentCommand, AgentTask
from runner.agents.native import Native
from runner.documents.telemetry import Telemetry
from sandbox.api import Pack
from sandbox.termination import Cause, Termination, Usage

WALL = timedelta(seconds=30)


@dataclass(frozen=True)
class Ran:
    """A run of an agent."""

    status: int
    stdout: bytes
    stderr: bytes
    telemetry: Telemetry
    termination: Termination


def unpack(pack: Pack, folder: Path) -> Path:
    for entry in pack.entries:
        path = folder / os.fsdecode(entry.path)
        path.parent.mkdir(parents=True, exist_ok=True)
        assert entry.sha256 is not None
        path.write_bytes(pack.blobs(entry.sha256))
    return folder


def ended(status: int, cause: Cause = Cause.EXIT) -> Termination:
    return Termination(cause=cause, status=status, usage=Usage(wall_ms=1))


def run_program(
    command: AgentCommand, folder: Path, config: dict[str, object], account: int | None = None
) -> tuple[int, bytes, bytes]:
    """Run an agent's command with its program in `folder` and its standard input changed to fit."""
    ((target, pack),) = command.packs
    unpack(pack, folder)
    argv = [part.replace(target, str(folder)) for part in command.argv]
    stdin = json.dumps({**json.loads(command.stdin), **config}).encode()
    done = subprocess.run(argv, input=stdin, capture_output=True, timeout=30, check=False, user=account)
    return done.returncode, done.stdout, done.stderr


def run_native(folder: Path, workspace: Path, url: str, *, account: int | None = None, **task: object) -> Ran:
    """Let the loop work on a workspace against the address of a gate."""
    plain: dict[str, object] = {"prompt": "work", "wall": WALL, "model": "scripted/model", "gate_port": 8080}
    asked = AgentTask(**{**plain, **task})
    command = Native().command(asked)
    status, stdout, stderr = run_program(command, folder, {"root": str(workspace), "base_url": url}, account)
    termination = ended(status)
    return Ran(status, stdout, stderr, Native().telemetry(stdout, stderr, termination), termination)
