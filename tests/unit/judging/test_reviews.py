"""Reviews by people: written, brought in, kept once, and held against what they are of."""

import json
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from runner.artifacts import read_sealed
from runner.canonical import canonical, parse
from runner.documents.reviews import ManualReview, PointScale
from runner.errors import DocumentError, DocumentErrors, UnknownNameError, UsageError
from runner.judging.reviews import (
    REVIEWS,
    Declared,
    ReviewTakenError,
    Subject,
    find_subject,
    foreign_review,
    keep_review,
    review_file,
    written_review,
)
from runner.store import Store
from runner.verify import VerifyReport, read_schemas, verify_release
from tests.unit.runner.evidence_maker import SOLVER, Run, a_manifest, a_store, attempt, begin

CRITERIA = ("clarity", "scope")
MANIFEST = a_manifest().model_copy(update={"criteria": CRITERIA})
NAME = "solver/slugs/attempt-1"
SCHEMAS = read_schemas(Path(__file__).parents[3] / "schemas")


@pytest.fixture(scope="module", name="made")
def _made(tmp_path_factory: pytest.TempPathFactory) -> Store:
    """A store with one graded attempt. Tests read it."""
    store = a_store(tmp_path_factory.mktemp("reviews") / "store", MANIFEST)
    attempt(store, SOLVER, Run())
    return store


@pytest.fixture
def store(made: Store, tmp_path: Path) -> Store:
    """A copy of it for one test."""
    shutil.copytree(made.root, tmp_path / "store")
    return a_store(tmp_path / "store", MANIFEST)


@pytest.fixture(scope="module")
def subject(made: Store) -> Subject:
    return find_subject(made, MANIFEST, NAME)


def declared(**changes: object) -> Declared:
    plain: dict[str, object] = {
        "reviewer": "ann",
        "type": "person",
        "blind": True,
        "results_known": False,
        "points": {"scope": 8, "clarity": 7},
        "summary": "Plain.\nGood names.",
    }
    return Declared(**{**plain, **changes})  # type: ignore[arg-type] - a test's own words for fields


def foreign(**changes: object) -> dict[str, object]:
    """Give a review in the reference system's form."""
    return {
        "schema_version": 1,
        "kind": "manual_code_review",
        "release": "pilot",
        "candidate": "solver",
        "nomination": "slugs",
        "attempt": 1,
        "reviewer": {"id": "codex-reviewer", "type": "ai_agent"},
        "identity_blind": False,
        "scores": {"clarity": 7, "scope": 8},
        "average": 7.5,
        "summary": "Good.",
        "evidence": {"public_tests_passed": True, "objective_evaluator_passed": True, "forbidden_changes": []},
        **changes,
    }


def brought(value: Mapping[str, object], subject: Subject, **changes: object) -> ManualReview:
    scale = PointScale(changes.get("scale", "1-10"))
    reviewer = changes.get("reviewer")
    return foreign_review(json.dumps(value, indent=2).encode(), "old.json", subject, scale, reviewer)  # type: ignore[arg-type] - as above


def test_a_review_is_bound_to_the_submission_and_has_the_releases_order(store: Store, subject: Subject) -> None:
    made = written_review(subject, declared())
    assert made.submission_sha256 == read_sealed(store.folder(subject.trial) / "submission").digest
    assert [(score.criterion, score.points) for score in made.scores] == [("clarity", 7), ("scope", 8)]
    assert (made.scale, made.blind, made.original) == (PointScale.ZERO_TO_TEN, True, None)


def test_a_review_is_kept_beside_the_submission_and_changes_no_byte_of_it(store: Store, subject: Subject) -> None:
    folder = store.folder(subject.trial)
    before = {path: (path.stat().st_mtime_ns, path.read_bytes()) for path in folder.rglob("*") if path.is_file()}
    made = written_review(subject, declared())
    file = keep_review(store, made)
    assert file == folder / "manual-reviews/ann.json"
    assert parse(ManualReview, file.read_bytes(), str(file)) == made
    assert file.stat().st_mode & 0o777 == 0o444
    after = {path: (path.stat().st_mtime_ns, path.read_bytes()) for path in before}
    assert after == before
    assert [path.name for path in file.parent.iterdir()] == ["ann.json"]


