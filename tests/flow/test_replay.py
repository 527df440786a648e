"""An attempt is run again from what was recorded of it: nobody is asked, the same tree; or it is told what differs."""

import io
import json
from collections.abc import Callable
from pathlib import Path
from secrets import token_hex

import pytest

from runner.canonical import sha256
from runner.gateway.relay.recording import Record, read_records, write_record
from tests.flow.bench import Bench, copied, listing
from tests.unit.runner.test_verify import reseal

pytestmark = pytest.mark.systemd

RIGHT = "right/clamp/attempt-1"
RUN = "exchanges/solution.gz"


def submission(bench: Bench) -> Path:
    return bench.attempt("right") / "try-1/submission"


def rewritten(bench: Bench, change: Callable[[Record], bytes], ledger: Callable[[bytes], bytes] | None = None) -> None:
    """Change every record of a recording, and seal it again as if it had always been so."""
    folder = submission(bench)
    data = (folder / RUN).read_bytes()
    changes = {RUN: b"".join(change(record) for record in read_records(io.BytesIO(data)))}
    if ledger is not None:
        changes["ledger.jsonl"] = ledger((folder / "ledger.jsonl").read_bytes())
    reseal(folder, dict(changes))


@pytest.fixture
def changeable(benches: Path, piloted: Bench) -> Bench:
    return copied(piloted, benches / f"replayed-{token_hex(3)}")


def test_a_replay_asks_the_same_and_reaches_the_same_tree_and_writes_no_evidence(piloted: Bench) -> None:
    before = listing(piloted.store)
    said = piloted.run("replay", RIGHT, "--json")
    assert said.code == 0, said
    told = json.loads(said.out)
    sealed = json.loads((submission(piloted) / "submission.json").read_bytes())
    assert told["tree_sha256"] == told["sealed_sha256"] == sealed["tree_sha256"]
    assert (told["recorded"], told["answered"], told["divergences"], told["notes"]) == (2, 2, [], [])
    assert listing(piloted.store) == before


def test_what_is_asked_otherwise_is_named_by_the_first_request_that_is(changeable: Bench) -> None:
    """The recorded model writes another file, and is recorded to have been told of another one afterwards."""
    digests: dict[bytes, bytes] = {}

    def other(record: Record) -> bytes:
        if record.kind == "given":
            return write_record(record.head, record.body.replace(b"min(high", b"max(high"))
        body = record.body.replace(b"clamp.py", b"clump.py") if record.sequence == 2 else record.body
        digest = sha256(body)
        digests[str(record.head["sha256"]).encode()] = digest.encode()
        return write_record({**record.head, "sha256": digest, "size": len(body)}, body)

    def lines(data: bytes) -> bytes:
        for old, new in digests.items():
            data = data.replace(old, new)
        return data

    rewritten(changeable, other, lines)
    said = changeable.run("replay", RIGHT)
    assert said.code == 1, said
    lines_said = said.out.splitlines()
    assert lines_said[0] == f"{RIGHT}/try-1: 1 of 2 recorded answers were asked for again"
    (first,) = [line for line in lines_said if line.startswith("first divergence: ")]
    assert first.startswith("first divergence: request 2 (chat) is not recorded request 2: /messages/")
    assert "clump.py" in first
    assert "but sealed was" in lines_said[-1]


def test_a_recording_that_is_not_its_ledgers_is_broken_evidence(changeable: Bench) -> None:
    def other(record: Record) -> bytes:
        if record.kind == "given":
            return write_record(record.head, record.body)
        body = record.body + b" "
        return write_record({**record.head, "sha256": sha256(body), "size": len(body)}, body)

    rewritten(changeable, other)
    said = changeable.run("replay", RIGHT)
    assert said.code == 3, said
    assert "found line 1; expected an exchange with the same request" in said.err
    said = changeable.run("verify", "--no-rebuild")
    assert said.code == 3
    assert "expected an exchange with the same request" in said.out


@pytest.mark.parametrize(
    ("name", "told"),
    [
        pytest.param("rihgt/clamp/attempt-1", f"did you mean {RIGHT}", id="near"),
        pytest.param("right/clamp/attempt-1/try-2", f"did you mean {RIGHT}", id="try"),
        pytest.param(
            "sleeper/clamp/attempt-1",
            "was planned and never begun; run it: runner pilot --resume --candidate sleeper",
            id="never begun",
        ),
        pytest.param("oracle/clamp/attempt-1", "oracle asks no model", id="control"),
    ],
)
def test_what_cannot_be_replayed_is_told_before_anything_is_run(piloted: Bench, name: str, told: str) -> None:
    said = piloted.run("replay", name)
    assert said.code == 2, said
    assert told in said.err
