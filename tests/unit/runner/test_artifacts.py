"""Laws of evidence: one canonical form, sealed whole or not at all, never replaced, every change seen."""

import json
import os
import random
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.artifacts import (
    Bond,
    canonical,
    inspect_sealed,
    leftovers,
    new_folder,
    parse,
    read_sealed,
    replace_file,
    seal_folder,
    sha256,
)
from runner.canonical import canonical_lines, parse_lines
from runner.disk import rename_plain
from runner.documents.evidence import Host
from runner.documents.facts import path_bytes, path_text
from runner.documents.seal import SEAL_NAME, Seal, SealKind, Trial
from runner.documents.writing import printable
from runner.errors import DocumentError, DocumentErrors, NotCanonicalError, SealBrokenError, SealTakenError
from tests.unit.runner.evidence_maker import HOST

ROOT = Path(__file__).parents[3]
CHILD = (sys.executable, str(Path(__file__).with_name("sealing.py")))
TRIAL = Trial(release="pilot", manifest_sha256="a" * 64, candidate="oracle", nomination="slugs", attempt=1, try_=1)
BOND = Bond(kind=SealKind.SUBMISSION, trial=TRIAL)
FILES = {"candidate.diff": b"diff\n", "streams/stdout": b"", "tree.json": b"{}"}


def json_values() -> st.SearchStrategy[object]:
    scalars = st.none() | st.booleans() | st.integers(-(2**53) + 1, 2**53 - 1)
    texts = st.text(st.characters(exclude_categories=["Cs"]))
    return st.recursive(
        scalars | texts, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4)
    )


@given(st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), json_values(), max_size=5))
def test_the_canonical_form_is_json_that_reads_back_the_same(value: dict[str, object]) -> None:
    data = canonical(value)
    assert json.loads(data) == value
    assert canonical(json.loads(data)) == data


@pytest.mark.parametrize("value", [1.5, [0.0], {"a": {"b": float("nan")}}])
def test_no_float_is_ever_written(value: object) -> None:
    with pytest.raises(NotCanonicalError, match="decimal string"):
        canonical({"value": value})


@pytest.mark.parametrize("value", [2**53, "\ud800"])
def test_what_other_readers_would_misread_is_not_written(value: object) -> None:
    with pytest.raises(NotCanonicalError):
        canonical({"value": value})
    with pytest.raises(NotCanonicalError, match="surrogate"):
        canonical({"\ud800": 1})


def test_a_document_reads_back_as_it_was_written() -> None:
    assert parse(Host, canonical(HOST), "host.json") == HOST
    assert parse_lines(Host, canonical_lines((HOST, HOST)), "hosts.jsonl") == (HOST, HOST)


GOOD = canonical(HOST)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        pytest.param(GOOD + b"\n", "another form from byte", id="trailing newline"),
        pytest.param(GOOD.replace(b'","', b'", "', 1), "another form", id="space"),
        pytest.param(GOOD.replace(b'{"cgroups":"v2",', b'{"cgroups":"v2","cgroups":"v2",'), "twice", id="twin key"),
        pytest.param(GOOD.replace(b'"v2"', b"1.5"), "only integers", id="float"),
        pytest.param(GOOD.replace(b'"v2"', b"NaN"), "only integers", id="nan"),
        pytest.param(GOOD.replace(b'"v2"', b'"\\ud800"'), "canonical JSON", id="surrogate"),
        pytest.param(GOOD.replace(b'"v2"', b'"\xff"'), "canonical JSON", id="not utf-8"),
        pytest.param(b"\xef\xbb\xbf" + GOOD, "canonical JSON", id="byte order mark"),
        pytest.param(b"[" * 100_000 + b"]" * 100_000, "canonical JSON", id="nesting"),
        pytest.param(b'{"a":' * 99 + b"1" + b"}" * 99, "canonical JSON", id="moderate nesting"),
        pytest.param(b"9" * 5000, "canonical JSON", id="huge number"),
        pytest.param(b"[]", "a JSON object", id="list"),
        pytest.param(GOOD.replace(b"host/1", b"host/2"), "cleanroom/host/1", id="other version"),
        pytest.param(GOOD.replace(b"cleanroom/host/1", b"cleanroom/void/1"), "cleanroom/host/1", id="other kind"),
        pytest.param(canonical({"kernel": "6.1"}), "cleanroom/host/1", id="no schema"),
        pytest.param(b"", "canonical JSON", id="empty"),
    ],
)
def test_any_other_form_is_refused_with_the_file_and_a_way_out(data: bytes, words: str) -> None:
    with pytest.raises(DocumentError) as caught:
        parse(Host, data, "evidence/host.json")
    message = str(caught.value)
    assert message.startswith("evidence/host.json")
    assert words in message
    assert "restore the file from a copy" in message


