"""What judges and people said is published as it was kept, and its summary is made again from the folder alone."""

import json
import shutil
from pathlib import Path

import pytest

from runner.canonical import canonical
from runner.publishing.judging import ANSWER_PATH
from runner.publishing.layout import lay_out
from runner.verification.published import Known, PublishedReport, verify_published
from runner.verify import committed_schemas
from tests.unit.judging.hearing import Played, a_scene, even
from tests.unit.publishing.maker import TRUST, sign_again, written

PRIVATE = b"what the judge wrote: well"


@pytest.fixture(scope="module", name="judged")
def _judged(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A published release with judged submissions; one answer was none."""
    folder = tmp_path_factory.mktemp("judged")
    scene = a_scene(folder / "scene")
    scene.sit(Played(nature=lambda prompt, calls: PRIVATE.decode() if calls == 1 else even(prompt, calls)))
    assert any(PRIVATE in path.read_bytes() for path in scene.store.root.rglob("answer.txt"))
    return written(folder / "pilot", lay_out(scene.store, scene.manifest, {}), "pilot")


def verify(folder: Path) -> PublishedReport:
    return verify_published(folder, committed_schemas(), Known(trust=TRUST))


def told(folder: Path) -> str:
    return "\n".join(str(each).replace(f"{folder}/", "") for each in verify(folder).findings)


def paths(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


def test_answers_plans_and_summary_are_published_and_what_was_shown_and_written_is_not(judged: Path) -> None:
    found = paths(judged)
    answers = [path for path in found if ANSWER_PATH.fullmatch(path)]
    assert any(path.startswith("judging/answers/jay/") for path in answers)
    assert any(path.startswith("solver/slugs/attempts/attempt-1/judges/jay/") for path in answers)
    assert {"judging.json", "judging.md", "judging/plans/1.json", "judging/lengths.json"} < set(found)
    assert all(PRIVATE not in (judged / path).read_bytes() for path in found)
    assert not [path for path in found if path.endswith(".txt")]


def test_the_summary_follows_from_the_folder_alone(judged: Path) -> None:
    report = verify(judged)
    assert report.findings == ()
    assert not [each for each in report.unchecked if "judging" in each]


def test_a_bettered_summary_an_answer_left_out_and_one_in_another_place_are_found(judged: Path, tmp_path: Path) -> None:
    folder = tmp_path / "pilot"
    shutil.copytree(judged, folder)
    summary = json.loads((judged / "judging.json").read_bytes())
    summary["candidates"][0]["candidate"], summary["candidates"][1]["candidate"] = "idler", "solver"
    (folder / "judging.json").write_bytes(canonical(summary))
    sign_again(folder)
    assert "judging.json: candidates" in told(folder)
    (folder / "judging.json").write_bytes((judged / "judging.json").read_bytes())
    answer = next(path for path in paths(folder) if "solver/slugs" in path and ANSWER_PATH.fullmatch(path))
    other = answer.replace("solver", "idler", 1)
    (folder / answer).rename(folder / other)
    sign_again(folder)
    assert f"{other}: found another place or name" in told(folder)
    (folder / other).unlink()
    sign_again(folder)
    assert "judging.json: " in told(folder)
