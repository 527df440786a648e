"""Laws of the desk where releases are signed and logged."""

import shlex
import sys
from pathlib import Path

import pytest

from runner.canonical import sha256
from runner.documents.keys import KeyRole
from runner.documents.manifest import Manifest
from runner.publishing.publication import Desk, End, Wanted, sealed_folders
from runner.publishing.publish import OtherwisePublishedError, Ready, make_ready
from runner.signing.keys import KeyChoiceError, KeyStore
from runner.signing.signer import new_signer
from runner.signing.trust import Trust, own_pins
from runner.verification.published import Known, verify_published
from runner.verify import committed_schemas
from tests.unit.publishing.maker import CANDIDATES, a_release
from tests.unit.publishing.test_publish import scanning

WANTED = Wanted(release="pilot")


@pytest.fixture(scope="module", name="release")
def _release(tmp_path_factory: pytest.TempPathFactory) -> tuple[Ready, Manifest]:
    store, manifest = a_release(tmp_path_factory.mktemp("desk"))
    return make_ready(store, manifest, scanning(), None), manifest


def a_desk(folder: Path, told: list[str]) -> Desk:
    return Desk(releases=folder / "releases", keys=KeyStore(folder=folder / "keys", clock=lambda: 5), tell=told.append)


def test_a_publication_is_signed_by_two_keys_and_logged_once(tmp_path: Path, release: tuple[Ready, Manifest]) -> None:
    (made, manifest), told = release, list[str]()
    desk, results = a_desk(tmp_path, told), tmp_path / "results"
    assert desk.publish(results, made, manifest, WANTED) is End.WRITTEN
    assert [line.split(",")[0] for line in told] == ["made a release key", "made a log key"]
    trust = Trust(pins=tuple(own_pins(desk.keys)))
    assert verify_published(results / "pilot", committed_schemas(), Known(trust=trust)).findings == ()
    first = desk.log(results / "pilot", "pilot")
    again = desk.log(results / "pilot", "pilot")
    assert (first.added, first.size, again.added, again.note) == (True, 1, False, first.note)
    envelope = (results / "pilot/release.dsse.json").read_bytes()
    assert sha256(envelope) in (desk.releases / "log/entries.jsonl").read_text()
    assert desk.publish(results, made, manifest, WANTED) is End.UNCHANGED


def test_what_stands_there_must_be_signed_by_keys_of_this_host(tmp_path: Path, release: tuple[Ready, Manifest]) -> None:
    made, manifest = release
    results = tmp_path / "results"
    a_desk(tmp_path / "theirs", []).publish(results, made, manifest, WANTED)
    with pytest.raises(OtherwisePublishedError, match="which nobody pinned"):
        a_desk(tmp_path / "ours", []).publish(results, made, manifest, WANTED)


def test_a_key_that_is_held_elsewhere_signs_by_its_command_alone(
    tmp_path: Path, release: tuple[Ready, Manifest]
) -> None:
    made, manifest = release
    held, desk = new_signer(), a_desk(tmp_path, [])
    (tmp_path / "held.pem").write_bytes(held.pem)
    desk.keys.create(KeyRole.RELEASE, held.key)
    with pytest.raises(KeyChoiceError, match="--sign-with CMD"):
        desk.publish(tmp_path / "results", made, manifest, WANTED)
    assert not (tmp_path / "results").exists()
    script = tmp_path / "sign.sh"
    script.write_text('cat > "$1.in" && openssl pkeyutl -sign -inkey "$1" -rawin -in "$1.in"\n')
    command = shlex.join(["/bin/sh", str(script), str(tmp_path / "held.pem")])
    desk.publish(tmp_path / "results", made, manifest, Wanted(release="pilot", sign_with=command))
    signature = (tmp_path / "results/pilot/SHA256SUMS.sig").read_bytes()
    assert held.key.made(signature, (tmp_path / "results/pilot/SHA256SUMS").read_bytes())


def test_a_stamp_that_does_not_come_leaves_nothing(tmp_path: Path, release: tuple[Ready, Manifest]) -> None:
    made, manifest = release
    wanted = Wanted(release="pilot", timestamp_with=shlex.join([sys.executable, "-c", "raise SystemExit(3)"]))
    with pytest.raises(Exception, match="3"):
        a_desk(tmp_path, []).publish(tmp_path / "results", made, manifest, wanted)
    assert not (tmp_path / "results").exists()


def test_everything_sealed_is_what_can_be_made_immutable(tmp_path: Path) -> None:
    store, manifest = a_release(tmp_path)
    names = [folder.relative_to(store.root / store.release).as_posix() for folder in sealed_folders(store, manifest)]
    folders = ("submission", "gradings/grading-1")
    wanted = {name: ("void",) if name in {"absent", "unlucky"} else folders for name in CANDIDATES}
    assert names == [f"{name}/slugs/attempt-1/try-1/{each}" for name in CANDIDATES for each in wanted[name]]
