"""Laws of verification: from the files alone, whatever is not as it was written or does not follow is named."""

import json
import os
import pickle
import random
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from runner.artifacts import Bond, new_folder, read_sealed, seal_folder
from runner.canonical import canonical, sha256
from runner.config import RetryPolicy
from runner.documents.controls import ControlsRecord
from runner.documents.facts import Blame, Phase, Unavailable, Violation, VoidFact
from runner.documents.manifest import Manifest
from runner.documents.seal import SEAL_NAME
from runner.outcome import Outcome
from runner.proof import PROOFS
from runner.reports.aggregate import aggregate
from runner.schedule import Cell
from runner.store import Store
from runner.verification.model import Rebuild, Rebuilt
from runner.verification.rebuilding import Rebuilder
from runner.verify import VerifyReport, read_schemas, verify_release
from sandbox.capture import Base
from sandbox.contents import MemoryContents
from sandbox.errors import PatchError
from sandbox.patch import Repository
from sandbox.tree import Entry, Kind, apply_change, snapshot
from tests.unit.runner.evidence_maker import (
    BASE,
    IDLER,
    PATCH,
    SOLVER,
    TREE,
    Run,
    a_manifest,
    a_store,
    attempt,
    begin,
    end_void,
    grade,
    submit,
)

ROOT = Path(__file__).parents[3]
SCHEMAS = read_schemas(ROOT / "schemas")
OUTAGE = VoidFact(blame=Blame.PROVIDER, phase=Phase.SOLUTION, reason="503 three times")
FAULT = VoidFact(blame=Blame.HOST, phase=Phase.EVALUATORS, reason="the disk was full")
CHANGE = Entry(path=b"slugs.py", kind=Kind.FILE, sha256=sha256(b"new"), size=3)


def rebuilt(_nomination: str, patch: bytes) -> Rebuilt:
    if patch != PATCH:
        raise PatchError("the patch does not apply")
    return Rebuilt(
        tree_sha256=TREE, changes=(CHANGE,), before=lambda _: None, base=lambda _: None, content=lambda _: b""
    )


def verify(store: Store, manifest: Manifest, rebuild: Rebuild | None = rebuilt) -> VerifyReport:
    return verify_release(store, manifest, schemas=SCHEMAS, rebuild=rebuild)


def named(report: VerifyReport) -> str:
    return "\n".join(str(each) for each in report.findings)


def whole(tmp_path: Path) -> tuple[Store, Manifest]:
    """A release with a graded attempt and an unavailable one."""
    manifest = a_manifest()
    store = a_store(tmp_path / "store", manifest)
    attempt(store, SOLVER, Run())
    end_void(store, begin(store, IDLER), Unavailable(reason="wrong_answer"))
    return store, manifest


def reseal(folder: Path, changes: Mapping[str, bytes | None]) -> None:
    """Seal a folder again with other content, as somebody would who knows how it is done."""
    sealed = read_sealed(folder)
    files = {each.path: sealed.bytes(each.path) for each in sealed.seal.files}
    files = {name: data for name, data in {**files, **changes}.items() if data is not None}
    seal = sealed.seal
    for path in (folder, *folder.rglob("*")):
        path.chmod(0o755)
    shutil.rmtree(folder)
    bond = Bond(kind=seal.kind, trial=seal.trial, grading=seal.grading, submission_sha256=seal.submission_sha256)
    seal_folder(folder.parent, folder.name, files, bond)


def edited(folder: Path, name: str, change: Callable[[dict[str, object]], object]) -> None:
    """Change a document and seal its folder again."""
    value = json.loads((folder / name).read_bytes())
    change(value)
    reseal(folder, {name: canonical(value)})


def test_evidence_that_nobody_touched_has_no_findings(tmp_path: Path) -> None:
    store, manifest = whole(tmp_path)
    report = verify(store, manifest)
    assert report.findings == ()
    assert (report.folders, report.unfinished, report.unchecked) == (3, (), ())
    assert report.files == 13 + 8 + 3 + 2 + 2


def test_it_says_what_it_did_not_check(tmp_path: Path) -> None:
    store, manifest = whole(tmp_path)
    assert "not put together" in verify(store, manifest, None).unchecked[0]


def test_a_flipped_byte_in_any_file_is_found_and_the_file_named(tmp_path: Path) -> None:
    store, manifest = whole(tmp_path)
    files = sorted(path for path in store.root.rglob("*") if path.is_file() and path.stat().st_size)
    assert len(files) > 20
    for path in files:
        data = path.read_bytes()
        path.chmod(0o644)
        path.write_bytes(data[:-2] + bytes([data[-2] ^ 1]) + data[-1:])
        assert str(path) in named(verify(store, manifest)), path
        path.write_bytes(data)
    assert verify(store, manifest).findings == ()


