"""Rounds differ in time zone and locale, and the locales are really other ones to programs that are shown them."""

import json
import subprocess
from pathlib import Path

import pytest

from runner.validating import surroundings
from runner.validating.surroundings import LOCALES, ROUNDS, compiled_locales, variables
from sandbox.errors import HostUnfitError
from sandbox.spec import PYTHON

SEEN = """
import json, locale
name = locale.setlocale(locale.LC_ALL, "")
print(json.dumps([name, locale.str(1.5), locale.getpreferredencoding(False),
                  sorted(["b", "B", "a", "A"], key=locale.strxfrm)]))
"""
FOLDED = ["/bin/sh", "-c", "printf '%s' title | sed 's/.*/\\U&/'"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    top = tmp_path_factory.mktemp("locales")
    for path, data in compiled_locales().items():
        (top / path).parent.mkdir(parents=True, exist_ok=True)
        (top / path).write_bytes(data)
    return top


def run(folder: Path, number: int, *command: str) -> bytes:
    environment = {**dict(variables(number)), "PATH": "/usr/bin:/bin"}
    environment |= {"LOCPATH": str(folder)} if "LOCPATH" in environment else {}
    return subprocess.run(command, env=environment, capture_output=True, check=True).stdout


def test_no_two_rounds_have_a_time_zone_a_locale_or_a_hash_seed_in_common() -> None:
    for what in ("TZ", "LC_ALL", "PYTHONHASHSEED"):
        assert len({each.get(what) for each in ROUNDS}) == len(ROUNDS)
    assert {each["LC_ALL"] for each in ROUNDS} == {"C.UTF-8", *LOCALES}
    assert variables(3) == variables(0)


def test_decimal_signs_encodings_and_orders_are_those_of_each_locale(folder: Path) -> None:
    first, second, third = (json.loads(run(folder, number, PYTHON, "-I", "-c", SEEN)) for number in range(3))
    assert first == ["C.UTF-8", "1.5", "UTF-8", ["A", "B", "a", "b"]]
    assert second[:3] == ["tr_TR.UTF-8", "1,5", "UTF-8"]
    assert third == ["de_DE.ISO-8859-1", "1,5", "ISO-8859-1", ["a", "A", "b", "B"]]


def test_the_turkish_i_has_its_dot(folder: Path) -> None:
    assert run(folder, 0, *FOLDED).decode() == "TITLE"
    assert run(folder, 1, *FOLDED).decode() == "TİTLE"


def test_a_host_without_sources_of_locales_is_told_what_to_install(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(surroundings, "SOURCES", tmp_path)
    with pytest.raises(HostUnfitError, match="apt-get install --no-install-recommends locales"):
        compiled_locales()


def test_a_locale_that_cannot_be_compiled_is_told() -> None:
    with pytest.raises(HostUnfitError, match="no_NE"):
        compiled_locales({"no_NE": ("no_such", "UTF-8")})
