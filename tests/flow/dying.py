"""Runs the command and has it die at a line of its journal, for tests alone: `python dying.py [WHAT...] -- COMMAND...`.

`STATE-before` and `STATE-after` are a SIGKILL by this process to itself, before such a line is written or once it is
durable. `LINES=N` is one after the N-th line, whatever it says. `TRUTH=FILE` has it tell there, beside what the store
says, what no kill takes back: which agents were let to work, which requests were acknowledged, what was sealed.
"""

import json
import os
import signal
import sys
from pathlib import Path

import runner.journal
import runner.runtime
import runner.store
import runner.trail
from runner.agents.model import AgentTask
from runner.artifacts import Bond, Files, seal_folder
from runner.canonical import canonical, sha256
from runner.cli import main
from runner.disk import DISK, Disk
from runner.documents.ledger import LedgerLine
from runner.durable import append_file
from runner.roster import Candidate
from runner.runtime import OnLine, Ran, Room, Runtime
from runner.trail import Trail

DIED = "died at "


def die(where: str) -> None:
    """Die as a runner that somebody kills, and say at what."""
    os.write(2, f"{DIED}{where}\n".encode())
    os.kill(os.getpid(), signal.SIGKILL)


class Dying:
    """Writes the lines of a journal, until it dies of one."""

    def __init__(self, points: set[str], lines: int | None) -> None:
        self.points = points
        self.left = lines

    def append(self, path: Path, data: bytes, *, disk: Disk = DISK) -> None:
        """Write a line; die before or after, if that is the point."""
        state = json.loads(data)["state"]
        if f"{state}-before" in self.points:
            die(f"{state}-before")
        append_file(path, data, disk=disk)
        if self.left is not None:
            self.left -= 1
        if f"{state}-after" in self.points or self.left == 0:
            die(f"{state}-after")


class Truth:
    """Tells in a file what was done: in one write, which the kernel keeps whoever dies."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self.run_agent, self.take_line = Runtime.run, Trail.take

    def tell(self, *words: object) -> None:
        out = os.open(self.file, os.O_CREAT | os.O_APPEND | os.O_WRONLY, 0o644)
        os.write(out, (" ".join(map(str, words)) + "\n").encode())
        os.close(out)

    def seal(self, parent: Path, name: str, files: Files, bond: Bond, *, disk: Disk = DISK) -> str:
        digest = seal_folder(parent, name, files, bond, disk=disk)
        self.tell("sealed", parent / name, digest)
        return digest

    def run(self, runtime: Runtime, candidate: Candidate, task: AgentTask, room: Room, on_line: OnLine) -> Ran:
        self.tell("worked", room.label)
        return self.run_agent(runtime, candidate, task, room, on_line)

    def take(self, trail: Trail, line: LedgerLine) -> None:
        self.take_line(trail, line)
        self.tell("asked", trail.ledger.parent, sha256(canonical(line)))

    def be_told(self) -> None:
        """Have everything told from now on."""
        runner.store.seal_folder = self.seal
        # A bound method would not be given the object that it is called on.
        runner.runtime.Runtime.run = lambda *given: self.run(*given)  # noqa: PLW0108
        runner.trail.Trail.take = lambda *given: self.take(*given)  # noqa: PLW0108


if __name__ == "__main__":
    place = sys.argv.index("--")
    wanted = sys.argv[1:place]
    values = dict(each.split("=", 1) for each in wanted if "=" in each)
    if "TRUTH" in values:
        Truth(Path(values["TRUTH"])).be_told()
    dying = Dying({each for each in wanted if "=" not in each}, int(values["LINES"]) if "LINES" in values else None)
    runner.journal.append_file = dying.append
    sys.argv = sys.argv[place + 1 :]
    main()
