"""Laws of the journal: what is written stays, each line names the one before, and a line that was cut never was."""

from itertools import count
from pathlib import Path

import pytest

from runner.canonical import sha256
from runner.documents.journal import Entry, State
from runner.documents.seal import Trial
from runner.errors import DocumentError
from runner.journal import Scribe, Told, new_run, reached, read_journal, sole_writer
from tests.disks import FailingDisk

TRIAL = Trial(release="pilot", manifest_sha256="0" * 64, candidate="a", nomination="b", attempt=1, try_=1)
DIGEST = sha256(b"seal")


def scribe() -> Scribe:
    ticks = count(1_000)
    return Scribe(clock=lambda: next(ticks), run="ab" * 8)


def written(folder: Path, *states: State) -> Path:
    path, writer = folder / "store/pilot/journal.jsonl", scribe()
    for state in states:
        writer.write(path, Told(trial=TRIAL, state=state, sealed_sha256=DIGEST if state is State.CAPTURED else None))
    return path


def test_a_journal_that_is_not_there_has_no_entries(tmp_path: Path) -> None:
    assert read_journal(tmp_path / "journal.jsonl") == ()


def test_entries_are_read_as_they_were_written(tmp_path: Path) -> None:
    path = written(tmp_path, State.PLANNED, State.RUNNING, State.CAPTURED)
    first, second, third = read_journal(path)
    lines = path.read_bytes().splitlines()
    assert first == Entry(
        at_ms=1_000,
        run="ab" * 8,
        trial=TRIAL,
        state=State.PLANNED,
        sealed_sha256=None,
        previous=None,
        recovered=False,
    )
    assert (second.at_ms, second.previous) == (1_001, sha256(lines[0]))
    assert (third.sealed_sha256, third.previous) == (DIGEST, sha256(lines[1]))


def test_another_process_goes_on_with_the_chain(tmp_path: Path) -> None:
    path = written(tmp_path, State.PLANNED)
    Scribe(clock=lambda: 7).write(path, Told(trial=TRIAL, state=State.PROBING, recovered=True))
    first, second = read_journal(path)
    assert second.previous == sha256(path.read_bytes().splitlines()[0])
    assert second.recovered
    assert first.run != second.run
    assert new_run() != new_run()


def test_a_line_that_was_cut_anywhere_is_not_seen_and_gives_way_to_the_next(memory: Path) -> None:
    path = written(memory, State.PLANNED, State.PROBING)
    whole, quick = path.read_bytes(), FailingDisk(number=0, fault=None)
    kept = whole.index(b"\n") + 1
    for size in range(kept, len(whole)):
        path.write_bytes(whole[:size])
        assert [each.state for each in read_journal(path)] == [State.PLANNED]
        scribe().write(path, Told(trial=TRIAL, state=State.PROBING), disk=quick)
        assert [each.state for each in read_journal(path)] == [State.PLANNED, State.PROBING]
    for size in range(1, kept):
        path.write_bytes(whole[:size])
        assert read_journal(path) == ()
        scribe().write(path, Told(trial=TRIAL, state=State.PLANNED), disk=quick)
        assert path.read_bytes() == whole[:kept]


def test_zeros_that_a_failed_machine_left_in_the_last_line_are_a_line_that_was_cut(tmp_path: Path) -> None:
    path = written(tmp_path, State.PLANNED, State.PROBING)
    whole = path.read_bytes()
    path.write_bytes(whole[:-100] + bytes(99) + b"\n")
    assert [each.state for each in read_journal(path)] == [State.PLANNED]
    scribe().write(path, Told(trial=TRIAL, state=State.PROBING))
    assert [each.state for each in read_journal(path)] == [State.PLANNED, State.PROBING]


def test_nothing_is_added_after_a_line_that_is_none(tmp_path: Path) -> None:
    path = written(tmp_path, State.PLANNED)
    with path.open("ab") as file:
        file.write(b"{}\ncut")
    before = path.read_bytes()
    with pytest.raises(DocumentError, match=r"journal\.jsonl"):
        scribe().write(path, Told(trial=TRIAL, state=State.PROBING))
    assert path.read_bytes() == before


def test_what_a_try_reached_is_read_from_its_own_lines(tmp_path: Path) -> None:
    path = written(tmp_path, State.PLANNED, State.RUNNING)
    other = TRIAL.model_copy(update={"try_": 2})
    scribe().write(path, Told(trial=other, state=State.PLANNED))
    entries = read_journal(path)
    assert reached(entries, TRIAL) == (State.PLANNED, State.RUNNING)
    assert reached(entries, other) == (State.PLANNED,)


def test_one_process_writes_at_a_time(tmp_path: Path) -> None:
    with sole_writer(tmp_path, wait=True) as first, sole_writer(tmp_path, wait=False) as second:
        assert (first, second) == (True, False)
    with sole_writer(tmp_path, wait=False) as third:
        assert third
