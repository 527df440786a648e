"""What a run has of this machine while it lives, and whether any of it is left afterwards."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from sandbox.boot import hierarchies
from tests.flow.bench import await_


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """A process that once was; its start time tells it from a later one with the same number."""

    pid: int
    started: str
    argv: tuple[str, ...]

    @property
    def lives(self) -> bool:
        return _started(self.pid) == self.started


@dataclass(frozen=True, slots=True, kw_only=True)
class Traces:
    """Everything below one process, and what it holds."""

    programs: tuple[Program, ...]
    groups: tuple[str, ...]
    """Names of the private managers' control groups."""

    def named(self, *words: str) -> Program:
        """Give the first program whose command line has these words."""
        return next(each for each in self.programs if set(words) <= set(each.argv))

    @property
    def outer(self) -> Program:
        """The keeper's half that holds the lock."""
        return self.named("sandbox.keeper")

    @property
    def inner(self) -> Program:
        """The keeper's half that serves: the last of the three, forked in this order."""
        return [each for each in self.programs if "sandbox.keeper" in each.argv][-1]

    @property
    def init(self) -> Program:
        return self.named("/lib/systemd/systemd", "--system")


def traces(root: int) -> Traces:
    """Look at everything that stands below a process."""
    below = tuple(_below(root))
    plans = (word for each in below for word in each.argv if word.startswith('{"group"'))
    return Traces(programs=below, groups=tuple(dict.fromkeys(json.loads(plan)["group"] for plan in plans)))


def _below(root: int) -> Iterator[Program]:
    parents: dict[int, list[int]] = {}
    for pid in (int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit()):
        if stat := _stat(pid):
            parents.setdefault(int(stat[1]), []).append(pid)
    level = parents.get(root, [])
    while level:
        for pid in sorted(level):
            try:
                words = Path(f"/proc/{pid}/cmdline").read_bytes().decode(errors="replace").split("\0")[:-1]
            except (FileNotFoundError, ProcessLookupError):
                continue
            if started := _started(pid):
                yield Program(pid=pid, started=started, argv=tuple(words))
        level = [child for pid in level for child in parents.get(pid, [])]


def _stat(pid: int) -> list[str]:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return []


def _started(pid: int) -> str:
    """Give when a process started; nothing for one that is gone, or a zombie."""
    stat = _stat(pid)
    return stat[19] if stat and stat[0] != "Z" else ""


def await_gone(seen: Traces, checkout: Path) -> None:
    """Wait until no process, mount, loop device of it is left."""
    await_(lambda: not left_of(seen, checkout), f"the end of {left_of(seen, checkout)}", seconds=60)


def left_of(seen: Traces, checkout: Path) -> list[str]:
    """Name what is left: processes, mounts, loop devices."""
    left = [str(each) for each in seen.programs if each.lives]
    left += [line for line in Path("/proc/self/mountinfo").read_text().splitlines() if str(checkout) in line]
    for backing in Path("/sys/block").glob("loop*/loop/backing_file"):
        try:
            left += [f"{backing}: {file}" for file in [backing.read_text()] if checkout.name in file]
        except OSError:
            continue  # It was freed under our eyes.
    return left


def groups_left(seen: Traces) -> list[Path]:
    """Name the control groups that are left; those of a killed keeper go when the next one starts."""
    places = [mount / path.lstrip("/") / name for _, path, mount in hierarchies() for name in seen.groups]
    return [place for place in places if place.exists()]