def test_a_file_that_is_gone_or_added_anywhere_is_found(tmp_path: Path) -> None:
    store, manifest = whole(tmp_path)
    files = sorted(path for path in store.root.rglob("*") if path.is_file())
    for path in files:
        path.parent.chmod(0o755)
        path.rename(tmp_path / "aside")
        assert str(path) in named(verify(store, manifest)), path
        (tmp_path / "aside").rename(path)
        extra = path.parent / "extra"
        extra.touch()
        assert str(extra) in named(verify(store, manifest)), extra
        extra.unlink()
    assert verify(store, manifest).findings == ()


GRADINGS = "gradings/grading-1"


@pytest.mark.parametrize(
    ("folder", "name", "field", "value"),
    [
        (GRADINGS, "grading.json", "outcome", "tests_failed"),
        (GRADINGS, "grading.json", "reason", "all is well"),
        (GRADINGS, "grading.json", "solved", False),
        (GRADINGS, "grading.json", "score", "0.5"),
        (GRADINGS, "grading.json", "evaluators", {"hidden": "0" * 64}),
        (GRADINGS, "grading.json", "evaluators", {}),
        (GRADINGS, "grading.json", "submission_sha256", "0" * 64),
        (GRADINGS, "grading.json", "tree_sha256", "0" * 64),
        (GRADINGS, "grading.json", "id", "grading-2"),
        (GRADINGS, "policy.json", "violations", [{"detail": "", "path": None, "rule": "denied"}]),
        (GRADINGS, "policy.json", "tree_sha256", "0" * 64),
        (GRADINGS, "public-tests.json", "passed", False),
        (GRADINGS, "public-tests.json", "stdout_sha256", "0" * 64),
        (GRADINGS, "evaluators/hidden.json", "cases", []),
        (GRADINGS, "evaluators/hidden.json", "cause", "failed"),
        (GRADINGS, "evaluators/hidden.json", "passed", False),
        (GRADINGS, "evaluators/hidden.json", "score", "0"),
        (GRADINGS, "evaluators/hidden.json", "tree_sha256", "0" * 64),
        (GRADINGS, "evaluators/hidden.json", "log_sha256", "0" * 64),
        ("submission", "submission.json", "tree_sha256", "0" * 64),
        ("submission", "submission.json", "base_sha256", "0" * 64),
        ("submission", "submission.json", "patch_sha256", "0" * 64),
        ("submission", "submission.json", "failure", {"cause": "timeout", "detail": "", "status": None}),
        ("submission", "tree.json", "tree_sha256", "0" * 64),
        ("submission", "tree.json", "changes", []),
        ("submission", "host.json", "kernel", "7.0"),
    ],
)
def test_a_forged_document_is_found_although_its_folder_was_sealed_again(
    tmp_path: Path, folder: str, name: str, field: str, value: object
) -> None:
    store, manifest = whole(tmp_path)
    place = store.folder(store.trial(SOLVER, 1)) / folder
    edited(place, name, lambda document: document.update({field: value}))
    report = verify(store, manifest)
    assert report.findings
    assert any(str(place) in str(each) for each in report.findings)


def test_a_solved_verdict_cannot_be_forged_consistently_without_its_cases(tmp_path: Path) -> None:
    manifest = a_manifest("solver")
    store = a_store(tmp_path, manifest)
    attempt(store, SOLVER, Run(hidden=False))
    place = store.folder(store.trial(SOLVER, 1)) / GRADINGS
    edited(place, "evaluators/hidden.json", lambda value: value.update(passed=True, cause="passed", score="1"))
    assert "hidden.json" in named(verify(store, manifest))


def test_a_case_that_was_left_out_or_put_in_is_found(tmp_path: Path) -> None:
    store, manifest = whole(tmp_path)
    place = store.folder(store.trial(SOLVER, 1)) / GRADINGS
    value = json.loads((place / "evaluators" / "hidden.json").read_bytes())
    value["cases"].pop()
    reseal(place, {"evaluators/hidden.json": canonical(value)})
    assert "sha256 of the cases' ids" in named(verify(store, manifest))


