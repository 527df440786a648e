"""Who may start a keeper, and the digest that tells a copy of this code from one of other code."""

import os
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox.errors import HostUnfitError
from sandbox.installed import Copy, code_digest, keeper_command

NAMES = st.text("abcdef", min_size=1, max_size=6)
FILES = st.dictionaries(NAMES.map(lambda name: f"{name}.py"), st.binary(max_size=20), min_size=1, max_size=4)


def written(folder: Path, files: dict[str, bytes]) -> Path:
    for name, data in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
    return folder


def as_other(account: int) -> str:
    """Ask for the command as another account, in a child, and give what it is told."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.setuid(account)
        try:
            told = " ".join(keeper_command(Copy(folder=Path("/nonexistent"))))
        except HostUnfitError as error:
            told = str(error)
        os.write(writer, told.encode())
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as stream:
        told = stream.read()
    assert os.waitpid(child, 0)[1] == 0
    return told


def test_root_starts_this_very_code_and_others_are_told_what_is_missing() -> None:
    assert keeper_command() == (sys.executable, "-I", "-m", "sandbox.keeper")
    told = as_other(64_999)
    assert "only root can make one" in told
    assert "scripts/host install --group GROUP" in told


@given(files=FILES, other=FILES)
def test_a_digest_is_equal_only_for_equal_code(
    tmp_path_factory: pytest.TempPathFactory, files: dict[str, bytes], other: dict[str, bytes]
) -> None:
    one, two = (written(tmp_path_factory.mktemp("code"), each) for each in (files, other))
    assert (code_digest(one) == code_digest(two)) == (files == other)


def test_compiled_files_do_not_count(tmp_path: Path) -> None:
    before = code_digest(written(tmp_path, {"a.py": b"1"}))
    assert code_digest(written(tmp_path, {"__pycache__/a.pyc": b"2"})) == before
