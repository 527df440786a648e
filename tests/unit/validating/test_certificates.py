"""A certificate speaks of the patches that lie with its nomination now: none that came later is taken for tried."""

from pathlib import Path

from runner.nomination import load_nomination
from runner.validating.certificates import read_certificate, untried

NOMINATION = load_nomination(Path(__file__).parents[3] / "config/nominations/change-review")


def test_patches_that_came_or_went_since_are_told() -> None:
    certificate = read_certificate(NOMINATION)
    assert certificate is not None
    assert list(untried(NOMINATION, certificate)) == []
    first = next(each for each in certificate.controls if each.kind == "wrong")
    rest = tuple(each for each in certificate.controls if each is not first)
    came = certificate.model_copy(update={"controls": rest})
    assert list(untried(NOMINATION, came)) == [f"{first.name} was never tried"]
    gone = certificate.model_copy(
        update={"controls": (*certificate.controls, first.model_copy(update={"name": "wrong/other.patch"}))}
    )
    assert list(untried(NOMINATION, gone)) == ["wrong/other.patch, which was tried, is not there"]
