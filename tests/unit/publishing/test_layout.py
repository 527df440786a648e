"""Laws of the layout: everything that may be seen, in one form, and nothing of what may not."""

import json
from pathlib import Path

import pytest

from runner.artifacts import read_sealed
from runner.canonical import canonical, sha256
from runner.documents.facts import Unavailable
from runner.documents.published import PublishedPreflight
from runner.judging.reviews import Declared, find_subject, keep_review, written_review
from runner.publishing.ends import UnendedError, unended
from runner.publishing.layout import lay_out, probe_status
from runner.publishing.names import NamesError, check_names
from runner.publishing.words import PRIVATE
from runner.reports.aggregate import aggregate, planned
from runner.verification.published import Known, verify_published
from runner.verify import committed_schemas
from tests.unit.publishing.maker import CANDIDATES, PRIVATE_WORDS, TRUST, a_release, cell, laid_out, written
from tests.unit.runner.evidence_maker import IDLER, SOLVER, Run, a_manifest, a_store, attempt, begin, end_void, submit
from tests.unit.runner.test_shots import RIGHT, WRONG, Said, shooting

WITHOUT_CAPTURE = ("absent", "unlucky")
FOUR = ("candidate.diff", "objective-evaluator.json", "run.json", "test-result.json")


def test_every_planned_attempt_has_its_folder_and_every_candidate_its_probe(tmp_path: Path) -> None:
    layout, manifest = laid_out(tmp_path)
    wanted = {"manifest.json", "aggregate.json", "aggregate.md"}
    for name in CANDIDATES:
        files = ("run.json",) if name in WITHOUT_CAPTURE else FOUR
        wanted |= {f"{name}/preflight.json", *(f"{name}/slugs/attempts/attempt-1/{file}" for file in files)}
    wanted.remove("broken/slugs/attempts/attempt-1/objective-evaluator.json")
    assert set(layout.files) == wanted
    assert layout.files["manifest.json"] == canonical(manifest)


def test_patches_are_published_as_they_were_sealed(tmp_path: Path) -> None:
    store, manifest = a_release(tmp_path)
    sealed = read_sealed(store.folder(store.trial(SOLVER, 1)) / "submission")
    found = lay_out(store, manifest, {}).files["solver/slugs/attempts/attempt-1/candidate.diff"]
    assert found == sealed.bytes("candidate.diff")


def test_the_same_evidence_gives_the_same_bytes(tmp_path: Path) -> None:
    assert laid_out(tmp_path / "a") == laid_out(tmp_path / "b")


def test_no_words_of_agents_models_or_evaluators_are_published(tmp_path: Path) -> None:
    store, manifest = a_release(tmp_path)
    private = b"".join(path.read_bytes() for path in store.root.rglob("*") if path.is_file())
    public_bytes = b"".join(lay_out(store, manifest, {}).files.values())
    for word in PRIVATE_WORDS:
        assert word in private
        assert word not in public_bytes
    assert PRIVATE.encode() in public_bytes


def test_outcomes_and_tables_do_not_change_with_the_words(tmp_path: Path) -> None:
    store, manifest = a_release(tmp_path)
    private = aggregate(store, manifest)
    shown = json.loads(lay_out(store, manifest, {}).files["aggregate.json"])
    for row, found in zip(private.attempts, shown["attempts"], strict=True):
        told = json.loads(row.model_dump_json(by_alias=True))
        assert {**told, "reason": ""} == {**found, "reason": ""}


def test_leaves_stand_in_planned_order_and_voids_tell_why(tmp_path: Path) -> None:
    layout, _ = laid_out(tmp_path)
    leaves = [json.loads(each) for each in layout.leaves]
    assert [each["attempt"] for each in leaves] == [f"{name}/slugs/attempt-1" for name in CANDIDATES]
    runs = [layout.files[f"{name}/slugs/attempts/attempt-1/run.json"] for name in CANDIDATES]
    assert [each["run_sha256"] for each in leaves] == [sha256(run) for run in runs]
    assert {name: each["void"] for name, each in zip(CANDIDATES, leaves, strict=True) if "void" in each} == {
        "unlucky": "the provider failed during solution: request 3 failed: overloaded, status 503",
        "broken": f"the evaluator failed during evaluators: {PRIVATE}",
    }


def test_the_probes_words_are_private_and_its_end_is_told(tmp_path: Path) -> None:
    layout, _ = laid_out(tmp_path)
    found = PublishedPreflight.model_validate_json(layout.files["solver/preflight.json"])
    assert found.status == "not_needed"
    assert [each.attempts for each in found.probes] == [("slugs/attempt-1",)]
    assert PublishedPreflight.model_validate_json(layout.files["absent/preflight.json"]).status == "not_asked"
    (probe,) = found.probes
    asked = probe.model_copy(update={"needed": True})
    refused = asked.model_copy(update={"available": False})
    assert [probe_status(each) for each in ((asked, refused), (refused,))] == ["available", "unavailable"]