def test_unknown_and_missing_fields_are_refused_by_name() -> None:
    value = json.loads(GOOD)
    with pytest.raises(DocumentErrors, match="gpu"):
        parse(Host, canonical({**value, "gpu": "none"}), "host.json")
    value.pop("kernel")
    with pytest.raises(DocumentErrors, match="kernel"):
        parse(Host, canonical(value), "host.json")


def test_a_field_that_is_left_out_is_refused_although_it_has_a_default() -> None:
    seal = json.loads(canonical(Seal(kind=SealKind.VOID, trial=TRIAL, files=())))
    seal.pop("grading")
    with pytest.raises(DocumentError, match="every field"):
        parse(Seal, canonical(seal), "SEAL.json")


def test_a_line_without_its_end_is_a_torn_file() -> None:
    with pytest.raises(DocumentError, match="last line"):
        parse_lines(Host, GOOD, "hosts.jsonl")


@given(st.binary(max_size=40))
def test_every_path_has_one_text_and_it_steers_no_terminal(path: bytes) -> None:
    text = path_text(path)
    assert path_bytes(text) == path
    assert text.isascii()
    assert text.isprintable()


@given(st.text(st.characters(), max_size=60))
def test_printable_text_stays_on_its_line_and_can_be_written(text: str) -> None:
    shown = printable(text)
    assert shown.isprintable()
    canonical({"text": shown})


def test_a_sealed_folder_reads_back_and_its_digest_is_its_seals(tmp_path: Path) -> None:
    digest = seal_folder(tmp_path, "submission", FILES, BOND)
    sealed = read_sealed(tmp_path / "submission")
    assert sealed.digest == digest == sha256((tmp_path / "submission" / SEAL_NAME).read_bytes())
    assert [each.path for each in sealed.seal.files] == sorted(FILES)
    assert {each.path: sealed.bytes(each.path) for each in sealed.seal.files} == FILES
    assert sealed.seal.trial == TRIAL
    assert list(tmp_path.iterdir()) == [tmp_path / "submission"]


def test_the_same_evidence_has_the_same_digest_wherever_it_lies(tmp_path: Path) -> None:
    one = seal_folder(tmp_path / "a", "submission", FILES, BOND)
    two = seal_folder(tmp_path / "b", "submission", dict(reversed(FILES.items())), BOND)
    assert one == two


def test_what_is_sealed_has_no_write_bits(tmp_path: Path) -> None:
    seal_folder(tmp_path, "submission", FILES, BOND)
    modes = {path.stat().st_mode & 0o777 for path in (tmp_path / "submission").rglob("*") if path.is_file()}
    folders = {path.stat().st_mode & 0o777 for path in (tmp_path / "submission").rglob("*") if path.is_dir()}
    assert modes == {0o444}
    assert folders | {(tmp_path / "submission").stat().st_mode & 0o777} == {0o555}


def test_a_file_of_the_runners_is_copied_and_a_link_in_its_place_is_not_followed(tmp_path: Path) -> None:
    source = tmp_path / "stdout"
    source.write_bytes(b"x" * 3_000_000)
    seal_folder(tmp_path / "store", "submission", {"streams/stdout": source}, BOND)
    assert read_sealed(tmp_path / "store" / "submission").bytes("streams/stdout") == source.read_bytes()
    link = tmp_path / "link"
    link.symlink_to("/etc/shadow")
    with pytest.raises(Exception, match="could not be written"):
        seal_folder(tmp_path / "store", "other", {"streams/stdout": link}, BOND)
    assert leftovers(tmp_path / "store") == ()


