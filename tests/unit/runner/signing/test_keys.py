"""Laws of keys: made for their owner alone, refused where others can read them, one role each."""

import os
import stat
import subprocess
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from runner.documents.keys import KeyPlace, KeyRole, KeyStatus
from runner.errors import DocumentError
from runner.signing.command import CommandSigner
from runner.signing.errors import KeyFileError, SigningError
from runner.signing.keys import KEYS_FILE, KeyChoiceError, KeyStore
from runner.signing.signer import private_key, public_key
from tests.unit.runner.signing.known import RFC_8032_1, signer


@pytest.fixture
def store(tmp_path: Path) -> KeyStore:
    return KeyStore(folder=tmp_path / "state/keys", clock=lambda: 1_700_000_000_000)


def key_file(store: KeyStore) -> Path:
    return next(store.folder.glob("*.pem"))


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_key_is_made_for_its_owner_alone(store: KeyStore) -> None:
    before = os.umask(0)
    try:
        made = store.create(KeyRole.RUNNER)
    finally:
        os.umask(before)
    assert mode(store.folder) == 0o700
    assert mode(key_file(store)) == 0o600
    assert store.signer(KeyRole.RUNNER).keyid == made.keyid
    assert store.keys().keys == (made,)
    assert b"PRIVATE" not in (store.folder / KEYS_FILE).read_bytes()


@pytest.mark.parametrize("bits", [0o640, 0o604, 0o620, 0o610])
def test_a_key_that_others_can_read_is_refused_with_what_mends_it(store: KeyStore, bits: int) -> None:
    store.create(KeyRole.RUNNER)
    key_file(store).chmod(bits)
    with pytest.raises(KeyFileError, match=f"found the mode {bits:o}; expected 600; .*chmod 600 .*runner keys revoke"):
        store.signer(KeyRole.RUNNER)
    key_file(store).chmod(0o600)
    assert store.signer(KeyRole.RUNNER)


def test_a_folder_that_others_can_look_into_is_refused(store: KeyStore) -> None:
    store.folder.mkdir(parents=True, mode=0o755)
    with pytest.raises(KeyFileError, match=r"expected 700; .*chmod 700"):
        store.create(KeyRole.RUNNER)
    store.folder.chmod(0o700)
    store.create(KeyRole.RUNNER)
    store.folder.chmod(0o750)
    with pytest.raises(KeyFileError, match="the mode 750"):
        store.signer(KeyRole.RUNNER)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
def test_a_key_of_another_account_is_refused(store: KeyStore) -> None:
    store.create(KeyRole.RUNNER)
    os.chown(key_file(store), 1234, 1234)
    with pytest.raises(KeyFileError, match="account 1234 as its owner"):
        store.signer(KeyRole.RUNNER)


def link(path: Path) -> None:
    path.rename(path.with_suffix(".moved"))
    path.symlink_to(path.with_suffix(".moved"))


def swap(path: Path) -> None:
    path.write_bytes(signer(7).pem)


@pytest.mark.parametrize(
    ("spoil", "told"),
    [
        pytest.param(Path.unlink, "no such file", id="gone"),
        pytest.param(link, "no symbolic link", id="a link"),
        pytest.param(swap, f"found key {signer(7).keyid}", id="another"),
        pytest.param(lambda path: path.write_bytes(b"x"), "no PEM of a private key", id="broken"),
    ],
)
def test_a_key_file_that_is_not_the_one_is_refused(store: KeyStore, spoil: Callable[[Path], None], told: str) -> None:
    store.create(KeyRole.RUNNER)
    spoil(key_file(store))
    with pytest.raises(DocumentError, match=told):
        store.signer(KeyRole.RUNNER)


def test_a_role_has_one_key(store: KeyStore) -> None:
    store.create(KeyRole.RELEASE)
    with pytest.raises(KeyChoiceError, match="runner keys rotate --role release"):
        store.create(KeyRole.RELEASE)
    assert store.create(KeyRole.LOG).keyid != store.create(KeyRole.RUNNER).keyid


def test_a_key_that_is_missing_is_told_or_made_and_told(store: KeyStore) -> None:
    with pytest.raises(KeyChoiceError, match="no log key; expected one; make it: runner keys new --role log"):
        store.signer(KeyRole.LOG)
    lines: list[str] = []
    first = store.ensure(KeyRole.LOG, lines.append)
    assert store.ensure(KeyRole.LOG, lines.append).keyid == first.keyid
    assert lines == [f"made a log key, {first.keyid}, in {store.folder}"]


def test_of_many_runners_that_miss_a_key_one_makes_it(store: KeyStore) -> None:
    lines: list[str] = []
    with ThreadPoolExecutor(8) as runners:
        signers = list(runners.map(lambda _: store.ensure(KeyRole.LOG, lines.append), range(16)))
    assert len({each.keyid for each in signers}) == len(lines) == len(store.keys().keys) == 1


