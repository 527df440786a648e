"""A ledger and its recording: each line has its exchange, each exchange its line."""

from collections.abc import Callable
from pathlib import Path

import pytest

from runner.canonical import canonical, canonical_lines
from runner.documents.evidence import Void
from runner.documents.facts import Blame, Facts, Phase, Phases, VoidFact
from runner.documents.ledger import LedgerLine
from runner.grading import Made, void
from runner.store import Store
from runner.verify import VerifyReport
from tests.unit.runner.evidence_maker import (
    HOST,
    ORIGIN,
    SOLVER,
    Run,
    a_manifest,
    a_store,
    attempt,
    begin,
    recording,
)
from tests.unit.runner.test_outcome import line
from tests.unit.runner.test_verify import named, reseal, verify

RUN = "exchanges/solution.gz"
LINES = (line(None), line(None).model_copy(update={"sequence": 2, "request_sha256": "1" * 64}))
LATER = LINES[1].model_copy(update={"sequence": 3})
Change = Callable[[bytes], bytes | None]


def checked(folder: Path, change: Change) -> VerifyReport:
    """Verify evidence whose recording was changed and sealed again."""
    manifest = a_manifest("solver")
    store = a_store(folder, manifest)
    attempt(store, SOLVER, Run(ledger=LINES))
    submission = store.folder(store.trial(SOLVER, 1)) / "submission"
    reseal(submission, {RUN: change((submission / RUN).read_bytes())})
    return verify(store, manifest)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        pytest.param(lambda _data: None, "line 1; expected an exchange with the same request", id="none"),
        pytest.param(lambda _data: recording(LINES[:1]), "line 2; expected an exchange", id="one less"),
        pytest.param(lambda _data: recording((*LINES[::-1], LATER)), "exchange 3 with the request", id="one more"),
        pytest.param(
            lambda _data: recording((LINES[0], LINES[1].model_copy(update={"request_sha256": "2" * 64}))),
            "line 2; expected an exchange",
            id="another request",
        ),
        pytest.param(lambda data: data[:-5], "a torn end", id="torn"),
        pytest.param(lambda data: data + b"garbage", "expected a recording", id="garbage"),
        pytest.param(lambda _data: b"", "line 1; expected an exchange", id="empty"),
    ],
)
def test_a_recording_that_is_not_its_ledgers_is_found(tmp_path: Path, change: Change, told: str) -> None:
    assert told in named(checked(tmp_path, change))


def test_a_recording_that_is_its_ledgers_is_no_finding_of_its_own(tmp_path: Path) -> None:
    assert RUN not in named(checked(tmp_path, lambda data: data))
    assert "ledger.jsonl" not in named(checked(tmp_path / "again", lambda data: data))


def voided(folder: Path, lines: tuple[LedgerLine, ...], kept: bytes | None) -> VerifyReport:
    """Verify a void with partial evidence."""
    manifest = a_manifest("solver")
    store = a_store(folder, manifest)
    document = _void(store)
    files = {"host.json": canonical(HOST), "ledger.jsonl": canonical_lines(lines)}
    store.seal_void(document, files if kept is None else {**files, RUN: kept})
    return verify(store, manifest)


def _void(store: Store) -> Void:
    fact = VoidFact(blame=Blame.RUNNER, phase=Phase.SOLUTION, reason="killed", interrupted=True)
    made = Made(origin=ORIGIN, started_ms=1_000, ended_ms=1_500, phases=Phases())
    return void(begin(store, SOLVER), Facts(void=fact), made)


@pytest.mark.parametrize(
    ("lines", "kept", "told"),
    [
        pytest.param(LINES, recording(LINES), None, id="whole"),
        pytest.param(LINES[:1], recording(LINES), None, id="further"),
        pytest.param(LINES[:1], recording(LINES)[:-3], None, id="torn"),
        pytest.param(LINES, None, None, id="of another try's probe"),
        pytest.param(LINES, recording(LINES[:1]), "line 2; expected an exchange", id="less"),
    ],
)
def test_a_voids_recording_may_be_further_on_and_never_behind(
    tmp_path: Path, lines: tuple[LedgerLine, ...], kept: bytes | None, told: str | None
) -> None:
    found = named(voided(tmp_path, lines, kept))
    assert told in found if told else "exchange" not in found
