"""The native loop's tools, one by one, and against anything a model may send."""

import json
import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from runner.agents.native_loop.text import Ends, shorten
from runner.agents.native_loop.tools import OFFERED, Reply, Toolbox, open_toolbox

LIMITS = {"read_chars": 2_000, "output_chars": 1_000, "run_s": 2, "search_s": 1}

Use = Callable[..., Reply]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "w"
    folder.mkdir()
    (folder / "text.txt").write_text("".join(f"line {number}\n" for number in range(1, 11)))
    (folder / "binary").write_bytes(b"\x7fELF\0\1")
    (tmp_path / "outside").write_text("secret")
    return folder


@pytest.fixture
def use(root: Path) -> Use:
    toolbox = open_toolbox(root, list(OFFERED), LIMITS)
    return lambda name, **arguments: toolbox.call(name, json.dumps(arguments))


def test_a_range_of_lines_is_read_and_named(use: Use) -> None:
    reply = use("read_file", path="text.txt", first_line=3, last_line=4)
    assert reply.text == "[text.txt: lines 3-4 of 10]\nline 3\nline 4\n"
    assert use("read_file", path="text.txt", first_line=9, last_line=99).text.endswith("line 9\nline 10\n")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        pytest.param({"path": "none"}, "there is no none", id="missing"),
        pytest.param({"path": "."}, "is a folder", id="folder"),
        pytest.param({"path": "text.txt", "first_line": 0}, "no range", id="line 0"),
        pytest.param({"path": "text.txt", "first_line": 11}, "10 lines", id="beyond"),
        pytest.param({"path": "text.txt", "first_line": 5, "last_line": 4}, "no range", id="backwards"),
        pytest.param({"path": "../outside"}, "outside the workspace", id="dots"),
        pytest.param({"path": "/etc/passwd"}, "outside the workspace", id="absolute"),
        pytest.param({"path": "link"}, "outside the workspace", id="link"),
        pytest.param({"path": "folder/outside"}, "outside the workspace", id="linked folder"),
        pytest.param({"path": "pipe"}, "not a plain file", id="pipe"),
        pytest.param({"path": "a\0b"}, "ValueError", id="NUL"),
        pytest.param({"path": "\ud800"}, "UnicodeEncodeError", id="surrogate"),
        pytest.param({"path": "x" * 5_000}, "error", id="long"),
    ],
)
def test_what_cannot_be_read_is_said(root: Path, use: Use, arguments: dict[str, object], said: str) -> None:
    (root / "link").symlink_to("../outside")
    (root / "folder").symlink_to("..")
    os.mkfifo(root / "pipe")
    reply = use("read_file", **arguments)
    assert reply.failed
    assert not reply.malformed
    assert said in reply.text
    assert "secret" not in reply.text


def test_binary_files_are_said_to_be_so(use: Use) -> None:
    assert use("read_file", path="binary").text == "binary is a binary file of 6 bytes; it cannot be shown"


def test_long_text_keeps_head_and_tail_and_says_how_much_was_cut(root: Path, use: Use) -> None:
    (root / "long").write_text("a" * 3_000 + "z" * 3_000)
    text = use("read_file", path="long").text
    assert "[... 4000 characters cut ...]" in text
    assert text.endswith("z" * 1_000)
    assert shorten("abcdef", 6) == "abcdef"


@pytest.mark.parametrize("parts", [[b"abcdefghij"], [b"abc", b"defgh", b"ij"], [b"a"] * 10, [b""]])
def test_the_ends_of_a_stream_are_the_same_however_it_comes(parts: list[bytes]) -> None:
    ends, whole = Ends(4), b"".join(parts)
    for part in parts:
        ends.add(part)
    cut = f"\n[... {len(whole) - 4} bytes cut ...]\n".encode() if len(whole) > 4 else b""
    expected = whole[:2] + cut + whole[2:][-2:] if len(whole) > 4 else whole
    assert ends.text() == expected.decode()


def test_a_folder_is_listed_with_what_each_entry_is(root: Path, use: Use) -> None:
    (root / "sub").mkdir()
    (root / "link").symlink_to("text.txt")
    assert use("list_dir").text == "binary\nlink -> text.txt\nsub/\ntext.txt"
    assert use("list_dir", path="sub").text == "(empty)"
    assert use("list_dir", path="text.txt").failed


def test_a_crowded_folder_says_how_much_is_left_out(root: Path, use: Use) -> None:
    for number in range(410):
        (root / f"f{number}").touch()
    assert use("list_dir").text.endswith("[... 12 more entries ...]")


