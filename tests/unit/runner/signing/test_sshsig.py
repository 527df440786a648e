"""Laws of SSH signatures: `ssh-keygen` takes ours, we take its, and nothing else counts."""

import subprocess
from pathlib import Path

import pytest

from runner.signing import sshsig
from runner.signing.errors import SignatureError
from tests.unit.runner.signing.known import RFC_8032_1, signer

DATA = b"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855  a\n"


def ssh_keygen(folder: Path, data: bytes, *argv: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(["/usr/bin/ssh-keygen", *argv], cwd=folder, input=data, capture_output=True, check=False)


def verified(folder: Path, data: bytes, armoured: bytes, namespace: str = sshsig.NAMESPACE) -> bool:
    (folder / "allowed").write_text(sshsig.allowed_signer(RFC_8032_1.key, "cleanroom"))
    (folder / "sig").write_bytes(armoured)
    argv = ("-Y", "verify", "-f", "allowed", "-I", "cleanroom", "-n", namespace, "-s", "sig")
    return ssh_keygen(folder, data, *argv).returncode == 0


def test_ssh_keygen_takes_ours_and_nothing_changed(tmp_path: Path) -> None:
    armoured = sshsig.sign(DATA, RFC_8032_1)
    assert verified(tmp_path, DATA, armoured)
    assert not verified(tmp_path, DATA + b"\n", armoured)
    assert not verified(tmp_path, DATA, armoured, namespace="file")
    assert not verified(tmp_path, DATA, sshsig.sign(DATA, signer(7)))


def test_we_take_those_of_ssh_keygen(tmp_path: Path) -> None:
    ssh_keygen(tmp_path, b"", "-q", "-t", "ed25519", "-N", "", "-C", "", "-f", "key")
    armoured = ssh_keygen(tmp_path, DATA, "-Y", "sign", "-n", sshsig.NAMESPACE, "-f", "key").stdout
    found = sshsig.parse(armoured, "sig")
    sshsig.check(DATA, found, "sig")
    assert sshsig.public_line(found.key) == (tmp_path / "key.pub").read_text().strip()


def test_ours_has_the_form_of_ssh_keygens(tmp_path: Path) -> None:
    ssh_keygen(tmp_path, b"", "-q", "-t", "ed25519", "-N", "", "-C", "", "-f", "key")
    theirs = ssh_keygen(tmp_path, DATA, "-Y", "sign", "-n", sshsig.NAMESPACE, "-f", "key").stdout.splitlines()
    ours = sshsig.sign(DATA, RFC_8032_1).splitlines()
    assert [len(line) for line in ours] == [len(line) for line in theirs]


def test_another_namespace_or_other_bytes_do_not_count() -> None:
    found = sshsig.parse(sshsig.sign(DATA, RFC_8032_1, "file"), "sig")
    with pytest.raises(SignatureError, match="a signature for 'file'"):
        sshsig.check(DATA, found, "sig")
    with pytest.raises(SignatureError, match="did not make over these bytes"):
        sshsig.check(DATA + b"x", sshsig.parse(sshsig.sign(DATA, RFC_8032_1), "sig"), "sig")


def test_whatever_is_cut_or_changed_is_no_signature_or_does_not_count() -> None:
    armoured = sshsig.sign(DATA, RFC_8032_1)
    for at in range(len(armoured) - 1):
        for spoilt in (armoured[:at], armoured[:at] + bytes([armoured[at] ^ 1]) + armoured[at + 1 :]):
            with pytest.raises(SignatureError):
                check_own(spoilt)


def check_own(armoured: bytes) -> None:
    found = sshsig.parse(armoured, "sig")
    sshsig.check(DATA, found, "sig")
    if found.key != RFC_8032_1.key:
        raise SignatureError(file="sig", found="another key", expected="ours")
