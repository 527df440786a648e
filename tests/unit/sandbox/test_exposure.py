"""What `systemd-analyze security` says of each profile, kept as a bound. It reads what is promised, not what holds."""

import re
import subprocess
from pathlib import Path

import pytest

from sandbox.properties import unit_properties
from sandbox.spec import UnitSpec
from scripts.benchmarks.assignments import options
from tests.unit.sandbox.places import SPECS, place_of

_MOST = {
    "tests": 0.3,
    "submitted": 0.3,
    "driver": 0.3,
    "inspection": 0.6,
    "candidate": 1.2,
    "judge": 1.2,
    "gateway": 1.2,
}
"""Of ten. Measured with systemd 252: these, and 1.1 for candidate and judge."""
_OF_THE_UNIT = ("CollectMode=", "DefaultDependencies=")
_LEVEL = re.compile(r"Overall exposure level for \S+: (\d+\.\d)")


def unit_text(spec: UnitSpec) -> str:
    """Write a unit file with the very properties a spec's unit is started with."""
    given, argv = options(unit_properties(spec, place_of(spec)))
    lines = [option.removeprefix("--property=") for option in given]
    parts = {
        "Unit": [line for line in lines if line.startswith(_OF_THE_UNIT)],
        "Service": [*(line for line in lines if not line.startswith(_OF_THE_UNIT)), f"ExecStart={' '.join(argv)}"],
    }
    return "".join(f"[{name}]\n" + "\n".join(found) + "\n" for name, found in parts.items())


def exposure(folder: Path, name: str, text: str) -> float:
    """Have a unit file scored: 0 is shut, 10 is open."""
    file = folder / f"{name}.service"
    file.write_text(text, encoding="utf-8")
    argv = ("/usr/bin/systemd-analyze", "security", "--offline=yes", "--no-pager", str(file))
    said = subprocess.run(argv, check=True, capture_output=True, text=True)
    assert said.stderr == "", "a line of the unit file was not understood"
    found = _LEVEL.search(said.stdout)
    assert found is not None, said.stdout
    return float(found[1])


@pytest.mark.parametrize("name", _MOST)
def test_a_profile_is_no_more_open_than_it_was(tmp_path: Path, name: str) -> None:
    assert exposure(tmp_path, name, unit_text(SPECS[name])) <= _MOST[name]


def test_the_score_is_of_our_directives(tmp_path: Path) -> None:
    bare = "[Service]\nExecStart=/usr/bin/true\n"
    assert exposure(tmp_path, "bare", bare) > 9
    without = "\n".join(line for line in unit_text(SPECS["tests"]).splitlines() if "SystemCallFilter" not in line)
    assert exposure(tmp_path, "open", without) > _MOST["tests"] + 0.5