def test_a_reviewer_reviews_once(store: Store, subject: Subject) -> None:
    file = keep_review(store, written_review(subject, declared()))
    before = file.read_bytes()
    with pytest.raises(ReviewTakenError, match="found a review of ann; expected none"):
        keep_review(store, written_review(subject, declared(points={"clarity": 10, "scope": 10})))
    assert file.read_bytes() == before
    keep_review(store, written_review(subject, declared(reviewer="bob")))


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        pytest.param({"points": {"clarity": 7}}, "found none for scope", id="a criterion is missing"),
        pytest.param({"points": {"clarity": 7, "scope": 8, "speed": 1}}, "found one for 'speed'", id="a strange one"),
        pytest.param({"points": {"clarity": 11, "scope": 8}}, "found 11; expected 10 or less", id="too many points"),
        pytest.param({"points": {"clarity": -1, "scope": 8}}, "found -1; expected 0 or more", id="too few"),
        pytest.param({"reviewer": "../ann"}, 'reviewer.id: found "../ann"', id="a name that is no file's"),
        pytest.param({"summary": "ann\x1b[2J"}, "plain text without control", id="a summary that steers a terminal"),
        pytest.param({"type": ""}, "reviewer.type", id="no type"),
    ],
)
def test_what_is_no_review_is_refused_by_name(subject: Subject, changes: dict[str, object], words: str) -> None:
    with pytest.raises((DocumentError, DocumentErrors)) as raised:
        written_review(subject, declared(**changes))
    assert words in str(raised.value)
    assert str(raised.value).startswith("the new review: ")


def test_a_foreign_review_stays_on_its_scale_and_keeps_its_bytes(subject: Subject) -> None:
    made = brought(foreign(), subject)
    assert (made.scale, made.blind, made.results_known) == (PointScale.ONE_TO_TEN, False, True)
    assert [(score.criterion, score.points) for score in made.scores] == [("clarity", 7), ("scope", 8)]
    assert (made.reviewer.id, made.reviewer.type, made.summary) == ("codex-reviewer", "ai_agent", "Good.")
    assert made.original is not None
    assert json.loads(made.original.text) == foreign()


def test_a_foreign_reviewer_may_need_another_name(subject: Subject) -> None:
    strange = foreign(reviewer={"id": "Codex (GPT)", "type": "ai"}, evidence=None)
    with pytest.raises(DocumentErrors, match=r"reviewer\.id"):
        brought(strange, subject)
    made = brought(strange, subject, reviewer="codex")
    assert (made.reviewer.id, made.results_known) == ("codex", False)


@pytest.mark.parametrize(
    ("changes", "scale", "words"),
    [
        pytest.param({"release": "other"}, "1-10", "release: found 'other'; expected 'pilot'", id="release"),
        pytest.param({"candidate": "idler"}, "1-10", "candidate: found 'idler'; expected 'solver'", id="candidate"),
        pytest.param({"attempt": 2}, "1-10", "attempt: found '2'; expected '1'", id="attempt"),
        pytest.param({"kind": "essay"}, "1-10", 'kind: found "essay"', id="kind"),
        pytest.param({"schema_version": 2}, "1-10", "schema_version: found 2", id="version"),
        pytest.param(
            {"scores": {"clarity": 0, "scope": 8}, "average": 4}, "1-10", "points of the scale 1-10", id="scale"
        ),
        pytest.param({"scores": {"clarity": 7.5, "scope": 8}}, "0-10", 'scores.clarity: found "7.5"', id="half points"),
        pytest.param({"scores": {"clarity": 7}}, "1-10", "found none for scope", id="criterion"),
        pytest.param({"average": 7.4}, "1-10", "average: found 7.4; expected 7.5000", id="average"),
        pytest.param({"identity_blind": "no"}, "1-10", "identity_blind", id="blind"),
    ],
)
def test_a_foreign_review_that_is_not_of_this_attempt_is_refused(
    subject: Subject, changes: dict[str, object], scale: str, words: str
) -> None:
    with pytest.raises((DocumentError, DocumentErrors)) as raised:
        brought(foreign(**changes), subject, scale=scale)
    assert words in str(raised.value)
    assert "old.json" in str(raised.value)


@pytest.mark.parametrize("average", [7.5, 8, 7, "7.5", None])
def test_an_average_may_be_rounded(subject: Subject, average: object) -> None:
    assert brought(foreign(average=average), subject).scores


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"[]",
        b"{",
        b'{"kind": 1, "kind": 2}',
        b'{"attempt": NaN}',
        b"\xff",
        b"{" + b'"a":[' * 40 + b"]" * 40 + b"}",
    ],
)
def test_what_is_no_document_is_refused_by_name(subject: Subject, data: bytes) -> None:
    with pytest.raises((DocumentError, DocumentErrors), match=r"old\.json"):
        foreign_review(data, "old.json", subject, PointScale.ONE_TO_TEN)


