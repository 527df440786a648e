"""A certificate speaks of the patches that lie with its nomination now: a new or edited one was never tried."""

import shutil
from pathlib import Path

import pytest

from runner.documents.certificate import Certificate
from runner.nomination import load_nomination
from runner.validating.certificates import CERTIFICATE, known, read_certificate, unexpected, untried

FOLDER = Path(__file__).parents[3] / "config/nominations/change-review"
NOMINATION = load_nomination(FOLDER)


@pytest.fixture(scope="module")
def certificate() -> Certificate:
    found = read_certificate(NOMINATION)
    assert found is not None
    return found


def test_patches_that_came_or_went_since_are_told(certificate: Certificate) -> None:
    assert list(untried(NOMINATION, certificate)) == []
    first = next(each for each in certificate.controls if each.kind == "wrong")
    rest = tuple(each for each in certificate.controls if each is not first)
    came = certificate.model_copy(update={"controls": rest})
    assert list(untried(NOMINATION, came)) == [f"{first.name} was never tried"]
    gone = certificate.model_copy(
        update={"controls": (*certificate.controls, first.model_copy(update={"name": "wrong/other.patch"}))}
    )
    assert list(untried(NOMINATION, gone)) == ["wrong/other.patch, which was tried, is not there"]


@pytest.mark.parametrize("path", ["wrong/spray.patch", "half/three.patch", "alternative/four.patch"])
def test_a_patch_that_was_edited_since_is_told(certificate: Certificate, tmp_path: Path, path: str) -> None:
    folder = tmp_path / FOLDER.name
    shutil.copytree(FOLDER, folder)
    with (folder / path).open("ab") as patch:
        patch.write(b"\n")
    assert list(untried(load_nomination(folder), certificate)) == [f"{path} is not what was tried"]


def test_a_certificate_that_is_none_is_a_doubt_and_no_end(tmp_path: Path) -> None:
    folder = tmp_path / FOLDER.name
    shutil.copytree(FOLDER, folder)
    (folder / CERTIFICATE).write_text('{"schema": "cleanroom/certificate/0"}')
    certificate, why = known(load_nomination(folder))
    assert certificate is None
    assert why is not None
    assert "says nothing to this runner" in why


def test_cases_that_end_on_the_base_otherwise_than_is_said_are_told() -> None:
    nomination = load_nomination(FOLDER.parent / "date-fields")
    certificate = read_certificate(nomination)
    assert certificate is not None
    assert list(unexpected(nomination, certificate)) == []
    base = next(each for each in certificate.controls if each.kind == "base")
    verdict = base.verdicts[0]
    passed, kept = "zone: test_zone.py::test_small_z", "zone: test_as_before.py::test_capitals"
    failed = (*(each for each in verdict.failed_cases if each != passed), kept)
    other = base.model_copy(update={"verdicts": (verdict.model_copy(update={"failed_cases": failed}),)})
    changed = certificate.model_copy(update={"controls": (other,)})
    assert list(unexpected(nomination, changed)) == [
        f"fail_to_pass: {passed} passes the base",
        f"pass_to_pass: {kept} fails the base",
    ]
