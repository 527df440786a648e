"""Laws of progress: what is not known is said to be unknown, and nothing is estimated from what is not alike."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from runner.documents.facts import Blame, Phase, VoidFact
from runner.documents.journal import Entry, State
from runner.documents.ticket import Selection, Ticket
from runner.journal import Scribe
from runner.running.progress import (
    AtWork,
    Progress,
    Spending,
    durations,
    last_at_work,
    results,
    spending,
    time_left,
)
from runner.running.watching import Watch
from runner.running.words import change, document, length, live, report
from runner.schedule import Cell, Standing, TryState
from runner.store import Store, store_for
from tests.unit.agents.test_preflight import line
from tests.unit.runner.evidence_maker import IDLER, SOLVER, Run, a_manifest, begin, end_void, grade, submit

MANIFEST = a_manifest()
SECOND = Cell(candidate="solver", nomination="slugs", attempt=2)
MINUTE = 60_000
PILOT = Ticket(
    token="0" * 16,
    number=7,
    release=MANIFEST.release,
    store="/store",
    selection=Selection(candidates=(), nominations=(), attempt=None),
    asked_ms=0,
    process=123,
    log="/log",
)
PROGRESS = Progress(
    release=MANIFEST.release,
    planned=3,
    left=1,
    results={"completed": 2},
    at_work=AtWork(cell=SOLVER, try_=1, state=State.RUNNING, since_ms=MINUTE, begun_ms=0),
    left_ms=90_000,
    spent=Spending(requests=3, usd="0.5", unpriced=0),
)


def a_store(root: Path, times: list[int]) -> Store:
    """Give a store whose journal has these times, one a line, and then goes on by minutes."""
    clock = iter((*times, *range(times[-1] + MINUTE, times[-1] + 99 * MINUTE, MINUTE)))
    return store_for(root, MANIFEST, Scribe(clock=lambda: next(clock)))


def entry(cell: Cell, state: State, at_ms: int, *, number: int = 1, recovered: bool = False) -> Entry:
    trial = store_for(Path("/store"), MANIFEST).trial(cell, number)
    return Entry(
        at_ms=at_ms, run="0" * 16, trial=trial, state=state, sealed_sha256=None, previous=None, recovered=recovered
    )


def test_an_attempt_is_at_work_until_its_last_line_says_that_it_is_over() -> None:
    lines = [entry(SOLVER, State.PLANNED, 5), entry(SOLVER, State.RUNNING, 9)]
    assert last_at_work(()) is None
    assert last_at_work(lines) == AtWork(cell=SOLVER, try_=1, state=State.RUNNING, since_ms=9, begun_ms=5)
    for over in (State.SEALED, State.VOID):
        assert last_at_work([*lines, entry(SOLVER, over, 10)]) is None


def test_the_length_of_an_attempt_is_that_of_its_last_try_that_was_seen_to_end() -> None:
    lines = [
        entry(SOLVER, State.PLANNED, 0),
        entry(SOLVER, State.VOID, 10),
        entry(SOLVER, State.PLANNED, 100, number=2),
        entry(SOLVER, State.SEALED, 130, number=2),
        entry(IDLER, State.PLANNED, 200),
        entry(IDLER, State.SEALED, 999, recovered=True),
    ]
    assert durations(lines) == {SOLVER: 30}


def test_what_is_left_takes_as_long_as_what_is_alike_took() -> None:
    took = {SOLVER: 30 * MINUTE, IDLER: MINUTE}
    assert time_left([SECOND], took, None, 0) == 30 * MINUTE
    at_work = AtWork(cell=SECOND, try_=1, state=State.RUNNING, since_ms=0, begun_ms=0)
    assert time_left([SECOND], took, at_work, 10 * MINUTE) == 20 * MINUTE
    assert time_left([SECOND], took, at_work, 40 * MINUTE) == 0
    assert time_left([], took, None, 0) == 0


def test_where_nothing_alike_was_finished_nobody_knows() -> None:
    assert time_left([SOLVER, IDLER], {IDLER: MINUTE}, None, 0) is None


def test_one_answer_without_a_price_makes_the_whole_unknown_and_a_tunnel_has_none() -> None:
    priced, silent = line(operation="chat", cost="0.5"), line(operation="chat", cost=None, status_upstream=200)
    failed, listed = line(operation="chat", cost=None, status_upstream=503), line(operation="models", cost=None)
    tunnel = line(operation="connect", cost=None)
    assert spending([priced, priced, failed, listed]) == Spending(requests=3, usd="1", unpriced=0)
    assert spending([priced, silent, tunnel]) == Spending(requests=3, usd="0.5", unpriced=2)


def test_results_are_counted_by_the_last_try() -> None:
    done = TryState(number=2, standing=Standing.DONE, outcome="completed")
    void = TryState(number=1, standing=Standing.VOID)
    assert results([(void, done), (void,), (done,)]) == {"completed": 2, "void": 1}


def test_a_release_is_followed_from_its_journal_and_store_alone(tmp_path: Path) -> None:
    store = a_store(tmp_path, [0])
    watch = Watch(store=store, manifest=MANIFEST)
    cells = (SOLVER, IDLER)
    before = watch.look(None, (), 0)
    assert (before.planned, before.done, before.at_work, before.left_ms) == (2, 0, None, None)
    assert before.spent == Spending(requests=0, usd="0", unpriced=0)

    trial = begin(store, SOLVER)
    store.note(trial, State.RUNNING)
    during = watch.look(PILOT, cells, 2 * MINUTE)
    assert during.at_work == AtWork(cell=SOLVER, try_=1, state=State.RUNNING, since_ms=MINUTE, begun_ms=0)
    assert (during.done, during.left_ms) == (0, None)
    assert watch.look(None, (), 2 * MINUTE).at_work is None, "without a living pilot nothing is at work"

    made, digest = submit(store, trial, Run())
    sealed = grade(store, made, digest, Run())
    store.note(trial, State.SEALED, sealed)
    end_void(store, begin(store, IDLER), VoidFact(blame=Blame.HOST, phase=Phase.SOLUTION, reason="the disk was full"))
    after = watch.look(PILOT, cells, 9 * MINUTE)
    assert dict(after.results) == {"completed": 1, "void": 1}
    assert (after.left, after.at_work, after.left_ms) == (0, None, 0)


@pytest.mark.parametrize(
    ("ms", "said"),
    [(-5, "0 s"), (59_999, "59 s"), (125_000, "2 min 5 s"), (3_599_999, "59 min 59 s"), (7_380_000, "2 h 3 min")],
)
def test_lengths_have_the_two_units_that_matter(ms: int, said: str) -> None:
    assert length(ms) == said


def test_a_report_says_all_there_is_to_know() -> None:
    said = report(PROGRESS, (PILOT,), 2 * MINUTE).splitlines()
    assert said == [
        "release  pilot: 3 planned, 2 done, 1 left",
        "results  2 completed",
        "at work  solver/slugs/attempt-1, try 1: running for 1 min 0 s",
        "ends     in about 1 min 30 s",
        "spent    0.5 USD for 3 requests",
        "pilot    7 (pilot) has the clean room, or is next; asked 1970-01-01 00:00:00 UTC, process 123, log /log",
    ]
    assert change(PROGRESS, (PILOT,), 2 * MINUTE) == (
        "00:02:00 UTC: 2 of 3 done; solver/slugs/attempt-1, try 1: running; spent 0.5 USD for 3 requests; "
        "ends in about 1 min 30 s"
    )


def test_what_is_unknown_is_said_to_be_unknown() -> None:
    unknown = Progress(
        release=MANIFEST.release,
        planned=3,
        left=3,
        results={},
        at_work=None,
        left_ms=None,
        spent=Spending(requests=3, usd="0.5", unpriced=2),
    )
    said = report(unknown, (PILOT,), 0)
    assert "results  none yet\n" in said
    assert "ends     unknown: " in said
    assert "spent    unknown: 3 requests, 2 without a price; the others cost 0.5 USD\n" in said
    assert "ends     unknown: no pilot of this release is on its way\n" in report(unknown, (), 0)
    told = json.loads(json.dumps(document(unknown, (PILOT,))))
    assert (told["left_ms"], told["spent"]["usd"], told["spent"]["priced_usd"], told["at_work"]) == (
        None,
        None,
        "0.5",
        None,
    )
    assert told["pilots"] == [
        {"number": 7, "release": "pilot", "waits": False, "asked_ms": 0, "process": 123, "log": "/log"}
    ]


def test_a_line_that_changes_says_how_far_when_it_ends_and_what_it_cost() -> None:
    assert live(PROGRESS, 2 * MINUTE) == (
        "2 of 3 done; solver/slugs/attempt-1, try 1: running for 1 min 0 s; ends in about 1 min 30 s; "
        "spent 0.5 USD for 3 requests"
    )
    nothing = replace(PROGRESS, at_work=None, left_ms=None, spent=Spending(requests=0, usd="0", unpriced=0))
    assert live(nothing, 0) == "2 of 3 done; nothing is at work; end unknown"
    one = replace(PROGRESS, left=0, at_work=None, spent=Spending(requests=1, usd="0", unpriced=1))
    assert live(one, 0) == "3 of 3 done; nothing is at work; spent 0 USD and what is unknown for 1 request"