def test_a_second_seal_under_a_name_is_refused_and_the_first_stays(tmp_path: Path) -> None:
    digest = seal_folder(tmp_path, "submission", FILES, BOND)
    with pytest.raises(SealTakenError, match="--resume"):
        seal_folder(tmp_path, "submission", {"other": b"1"}, BOND)
    assert read_sealed(tmp_path / "submission").digest == digest
    assert leftovers(tmp_path) == ()


@pytest.mark.parametrize("squatter", ["empty folder", "file", "link"])
def test_not_even_an_empty_folder_is_replaced(tmp_path: Path, squatter: str) -> None:
    place = tmp_path / "submission"
    {"empty folder": place.mkdir, "file": place.touch, "link": lambda: place.symlink_to("nowhere")}[squatter]()
    with pytest.raises(SealTakenError):
        seal_folder(tmp_path, "submission", FILES, BOND)
    with pytest.raises(FileExistsError):
        rename_plain(tmp_path, place)


def test_the_fall_back_never_replaces_a_folder_with_something_in_it(tmp_path: Path) -> None:
    for name in ("old", "new"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "file").write_text(name)
    with pytest.raises(OSError, match="not empty"):
        (tmp_path / "new").rename(tmp_path / "old")
    assert (tmp_path / "old" / "file").read_text() == "old"


@pytest.mark.parametrize(
    "path",
    ["../x", "/x", "a/../b", ".x", "-x", "a//b", "a\nb", "é", "", "x/", "A" * 201, "SEAL.json", "seal.JSON"],
)
def test_names_that_tools_could_read_in_two_ways_are_refused(tmp_path: Path, path: str) -> None:
    with pytest.raises(ValueError, match=r"evidence|sealing"):
        seal_folder(tmp_path, "submission", {path: b""}, BOND)
    assert list(tmp_path.iterdir()) == []


def test_twins_that_differ_in_case_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="evidence"):
        seal_folder(tmp_path, "submission", {"A": b"", "a": b""}, BOND)


def test_a_derived_file_is_replaced_whole_and_leaves_nothing_beside_it(tmp_path: Path) -> None:
    place = tmp_path / "new" / "aggregate.json"
    for data in (b"one", b"two"):
        replace_file(place, data)
        assert place.read_bytes() == data
    assert list(place.parent.iterdir()) == [place]


def unlock(folder: Path) -> None:
    for path in (folder, *folder.rglob("*")):
        path.chmod(0o755 if path.is_dir() else 0o644)


def flip(path: Path, at: int) -> None:
    data = bytearray(path.read_bytes())
    data[at] ^= 1
    path.write_bytes(data)


def test_every_flipped_byte_is_seen_and_its_file_named(tmp_path: Path) -> None:
    folder = tmp_path / "submission"
    seal_folder(tmp_path, "submission", FILES, BOND)
    digest = read_sealed(folder).digest
    unlock(folder)
    for path in sorted(each for each in folder.rglob("*") if each.is_file()):
        for at in range(0, path.stat().st_size, 3):
            flip(path, at)
            sealed, flaws = inspect_sealed(folder)
            # A seal that was changed skilfully is another seal: whatever is bound to it sees that.
            assert flaws or (sealed is not None and sealed.digest != digest)
            if path.name != SEAL_NAME:
                assert [flaw.file for flaw in flaws] == [path]
                with pytest.raises(SealBrokenError, match=path.name):
                    read_sealed(folder)
            flip(path, at)


@pytest.mark.parametrize("change", ["extra file", "extra folder", "missing", "link", "renamed", "fifo"])
def test_every_other_change_is_seen_too(tmp_path: Path, change: str) -> None:
    folder = tmp_path / "submission"
    seal_folder(tmp_path, "submission", FILES, BOND)
    unlock(folder)
    target = folder / "tree.json"
    if change == "extra file":
        (folder / "streams" / "more").touch()
    elif change == "extra folder":
        (folder / "empty").mkdir()
    elif change == "renamed":
        target.rename(folder / "tree2.json")
    else:
        data = target.read_bytes()
        target.unlink()
        if change == "link":
            (tmp_path / "same").write_bytes(data)
            target.symlink_to(tmp_path / "same")
        elif change == "fifo":
            os.mkfifo(target)
    _, flaws = inspect_sealed(folder)
    assert flaws
    with pytest.raises(SealBrokenError):
        read_sealed(folder)


