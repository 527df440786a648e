"""What is not read again is known to be unchanged: no edit, however it is hidden, leaves a table as it was."""

import ast
import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from runner.artifacts import canonical
from runner.documents.manifest import Manifest
from runner.outcome import Outcome
from runner.reports import file_marks, remembering
from runner.reports.aggregate import aggregate
from runner.reports.markdown import markdown
from runner.reports.remembering import Gathered, gather_table, kept
from runner.reports.table_files import read_table, write_table
from runner.store import Store
from tests.unit.runner.evidence_maker import IDLER, SOLVER, Run, a_manifest, a_store, attempt
from tests.unit.test_project import modules

MANIFEST = a_manifest("solver", "idler", "never")
TRY = Path("pilot/solver/slugs/attempt-1/try-1")


def later() -> int:
    """Give a time at which all that was just written is old."""
    return time.time_ns() + 10**10


@pytest.fixture
def store(tmp_path: Path) -> Store:
    store = a_store(tmp_path / "store", MANIFEST)
    for cell in (SOLVER, IDLER):
        attempt(store, cell, Run())
    return store


def gathered(store: Store, *, clock: Callable[[], int] = later, fresh: bool = False) -> Gathered:
    found = gather_table(store, MANIFEST, store.root.parent / "tables", clock=clock, fresh=fresh)
    assert found.aggregate == aggregate(store, MANIFEST), "whatever was read, the table is that of the evidence"
    written = (store.root.parent / "tables/aggregate.json").read_bytes()
    assert written == canonical(found.aggregate)
    assert (store.root.parent / "tables/aggregate.md").read_text() == markdown(found.aggregate)
    return found


def test_the_second_time_nothing_is_read_and_the_table_is_the_same(store: Store) -> None:
    first, second = gathered(store), gathered(store)
    assert [(each.read, each.kept) for each in (first, second)] == [(3, 0), (0, 3)]
    assert second.sha256 == first.sha256
    assert kept(first) == ""
    assert kept(second).startswith("pilot: 0 attempts read; the documents of 3 are as they were when last read (")
    assert gathered(store, fresh=True).read == 3


