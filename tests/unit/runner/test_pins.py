"""A module under test, its copy in `private/`, and the fixture that candidates get: held together by lint."""

import hashlib
import json
from pathlib import Path

import pytest

from runner.leaks import leaks
from runner.nomination import Nomination, load_nomination
from runner.nomination_lint import count_twins
from runner.pins import pins
from tests.unit.evaluators.mutating import FEW, MODULE
from tests.unit.runner.written import NOMINATION, nomination_files, written

DIGEST = hashlib.sha256(MODULE.encode()).hexdigest()
TABLE = f"""
[[evaluators]]
id = "suite"
kind = "mutation"
module = "price.py"
source = "price.py"
sha256 = "{DIGEST}"
versions = "versions.toml"
tests = ["tests"]
"""


def nomination(folder: Path, files: dict[str, str], text: str = NOMINATION) -> Nomination:
    given = {"private/price.py": MODULE, "private/versions.toml": FEW, "nomination.toml": text + TABLE} | files
    whole = {**nomination_files(), **given}
    kept = {
        path: text
        for path, text in whole.items()
        if "[fixture]" not in given["nomination.toml"] or path[:8] != "fixture/"
    }
    return load_nomination(written(folder / "wordcount", kept))


def test_the_copy_of_a_module_that_everybody_sees_is_no_leak_and_no_drift(tmp_path: Path) -> None:
    made = nomination(tmp_path, {"fixture/price.py": MODULE})
    assert [*pins(made), *leaks(made)] == []
    assert count_twins(made.evaluators[-1]) is None


def test_any_other_copy_is_one_still(tmp_path: Path) -> None:
    made = nomination(tmp_path, {"fixture/price.py": MODULE, "private/again.py": MODULE})
    assert [found.message for found in leaks(made)] == ["it is the same file as private/again.py"]


@pytest.mark.parametrize(
    ("files", "found"),
    [
        pytest.param({"fixture/price.py": MODULE + "\n"}, "price.py of the fixture is another one", id="changed"),
        pytest.param({}, "price.py of the fixture is missing", id="missing"),
    ],
)
def test_a_fixture_that_drifted_from_the_pinned_module_is_an_error(
    tmp_path: Path, files: dict[str, str], found: str
) -> None:
    (finding,) = pins(nomination(tmp_path, files))
    assert finding.message.startswith(found)
    assert finding.field == "evaluators[1].module"


@pytest.mark.parametrize(
    ("fixture", "found"),
    [
        pytest.param(f"kind = 'files'\n[fixture.files]\n'price.py' = {json.dumps(MODULE)}", [], id="seeded"),
        pytest.param("kind = 'files'\n[fixture.files]\n'price.py' = 'x'", ["price.py"], id="seeded otherwise"),
        pytest.param(f"kind = 'sdist'\nname = 'a'\nversion = '1'\nsha256 = '{'0' * 64}'", [], id="to be fetched"),
    ],
)
def test_seeded_files_are_held_against_the_pin_and_those_to_be_fetched_are_not(
    tmp_path: Path, fixture: str, found: list[str]
) -> None:
    text = NOMINATION.replace("[source]", f"[fixture]\n{fixture}\n[source]", 1)
    assert [each.message.split()[0] for each in pins(nomination(tmp_path, {}, text))] == found