def test_a_failure_that_its_termination_shows_cannot_be_left_out(tmp_path: Path) -> None:
    store, manifest = whole(tmp_path)
    place = store.folder(store.trial(SOLVER, 1)) / "submission"
    value = json.loads((place / "termination.json").read_bytes())
    value["end"].update(cause="timeout", status=None)
    reseal(place, {"termination.json": canonical(value)})
    assert "submission.json: found failure None" in named(verify(store, manifest))


def test_another_patch_under_the_same_tree_is_found(tmp_path: Path) -> None:
    store, manifest = whole(tmp_path)
    place = store.folder(store.trial(SOLVER, 1)) / "submission"
    value = json.loads((place / "submission.json").read_bytes())
    value["patch_sha256"] = sha256(b"other")
    reseal(place, {"candidate.diff": b"other", "submission.json": canonical(value)})
    assert "candidate.diff: found the patch does not apply" in named(verify(store, manifest))


@pytest.mark.parametrize("name", ["candidate.diff", "ledger.jsonl", "streams/stderr", "submission.json"])
def test_a_submission_sealed_without_one_of_its_files_is_found(tmp_path: Path, name: str) -> None:
    store, manifest = whole(tmp_path)
    place = store.folder(store.trial(SOLVER, 1)) / "submission"
    reseal(place, {name: None})
    assert str(place / name) in named(verify(store, manifest))


def test_evidence_of_one_candidate_does_not_pass_as_anothers(tmp_path: Path) -> None:
    manifest = a_manifest()
    store = a_store(tmp_path, manifest)
    attempt(store, SOLVER, Run())
    begin(store, IDLER)
    for name in ("submission", "gradings"):
        shutil.copytree(store.folder(store.trial(SOLVER, 1)) / name, store.folder(store.trial(IDLER, 1)) / name)
    assert "trial" in named(verify(store, manifest))


def test_evidence_under_another_manifest_is_found(tmp_path: Path) -> None:
    store, _ = whole(tmp_path)
    other = a_manifest(policy=RetryPolicy(void_tries=3))
    report = verify(a_store(store.root, other), other)
    assert "begun.json: found trial" in named(report)


def test_an_attempt_that_nobody_planned_is_found(tmp_path: Path) -> None:
    store, manifest = whole(tmp_path)
    stranger = store.root / "pilot" / "solver" / "slugs" / "attempt-2"
    shutil.copytree(store.attempt_folder(SOLVER), stranger)
    assert str(stranger) in named(verify(store, manifest))


def test_a_planned_attempt_that_never_ran_is_told_and_is_no_finding(tmp_path: Path) -> None:
    manifest = a_manifest()
    store = a_store(tmp_path, manifest)
    attempt(store, SOLVER, Run())
    report = verify(store, manifest)
    assert report.findings == ()
    assert report.unfinished == ("idler/slugs/attempt-1: never run",)


def test_a_try_after_a_result_is_found(tmp_path: Path) -> None:
    store, manifest = whole(tmp_path)
    attempt(store, SOLVER, Run(), number=2)
    assert "none: completed in try 1" in named(verify(store, manifest))


@pytest.mark.parametrize(("allowed", "found"), [(1, True), (2, False)])
def test_a_void_is_only_repeated_as_the_release_allows(tmp_path: Path, allowed: int, *, found: bool) -> None:
    manifest = a_manifest("solver", policy=RetryPolicy(void_tries=allowed))
    store = a_store(tmp_path, manifest)
    end_void(store, begin(store, SOLVER), OUTAGE)
    attempt(store, SOLVER, Run(), number=2)
    assert bool(verify(store, manifest).findings) is found


def test_a_try_that_is_missing_between_others_is_found(tmp_path: Path) -> None:
    manifest = a_manifest("solver", policy=RetryPolicy(void_tries=9))
    store = a_store(tmp_path, manifest)
    for number in (1, 2, 3):
        end_void(store, begin(store, SOLVER, number), OUTAGE)
    shutil.rmtree(store.folder(store.trial(SOLVER, 2)))
    assert "tries (1, 3)" in named(verify(store, manifest))


def test_a_grading_that_was_taken_away_is_found(tmp_path: Path) -> None:
    manifest = a_manifest("solver")
    store = a_store(tmp_path, manifest)
    made, digest = submit(store, begin(store, SOLVER), Run())
    grade(store, made, digest, Run(hidden=False))
    grade(store, made, digest, Run())
    first = store.folder(store.trial(SOLVER, 1)) / GRADINGS
    shutil.rmtree(first)
    assert "gradings" in named(verify(store, manifest))