def flipped(file: Path) -> None:
    """Change a byte, and hide that as well as anybody can without the disk beneath: same size, same times."""
    before = file.stat()
    file.chmod(0o644)
    data = bytearray(file.read_bytes()) or bytearray(1)
    data[len(data) // 2] ^= 1
    with file.open("r+b") as opened:
        opened.write(data)
    file.chmod(0o444)
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    after = file.stat()
    assert (after.st_mtime_ns, after.st_ino) == (before.st_mtime_ns, before.st_ino)
    assert after.st_size == before.st_size or not before.st_size


@pytest.mark.parametrize(
    "name", ["begun.json", "submission/SEAL.json", "submission/submission.json", "submission/ledger.jsonl",
             "submission/telemetry.json", "gradings/grading-1/grading.json", "gradings/grading-1/SEAL.json"],
)  # fmt: skip
def test_a_flipped_byte_is_found_also_where_size_and_times_are_as_before(store: Store, name: str) -> None:
    gathered(store)
    flipped(store.root / TRY / name)
    found = gathered(store)
    assert (found.read, found.aggregate.attempts[0].outcome) == (1, Outcome.MISSING_ARTIFACTS)


@pytest.mark.parametrize("name", ["submission/candidate.diff", "gradings/grading-1/evaluators/hidden.json"])
def test_what_no_row_is_made_of_is_looked_at_by_whoever_reads_every_byte(store: Store, name: str) -> None:
    first = gathered(store)
    flipped(store.root / TRY / name)
    again = gather_table(store, MANIFEST, store.root.parent / "tables", clock=later)
    assert (again.read, again.aggregate) == (0, first.aggregate), "what was sealed is what is shown"
    assert gathered(store, fresh=True).aggregate.attempts[0].outcome is Outcome.MISSING_ARTIFACTS
    assert gathered(store).read == 1, "what lacks something is read each time"


def _replace(folder: Path) -> None:
    other = folder / "submission/other"
    (folder / "submission").chmod(0o755)
    other.write_bytes(b"forged")
    other.rename(folder / "submission/candidate.diff")


def _add(folder: Path) -> None:
    (folder / "submission").chmod(0o755)
    (folder / "submission/more").write_bytes(b"")


def _empty_folder(folder: Path) -> None:
    (folder / "submission").chmod(0o755)
    (folder / "submission/more").mkdir()


def _remove(folder: Path) -> None:
    (folder / "gradings/grading-1").chmod(0o755)
    (folder / "gradings/grading-1/policy.json").unlink()


def _link(folder: Path) -> None:
    (folder / "submission").chmod(0o755)
    (folder / "submission/candidate.diff").rename(folder.parent / "aside")
    (folder / "submission/candidate.diff").symlink_to(folder.parent / "aside")


@pytest.mark.parametrize("change", [_replace, _add, _empty_folder, _remove, _link])
def test_whatever_is_changed_below_an_attempt_is_read_again(store: Store, change: Callable[[Path], None]) -> None:
    gathered(store)
    change(store.root / TRY)
    assert gathered(store).read == 1


def test_a_further_try_is_read_and_nothing_else(store: Store) -> None:
    gathered(store)
    attempt(store, SOLVER, Run(tests=False), number=2)
    assert gathered(store).read == 1


def test_an_attempt_that_was_never_run_is_read_once_it_was(store: Store) -> None:
    assert gathered(store).aggregate.attempts[2].outcome is Outcome.MISSING_ARTIFACTS
    attempt(store, SOLVER.__class__(candidate="never", nomination="slugs", attempt=1), Run())
    found = gathered(store)
    assert (found.read, found.aggregate.attempts[2].outcome) == (1, Outcome.COMPLETED)


def test_what_judges_and_people_add_changes_no_row_and_reads_nothing_again(store: Store) -> None:
    gathered(store)
    for name in ("judges/one/more.json", "manual-reviews/ann.json"):
        place = store.root / TRY / name
        place.parent.mkdir(parents=True)
        place.write_bytes(b"{}")
    assert gathered(store).read == 0


def test_a_folder_that_only_has_the_name_of_what_judges_add_hides_nothing(store: Store) -> None:
    (store.root / TRY / "submission").chmod(0o755)
    (store.root / TRY / "submission/judges").mkdir()
    assert [gathered(store).read for _ in range(2)] == [3, 1]
    (store.root / TRY / "submission/judges/more").write_bytes(b"")
    assert gathered(store).read == 1


def test_files_that_are_too_young_to_be_known_again_are_not_remembered(store: Store) -> None:
    assert gathered(store, clock=time.time_ns).read == 3
    assert gathered(store).read == 2  # all but the one that has no files
    assert gathered(store).read == 0


def test_a_folder_of_nearly_the_same_name_stands_for_no_attempt(store: Store) -> None:
    attempts = store.root / "pilot/solver/slugs"
    (attempts / "attempt-01").mkdir()
    gathered(store)
    flipped(store.root / TRY / "begun.json")
    assert gathered(store).read == 1


@pytest.mark.parametrize("name", ["aggregate.json", "read.json"])
@pytest.mark.parametrize("data", [b"", b"{}", None])
def test_what_was_written_down_and_is_not_that_any_more_is_not_believed(
    store: Store, name: str, data: bytes | None
) -> None:
    gathered(store)
    file = store.root.parent / "tables" / name
    if data is None:
        file.write_bytes(file.read_bytes().replace(b"completed", b"void").replace(b"cleanroom", b"other"))
    else:
        file.write_bytes(data)
    assert gathered(store).read == 3


@pytest.mark.parametrize("change", [lambda file: file.write_bytes(b"| won |"), Path.unlink])
def test_a_text_that_is_not_what_was_written_is_written_again_and_nothing_is_read(
    store: Store, change: Callable[[Path], object]
) -> None:
    gathered(store)
    change(store.root.parent / "tables/aggregate.md")
    assert gathered(store).read == 0


def test_what_looks_like_a_row_in_a_text_of_evidence_is_no_row(tmp_path: Path) -> None:
    table = aggregate(a_store(tmp_path / "store", MANIFEST), MANIFEST)
    odd = 'x"},{"assurance":null,"attempt":1}],"candidates":[ | a\nb \\'
    rows = tuple(row.model_copy(update={"reason": odd * (at + 1)}) for at, row in enumerate(table.attempts))
    told = table.model_copy(update={"attempts": rows})
    first = write_table(tmp_path, told, None, ())
    before = read_table(tmp_path, first.sha256, first.text_sha256)
    assert before is not None
    assert before == first
    assert (len(before.rows()), len(before.lines() or ())) == (3, 3)
    write_table(tmp_path, told, before, (0, 2))
    assert (tmp_path / "aggregate.json").read_bytes() == canonical(told)
    assert (tmp_path / "aggregate.md").read_text() == markdown(told)


def test_a_clock_that_was_set_back_reads_everything_again(store: Store) -> None:
    gathered(store)
    newest = max(file.stat().st_ctime_ns for file in (store.root / "pilot").rglob("*"))
    assert gathered(store, clock=lambda: newest + 10**9).read == 3


def test_other_code_reads_everything_again(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    gathered(store)
    monkeypatch.setattr(remembering, "_code", lambda: "0" * 64)
    assert gathered(store).read == 3


def test_another_plan_reads_everything_again(store: Store) -> None:
    gathered(store)
    other: Manifest = MANIFEST.model_copy(update={"supersedes": "older"})
    found = gather_table(
        a_store(store.root, other), other, store.root.parent / "tables", clock=later
    )  # fmt: skip
    assert (found.read, found.kept) == (3, 0)


@pytest.mark.parametrize("program", ["raise SystemExit(1)", "print('1', end='')"])
def test_where_nobody_can_look_everything_is_read(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, program: str
) -> None:
    gathered(store)
    (tmp_path / "looking.py").write_text(program)
    monkeypatch.setattr(file_marks, "LOOKING", tmp_path / "looking.py")
    monkeypatch.setattr(remembering, "cores", lambda: 1)
    assert gathered(store).read == 3


def test_verifying_and_publishing_know_nothing_of_what_is_remembered() -> None:
    users = {path for path, tree in modules() if {"remembering", "file_marks"} & names(tree)}
    assert users == {
        "runner/cli/aggregate.py", "runner/cli/report.py", "runner/reports/keeping.py",
        "runner/reports/remembering.py", "runner/reports/report_gathering.py",
    }  # fmt: skip


def names(tree: ast.Module) -> set[str]:
    modules = {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    return {part for module in modules for part in module.split(".")}
