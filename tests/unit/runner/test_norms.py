"""Laws of a release's norms: in no outcome, verified like everything else, shown beside what they say nothing about."""

import json
from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import pytest

from evaluators.model import VerdictCause
from evaluators.norm_counts import Asked, counted
from evaluators.norm_scale import VERSION, Norm, NormId, Norms
from evaluators.norms import Measured, in_order
from evaluators.two_trees import FileChange
from runner.canonical import canonical, sha256
from runner.config import ReleaseConfig
from runner.documents.manifest import FrozenNorms, FrozenToolchain, Manifest
from runner.documents.nomination import NominationSpec
from runner.documents.norms import NormsShort
from runner.evaluation import Evaluation, Reopened, evaluate
from runner.gold_size import solution_sizes
from runner.grading import facts_of
from runner.norms import asked, document, mean, short
from runner.outcome import outcome, score, solved
from runner.policy import Change
from runner.reason import reason
from runner.reports.aggregate import aggregate
from runner.reports.markdown import markdown
from runner.settings import load_settings
from runner.store import Store
from runner.tools import tools_lock
from runner.verification.model import Rebuilt
from runner.verification.norms import check_short
from sandbox.api import Pack
from sandbox.tree import Entry, Kind
from tests.unit.runner.evidence_maker import SOLVER, TREE, Run, a_manifest, a_store, attempt
from tests.unit.runner.test_evaluation import DOCUMENT, PASSES, ToldEvaluator, set_up
from tests.unit.runner.test_evaluation import TREE as JUDGED
from tests.unit.runner.test_verify import CHANGE, edited, named, reseal, verify

ROOT = Path(__file__).parents[3]
BEFORE, AFTER = b"def slug(x):\n    return x\n", b"def slug(x):\n    print(x)\n    return x.lower()\n"
LOG = (
    b'{"side": "base", "found": []}\n'
    b'{"side": "submission", "found": [["slugs.py", "F401", "`os` imported but unused", 1]]}\n'
)
LINTED = Norm(
    id=NormId.LINT,
    counts={"base": 0, "submission": 1, "new": 1},
    found=("slugs.py:1: F401 `os` imported but unused",),
)
ASKED = Asked(target_files=(), tests_allowed=False, solution_lines=2)


def a_grade() -> Measured:
    changes = (FileChange(path=b"slugs.py", before=BEFORE, after=AFTER),)
    return Measured(norms=in_order((*counted(changes, ASKED), LINTED)), lint_log=LOG)


def normed(manifest: Manifest) -> Manifest:
    frozen = FrozenNorms(version=VERSION, tools=FrozenToolchain(lock_sha256=sha256(b"lock"), packages=()))
    nominations = tuple(each.model_copy(update={"solution_lines": 2}) for each in manifest.nominations)
    return manifest.model_copy(update={"norms": frozen, "nominations": nominations})


def rebuilt(_nomination: str, _patch: bytes) -> Rebuilt:
    return Rebuilt(
        tree_sha256=TREE,
        changes=(CHANGE,),
        before=lambda _: None,
        base=lambda _: BEFORE,
        content=lambda _: AFTER,
    )


def released(tmp_path: Path) -> tuple[Store, Manifest, Path]:
    """A release that measures norms, with one graded attempt, and the grading's folder."""
    manifest = normed(a_manifest("solver"))
    store = a_store(tmp_path / "store", manifest)
    attempt(store, SOLVER, Run())
    folder = store.folder(store.trial(SOLVER, 1)) / "gradings/grading-1"
    made = document(a_grade(), TREE)
    reseal(folder, {"norms.json": canonical(made), f"logs/{sha256(LOG)}": LOG})
    return store, manifest, folder


def test_norms_are_sealed_beside_a_grading_and_verified_from_the_files_alone(tmp_path: Path) -> None:
    store, manifest, _ = released(tmp_path)
    found = [each for each in verify(store, manifest, rebuilt).findings if "journal.jsonl" not in str(each)]
    assert found == []