def test_a_void_beside_a_submission_is_found(tmp_path: Path) -> None:
    store, manifest = whole(tmp_path)
    end_void(store, store.trial(SOLVER, 1), OUTAGE)
    assert "a submission and a void" in named(verify(store, manifest))


def test_what_a_killed_runner_left_is_told_and_held_against_nobody(tmp_path: Path) -> None:
    manifest = a_manifest("solver")
    store = a_store(tmp_path, manifest)
    trial = begin(store, SOLVER)
    (store.folder(trial) / ".tmp-submission-0123").mkdir()
    report = verify(store, manifest)
    assert report.findings == ()
    assert "lost with its runner" in report.unfinished[0]
    assert ".tmp-submission-0123: left unfinished" in report.unchecked[0]


def test_violations_voids_and_failures_verify_as_well(tmp_path: Path) -> None:
    manifest = a_manifest("solver")
    store = a_store(tmp_path, manifest)
    made, digest = submit(store, begin(store, SOLVER), Run())
    grade(store, made, digest, Run(fault=FAULT))
    grade(store, made, digest, Run(tests=False))
    assert verify(store, manifest).findings == ()


def test_a_policy_that_does_not_follow_from_the_change_is_found(tmp_path: Path) -> None:
    manifest = a_manifest("solver")
    store = a_store(tmp_path, manifest)
    attempt(store, SOLVER, Run(violations=(Violation(rule="denied", path="x"),)))
    assert "policy.json: found violations" in named(verify(store, manifest))
    assert verify(store, manifest, None).findings == ()


def test_a_violation_that_was_left_out_is_found(tmp_path: Path) -> None:
    store, manifest = whole(tmp_path)

    def elsewhere(_nomination: str, _patch: bytes) -> Rebuilt:
        gone = Entry(path=b"tests/test_slugs.py", kind=Kind.GONE)
        return Rebuilt(
            tree_sha256=TREE, changes=(gone,), before=lambda _: None, base=lambda _: None, content=lambda _: b""
        )

    assert "not_allowed" in named(verify(store, manifest, elsewhere))


def test_a_schema_that_is_missing_or_stricter_is_found(tmp_path: Path) -> None:
    store, manifest = whole(tmp_path)
    report = verify_release(store, manifest, schemas={}, rebuild=rebuilt)
    assert "schemas/seal.json" in named(report)
    stricter = {**SCHEMAS, "host": {"properties": {"kernel": {"const": "5"}}}}
    assert "host.json: $.kernel" in named(verify_release(store, manifest, schemas=stricter, rebuild=rebuilt))


def test_the_record_of_the_controls_is_held_against_the_manifest(tmp_path: Path) -> None:
    record = ControlsRecord(
        nomination="slugs",
        nomination_sha256=sha256(b"nomination"),
        fixture_sha256=BASE,
        evaluators=(),
        controls=(),
    )
    digest = sha256(canonical(record))
    manifest = a_manifest(validation=digest)
    store = a_store(tmp_path, manifest)
    place = tmp_path / "pilot" / "controls" / digest
    assert f"{place}/record.json" in named(verify(store, manifest))
    new_folder(place.parent, digest, {"record.json": canonical(record)})
    assert verify(store, manifest).findings == ()
    (place / "record.json").chmod(0o644)
    (place / "record.json").write_bytes(canonical(record.model_copy(update={"nomination": "others"})))
    assert "record.json: found sha256" in named(verify(store, manifest))


def test_a_seal_that_is_no_document_is_named(tmp_path: Path) -> None:
    store, manifest = whole(tmp_path)
    seal = store.folder(store.trial(SOLVER, 1)) / "submission" / SEAL_NAME
    seal.chmod(0o644)
    seal.write_bytes(b"\xff\x00not json")
    assert str(seal) in named(verify(store, manifest))


def test_the_rebuilder_gives_the_tree_of_base_and_patch(tmp_path: Path) -> None:
    contents = MemoryContents()
    old = Entry(path=b"slugs.py", kind=Kind.FILE, sha256=contents.put(b"old\n"), size=4)
    new = Entry(path=b"slugs.py", kind=Kind.FILE, sha256=contents.put(b"new\n"), size=4)
    repository = Repository(tmp_path / "repository")
    commit = repository.ingest((old,), contents.get)
    base = Base(digest=snapshot((old,), contents), commit=commit, listings=contents)
    patch = repository.patch(commit, (new,), contents.get)
    rebuilder = pickle.loads(pickle.dumps(Rebuilder(repository, {"slugs": base}.__getitem__)))  # noqa: S301 - our own
    found = rebuilder("slugs", patch)
    assert found.tree_sha256 == snapshot((new,), MemoryContents())
    assert found.changes == (new,)
    with pytest.raises(PatchError):
        Rebuilder(repository, lambda _: base)("slugs", patch.replace(b"-old", b"-odd"))


