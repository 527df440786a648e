"""What judging has kept, verified from its files: a changed byte, a forged document, an answer too many."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from runner.canonical import canonical, parse, sha256
from runner.documents.judging import PairVerdict, RubricVerdict
from runner.verify import read_schemas, verify_release
from tests.unit.judging.hearing import LOOKER, Played, Scene, a_scene, even
from tests.unit.runner.evidence_maker import a_store

SCHEMAS = read_schemas(Path(__file__).parents[3] / "schemas")


@pytest.fixture(scope="module", name="made")
def _made(tmp_path_factory: pytest.TempPathFactory) -> Scene:
    scene = a_scene(tmp_path_factory.mktemp("judged"))
    scene.sit(Played(nature=lambda prompt, calls: "well" if calls == 1 else even(prompt, calls)))
    return scene


@pytest.fixture
def scene(made: Scene, tmp_path: Path) -> Scene:
    shutil.copytree(made.store.root, tmp_path / "store")
    return Scene(store=a_store(tmp_path / "store", made.manifest), manifest=made.manifest, tasks=made.tasks)


def found(scene: Scene) -> list[str]:
    report = verify_release(scene.store, scene.manifest, schemas=SCHEMAS, workers=1)
    return [str(each) for each in report.findings]


def rubric(scene: Scene) -> Path:
    return next(
        path for path in sorted(scene.store.root.rglob("verdict.json")) if b"rubric-verdict" in path.read_bytes()
    )


def rewrite(path: Path, data: bytes) -> None:
    path.chmod(0o644)
    path.write_bytes(data)


def test_what_was_kept_verifies(scene: Scene) -> None:
    assert found(scene) == []
    report = verify_release(scene.store, scene.manifest, schemas=SCHEMAS, workers=1)
    assert not any("judging" in each for each in report.unfinished)


def test_an_incomplete_plan_is_told_and_is_no_finding(scene: Scene) -> None:
    shutil.rmtree(rubric(scene).parent)
    assert found(scene) == []
    report = verify_release(scene.store, scene.manifest, schemas=SCHEMAS, workers=1)
    total = len(scene.plan.questions)
    assert f"judging: 1 of {total} askings of the plan have no end" in report.unfinished


@pytest.mark.parametrize(
    "name", ["verdict.json", "answer.txt", "ledger.jsonl", "packet.txt", "record.json", "plan.json"]
)
def test_a_flipped_byte_is_found(scene: Scene, name: str) -> None:
    path = min(each for each in scene.store.root.rglob(name) if "judg" in str(each))
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    rewrite(path, bytes(data))
    assert found(scene)


def _forge(scene: Scene, change: Callable[[RubricVerdict], RubricVerdict]) -> None:
    """Rewrite a verdict with everything that binds it, as somebody would who knows how."""
    path = rubric(scene)
    forged = canonical(change(parse(RubricVerdict, path.read_bytes(), str(path))))
    rewrite(path, forged)
    path.parent.rename(path.parent.with_name(sha256(forged)))


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda v: v.model_copy(update={"scores": (v.scores[0].model_copy(update={"points": 10}),)}), "document"),
        (lambda v: v.model_copy(update={"asked": v.asked.model_copy(update={"cost": "0"})}), "document"),
        (lambda v: v.model_copy(update={"asked": v.asked.model_copy(update={"number": 2})}), "numbers"),
        (lambda v: v.model_copy(update={"asked": v.asked.model_copy(update={"judge": "kay"})}), "folder"),
        (
            lambda v: v.model_copy(update={"asked": v.asked.model_copy(update={"settings_sha256": "0" * 64})}),
            "settings",
        ),
        (
            lambda v: v.model_copy(
                update={
                    "item": v.item.model_copy(
                        update={"cell": v.item.cell.model_copy(update={"submission_sha256": "0" * 64})}
                    )
                }
            ),
            "submission_sha256",
        ),
        (lambda v: v.model_copy(update={"manifest_sha256": "0" * 64}), "manifest_sha256"),
    ],
)
def test_a_forged_verdict_is_found(scene: Scene, change: Callable[[RubricVerdict], RubricVerdict], told: str) -> None:
    _forge(scene, change)
    assert any(told in each for each in found(scene))


@pytest.fixture(scope="module", name="looked")
def _looked(tmp_path_factory: pytest.TempPathFactory) -> Scene:
    scene = a_scene(tmp_path_factory.mktemp("looked"), LOOKER)
    scene.sit(Played())
    return scene


@pytest.fixture
def in_depth(looked: Scene, tmp_path: Path) -> Scene:
    shutil.copytree(looked.store.root, tmp_path / "store")
    return Scene(store=a_store(tmp_path / "store", looked.manifest), manifest=looked.manifest, tasks=looked.tasks)


def test_what_a_judge_said_that_looked_around_verifies(in_depth: Scene) -> None:
    assert found(in_depth) == []


def test_a_tree_that_is_not_the_one_of_an_answer_is_found(in_depth: Scene) -> None:
    folder = next(iter((in_depth.archive.top / "workspaces").iterdir()))
    record = folder / "record.json"
    rewrite(record, record.read_bytes().replace(b'"view":"full"', b'"view":"bare"'))
    assert any("record.json" in each and "sha256" in each for each in found(in_depth))
    shutil.rmtree(folder)
    assert any("the record" in each for each in found(in_depth))


def bound_to(digest: str | None) -> Callable[[RubricVerdict], RubricVerdict]:
    return lambda v: v.model_copy(update={"asked": v.asked.model_copy(update={"workspace_sha256": digest})})


def test_an_answer_without_its_tree_is_found(in_depth: Scene) -> None:
    _forge(in_depth, bound_to(None))
    assert any("workspace False; expected True" in each for each in found(in_depth))


def test_an_answer_with_a_tree_that_nobody_was_given_is_found(scene: Scene) -> None:
    _forge(scene, bound_to("0" * 64))
    assert any("workspace True; expected False" in each for each in found(scene))


def test_an_answer_from_a_room_that_could_be_written_to_is_found(tmp_path: Path) -> None:
    scene = a_scene(tmp_path, LOOKER)
    scene.sit(Played(writing=0))
    assert any("could not write to /work" in each for each in found(scene))


def test_a_verdict_after_a_verdict_and_a_stranger_are_found(scene: Scene) -> None:
    path = next(each for each in sorted(scene.store.root.rglob("verdict.json")) if b"pair-verdict" in each.read_bytes())
    one = parse(PairVerdict, path.read_bytes(), str(path))
    more = replace_number(one, one.asked.number + 1)
    folder = path.parent.with_name(sha256(canonical(more)))
    shutil.copytree(path.parent, folder)
    rewrite(folder / "verdict.json", canonical(more))
    (scene.archive.top / "notes.txt").write_text("x")
    told = "\n".join(found(scene))
    assert "none after a verdict" in told
    assert "something unknown" in told


def replace_number(verdict: PairVerdict, number: int) -> PairVerdict:
    return verdict.model_copy(update={"asked": verdict.asked.model_copy(update={"number": number})})


def test_answers_without_a_plan_are_found(scene: Scene) -> None:
    shutil.rmtree(scene.archive.top / "plans")
    assert any("expected a plan of them" in each for each in found(scene))


def test_a_store_that_was_never_judged_has_nothing_to_say(tmp_path: Path) -> None:
    scene = a_scene(tmp_path)
    assert found(scene) == []
