"""Laws of verifying a published release from its folder alone: each kind of damage has a message of its own."""

import dataclasses
import json
import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from runner.canonical import canonical, parse, sha256
from runner.documents.manifest import Manifest
from runner.documents.published import Run as PublishedRun
from runner.publishing.layout import lay_out
from runner.signing.bundle import Signers
from runner.verification.published import NOT_APPLIED, Known, PublishedReport, verify_published
from runner.verification.published_tables import check_tables
from runner.verification.published_tree import read_tree
from runner.verification.rebuilding import Rebuilder
from runner.verify import read_schemas
from sandbox.patch import Repository
from tests.unit.publishing.maker import CANDIDATES, LOG_KEY, STRANGER, TRUST, a_release, laid_out, sign_again, written
from tests.unit.runner.evidence_maker import a_manifest
from tests.unit.runner.test_shots import RIGHT, WRONG, Said, shooting

ROOT = Path(__file__).parents[3]
SCHEMAS = read_schemas(ROOT / "schemas")
SOLVER = "solver/slugs/attempts/attempt-1"

Fields = dict[str, object]
Damage = Callable[[Path], None]


@pytest.fixture(scope="module", name="release")
def _release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("published")
    layout, manifest = laid_out(folder / "store")
    return written(folder / manifest.release, layout, manifest.release)


def verify(folder: Path, known: Known = Known(trust=TRUST)) -> PublishedReport:  # noqa: B008 - it is frozen
    return verify_published(folder, SCHEMAS, known)


def told(report: PublishedReport, folder: Path) -> str:
    return "\n".join(str(each).replace(f"{folder}/", "") for each in report.findings)


def test_a_release_that_nobody_touched_has_no_findings(release: Path) -> None:
    report = verify(release)
    assert report.findings == ()
    assert (report.release, report.attempts) == ("pilot", 7)
    assert report.files == len([path for path in release.rglob("*") if path.is_file()])


def test_it_says_what_it_did_not_check(release: Path) -> None:
    unchecked = verify(release).unchecked
    assert NOT_APPLIED in unchecked
    assert any("what stays private" in each for each in unchecked)


def edit(path: str, change: Callable[[Fields], object]) -> Damage:
    """Change a document, in its only form."""

    def damage(folder: Path) -> None:
        value = json.loads((folder / path).read_bytes())
        change(value)
        (folder / path).write_bytes(canonical(value))

    return damage


def put(path: str, *keys: str, value: object) -> Damage:
    """Put a value in a document."""

    def change(document: Fields) -> None:
        place = document
        for key in keys[:-1]:
            inner = place[key]
            assert isinstance(inner, dict)
            place = inner
        place[keys[-1]] = value

    return edit(path, change)


