"""The page on verifying a release as a program: its commands, run with the tools of any machine."""

import os
import subprocess
from pathlib import Path

from tests.flow.tutorial import Command, File, steps

STEPS = tuple(steps((Path(__file__).parents[2] / "docs/how-to/verify-a-release.md").read_text()))
COMMANDS = tuple(step for step in STEPS if isinstance(step, Command))


def prepared(release: Path) -> Path:
    """Write beside a release what the page tells its reader to write."""
    for step in STEPS:
        if isinstance(step, File):
            (release.parent / step.name).write_text(step.text)
    return release


def entered(line: str, folder: Path) -> str:
    """Give what a shell prints on a terminal."""
    done = subprocess.run(
        ["/bin/bash", "-c", line],
        cwd=folder,
        env={"PATH": os.defpath, "HOME": str(folder.parent), "LC_ALL": "C.UTF-8"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        timeout=60,
    )
    return done.stdout


def unmet(folder: Path) -> list[str]:
    """Give what was printed by each command whose output is not what the page shows."""
    printed = [(step, entered(step.line, folder)) for step in COMMANDS]
    return [f"$ {step.line}\n{output}" for step, output in printed if not step.is_met(output)]
