"""One byte of the evidence is another, or a file is gone, or one is there too many: `verify` names it."""

import os
from collections.abc import Callable
from pathlib import Path
from secrets import token_hex

import pytest

from tests.flow.bench import Bench, copied

pytestmark = pytest.mark.systemd

SUBMISSION = "right/clamp/attempt-1/try-1/submission"
GRADING = "right/clamp/attempt-1/try-1/gradings/grading-1"

SEALED = (
    f"{SUBMISSION}/candidate.diff",
    f"{SUBMISSION}/exchanges/solution.gz",
    f"{SUBMISSION}/ledger.jsonl",
    f"{SUBMISSION}/submission.json",
    f"{SUBMISSION}/telemetry.json",
    f"{SUBMISSION}/tree.json",
    f"{SUBMISSION}/streams/stdout",
    f"{GRADING}/grading.json",
    f"{GRADING}/public-tests.json",
    f"{GRADING}/evaluators/hidden.json",
)


@pytest.fixture
def evidence(piloted: Bench, benches: Path) -> Bench:
    return copied(piloted, benches / f"flipped-{token_hex(3)}", runnable=False)


def flip(file: Path) -> None:
    """Change one bit in the middle of a file, as a bad disk would."""
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 1
    file.chmod(0o644)
    file.write_bytes(data)
    file.chmod(0o444)


def log_of(bench: Bench) -> str:
    logs = [path for path in (bench.store / GRADING / "logs").iterdir() if path.stat().st_size]
    return str(logs[0].relative_to(bench.store))


def test_every_kind_of_sealed_file_is_found_by_name_after_one_flipped_bit(evidence: Bench) -> None:
    files = (*SEALED, log_of(evidence))
    for file in files:
        flip(evidence.store / file)
    said = evidence.run("verify")
    assert said.code == 3
    for file in files:
        assert str(evidence.store / file) in said.out
    assert str(evidence.store / "oracle") not in said.out


@pytest.mark.parametrize("file", [f"{SUBMISSION}/candidate.diff", f"{GRADING}/grading.json"])
def test_one_flipped_bit_is_enough_and_no_command_uses_what_is_broken(evidence: Bench, file: str) -> None:
    flip(evidence.store / file)
    said = evidence.run("verify", "--no-rebuild")
    assert said.code == 3
    assert str(evidence.store / file) in said.out
    resumed = evidence.run("pilot", "--resume", "--candidate", "right")
    assert resumed.code == 3
    assert str(evidence.store / file) in resumed.err
    table = evidence.run("aggregate")
    assert table.code == 0
    row = next(line for line in table.out.splitlines() if line.startswith("right"))
    assert "missing_artifacts" in row


@pytest.mark.parametrize("folder", [SUBMISSION, GRADING])
def test_a_flipped_bit_in_a_seal_itself_is_found_in_its_folder(evidence: Bench, folder: str) -> None:
    flip(evidence.store / folder / "SEAL.json")
    said = evidence.run("verify", "--no-rebuild")
    assert said.code == 3
    assert str(evidence.store / folder) in said.out


def test_a_flipped_bit_in_the_record_of_the_controls_is_found_by_name(evidence: Bench) -> None:
    (record,) = (evidence.store / "controls").rglob("record.json")
    flip(record)
    for words in (("verify",), ("verify", "--no-rebuild")):
        said = evidence.run(*words)
        assert said.code == 3
        assert str(record) in said.out + said.err


def remove(file: Path) -> None:
    file.parent.chmod(0o755)
    file.unlink()


def add(file: Path) -> None:
    file.parent.chmod(0o755)
    file.with_name("added").write_bytes(b"")


def replace_by_link(file: Path) -> None:
    data = file.read_bytes()
    remove(file)
    (outside := file.parents[6] / "outside").write_bytes(data)
    file.symlink_to(os.path.relpath(outside, file.parent))


@pytest.mark.parametrize(
    ("harm", "named", "row"),
    [
        pytest.param(remove, "ledger.jsonl", "missing_artifacts", id="removed"),
        pytest.param(add, "added", "missing_artifacts", id="added"),
        pytest.param(replace_by_link, "ledger.jsonl", "missing_artifacts", id="linked"),
    ],
)
def test_a_file_too_few_or_too_many_is_found(
    evidence: Bench, harm: Callable[[Path], None], named: str, row: str
) -> None:
    file = evidence.store / SUBMISSION / "ledger.jsonl"
    harm(file)
    said = evidence.run("verify", "--no-rebuild")
    assert said.code == 3
    assert str(file.with_name(named)) in said.out
    table = evidence.run("aggregate")
    assert row in next(line for line in table.out.splitlines() if line.startswith("right"))


def test_evidence_that_nobody_planned_is_found(evidence: Bench) -> None:
    stranger = evidence.store / "stranger/clamp/attempt-1/try-1"
    stranger.mkdir(parents=True)
    (evidence.attempt("right") / "try-1/gradings/better").mkdir()
    said = evidence.run("verify", "--no-rebuild")
    assert said.code == 3
    assert str(evidence.store / "stranger") in said.out
    assert str(evidence.attempt("right") / "try-1/gradings/better") in said.out