def test_both_shots_are_published(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shot = shooting(tmp_path, monkeypatch, Said(WRONG), Said(RIGHT))
    layout = lay_out(shot.store, shot.manifest, {})
    folder = "solver/slugs/attempts/attempt-1"
    assert b"+return 0" in layout.files[f"{folder}/shots/1/candidate.diff"]
    assert b"+return len" in layout.files[f"{folder}/candidate.diff"]
    assert json.loads(layout.files[f"{folder}/shots/1/objective-evaluator.json"])["passed"] is False
    assert json.loads(layout.files[f"{folder}/objective-evaluator.json"])["passed"] is True
    assert json.loads(layout.files[f"{folder}/shots/1/test-result.json"])["passed"] is False


def test_what_has_no_end_is_named_with_what_brings_it_there(tmp_path: Path) -> None:
    manifest = a_manifest("solver", "waiting", "captured", "never", "absent")
    store = a_store(tmp_path, manifest)
    attempt(store, SOLVER, Run())
    begin(store, cell("waiting"))
    submit(store, begin(store, cell("captured")), Run())
    end_void(store, begin(store, cell("absent")), Unavailable(reason="auth"))
    states = store.states(planned(manifest), manifest.retry_policy.canonical_grading)
    found = unended(states, manifest.retry_policy)
    assert found == {
        cell("waiting"): "try 1 was cut before a model worked",
        cell("captured"): "captured, not yet graded",
        cell("never"): "never begun",
    }
    said = str(UnendedError(release="pilot", attempts=found))
    assert "never/slugs/attempt-1: never begun" in said
    assert "--incomplete REASON" in said
    layout = lay_out(store, manifest, dict.fromkeys(found, "the provider went out of business"))
    voids = {json.loads(each)["attempt"].split("/")[0]: json.loads(each).get("void") for each in layout.leaves}
    gone = "the provider went out of business"
    assert voids == {"solver": None, "waiting": gone, "captured": gone, "never": gone, "absent": None}
    run = json.loads(layout.files["captured/slugs/attempts/attempt-1/run.json"])
    assert (run["outcome"], run["void"], run["submission"]) == ("missing_artifacts", gone, None)


@pytest.mark.parametrize(
    ("paths", "said"),
    [
        pytest.param(("checkpoint/preflight.json",), "checkpoint is in its way", id="signed-file"),
        pytest.param(("sha256sums/run.json",), "SHA256SUMS is in its way", id="case"),
        pytest.param(("manifest.json", "manifest.json/preflight.json"), "manifest.json is in its way", id="folder"),
        pytest.param(("a/x", "A/x"), "is in its way", id="twins"),
        pytest.param((f"{'a' * 100}/{'b' * 100}",), "no plain path", id="long"),
        pytest.param(("a b",), "no plain path", id="blank"),
        pytest.param(("a/.x",), "no plain path", id="hidden"),
        pytest.param(("a/../b",), "no plain path", id="up"),
        pytest.param(("-a",), "no plain path", id="option"),
        pytest.param(("a\n",), "no plain path", id="line"),
    ],
)
def test_names_that_a_tool_could_read_otherwise_are_refused(paths: tuple[str, ...], said: str) -> None:
    with pytest.raises(NamesError, match=said):
        check_names(paths)


def test_plain_names_pass() -> None:
    check_names(("manifest.json", "a/b/attempts/attempt-1/run.json", "a/b.c_d-e", "SHA256SUMS"))


def test_what_people_said_of_a_submission_is_published_beside_it_and_stays_of_it(tmp_path: Path) -> None:
    manifest = a_manifest("solver", "idler").model_copy(update={"criteria": ("clarity",)})
    store = a_store(tmp_path / "store", manifest)
    attempt(store, SOLVER, Run())
    attempt(store, IDLER, Run(hidden=False))
    declared = Declared(
        reviewer="mia",
        type="person",
        blind=True,
        results_known=False,
        points={"clarity": 7},
        summary="Short and plain.",
    )
    keep_review(store, written_review(find_subject(store, manifest, "solver/slugs/attempt-1"), declared))
    layout = lay_out(store, manifest, {})
    place = "slugs/attempts/attempt-1/manual-reviews/mia.json"
    kept = store.folder(store.trial(SOLVER, 1)) / "manual-reviews/mia.json"
    assert layout.files[f"solver/{place}"] == kept.read_bytes()
    folder = written(tmp_path / "pilot", layout, "pilot")
    known, schemas = Known(trust=TRUST), committed_schemas()
    assert verify_published(folder, schemas, known).findings == ()
    (folder / "idler" / place).parent.mkdir()
    (folder / f"solver/{place}").rename(folder / "idler" / place)
    said = "\n".join(str(each) for each in verify_published(folder, schemas, known).findings)
    assert f"idler/{place}: found a file that nothing names" in said
    assert (
        f"solver/{place}: found nothing; expected a file, as solver/slugs/attempts/attempt-1/run.json names it" in said
    )
