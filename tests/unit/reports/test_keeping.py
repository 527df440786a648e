"""The table is kept while evidence grows: it costs little time, ends no run, and makes the next table a quick one."""

import time
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from runner.errors import VerificationError
from runner.reports import keeping
from runner.reports.aggregate import aggregate
from runner.reports.keeping import KeptTable
from runner.reports.remembering import Gathered, gather_table
from runner.store import Store
from tests.unit.reports.test_remembering import MANIFEST, later
from tests.unit.runner.evidence_maker import IDLER, SOLVER, Run, a_store, attempt


@dataclass
class Clocked:
    """A table that takes `costs` seconds to make each time, and an hour that passes as it is told to."""

    store: Store
    costs: float = 0.0
    now: float = 0.0
    made: list[float] = field(default_factory=list)
    told: list[str] = field(default_factory=list)

    def table(self) -> KeptTable:
        return KeptTable(
            store=self.store,
            manifest=MANIFEST,
            folder=self.store.root.parent / "tables",
            clock=self.clock,
            monotonic=lambda: self.now,
            sleep=self.sleep,
            tell=self.told.append,
        )

    def sleep(self, seconds: float) -> None:
        self.now += seconds

    def clock(self) -> int:
        self.made.append(self.now)
        self.now += self.costs
        return later()


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return a_store(tmp_path / "store", MANIFEST)


def gathered(store: Store) -> Gathered:
    return gather_table(store, MANIFEST, store.root.parent / "tables", clock=later)


def test_who_asks_for_the_table_then_waits_for_nothing_that_was_there(store: Store) -> None:
    attempt(store, SOLVER, Run())
    Clocked(store).table().make()
    attempt(store, IDLER, Run())
    found = gathered(store)
    assert (found.read, found.kept) == (1, 2)
    assert found.aggregate == aggregate(store, MANIFEST)


@pytest.mark.parametrize(("costs", "shortest"), [(0.1, 60.0), (8.0, 800.0), (267.0, 26_700.0)])
def test_it_takes_a_hundredth_of_the_time_however_long_it_takes(store: Store, costs: float, shortest: float) -> None:
    clocked = Clocked(store, costs)
    table = clocked.table()
    while len(clocked.made) < 4:
        clocked.now += 1.0
        table.meanwhile()
    assert clocked.made[0] == pytest.approx(60.0, abs=1.0)
    between = [after - before for before, after in zip(clocked.made, clocked.made[1:], strict=False)]
    assert between == pytest.approx([shortest] * 3, abs=1.5)
    assert sum(costs for _ in between) <= sum(between) / 100


def test_what_takes_long_is_told(store: Store) -> None:
    clocked = Clocked(store, 267.0)
    clocked.table().make()
    assert clocked.told == ["made the table of what is sealed so far, in 267 s: 3 attempts read"]
    quick = Clocked(store, 9.0)
    quick.table().make()
    assert quick.told == []


@pytest.mark.parametrize(("many", "read"), [(4, 1), (3, 0)])
def test_the_last_table_of_many_attempts_leaves_nothing_to_be_read(
    store: Store, monkeypatch: pytest.MonkeyPatch, many: int, read: int
) -> None:
    """Of few attempts, those of the last two seconds are read once more, which is quicker than to wait for them."""
    monkeypatch.setattr(keeping, "_MANY", many)
    attempt(store, SOLVER, Run())
    clocked, sealed = Clocked(store), time.time_ns()
    table = clocked.table()
    table.clock = lambda: sealed + int(clocked.now * 1e9)
    table.finish()
    assert gathered(store).read == read


@pytest.mark.parametrize("error", [VerificationError("a seal is not one"), OSError(28, "No space left on device")])
def test_what_goes_wrong_is_told_once_and_ends_nothing(
    store: Store, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    asked = []

    def failing(*_given: object, **_named: object) -> Gathered:
        asked.append(time.monotonic())
        raise error

    monkeypatch.setattr(keeping, "gather_table", failing)
    clocked = Clocked(store)
    table = clocked.table()
    for _ in range(10):
        clocked.now += 100.0
        table.meanwhile()
    assert len(asked) == 1
    (line,) = clocked.told
    assert str(error) in line
    assert line.endswith("ask for it: runner aggregate")


def test_a_folder_that_cannot_be_written_ends_nothing(store: Store) -> None:
    (store.root.parent / "tables").write_bytes(b"in the way")
    clocked = Clocked(store)
    clocked.table().make()
    (line,) = clocked.told
    assert "tables" in line