def test_an_attempt_without_submission_criteria_or_name_cannot_be_reviewed(store: Store) -> None:
    with pytest.raises(UsageError, match="has no criteria"):
        find_subject(store, a_manifest(), NAME)
    with pytest.raises(UnknownNameError, match=f"did you mean {NAME}"):
        find_subject(store, MANIFEST, "solver/slug/attempt-1")
    begin(store, SOLVER, 2)
    with pytest.raises(UsageError, match="left no submission"):
        find_subject(store, MANIFEST, NAME)
    assert find_subject(store, MANIFEST, f"{NAME}/try-1").trial.try_ == 1


def verified(store: Store) -> VerifyReport:
    return verify_release(store, MANIFEST, schemas=SCHEMAS)


def test_reviews_are_verified_with_the_release(store: Store, subject: Subject) -> None:
    before = verified(store)
    keep_review(store, written_review(subject, declared()))
    keep_review(store, brought(foreign(), subject))
    after = verified(store)
    assert (before.findings, after.findings) == ((), ())
    assert after.files == before.files + 2
    assert not any(REVIEWS in note for note in after.unchecked)


def put(store: Store, review: ManualReview, name: str | None = None) -> Path:
    """Write a review where `keep_review` would not."""
    file = review_file(store, store.trial(SOLVER, 1), name or review.reviewer.id)
    file.parent.mkdir(exist_ok=True)
    file.write_bytes(canonical(review))
    return file


def other_points(review: ManualReview) -> dict[str, object]:
    first, *rest = review.scores
    return {"scores": (first.model_copy(update={"points": 10}), *rest)}


def other_release(review: ManualReview) -> dict[str, object]:
    return {"trial": review.trial.model_copy(update={"release": "other"})}


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        pytest.param(
            lambda _: {"submission_sha256": "0" * 64}, "submission_sha256 " + "0" * 64, id="another submission"
        ),
        pytest.param(other_release, "trial ", id="another release"),
        pytest.param(lambda review: {"scores": review.scores[::-1]}, "criteria ", id="order of criteria"),
        pytest.param(lambda review: {"scores": review.scores[:1]}, "criteria ", id="a criterion less"),
        pytest.param(other_points, "review ", id="other points than the original's"),
        pytest.param(lambda _: {"blind": True}, "review ", id="blinder than the original"),
        pytest.param(lambda _: {"summary": None}, "review ", id="less said than in the original"),
    ],
)
def test_a_review_that_does_not_follow_is_found(
    store: Store, subject: Subject, changed: Callable[[ManualReview], dict[str, object]], words: str
) -> None:
    review = brought(foreign(), subject)
    file = put(store, review.model_copy(update=changed(review)))
    found = verified(store).findings
    assert any(finding.file == str(file) and finding.found.startswith(words) for finding in found), found


def test_a_review_under_anothers_name_is_found(store: Store, subject: Subject) -> None:
    put(store, written_review(subject, declared()), "bob")
    assert [finding.found for finding in verified(store).findings] == ["name bob.json"]


@pytest.mark.parametrize(
    "damage",
    [
        pytest.param(
            lambda file: file.write_bytes(file.read_bytes().replace(b"7", b"6", 1) + b"\n"), id="another form"
        ),
        pytest.param(lambda file: file.write_bytes(b"{}"), id="another document"),
        pytest.param(lambda file: (file.unlink(), file.symlink_to("/etc/hostname")), id="a link"),
        pytest.param(lambda file: (file.unlink(), file.mkdir()), id="a folder"),
    ],
)
def test_a_review_that_cannot_be_read_is_found(
    store: Store, subject: Subject, damage: Callable[[Path], object]
) -> None:
    file = put(store, written_review(subject, declared()))
    damage(file)
    found = verified(store).findings
    assert found
    assert all(str(file) in finding.file for finding in found)


def test_reviews_of_nothing_are_found(store: Store) -> None:
    trial = begin(store, SOLVER, 2)
    folder = store.folder(trial) / REVIEWS
    folder.mkdir()
    (folder / "ann.json").write_bytes(b"{}")
    found = verified(store).findings
    assert any(each.file == str(folder) and each.expected == "a submission that they are of" for each in found)


def test_what_a_killed_runner_left_is_told_and_no_finding(store: Store, subject: Subject) -> None:
    file = keep_review(store, written_review(subject, declared()))
    shutil.copy(file, file.with_name(".tmp-bob.json-0123"))
    report = verified(store)
    assert report.findings == ()
    assert any(".tmp-bob.json-0123: left unfinished" in note for note in report.unchecked)