def test_a_plain_patch_is_put_onto_its_base_without_git_and_any_other_with_it(tmp_path: Path) -> None:
    contents = MemoryContents()
    files = {b"slugs.py": b"old\n", b"d/x": b"x\n"}
    before = tuple(
        Entry(path=path, kind=Kind.FILE, sha256=contents.put(data), size=len(data)) for path, data in files.items()
    )
    repository = Repository(tmp_path / "repository")
    commit = repository.ingest(before, contents.get)
    base = Base(digest=snapshot(before, contents), commit=commit, listings=contents)
    nothing = Rebuilder(Repository(tmp_path / "nothing"), lambda _: base)
    new = Entry(path=b"d/new", kind=Kind.FILE, sha256=contents.put(b"new\n"), size=4)
    plain = repository.patch(commit, (new, Entry(path=b"slugs.py", kind=Kind.GONE)), contents.get)
    found, told = nothing("slugs", plain), repository.apply(commit, plain).changes
    assert (found.changes, found.tree_sha256) == (told, apply_change(base.digest, told, contents))
    for odd in (
        Entry(path=b"d", kind=Kind.LINK, target=b"x"),
        Entry(path=b"slugs.py", kind=Kind.LINK, target=b"x"),
    ):
        patch = repository.patch(commit, (odd,), contents.get)
        with pytest.raises(PatchError):
            nothing("slugs", patch)
        assert Rebuilder(repository, lambda _: base)("slugs", patch).changes


ODD = (b"{}", b"null", b'"x"', b"1e5", b"\xef\xbb\xbf{}", b'{"schema":"cleanroom/seal/1"}', b"\xff\x00")


def damage(chance: random.Random, root: Path) -> Path:
    """Do something to one file or folder that nobody should do to evidence, and say to which."""
    path = chance.choice(sorted(root.rglob("*")))
    path.parent.chmod(0o755)
    if path.is_dir():
        for each in (path, *path.rglob("*")):
            each.chmod(0o755)
        shutil.rmtree(path)
    else:
        path.unlink()
    make = chance.choice(("nothing", "folder", "link", "pipe", "file"))
    if make == "folder":
        path.mkdir()
    elif make == "link":
        path.symlink_to(chance.choice(("/etc", "nowhere", "..")))
    elif make == "pipe":
        os.mkfifo(path)
    elif make == "file":
        path.write_bytes(chance.choice(ODD))
    return path


@pytest.mark.parametrize("seed", range(24))
def test_whatever_was_done_to_a_store_it_is_found_without_a_traceback_and_without_a_score(
    tmp_path: Path, seed: int
) -> None:
    manifest = a_manifest("solver")
    store = a_store(tmp_path, manifest)
    attempt(store, SOLVER, Run())
    harmed = damage(random.Random(seed), tmp_path)  # noqa: S311 - only picks what to damage
    report = verify(store, manifest)
    assert report.findings or report.unfinished
    (row,) = aggregate(store, manifest).attempts
    if PROOFS in harmed.parts:
        assert row.outcome is Outcome.COMPLETED, "the table is of what was done; verification holds its host to proof"
    else:
        assert (row.outcome, row.score) == (Outcome.MISSING_ARTIFACTS, None)


def test_many_processes_find_what_one_finds_in_the_same_order(tmp_path: Path) -> None:
    """Each attempt is damaged in its own way, one of them not at all."""
    names = [f"candidate-{number}" for number in range(8)]
    manifest = a_manifest(*names, policy=RetryPolicy(void_tries=2))
    store = a_store(tmp_path / "store", manifest)
    cells = [Cell(candidate=name, nomination="slugs", attempt=1) for name in names]
    for cell in cells[:-1]:
        attempt(store, cell, Run())
    for number, cell in enumerate(cells[:-2]):
        damage(random.Random(number), store.attempt_folder(cell))  # noqa: S311 - only picks what to damage
    reports = [verify_release(store, manifest, schemas=SCHEMAS, rebuild=rebuilt, workers=workers) for workers in (1, 2)]
    assert reports[0] == reports[1]
    assert {Path(each.file).relative_to(store.root).parts[1] for each in reports[0].findings} == set(names[:-2])
    assert reports[0].unfinished[-1] == f"{cells[-1]}: never run"