def test_a_folder_without_a_seal_is_not_evidence(tmp_path: Path) -> None:
    (tmp_path / "submission").mkdir()
    with pytest.raises(SealBrokenError, match=SEAL_NAME):
        read_sealed(tmp_path / "submission")


def test_a_folder_that_grows_is_whole_from_the_start_and_stays_open(tmp_path: Path) -> None:
    new_folder(tmp_path / "attempt-1", "try-1", {"begun.json": b"{}"})
    seal_folder(tmp_path / "attempt-1" / "try-1", "submission", FILES, BOND)
    assert read_sealed(tmp_path / "attempt-1" / "try-1" / "submission").holds("tree.json")
    with pytest.raises(SealTakenError):
        new_folder(tmp_path / "attempt-1", "try-1", {"begun.json": b"{}"})


def visible(store: Path) -> list[str]:
    return sorted(each.name for each in store.iterdir() if not each.name.startswith(".tmp-"))


def seal_elsewhere(before: list[str], *arguments: str) -> subprocess.CompletedProcess[str]:
    path = "/usr/sbin:/usr/bin:/sbin:/bin"
    environment = {"PATH": path, "PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [*before, *CHILD, *arguments]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=60)


@pytest.mark.skipif(os.geteuid() != 0, reason="mounts a small file system")
@pytest.mark.parametrize("option", ["size", "nr_inodes"])
def test_a_full_disk_leaves_nothing_half_written_at_whichever_write_it_fills(tmp_path: Path, option: str) -> None:
    script = 'mount -t tmpfs -o size=1m,nr_inodes=99 none "$1" && shift && exec "$@"'
    done = seal_elsewhere(["unshare", "-m", "sh", "-c", script, "sh", str(tmp_path)], str(tmp_path), option)
    assert done.returncode == 0, done.stderr
    *refused, sealed = [json.loads(line) for line in done.stdout.splitlines()]
    assert sealed == ["", ["submission"]]
    assert len(refused) > 3
    for said, left in refused:
        assert "No space left" in said
        assert "--resume" in said
        assert left == []


@pytest.mark.skipif(os.geteuid() != 0, reason="mounts a small file system")
def test_a_full_disk_keeps_whole_lines_and_the_older_table(tmp_path: Path) -> None:
    script = 'mount -t tmpfs -o size=1m none "$1" && shift && exec "$@"'
    done = seal_elsewhere(["unshare", "-m", "sh", "-c", script, "sh", str(tmp_path)], str(tmp_path), "lines")
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert "No space left" in told["refused"]
    assert told["whole"] == told["told"] > 10
    assert told["table"] == "older"
    assert told["again"] is True


def test_the_calls_of_sealing_are_really_made_and_in_this_order(tmp_path: Path) -> None:
    store = tmp_path / "store"
    store.mkdir()
    done = seal_elsewhere(["strace", "-f", "-o", str(tmp_path / "calls"), "-e", "trace=fsync,renameat2"], str(store))
    assert done.returncode == 0, done.stderr
    calls = re.findall(r"(fsync|renameat2)\(.* = 0$", (tmp_path / "calls").read_text(), flags=re.MULTILINE)
    # The store's own name; four files and the seal; two folders; the move; the name.
    assert calls == ["fsync"] * (1 + 5 + 2) + ["renameat2", "fsync"]


def test_a_killed_runner_leaves_a_whole_folder_or_a_temporary_one(tmp_path: Path) -> None:
    chance = random.Random(8785)  # noqa: S311 - only picks moments
    environment = {"PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1"}
    for number in range(6):
        store = tmp_path / str(number)
        store.mkdir()
        with subprocess.Popen([*CHILD, str(store)], env=environment, stdout=subprocess.DEVNULL) as child:
            deadline = time.monotonic() + 20
            while child.poll() is None and not list(store.iterdir()) and time.monotonic() < deadline:
                time.sleep(0.0002)
            time.sleep(chance.random() * 0.008)
            child.send_signal(signal.SIGKILL)
        for name in visible(store):
            read_sealed(store / name)
        assert set(store.iterdir()) == {store / name for name in visible(store)} | set(leftovers(store))