def test_a_list_with_a_changed_key_is_refused(store: KeyStore) -> None:
    made = store.create(KeyRole.LOG)
    path = store.folder / KEYS_FILE
    path.write_bytes(path.read_bytes().replace(made.keyid.encode(), signer(7).keyid.encode()))
    with pytest.raises(KeyFileError, match=f"found key {made.keyid}; expected key {signer(7).keyid}"):
        store.keys()


def test_openssl_reads_our_keys_and_we_read_its(store: KeyStore, tmp_path: Path) -> None:
    store.create(KeyRole.RELEASE)
    argv = ["openssl", "pkey", "-in", str(key_file(store)), "-pubout"]
    made = subprocess.run(argv, capture_output=True, check=True).stdout
    assert public_key(made, "x").pem == made
    assert public_key(made, "x").keyid == store.signer(KeyRole.RELEASE).keyid
    subprocess.run(["/usr/bin/openssl", "genpkey", "-algorithm", "ed25519", "-out", tmp_path / "k"], check=True)
    assert private_key((tmp_path / "k").read_bytes(), "k").sign(b"x")


@pytest.mark.parametrize(
    ("data", "told"),
    [
        pytest.param(RFC_8032_1.pem, "a private key, which nobody but its owner should have", id="private"),
        pytest.param(b"", "no PEM of a public key", id="empty"),
        pytest.param(
            b"-----BEGIN PUBLIC KEY-----\nMCowBQYDK2VuAyEAhSDwCYkwp1R0i33ctD73Wg2/Og0mOBr066SpjqqbTmo=\n"
            b"-----END PUBLIC KEY-----\n",
            "a key of another kind",
            id="X25519",
        ),
    ],
)
def test_what_is_no_public_key_is_told(data: bytes, told: str) -> None:
    with pytest.raises(KeyFileError, match=told):
        public_key(data, "release.pem")


def command(tmp_path: Path, text: str) -> str:
    """Give a command that signs with key 7: openssl on a file, for it reads no Ed25519 data from a pipe."""
    (tmp_path / "elsewhere.pem").write_bytes(signer(7).pem)
    script = tmp_path / "sign"
    script.write_text(f"#!/bin/sh\nset -e\ncd {tmp_path}\ncat >data\n{text}\n")
    script.chmod(0o755)
    return f"{script} 'an argument'"


OPENSSL = "openssl pkeyutl -sign -rawin -inkey elsewhere.pem -in data"


@pytest.mark.parametrize("text", [OPENSSL, f"{OPENSSL} | base64 -w0", f"{OPENSSL} | base64 -w0; echo"])
def test_a_key_held_elsewhere_signs_by_a_command(store: KeyStore, tmp_path: Path, text: str) -> None:
    record = store.create(KeyRole.RELEASE, signer(7).key)
    assert (record.place, record.status) == (KeyPlace.ELSEWHERE, KeyStatus.ACTIVE)
    assert list(store.folder.glob("*.pem")) == []
    made = store.signer(KeyRole.RELEASE, command(tmp_path, text))
    assert made.sign(b"data") == signer(7).sign(b"data")
    assert (made.keyid, made.public) == (signer(7).keyid, signer(7).public)
    with pytest.raises(KeyChoiceError, match="give it: --sign-with CMD"):
        store.signer(KeyRole.RELEASE)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        pytest.param("echo one >&2; echo no card >&2; exit 3", r"status 3 \(no card\)", id="fails"),
        pytest.param("echo hello", "6 bytes that are none", id="no signature"),
        pytest.param("true", "0 bytes that are none", id="nothing"),
        pytest.param("head -c 64 /dev/zero", "a signature of another key", id="another key"),
        pytest.param("exec sleep 5", "nothing after 0.2 s", id="too slow"),
    ],
)
def test_a_command_that_does_not_sign_is_told(tmp_path: Path, text: str, told: str) -> None:
    patience = 0.2 if "sleep" in text else 10
    made = CommandSigner(command=command(tmp_path, text), key=signer(7).key, patience=patience)
    with pytest.raises(SigningError, match=told):
        made.sign(b"data")


@pytest.mark.parametrize("text", ["", "'", "/nowhere/at/all"])
def test_what_is_no_command_is_told(store: KeyStore, text: str) -> None:
    store.create(KeyRole.RELEASE, signer(7).key)
    with pytest.raises(SigningError, match="run it by hand"):
        store.signer(KeyRole.RELEASE, text).sign(b"data")


def test_a_key_that_has_a_role_gets_no_other(store: KeyStore) -> None:
    store.create(KeyRole.RELEASE, signer(7).key)
    with pytest.raises(KeyChoiceError, match="expected a key that has no role yet"):
        store.create(KeyRole.LOG, signer(7).key)
