"""Runners killed at every line of the journal and at random: nothing lost, nothing twice, nothing paid run again.

Every kill is a SIGKILL of the real command with real units, half of them before or after a line of the journal, half of
them at a random moment between the start of the command and the end of its first attempt. What each runner did it tells
beside the store (tests/flow/dying.py). When a plan is through, what is kept is held against that, and `runner verify`
is asked. One thing amiss ends the run with a sentence.
"""

import random
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import cycle
from pathlib import Path
from typing import cast

from figures import Figure, Measured
from rooms import state_folder

from runner.canonical import sha256
from runner.documents.journal import State
from tests.flow import dying
from tests.flow.bench import CONFIG, LONGEST_SECONDS, Bench, copied, write_bench

KILLS = 500
_SEED = 5
_ATTEMPTS = 12
_NAMES = ("oracle", "right")
_LINES = 9
"""A runner that does not come to its point dies of this line."""
_POINTS = tuple(f"{state}-{when}" for state in State for when in ("before", "after"))
_ALL = cast("list[dict[str, object]]", CONFIG["candidates"])
_RELEASE = CONFIG | {"attempts": _ATTEMPTS, "candidates": [each for each in _ALL if each["id"] in _NAMES]}
_PAUSE_SECONDS = 0.3
_TRIES = 5


@dataclass(slots=True)
class Tally:
    """What came of all kills so far."""

    where: Counter[str] = field(default_factory=Counter)
    attempts: int = 0
    tries: int = 0
    asked: int = 0
    """Requests that were acknowledged."""
    sealed: int = 0
    amiss: list[str] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    """From a runner's start to its death."""

    @property
    def kills(self) -> int:
        """How many runners were killed."""
        return sum(self.where.values())


def figures() -> list[Figure]:
    """Kill, go on and look, until there were enough kills."""
    tally, dice = Tally(), random.Random(_SEED)  # noqa: S311 - the same moments each time
    points = cycle(_POINTS)
    with state_folder() as folder:
        frozen = write_bench(folder / "frozen", _RELEASE)
        for command in ("freeze", "verify-sandbox", "verify-objective-sandbox"):
            _prepare(frozen, command)
        plan = 0
        while tally.kills < KILLS:
            plan += 1
            bench = copied(frozen, folder / f"plan-{plan}")
            Campaign(bench=bench, truth=folder / f"truth-{plan}", tally=tally, dice=dice, points=points).run()
            print(f"bench: {_told(tally)}", flush=True)
            if tally.amiss:
                raise RuntimeError("\n".join(tally.amiss))
    return [Figure(what="kills: from a runner's start", ours=Measured(name="to death", seconds=tuple(tally.seconds)))]


def _told(tally: Tally) -> str:
    places = ", ".join(f"{where} {times}" for where, times in sorted(tally.where.items()))
    return (
        f"{tally.kills} ({places}); {tally.attempts} attempts, {tally.tries} tries, {tally.sealed} sealed folders, "
        f"{tally.asked} requests; amiss: {len(tally.amiss)}"
    )


def _prepare(bench: Bench, command: str) -> None:
    """Have a command succeed: beside much else a unit may come too late for it at first."""
    for _ in range(_TRIES - 1):
        if bench.run(command).code == 0:
            return
    _demand(bench, command)


def _demand(bench: Bench, *words: str, codes: tuple[int, ...] = (0,)) -> None:
    said = bench.run(*words)
    if said.code not in codes:
        raise RuntimeError(f"runner {' '.join(words)} ended with {said.code}: {said.out}{said.err}")