def test_search_finds_lines_and_bounds_itself(root: Path, use: Use) -> None:
    (root / "sub").mkdir()
    (root / "sub/b.py").write_text("line in python\n")
    assert use("search", pattern=r"line 1\b").text == "text.txt:1: line 1"
    assert use("search", pattern="line", glob="*.py").text == "sub/b.py:1: line in python"
    assert use("search", pattern="line", path="sub").text == "sub/b.py:1: line in python"
    assert use("search", pattern="nowhere").text == "no match"
    assert "not a regular expression" in use("search", pattern="(").text
    (root / "many").write_text("match\n" * 500)
    assert use("search", pattern="match", path="many").text.endswith("[... stopped after 200 matches ...]")


def test_search_that_explodes_is_ended(root: Path, use: Use) -> None:
    (root / "evil").write_text("a" * 60 + "!\n")
    began = time.monotonic()
    assert "more than 1 s" in use("search", pattern="(a+)+$", path="evil").text
    assert time.monotonic() - began < 5


def test_an_edit_must_fit_exactly(root: Path, use: Use) -> None:
    (root / "e").write_bytes(b"one\r\ntwo\r\none\r\n")
    assert "stands 2 times in e, not 1; nothing was changed" in use("edit", path="e", old="one", new="1").text
    assert "stands 0 times" in use("edit", path="e", old="three", new="1").text
    assert use("edit", path="e", old="", new="1").failed
    assert (root / "e").read_bytes() == b"one\r\ntwo\r\none\r\n"
    assert use("edit", path="e", old="two\r\n", new="2\r\n").text == "edited e: 1 replaced"
    assert use("edit", path="e", old="one", new="1", count=2).text == "edited e: 2 replaced"
    assert (root / "e").read_bytes() == b"1\r\n2\r\n1\r\n"


def test_writing_makes_folders_and_counts_bytes(root: Path, use: Use) -> None:
    assert use("write_file", path="n/e/w", content="é\n").text == "wrote n/e/w: 3 bytes"
    assert use("write_file", path="n/e/w", content="").text == "replaced n/e/w: 0 bytes"
    assert use("write_file", path="text.txt/x", content="").failed
    assert use("write_file", path="n", content="").failed
    assert use("write_file", path="../x", content="").failed
    assert not (root.parent / "x").exists()


def test_a_command_is_ended_with_all_its_children(root: Path, use: Use) -> None:
    began = time.monotonic()
    reply = use("run", command="sleep 100 & echo begun; sleep 100", timeout_s=1)
    assert reply.text == "[killed after 1 s]\nbegun\n"
    assert time.monotonic() - began < 5
    assert use("run", command=["/bin/echo", "a b", "$HOME"]).text == "[exit status 0]\na b $HOME\n"
    assert use("run", command="pwd").text.strip().endswith(str(root))


@pytest.mark.parametrize(
    "arguments",
    [{"command": " "}, {"command": "ls", "timeout_s": 0}, {"command": "ls", "timeout_s": 99}, {"command": ["/none"]}],
)
def test_a_command_that_cannot_run_is_an_error_reply(use: Use, arguments: dict[str, object]) -> None:
    assert use("run", **arguments).failed


def test_a_commands_output_keeps_its_tail(use: Use) -> None:
    text = use("run", command="seq 100000; echo FAILED").text
    assert "bytes cut" in text
    assert text.endswith("FAILED\n")
    assert len(text) < 1_200


def test_a_command_whose_output_never_ends_is_bounded(use: Use) -> None:
    assert use("run", command="yes", timeout_s=1).text.startswith("[killed after 1 s]")


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=5,
)
arguments_of = st.one_of(
    st.text(max_size=40),
    json_values.map(json.dumps),
    st.dictionaries(
        st.sampled_from(["path", "content", "old", "new", "count", "pattern", "glob", "first_line", "summary"]),
        st.one_of(json_values, st.sampled_from(["text.txt", ".", "..", "new"])),
        max_size=4,
    ).map(json.dumps),
)


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(name=st.sampled_from(sorted(set(OFFERED) - {"run"})) | st.text(max_size=10), arguments=arguments_of)
def test_no_call_breaks_the_loop(root: Path, name: str, arguments: str) -> None:
    toolbox: Toolbox = open_toolbox(root, list(OFFERED), LIMITS)
    reply = toolbox.call(name, arguments)
    assert isinstance(reply.text, str)
    assert (root.parent / "outside").read_text() == "secret"