def flip(path: str) -> Damage:
    def damage(folder: Path) -> None:
        data = bytearray((folder / path).read_bytes())
        data[len(data) // 2] ^= 1
        (folder / path).write_bytes(bytes(data))

    return damage


def replace(path: str, old: bytes, new: bytes) -> Damage:
    def damage(folder: Path) -> None:
        data = (folder / path).read_bytes()
        assert data.count(old) >= 1
        (folder / path).write_bytes(data.replace(old, new, 1))

    return damage


def write(path: str, data: bytes) -> Damage:
    def damage(folder: Path) -> None:
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(data)

    return damage


def copy(path: str, target: str) -> Damage:
    return lambda folder: shutil.copytree(folder / path, folder / target)


def remove(path: str) -> Damage:
    return lambda folder: shutil.rmtree(folder / path) if (folder / path).is_dir() else (folder / path).unlink()


def rename(path: str, target: str) -> Damage:
    return lambda folder: (folder / path).rename(folder / target)


def swap_lines(path: str) -> Damage:
    def damage(folder: Path) -> None:
        lines = (folder / path).read_bytes().split(b"\n")
        lines[-2], lines[-3] = lines[-3], lines[-2]
        (folder / path).write_bytes(b"\n".join(lines))

    return damage


def swap_rows(document: Fields) -> None:
    rows = document["attempts"]
    assert isinstance(rows, list)
    rows[0], rows[1] = rows[1], rows[0]


def old_plan(folder: Path) -> None:
    (folder / "manifest.json").write_bytes(canonical(a_manifest(*CANDIDATES, validation="0" * 64)))


RUN = f"{SOLVER}/run.json"
OBJECTIVE = f"{SOLVER}/objective-evaluator.json"


def swap_sums(folder: Path) -> None:
    lines = (folder / "SHA256SUMS").read_bytes().splitlines(keepends=True)
    (folder / "SHA256SUMS").write_bytes(b"".join((lines[1], lines[0], *lines[2:])))


def by_a_stranger(folder: Path) -> None:
    sign_again(folder, Signers(release=STRANGER, log=LOG_KEY))


def with_the_key_inside(folder: Path) -> None:
    (folder / "release.pem").write_bytes(STRANGER.key.pem)
    by_a_stranger(folder)


def another_attempt(folder: Path) -> None:
    copy(SOLVER, "solver/slugs/attempts/attempt-2")(folder)
    sign_again(folder)


def no_attempt(folder: Path) -> None:
    remove("guesser/slugs")(folder)
    lines = (folder / "leaves.jsonl").read_bytes().splitlines(keepends=True)
    (folder / "leaves.jsonl").write_bytes(b"".join(line for line in lines if b"guesser" not in line))
    sign_again(folder)


def older_plan(folder: Path) -> None:
    old_plan(folder)
    sign_again(folder)


def twice(folder: Path) -> None:
    replace(RUN, b'{"agent":', b'{"agent":null,"agent":')(folder)
    sign_again(folder)


TAMPERINGS = {
    "flipped byte": (flip(f"{SOLVER}/candidate.diff"), "candidate.diff: found sha256 .*, as SHA256SUMS lists it"),
    "removed file": (remove(f"{SOLVER}/candidate.diff"), "candidate.diff: found no such file; expected the file that"),
    "added file": (
        write("solver/more.txt", b"more"),
        "more.txt: found a file; expected nothing, for SHA256SUMS",
    ),
    "renamed file": (
        rename(f"{SOLVER}/test-result.json", f"{SOLVER}/tests.json"),
        "tests.json: found what SHA256SUMS lists as .*test-result.json; expected the name",
    ),
    "reordered lines": (swap_sums, "SHA256SUMS:2: found .* after .*; expected the order of C"),
    "unplanned attempt": (another_attempt, "attempt-2/run.json: found an attempt that nobody planned"),
    "missing attempt": (no_attempt, "run.json: found nothing; expected the planned attempt guesser/slugs/attempt-1"),
    "other key": (by_a_stranger, "SHA256SUMS.sig: found a signature of key [0-9a-f]+, which nobody pinned; expected"),
    "key inside": (with_the_key_inside, "which nobody pinned .it lies in the release itself, as release.pem"),
    "old plan": (older_plan, "run.json: found another plan, of manifest sha256"),
    "duplicate key": (twice, "run.json: found the key 'agent' stands twice"),
}


@pytest.mark.parametrize("name", TAMPERINGS)
def test_each_tampering_has_a_message_of_its_own(release: Path, tmp_path: Path, name: str) -> None:
    folder = tmp_path / release.name
    shutil.copytree(release, folder)
    TAMPERINGS[name][0](folder)
    said = told(verify(folder), folder)
    means = {other for other, (_, message) in TAMPERINGS.items() if re.search(message, said)}
    assert means == {name}


DAMAGES = [
    pytest.param(flip("aggregate.md"), "aggregate.md:", "as follows from the rest", id="flipped-byte-table"),
    pytest.param(flip(f"{SOLVER}/candidate.diff"), "candidate.diff: found sha256", "run.json says", id="flipped-byte"),
    pytest.param(remove(f"{SOLVER}/candidate.diff"), "candidate.diff: found nothing", "names it", id="removed-file"),
    pytest.param(write("solver/notes.txt", b""), "notes.txt: found a file that nothing names", "", id="added-file"),
    pytest.param(
        rename(f"{SOLVER}/test-result.json", f"{SOLVER}/tests.json"),
        "test-result.json: found nothing",
        "tests.json: found a file that nothing names",
        id="renamed-file",
    ),
    pytest.param(edit("aggregate.json", swap_rows), "rows in another order", "the planned order", id="reordered-rows"),
    pytest.param(swap_lines("aggregate.md"), "aggregate.md:", "as follows from the rest", id="reordered-lines"),
    pytest.param(
        copy(SOLVER, "solver/slugs/attempts/attempt-2"), "an attempt that nobody planned", "", id="unplanned-attempt"
    ),
    pytest.param(
        remove("guesser/slugs"),
        "guesser/slugs/attempts/attempt-1/run.json: found nothing",
        "the planned attempt guesser/slugs/attempt-1",
        id="missing-attempt",
    ),
    pytest.param(write("release.pem", b"-----BEGIN PUBLIC KEY-----"), "a key among what it signs", "--key", id="key"),
    pytest.param(old_plan, "another plan, of manifest sha256", "of the manifest beside it", id="old-plan"),
    pytest.param(replace(RUN, b'{"agent":', b'{"agent":null,"agent":'), "the key 'agent' stands twice", "", id="twice"),
    pytest.param(replace(RUN, b'"attempt":1', b'"attempt": 1'), "another form from byte", "", id="other-form"),
    pytest.param(put(RUN, "more", value=1), "more: found an unknown field", "", id="unknown-field"),
    pytest.param(put(RUN, "outcome", value="tests_failed"), "outcome tests_failed", "completed", id="outcome"),
    pytest.param(put(RUN, "solved", value=False), "solved False", "True", id="solved"),
    pytest.param(put(RUN, "score", value="0.5"), "score 0.5", "expected 1", id="score"),
    pytest.param(put(RUN, "reason", value="all is well"), "reason all is well", "hidden checks passed", id="reason"),
    pytest.param(put(RUN, "verdict", value="failed"), "verdict failed", "expected passed", id="verdict"),
    pytest.param(put(RUN, "void", value="we did not like it"), "void 'we did not like it'", "has an end", id="void"),
    pytest.param(put(RUN, "tries", value=2), "aggregate.json: attempts[0].tries", "expected 2", id="tries"),
    pytest.param(put(RUN, "facts", "tests_passed", value=False), "facts.tests_passed False", "", id="facts-tests"),
    pytest.param(put(RUN, "facts", "evaluators", value=[]), "facts.evaluators ()", "", id="facts-evaluators"),
    pytest.param(put(RUN, "facts", "planned_evaluators", value=[]), "facts.planned_evaluators ()", "", id="planned"),
    pytest.param(put(RUN, "benchmark_metrics", "cost_usd", value="0.01"), "benchmark_metrics", "'0.25'", id="price"),
    pytest.param(put(RUN, "phases", "solution", "wall_ms", value=1), "phases.solution.wall_ms 1", "1200", id="time"),
    pytest.param(put(RUN, "duration_ms", value=1), "duration_ms 1", "4000", id="duration"),
    pytest.param(put(RUN, "changed_files", value=[]), "changed_files ()", "slugs.py", id="changed-files"),
    pytest.param(put(RUN, "notes", value=[]), "notes ()", "scripted", id="notes"),
    pytest.param(put(RUN, "run_id", value="pilot:guesser:slugs"), "run_id pilot:guesser:slugs", "", id="run-id"),
    pytest.param(put(RUN, "origin", "scripted", value=False), "origin.scripted False", "True", id="scripted"),
    pytest.param(put(RUN, "submission", "changes", value=[]), "changed paths", "exactly the 0", id="patch-paths"),
    pytest.param(put(RUN, "submission", "base_sha256", value="0" * 64), "base_sha256 000", "", id="base"),
    pytest.param(put(RUN, "candidate", "label", value="The best"), "candidate", "The solver", id="candidate"),
    pytest.param(put(RUN, "agent", "timed_out", value=True), "agent.timed_out True", "False", id="execution"),
    pytest.param(put(RUN, "agent", "cause", value="timeout"), "facts.failure None", "timeout", id="end"),
    pytest.param(put(RUN, "agent", "status", value=3), "ended with status 3 and did not fail", "a void", id="status"),
    pytest.param(put(RUN, "evidence", "grading_sha256", value=None), "evidence.grading_sha256", "", id="evidence"),
    pytest.param(put(OBJECTIVE, "passed", value=False), "objective-evaluator.json: found passed False", "", id="all"),
    pytest.param(
        edit(f"{SOLVER}/test-result.json", lambda value: value.update(passed=False)), "passed False", "", id="tests"
    ),
    pytest.param(
        put("meddler/slugs/attempts/attempt-1/run.json", "facts", "violations", value=[]),
        "facts.violations ()",
        "set_id",
        id="policy",
    ),
    pytest.param(put("solver/preflight.json", "status", value="available"), "status available", "", id="probe"),
    pytest.param(put("allowed.json", "release", value="other"), "release other", "pilot", id="allowed"),
]


@pytest.mark.parametrize(("damage", "found", "expected"), DAMAGES)
def test_damage_is_found_even_where_its_maker_holds_the_keys(
    release: Path, tmp_path: Path, damage: Damage, found: str, expected: str
) -> None:
    folder = tmp_path / release.name
    shutil.copytree(release, folder)
    damage(folder)
    assert verify(folder).findings
    sign_again(folder)
    said = told(verify(folder), folder)
    assert found in said
    assert expected in said


@pytest.mark.parametrize(
    ("damage", "found", "expected"),
    [
        pytest.param(
            lambda folder: (folder / SOLVER / "again.json").symlink_to("run.json"),
            "again.json: found a link",
            "",
            id="link",
        ),
        pytest.param(lambda folder: os.mkfifo(folder / "pipe"), "pipe: found something that is no file", "", id="pipe"),
        pytest.param(lambda folder: (folder / "empty").mkdir(), "empty: found an empty folder", "", id="empty-folder"),
        pytest.param(write("a b", b""), "'a b': found no plain path", "", id="odd-name"),
    ],
)
def test_what_is_no_plain_file_under_a_plain_name_is_found(
    release: Path, tmp_path: Path, damage: Damage, found: str, expected: str
) -> None:
    folder = tmp_path / release.name
    shutil.copytree(release, folder)
    damage(folder)
    said = told(verify(folder), folder)
    assert found in said
    assert expected in said


def test_a_verdict_cannot_be_bettered_without_its_cases(tmp_path: Path) -> None:
    store, manifest = a_release(tmp_path / "store")
    folder = written(tmp_path / "pilot", lay_out(store, manifest, {}), "pilot")
    path = "guesser/slugs/attempts/attempt-1/objective-evaluator.json"

    def better(document: Fields) -> None:
        evaluators = document["evaluators"]
        assert isinstance(evaluators, list)
        evaluators[0].update(passed=True, cause="passed", score="1")
        document["passed"] = True

    edit(path, better)(folder)
    said = told(verify(folder), folder)
    assert f"{path}: found evaluator hidden: passed True; expected False" in said


def test_every_cell_of_both_tables_is_derived_again(release: Path) -> None:
    tree, _ = read_tree(release, SCHEMAS)
    manifest = parse(Manifest, tree.files["manifest.json"], "manifest.json")
    digest = sha256(tree.files["manifest.json"])
    files = [tree.files[f"{name}/slugs/attempts/attempt-1/run.json"] for name in CANDIDATES]
    runs = [parse(PublishedRun, data, "run.json") for data in files]
    assert list(check_tables(tree, manifest, digest, runs)) == []
    for name in ("aggregate.json", "aggregate.md"):
        whole = tree.files[name]
        for old in (b"0.25", b"completed", b"1.2" if name.endswith("md") else b'"wall_ms":1200', b"solver"):
            assert whole.count(old) > 1
            for at in [at for at in range(len(whole)) if whole.startswith(old, at)]:
                altered = whole[:at] + old[:-1] + bytes([old[-1] ^ 1]) + whole[at + len(old) :]
                found = check_tables(
                    dataclasses.replace(tree, files={**tree.files, name: altered}), manifest, digest, runs
                )
                assert any(name in each.file for each in found), (name, at, old)


def test_a_manifest_that_is_not_the_one_frozen_here_is_another_plan(release: Path) -> None:
    manifest = parse(Manifest, (release / "manifest.json").read_bytes(), "manifest.json")
    assert verify(release, Known(trust=TRUST, frozen=manifest)).findings == ()
    other = manifest.model_copy(update={"configuration_sha256": sha256(b"other")})
    (finding,) = verify(release, Known(trust=TRUST, frozen=other)).findings
    assert "another plan" in str(finding)


def test_a_folder_without_a_manifest_is_no_release(tmp_path: Path) -> None:
    (tmp_path / "x").write_text("x")
    report = verify(tmp_path)
    assert report.release is None
    assert "manifest.json: found nothing" in told(report, tmp_path)


def test_with_the_base_at_hand_the_patch_is_applied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shot = shooting(tmp_path, monkeypatch, Said(WRONG), Said(RIGHT))
    folder = written(tmp_path / "pilot", lay_out(shot.store, shot.manifest, {}), "pilot")
    rebuild = Rebuilder(Repository(tmp_path / "bases.git"), lambda _nomination: shot.staged.base)
    known = Known(trust=TRUST, rebuild=rebuild)
    report = verify(folder, known)
    assert report.findings == ()
    assert NOT_APPLIED not in report.unchecked
    for path in (f"{SOLVER}/candidate.diff", f"{SOLVER}/shots/1/candidate.diff"):
        whole = (folder / path).read_bytes()
        (folder / path).write_bytes(whole.replace(b"+return", b"+yield "))
        said = told(verify(folder, known), folder)
        assert f"{path}: found sha256" in said
        assert "run.json: found base + patch" in said
        (folder / path).write_bytes(whole)


def test_a_first_shot_that_was_bettered_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shot = shooting(tmp_path, monkeypatch, Said(WRONG), Said(RIGHT))
    folder = written(tmp_path / "pilot", lay_out(shot.store, shot.manifest, {}), "pilot")
    assert verify(folder).findings == ()

    def better(document: Fields) -> None:
        shots = document["shots"]
        assert isinstance(shots, list)
        shots[0]["solved"] = True

    edit(RUN, better)(folder)
    said = told(verify(folder), folder)
    assert "shots[1].solved True" in said
    assert "aggregate.json" in said
    run = PublishedRun.model_validate_json((folder / RUN).read_bytes())
    assert run.first_shot is not None
