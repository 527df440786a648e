"""The launcher as a plain process: its report, the one byte it waits for, and what the program inherits."""

import ast
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox import launcher
from sandbox.sightings import Sighting
from sandbox.spec import PYTHON
from sandbox.walls import CALLS

_FILE = Path(launcher.__file__)
_COMMAND = (PYTHON, "-I", "-S", "-B", str(_FILE))


def launched(
    *argv: str, stdin: bytes = b"G", environment: dict[str, str] | None = None
) -> tuple[int, dict[str, object], bytes, bytes]:
    """Run the launcher: exit status, report, the program's output, standard error."""
    given_environment = {"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", **(environment or {})}
    done = subprocess.run((*_COMMAND, *argv), input=stdin, capture_output=True, env=given_environment, check=False)
    size = int.from_bytes(done.stdout[:4], "big")
    assert 0 < size <= 1 << 16
    return done.returncode, json.loads(done.stdout[4 : 4 + size]), done.stdout[4 + size :], done.stderr


def test_its_report_has_the_shape_that_the_walls_read() -> None:
    _, report, _, _ = launched("/usr/bin/true")
    seen = Sighting.model_validate(report)
    assert set(seen.calls) == set(CALLS)
    assert None not in seen.calls.values()
    assert seen.program == ""


def test_after_the_go_it_becomes_the_program_and_the_rest_of_the_input_is_the_programs() -> None:
    code = "import sys; sys.stdout.buffer.write(sys.stdin.buffer.read()); sys.exit(7)"
    rest = bytes(range(256)) * 1000
    status, _, output, _ = launched(PYTHON, "-c", code, stdin=b"G" + rest)
    assert (status, output) == (7, rest)


@pytest.mark.parametrize("stdin", [b"", b"g", b"\n", b"X", b"\x00G"])
def test_without_the_go_nothing_is_started(stdin: bytes) -> None:
    status, _, output, _ = launched("/usr/bin/echo", "started", stdin=stdin)
    assert (status, output) == (254, b"")


@pytest.mark.parametrize(
    ("argv", "word"),
    [
        pytest.param((), "no program was given", id="none"),
        pytest.param(("/nowhere",), "no executable file", id="missing"),
        pytest.param(("/etc/passwd",), "no executable file", id="not-executable"),
        pytest.param(("/usr",), "no executable file", id="folder"),
    ],
)
def test_a_program_that_cannot_be_executed_is_told_before_the_go(argv: tuple[str, ...], word: str) -> None:
    _, report, _, _ = launched(*argv, stdin=b"")
    assert word in str(report["program"])


@pytest.mark.parametrize(
    ("text", "fine"),
    [
        pytest.param("#!/bin/sh\nexit 0\n", True, id="script"),
        pytest.param("#! /usr/bin/env python3\n", True, id="spaced"),
        pytest.param("#!/nowhere/python\n", False, id="interpreter-missing"),
        pytest.param("#!\n", False, id="no-interpreter"),
        pytest.param("exit 0\n", False, id="no-head"),
        pytest.param("", False, id="empty"),
    ],
)
def test_a_script_needs_an_interpreter_that_is_there(tmp_path: Path, text: str, *, fine: bool) -> None:
    script = tmp_path / "script"
    script.write_text(text)
    script.chmod(0o755)
    _, report, _, _ = launched(str(script), stdin=b"")
    assert (report["program"] == "") is fine


def test_a_program_that_fails_to_start_after_all_ends_with_its_own_status(tmp_path: Path) -> None:
    script = tmp_path / "script"
    script.write_text("plain text")
    script.chmod(0o755)
    status, _, output, error = launched(str(script))
    assert (status, output) == (203, b"")
    assert b"launcher:" in error


def test_the_program_gets_three_descriptors_and_usual_signals() -> None:
    program = ("/usr/bin/sh", "-c", "ls /proc/self/fd | tr '\\n' ' '; grep SigIgn /proc/self/status")
    other = os.open("/dev/null", os.O_RDONLY)
    os.set_inheritable(other, True)  # noqa: FBT003 - the standard library's signature
    try:
        done = subprocess.run((*_COMMAND, *program), input=b"G", capture_output=True, pass_fds=(other,), check=False)
    finally:
        os.close(other)
    size = int.from_bytes(done.stdout[:4], "big")
    report, output = json.loads(done.stdout[4 : 4 + size]), done.stdout[4 + size :].decode()
    assert str(other) in report["descriptors"]
    assert output.startswith("0 1 2 3 ")  # 3 is the folder that `ls` reads
    assert str(other) not in output.split("SigIgn")[0].split()
    ignored = int(output.split("SigIgn:")[1], 16)
    assert not ignored & (1 << 12 | 1 << 24)


def test_the_environment_goes_on_as_it_is() -> None:
    odd = {"A": "$HOME %n", "B": "ü \\x20\n", "C": ""}
    _, report, output, _ = launched("/usr/bin/env", "-0", environment=odd)
    got = dict(each.split("=", 1) for each in output.decode().split("\0") if each)
    assert got == {"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", **odd}
    assert report["environment"] == sorted(got)


def test_it_leaves_nothing_behind_where_it_tried_to_write(tmp_path: Path) -> None:
    assert launcher.writing(str(tmp_path)) == 0
    assert list(tmp_path.iterdir()) == []
    assert launcher.writing(str(tmp_path / "none")) == 2


def test_no_file_that_was_there_already_makes_a_folder_look_unwritable(tmp_path: Path) -> None:
    (tmp_path / f".{os.getpid()}").touch()
    assert launcher.writing(str(tmp_path)) == 0


def test_it_stands_alone() -> None:
    """Nothing but the standard library, and of that nothing that is slow to import."""
    tree = ast.parse(_FILE.read_text())
    imported = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    assert not [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    assert imported == {"_ctypes", "_stat", "posix", "sys"}
    assert imported <= sys.stdlib_module_names


_JSON = st.recursive(
    st.none() | st.integers() | st.text() | st.text(st.characters(categories=["Cs", "Cc", "Lu"])),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=10,
)


@given(_JSON)
def test_its_json_is_read_back_as_it_was(value: object) -> None:
    text = launcher.quoted(value)
    assert text.isascii()
    assert json.loads(text) == json.loads(json.dumps(value))
