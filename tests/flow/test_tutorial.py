"""The tutorial works, to the letter."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.flow.bench import LONGEST_SECONDS, RUNNER, Bench
from tests.flow.tutorial import Command, File, steps

pytestmark = pytest.mark.systemd

PAGE = Path(__file__).parents[2] / "docs/tutorial.md"


def test_every_file_and_command_of_the_tutorial_does_what_the_page_says(benches: Path, frozen: Bench) -> None:
    folder = benches / "tutorial"
    # The walls of this host were tried when the bench was frozen; that takes a minute.
    shutil.copytree(frozen.checkout / ".cleanroom/proofs", folder / ".cleanroom/proofs")
    told = list(steps(PAGE.read_text()))
    assert {type(step) for step in told} == {File, Command}
    for step in told:
        if isinstance(step, File):
            (folder / step.name).parent.mkdir(parents=True, exist_ok=True)
            (folder / step.name).write_text(step.text)
        else:
            output = entered(step.line, folder)
            assert step.is_met(output), f"$ {step.line}\nprinted:\n{output}\nshown:\n{step.printed}"


def entered(line: str, folder: Path) -> str:
    """Give what a shell prints on a terminal."""
    done = subprocess.run(
        ["/bin/bash", "-c", line],
        cwd=folder,
        env={"PATH": f"{RUNNER.parent}:{os.defpath}:/usr/sbin:/sbin", "LANG": "C.UTF-8"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        timeout=LONGEST_SECONDS,
    )
    return done.stdout


@pytest.mark.parametrize(
    ("printed", "output", "met"),
    [
        pytest.param("a\n", "a\n", True, id="equal"),
        pytest.param("a\n", "a\nb\n", False, id="more-was-printed"),
        pytest.param("a ... c\n", "a b b c\n", True, id="within-a-line"),
        pytest.param("...", "", True, id="anything"),
        pytest.param("a.c\n", "abc\n", False, id="a-point-is-a-point"),
        pytest.param("a\n...\nz\n", "a\nb\nc\nz\n", True, id="lines-left-out"),
    ],
)
def test_what_a_page_shows_is_met_by_nothing_else(printed: str, output: str, met: bool) -> None:  # noqa: FBT001 - a table
    assert Command(line="", printed=printed).is_met(output) == met