@pytest.mark.parametrize(
    ("change", "said"),
    [
        pytest.param(lambda it: it.update(score="1"), "norms.score", id="the score"),
        pytest.param(lambda it: it["norms"][1].update(penalty="0"), "norms[debug]", id="a penalty"),
        pytest.param(lambda it: it["norms"][1]["counts"].update(left=0), "norms[debug]", id="a count"),
        pytest.param(lambda it: it["norms"][1].update(weight="0.01"), "norms[debug]", id="a weight"),
        pytest.param(lambda it: it["norms"][1].update(reason="lost"), "norms[debug]", id="a reason"),
        pytest.param(lambda it: it["norms"][1]["counts"].pop("left"), "added", id="no count"),
        pytest.param(lambda it: it["norms"].pop(0), "norms", id="a norm left out"),
        pytest.param(lambda it: it["norms"][2]["counts"].update(new=0), "norms[lint]", id="lint"),
        pytest.param(lambda it: it["norms"][2].update(found=[]), "norms[lint]", id="what lint found"),
        pytest.param(lambda it: it.update(lint_log_sha256=None), "without a log", id="the log"),
        pytest.param(lambda it: it.update(lint_log_sha256="0" * 64), "no log", id="another log"),
        pytest.param(lambda it: it.update(tree_sha256="0" * 64), "tree_sha256", id="the tree"),
        pytest.param(lambda it: it.update(version=1), "version", id="the version"),
    ],
)
def test_forged_norms_are_found_although_their_folder_was_sealed_again(
    tmp_path: Path, change: Callable[[dict[str, object]], object], said: str
) -> None:
    store, manifest, folder = released(tmp_path)
    edited(folder, "norms.json", change)
    assert said in named(verify(store, manifest, rebuilt))


def test_norms_that_are_missing_or_that_nobody_asked_for_are_found(tmp_path: Path) -> None:
    store, manifest, folder = released(tmp_path)
    reseal(folder, {"norms.json": None})
    assert "norms, which the release measures" in named(verify(store, manifest, rebuilt))
    plain = a_manifest("solver")
    other = a_store(tmp_path / "other", plain)
    attempt(other, SOLVER, Run())
    reseal(
        other.folder(other.trial(SOLVER, 1)) / "gradings/grading-1",
        {"norms.json": canonical(document(a_grade(), TREE))},
    )
    assert "the release does not measure them" in named(verify(other, plain, rebuilt))


def test_tables_show_norms_and_count_nothing_by_them(tmp_path: Path) -> None:
    store, manifest, _ = released(tmp_path)
    table = aggregate(store, manifest)
    row, standing = table.attempts[0], table.candidates[0]
    assert row.norms == short(document(a_grade(), TREE))
    assert standing.norms is not None
    assert (standing.norms.solved, standing.norms.solved_count) == (row.norms.score, 1)
    bare = a_manifest("solver")
    plain = a_store(tmp_path / "plain", bare)
    attempt(plain, SOLVER, Run())
    without = aggregate(plain, bare).attempts[0]
    assert without.norms is None
    same = ("outcome", "verdict", "solved", "score", "reason", "assurance")
    assert [getattr(row, each) for each in same] == [getattr(without, each) for each in same]
    assert f"| solver | slugs | 1 | {row.norms.score} | N/A |" in markdown(table)
    assert "Norms" not in markdown(aggregate(plain, bare))


def test_means_are_over_what_is_known_and_say_of_how_much() -> None:
    known = [NormsShort(score=each, penalties={}) for each in ("1", "0.5", None)]
    found = mean([(True, known[0]), (False, known[1]), (True, known[2]), (True, None)])
    assert found is not None
    assert (found.solved, found.solved_count, found.counted, found.counted_count) == ("1", 1, "0.75", 2)
    assert mean([(True, None)]) is None
    assert mean([(False, known[1])]).solved is None  # type: ignore[union-attr]


