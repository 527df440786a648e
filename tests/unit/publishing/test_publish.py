"""Laws of publication: once, whole, and nothing of it before everything was looked at."""

import re
import threading
from collections.abc import Mapping
from pathlib import Path

import pytest

from runner.canonical import sha256
from runner.documents.publish_allow import AllowEntry, PublishAllow
from runner.durable import StorageError
from runner.publishing.ends import UnendedError
from runner.publishing.model import Named, ScanContext, ScanError
from runner.publishing.publish import (
    OtherwisePublishedError,
    OutrunError,
    Ready,
    Scanning,
    is_published,
    make_ready,
    write_release,
)
from runner.verification.published import Known, verify_published
from tests.unit.publishing.maker import TRUST, a_release, cell, signed
from tests.unit.publishing.test_verify_published import SCHEMAS
from tests.unit.runner.evidence_maker import Run, a_manifest, a_store, attempt

REASON = "we ran out of money"
SECRET = Named(kind="the operator's home", text="/home/alice")


def scanning(*paths: Named, allow: PublishAllow | None = None) -> Scanning:
    context = ScanContext(paths=paths)
    return Scanning(context=context, allow_list=allow or PublishAllow(), allow_file=Path("config/x.publish-allow.json"))


@pytest.fixture(scope="module", name="made")
def _made(tmp_path_factory: pytest.TempPathFactory) -> Ready:
    """A release in which everything happens once, ready to be written."""
    store, manifest = a_release(tmp_path_factory.mktemp("ready"))
    return make_ready(store, manifest, scanning(), None)


def sign(digests: Mapping[str, str], leaves: tuple[bytes, ...]) -> Mapping[str, bytes]:
    return signed(digests, leaves)


