"""The demo, run from a checkout below /tmp, which a private service manager cannot see."""

import hashlib
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import mkdtemp

import pydantic
import pytest

from runner.settings import load_settings, own_checkout
from tests.flow.bench import BUSY_SECONDS, Said, finished
from tests.flow.page import prepared, unmet

pytestmark = pytest.mark.systemd

ROOMS = ("config", "docs", "evaluators", "runner", "sandbox", "schemas", "scripts")
FILES = ("pyproject.toml", "requirements.lock", "LICENSE", "README.md")


@pytest.fixture(scope="module")
def checkout() -> Iterator[Path]:
    """A copy of this checkout below /tmp, with the packages of the Python that runs the tests."""
    folder = Path(mkdtemp(prefix="cleanroom-", dir="/tmp"))
    own, state = own_checkout(), load_settings({}, checkout=folder).state_dir(".cleanroom")
    for room in ROOMS:
        shutil.copytree(own / room, folder / room, ignore=shutil.ignore_patterns("__pycache__"))
    for file in FILES:
        shutil.copy2(own / file, folder / file)
    install(folder)
    yield folder
    shutil.rmtree(folder)
    shutil.rmtree(state, ignore_errors=True)


def install(checkout: Path) -> None:
    """Do what `scripts/setup` does in a minute: a .venv with this checkout's code and the locked packages."""
    venv = checkout / ".venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(venv)], check=True)
    packages = next((venv / "lib").glob("python3*/site-packages"))
    (packages / "checkout.pth").write_text(f"{checkout}\n{Path(pydantic.__file__).parents[1]}\n")
    command = venv / "bin/runner"
    command.write_text(f"#!{venv}/bin/python\nfrom runner.cli import main\n\nmain()\n")
    command.chmod(0o755)
    named = re.search(r"^wanted=\$\(cat ([^|]+)\|", (checkout / "scripts/setup").read_text(), re.MULTILINE)
    assert named is not None
    digest = hashlib.sha256(b"".join((checkout / part).read_bytes() for part in named[1].split())).hexdigest()
    (venv / ".installed").write_text(f"{digest} {checkout}\n")


def demo(checkout: Path) -> Said:
    """Run the demo on the small release; a clean room that somebody else holds is waited for."""
    deadline = time.monotonic() + BUSY_SECONDS
    pipe, environment = subprocess.PIPE, {**os.environ, "NO_COLOR": "1"}
    argv = [str(checkout / "scripts/demo"), "--config", str(checkout / "config/smoke.json")]
    while True:
        process = subprocess.Popen(argv, stdout=pipe, stderr=pipe, text=True, cwd="/", env=environment)
        said = finished(process)
        if "another run holds" not in said.err or time.monotonic() > deadline:
            return said
        time.sleep(1)


def command(*argv: str) -> Said:
    """Run a command to its end."""
    pipe = subprocess.PIPE
    return finished(subprocess.Popen(argv, stdout=pipe, stderr=pipe, text=True, cwd="/"))


def table(said: Said) -> list[str]:
    return [line for line in said.out.splitlines() if "size-units" in line]


def test_the_demo_runs_from_a_checkout_below_tmp_and_a_second_run_has_nothing_to_do(checkout: Path) -> None:
    first = demo(checkout)
    assert first.code == 0, first
    assert len(table(first)) == 3
    assert "as 'runner verify-sandbox' does (missing: " in first.err
    assert "as 'runner verify-objective-sandbox' does (missing: " in first.err
    assert "setup:" not in first.out, "the packages at hand are used, not built again"
    second = demo(checkout)
    assert second.code == 0, second
    assert "nothing was left to do" in second.out
    assert "trying the walls" not in second.err
    assert table(second) == table(first)
    assert not (checkout / ".cleanroom").exists(), "the state stands where a private service manager sees it"


def test_the_demos_release_is_published_and_verified_with_and_without_our_code(checkout: Path, tmp_path: Path) -> None:
    runner = [str(checkout / ".venv/bin/runner"), "--config", str(checkout / "config/smoke.json")]
    said = command(*runner, "publish", "smoke-1")
    assert said.code == 0, said
    folder = tmp_path / "smoke-1"
    shutil.copytree(checkout / "results/smoke-1", folder)
    for role in ("release", "log"):
        (tmp_path / f"{role}.pem").write_text(command(*runner, "keys", "show", "--role", role, "--pem").out)
    keys = [word for role in ("release", "log") for word in ("--key", str(tmp_path / f"{role}.pem"))]
    said = command(*runner, "verify", str(folder), *keys)
    assert said.code == 0, said
    assert "not applied" not in said.err, "base and patch were put together again"
    assert unmet(prepared(folder)) == []