def graded(folder: Path, said: VerdictCause, asks: Asked | None, content: bytes) -> Evaluation:
    staged = replace(set_up(folder, PASSES, (ToldEvaluator({JUDGED: said}),)), norms=asks)
    entry = Entry(path=b"wordcount.py", kind=Kind.FILE, sha256=sha256(content), size=len(content))
    pack = Pack(entries=(entry,), blobs=lambda _: content)
    change = Change(entries=(entry,), findings=(), patch_bytes=10)
    return evaluate(staged, Reopened(document=DOCUMENT, change=change, judged=staged.submission(pack, JUDGED)))


@pytest.mark.parametrize("said", [VerdictCause.PASSED, VerdictCause.FAILED, VerdictCause.TAMPERED])
@pytest.mark.parametrize("content", [b"def words(x):\n    return 2\n", b"print(1)\nbreakpoint()  # TODO\n" * 90, b"\0"])
def test_an_outcome_is_the_same_whatever_norms_say(tmp_path: Path, said: VerdictCause, content: bytes) -> None:
    harsh = Asked(target_files=("other.py",), tests_allowed=True, solution_lines=1)
    found = [graded(tmp_path / str(at), said, asks, content) for at, asks in enumerate((None, harsh))]
    assert ["norms.json" in each.files() for each in found] == [False, True]
    facts = [facts_of(DOCUMENT, each.parts()) for each in found]
    assert facts[0] == facts[1]
    for derive in (outcome, score, solved, reason):
        assert derive(facts[0]) == derive(facts[1])


def test_without_the_pinned_ruff_lint_alone_is_unknown(tmp_path: Path) -> None:
    norms = graded(tmp_path, VerdictCause.PASSED, ASKED, b"x = 1\n").norms
    assert norms is not None
    assert next(each for each in norms.norms if each.id is NormId.LINT).reason == "the pinned ruff is not at hand"
    assert norms.score is not None


@pytest.mark.parametrize(
    ("rules", "deny", "wanted"),
    [
        pytest.param(["src/"], [], True, id="a folder"),
        pytest.param(["src/a.py"], [], False, id="one file"),
        pytest.param(["src/a.py", "tests/test_a.py"], [], True, id="a test by name"),
        pytest.param(["src/**/*.py"], [], True, id="a glob"),
        pytest.param(["src/*.py"], ["src/test_*.py"], False, id="denied"),
        pytest.param(["src/"], ["src/**/test_*.py", "src/test_*.py"], False, id="denied in a folder"),
        pytest.param(["docs/*.md"], [], False, id="other files"),
    ],
)
def test_tests_are_asked_for_only_where_somebody_may_add_one(rules: list[str], deny: list[str], wanted: bool) -> None:  # noqa: FBT001 - a case
    spec = json.loads(canonical(a_manifest().nominations[0].spec))
    spec |= {"allowed_changes": rules, "policy": {"deny": deny}}
    assert asked(NominationSpec.model_validate_json(canonical(spec)), 2).tests_allowed is wanted


def test_a_public_score_follows_from_its_penalties() -> None:
    right = short(document(a_grade(), TREE))
    assert list(check_short("run.json", "norms", right)) == []
    assert list(check_short("run.json", "norms", None)) == []
    assert list(check_short("run.json", "norms", right.model_copy(update={"score": "1"})))
    assert document(Measured(norms=Norms(reason="nothing is changed")), TREE).score is None


def test_norms_are_off_unless_a_release_asks() -> None:
    assert ReleaseConfig.model_fields["norms"].default is False


def test_the_tools_are_pinned_by_version_and_digest() -> None:
    assert {each.name: bool(each.sha256) for each in tools_lock().requirements} == {"pyyaml": True, "ruff": True}


def test_gold_size_counts_the_solutions_lines(tmp_path: Path) -> None:
    config = json.loads((ROOT / "config/tasks.json").read_text())
    config |= {"clean_room": {"state_dir": str(tmp_path / "state")}, "nominations": ["rate-book"]}
    (tmp_path / "release.json").write_text(json.dumps(config))
    (found,) = solution_sizes(load_settings({}, config=tmp_path / "release.json", checkout=ROOT), ())
    assert (found.nomination, found.files, found.added, found.removed, found.lines) == ("rate-book", 1, 2, 1, 3)
    assert Decimal(found.no_text) == 0