def listing(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_what_is_written_verifies_and_stands_alone(tmp_path: Path, made: Ready) -> None:
    folder = write_release(tmp_path / "results", made, sign)
    assert verify_published(folder, SCHEMAS, Known(trust=TRUST)).findings == ()
    assert [path.name for path in (tmp_path / "results").iterdir()] == ["pilot"]


def test_folders_can_be_worked_with_and_files_are_read_only(tmp_path: Path, made: Ready) -> None:
    folder = write_release(tmp_path / "results", made, sign)
    modes = {path.stat().st_mode & 0o777 for path in folder.rglob("*") if path.is_file()}
    assert modes == {0o444}
    assert all(path.stat().st_mode & 0o700 == 0o700 for path in (folder, *folder.rglob("*")) if path.is_dir())


def test_again_is_the_same_or_refused_with_what_differs(tmp_path: Path, made: Ready) -> None:
    results = tmp_path / "results"
    assert not is_published(results, made)
    folder = write_release(results, made, sign)
    before = listing(folder)
    assert is_published(results, made)
    path = folder / "solver/slugs/attempts/attempt-1/run.json"
    path.chmod(0o644)
    path.write_bytes(path.read_bytes().replace(b"completed", b"completes"))
    (folder / "aggregate.md").unlink()
    (folder / "notes.txt").write_text("mine")
    with pytest.raises(OtherwisePublishedError) as refused:
        is_published(results, made)
    said = str(refused.value)
    assert "differs in 3 files" in said
    assert re.search("run.json: is published with sha256 .*, and would have", said)
    assert "aggregate.md: is not there, and would be written" in said
    assert "notes.txt: is there, and would not be written" in said
    assert listing(folder).keys() ^ before.keys() == {"aggregate.md", "notes.txt"}


def test_a_name_that_is_taken_stays_as_it_is(tmp_path: Path, made: Ready) -> None:
    results = tmp_path / "results"
    write_release(results, made, sign)
    before = listing(results)
    with pytest.raises(OutrunError):
        write_release(results, made, sign)
    assert listing(results) == before


def test_of_two_publishers_one_wins_and_the_other_is_told(tmp_path: Path, made: Ready) -> None:
    at_the_line, ends = threading.Barrier(2), list[str]()

    def slowly(digests: Mapping[str, str], leaves: tuple[bytes, ...]) -> Mapping[str, bytes]:
        at_the_line.wait(timeout=30)
        return sign(digests, leaves)

    def run() -> None:
        try:
            write_release(tmp_path / "results", made, slowly)
            ends.append("won")
        except OutrunError as error:
            ends.append(str(error))

    racers = [threading.Thread(target=run) for _ in range(2)]
    for racer in racers:
        racer.start()
    for racer in racers:
        racer.join()
    assert sorted(end == "won" for end in ends) == [False, True]
    assert any("another publisher was quicker" in end for end in ends)
    assert is_published(tmp_path / "results", made)
    assert [path.name for path in (tmp_path / "results").iterdir()] == ["pilot"]


def test_a_signer_that_fails_leaves_nothing(tmp_path: Path, made: Ready) -> None:
    def broken(_digests: Mapping[str, str], _leaves: tuple[bytes, ...]) -> Mapping[str, bytes]:
        raise StorageError(file="a token", found="not plugged in")

    with pytest.raises(StorageError):
        write_release(tmp_path / "results", made, broken)
    assert not (tmp_path / "results").exists()


def test_attempts_without_an_end_are_named_or_published_for_a_reason(tmp_path: Path) -> None:
    manifest = a_manifest("solver", "idler")
    store = a_store(tmp_path, manifest)
    attempt(store, cell("solver"), Run())
    with pytest.raises(UnendedError, match="idler/slugs/attempt-1: never begun"):
        make_ready(store, manifest, scanning(), None)
    made = make_ready(store, manifest, scanning(), REASON)
    assert made.incomplete == 1
    assert [REASON.encode() in leaf for leaf in made.leaves] == [False, True]
    folder = write_release(tmp_path / "results", made, sign)
    assert verify_published(folder, SCHEMAS, Known(trust=TRUST)).findings == ()


def test_what_a_scan_finds_stops_it_and_a_reason_lets_it_pass_in_public(tmp_path: Path) -> None:
    manifest = a_manifest("solver")
    candidate = manifest.candidates[0].model_copy(update={"label": "built in /home/alice/agents"})
    manifest = manifest.model_copy(update={"candidates": (candidate,)})
    store = a_store(tmp_path, manifest)
    attempt(store, cell("solver"), Run())
    with pytest.raises(ScanError) as stopped:
        make_ready(store, manifest, scanning(SECRET), None)
    files = {each.file for each in stopped.value.findings}
    assert files == {
        "manifest.json",
        "aggregate.json",
        "solver/preflight.json",
        "solver/slugs/attempts/attempt-1/run.json",
    }
    assert "candidates[0].label" in str(stopped.value)
    entries = tuple(
        AllowEntry(rule="private-path", file="**", sha256=digest, reason="an account that exists nowhere")
        for digest in {each.sha256 for each in stopped.value.findings}
    )
    made = make_ready(store, manifest, scanning(SECRET, allow=PublishAllow(entries=entries)), None)
    assert {each.file for each in made.allowed} == files
    assert b"an account that exists nowhere" in made.files["allowed.json"]
    folder = write_release(tmp_path / "results", made, sign)
    assert verify_published(folder, SCHEMAS, Known(trust=TRUST)).findings == ()


def test_a_reason_to_let_pass_is_looked_at_like_everything_else(tmp_path: Path) -> None:
    manifest = a_manifest("solver")
    candidate = manifest.candidates[0].model_copy(update={"label": "built in /home/alice/agents"})
    manifest = manifest.model_copy(update={"candidates": (candidate,)})
    store = a_store(tmp_path, manifest)
    attempt(store, cell("solver"), Run())
    with pytest.raises(ScanError) as stopped:
        make_ready(store, manifest, scanning(SECRET), None)
    entries = tuple(
        AllowEntry(rule="private-path", file="**", sha256=digest, reason="it is /home/alice, whom nobody knows")
        for digest in {each.sha256 for each in stopped.value.findings}
    )
    with pytest.raises(ScanError, match=r"allowed\.json: entries"):
        make_ready(store, manifest, scanning(SECRET, allow=PublishAllow(entries=entries)), None)


def test_digests_are_of_every_file(made: Ready) -> None:
    assert made.digests == {path: sha256(data) for path, data in made.files.items()}