@dataclass(slots=True, kw_only=True)
class Campaign:
    """One plan that is run through by runners that are killed."""

    bench: Bench
    truth: Path
    tally: Tally
    dice: random.Random
    points: Iterator[str]
    _left: set[str] = field(default_factory=lambda: set(_NAMES))

    def run(self) -> None:
        """Kill runners until the plan is through, or there were enough; then let one go on to the end, and look."""
        at_line = True
        while self._left and self.tally.kills < KILLS:
            name = self.dice.choice(sorted(self._left))
            self._kill(name, next(self.points) if at_line else None)
            at_line = not at_line
        _demand(self.bench, "pilot", "--resume", codes=(0, 1))
        _demand(self.bench, "verify")
        self.tally.amiss += Look(bench=self.bench, truth=self.truth, tally=self.tally).all()

    def _kill(self, name: str, point: str | None) -> None:
        """Start a runner and kill it; or learn that its candidate has nothing left."""
        how = () if point is None else (point,)
        within = (sys.executable, dying.__file__, *how, f"LINES={_LINES}", f"TRUTH={self.truth}", "--")
        while True:
            begun = time.monotonic()
            process = self.bench.start("pilot", "--resume", "--candidate", name, within=within)
            if point is None:
                self._at_random(process)
            err = process.communicate(timeout=LONGEST_SECONDS)[1]
            if process.returncode < 0:
                break
            if process.returncode in {0, 1} and "Traceback" not in err:
                self._left.discard(name)
                return
            if "another run holds" not in err:
                raise RuntimeError(f"a pilot ended with {process.returncode}: {err}")
            time.sleep(_PAUSE_SECONDS)  # The killed one's keeper is on its way out.
        self.tally.seconds.append(time.monotonic() - begun)
        where = err.rpartition(dying.DIED)[2].strip() if dying.DIED in err else "at random"
        self.tally.where[where] += 1

    def _at_random(self, process: "subprocess.Popen[str]") -> None:
        usual = sorted(self.tally.seconds)[len(self.tally.seconds) // 2] if self.tally.seconds else 3.0
        try:
            process.wait(self.dice.uniform(0.05, 1.6 * usual))
        except subprocess.TimeoutExpired:
            process.kill()


@dataclass(slots=True, kw_only=True)
class Look:
    """What is kept of a plan, held against what its runners told."""

    bench: Bench
    truth: Path
    tally: Tally

    def all(self) -> Iterator[str]:
        """Say what is lost, there twice, or was run again."""
        told = [line.split(" ") for line in self.truth.read_text().splitlines()]
        yield from self._sealed([(Path(words[1]), words[2]) for words in told if words[0] == "sealed"])
        yield from self._asked([(Path(words[1]), words[2]) for words in told if words[0] == "asked"])
        yield from self._run_again(told)
        for name in _NAMES:
            for number in range(1, _ATTEMPTS + 1):
                yield from self._attempt(self.bench.attempt(name).with_name(f"attempt-{number}"))

    def _sealed(self, told: list[tuple[Path, str]]) -> Iterator[str]:
        self.tally.sealed += len(told)
        for folder, digest in told:
            seal = folder / "SEAL.json"
            if not seal.exists() or sha256(seal.read_bytes()) != digest:
                yield f"lost: {folder} was sealed as {digest}"

    def _asked(self, told: list[tuple[Path, str]]) -> Iterator[str]:
        self.tally.asked += len(told)
        for folder, digest in told:
            kept = (path.read_bytes() for path in folder.glob("*/*.jsonl"))
            if digest not in {sha256(line) for data in kept for line in data.splitlines()}:
                yield f"lost: a request of {folder} that was acknowledged"

    def _run_again(self, told: list[list[str]]) -> Iterator[str]:
        """A model works once on an attempt, for the release allows one try; nothing works on what was captured."""
        works: Counter[str] = Counter()
        captured: set[str] = set()
        for word, what, *_ in told:
            if word == "sealed" and what.endswith("/submission"):
                captured.add(str(Path(what).parents[1].relative_to(self.bench.store)))
            if word == "worked" and "-probe-" not in what:
                name, nomination, number, _ = what.rsplit("-", 3)
                attempt = f"{name}/{nomination}/attempt-{number}"
                works[attempt] += 1
                if attempt in captured or (name == "right" and works[attempt] > 1):
                    yield f"run again: {what}"

    def _attempt(self, folder: Path) -> Iterator[str]:
        tries = sorted(folder.glob("try-*"))
        self.tally.attempts += 1
        self.tally.tries += len(tries)
        ends = [path for each in tries for path in (each / "submission", each / "void") if path.exists()]
        gradings = [path for each in tries for path in each.glob("gradings/grading-*")]
        submissions = [path for path in ends if path.name == "submission"]
        if len(ends) != len(tries) or not tries:
            yield f"lost: {folder} has {len(tries)} tries and {len(ends)} ends"
        if len(submissions) > 1 or len(gradings) != len(submissions):
            yield f"twice: {folder} has {len(submissions)} submissions and {len(gradings)} gradings"
