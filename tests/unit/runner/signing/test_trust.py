"""Laws of trust: keys come from outside, rotations lead from one that counts, and a revoked key takes all with it."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from runner.canonical import canonical
from runner.documents.keys import KeyRole, KeyStatus
from runner.errors import DocumentError, DocumentErrors
from runner.signing.errors import SignatureError
from runner.signing.keys import KeyChoiceError, KeyStore
from runner.signing.rotation import ROTATIONS, Rotated, Successor, rotate
from runner.signing.signer import PublicKey
from runner.signing.trust import Pin, Trust, own_pins, read_trust
from tests.unit.runner.signing.known import signer

NOW = 1_700_000_000_000


@pytest.fixture
def store(tmp_path: Path) -> KeyStore:
    return KeyStore(folder=tmp_path / "keys", clock=lambda: NOW)


def pem(store: KeyStore, name: str) -> Path:
    """Give the release key as it is now, in a file elsewhere."""
    path = store.folder.parent / name
    path.write_bytes(PublicKey(raw=store.signer(KeyRole.RELEASE).public).pem)
    return path


def listed(store: KeyStore) -> Path:
    """Give what `runner keys show --json` prints, in a file elsewhere."""
    path = store.folder.parent / "trust.json"
    path.write_bytes(canonical(store.keys()) + b"\n")
    return path


def rotated(store: KeyStore) -> Rotated:
    return rotate(store, KeyRole.RELEASE, Successor())


def ids(trust: Trust) -> set[str]:
    return {key.keyid for key in trust.keys(KeyRole.RELEASE)}


def test_a_rotation_retires_the_old_key_which_still_counts(store: KeyStore) -> None:
    old = store.create(KeyRole.RELEASE)
    done = rotated(store)
    assert store.signer(KeyRole.RELEASE).keyid == done.new
    assert [(each.keyid, each.status, each.retired_ms) for each in store.keys().keys] == [
        (old.keyid, KeyStatus.RETIRED, NOW),
        (done.new, KeyStatus.ACTIVE, None),
    ]
    trust = Trust(pins=own_pins(store))
    assert ids(trust) == {done.old, done.new}
    assert [trust.objection(key, KeyRole.RELEASE, None) for key in trust.keys(KeyRole.RELEASE)] == [None, None]


def test_who_knows_the_old_key_finds_the_new_ones_in_whichever_order_statements_come(store: KeyStore) -> None:
    store.create(KeyRole.RELEASE)
    known = pem(store, "old.pem")
    first, second = rotated(store), rotated(store)
    for files in ((known, first.statement, second.statement), (second.statement, first.statement, known)):
        assert ids(read_trust(files)) == {first.old, first.new, second.new}
    assert store.keys().keys[0].role in {each.role for each in read_trust((known, first.statement)).pins}


def test_a_rotation_of_a_key_that_nobody_pinned_leads_nowhere(store: KeyStore) -> None:
    store.create(KeyRole.RELEASE)
    first, second = rotated(store), rotated(store)
    with pytest.raises(SignatureError, match=f"a rotation of key {first.old}, which nobody pinned"):
        read_trust((first.statement,))
    (store.folder.parent / "old.pem").write_bytes(signer(7).key.pem)
    with pytest.raises(SignatureError, match=f"a rotation of key {second.old}, which nobody pinned"):
        read_trust((store.folder.parent / "old.pem", second.statement))


def test_a_rotation_of_a_revoked_key_leads_nowhere(store: KeyStore) -> None:
    store.create(KeyRole.RELEASE)
    known = listed(store)
    done = rotated(store)
    store.revoke(done.old, NOW, "stolen")
    assert ids(read_trust((known, done.statement))) == {done.old, done.new}
    with pytest.raises(SignatureError, match=r"revoked since .* which nothing proves to be older"):
        read_trust((known, listed(store), done.statement))


def test_a_rotation_of_another_role_leads_nowhere(store: KeyStore) -> None:
    store.create(KeyRole.LOG)
    known = listed(store)
    known.write_bytes(known.read_bytes().replace(b'"role":"log"', b'"role":"release"'))
    done = rotate(store, KeyRole.LOG, Successor())
    with pytest.raises(SignatureError, match="expected a rotation of a log key that counts"):
        read_trust((known, done.statement))


def without_first(data: bytes) -> bytes:
    head, _, tail = data.partition(b'"signatures":[')
    return head + b'"signatures":[' + tail.partition(b"},")[2]


def without_second(data: bytes) -> bytes:
    return data.rpartition(b",{")[0] + b"]}"


@pytest.mark.parametrize("spoil", [without_first, without_second])
def test_a_rotation_that_only_one_key_signed_leads_nowhere(store: KeyStore, spoil: Callable[[bytes], bytes]) -> None:
    store.create(KeyRole.RELEASE)
    known = pem(store, "old.pem")
    done = rotated(store)
    spoilt = store.folder.parent / "spoilt.dsse.json"
    spoilt.write_bytes(spoil(done.statement.read_bytes()))
    with pytest.raises(SignatureError, match="found signatures of 1 of these keys; expected 2 of"):
        read_trust((known, spoilt))


def test_a_rotation_to_a_key_held_elsewhere_is_signed_by_its_command(store: KeyStore, tmp_path: Path) -> None:
    store.create(KeyRole.RELEASE)
    known = pem(store, "old.pem")
    (tmp_path / "elsewhere.pem").write_bytes(signer(7).pem)
    script = tmp_path / "sign"
    script.write_text(
        f"#!/bin/sh\ncd {tmp_path}; cat >data; exec openssl pkeyutl -sign -rawin -inkey elsewhere.pem -in data\n"
    )
    script.chmod(0o755)
    there = Successor(public=signer(7).key, new_sign_with=str(script))
    with pytest.raises(KeyChoiceError, match="--sign-with CMD"):
        rotate(store, KeyRole.RELEASE, replace(there, new_sign_with=None))
    done = rotate(store, KeyRole.RELEASE, there)
    assert ids(read_trust((known, done.statement))) == {done.old, signer(7).keyid}
    back = rotate(store, KeyRole.RELEASE, Successor(sign_with=str(script)))
    assert ids(read_trust((known, done.statement, back.statement))) == {done.old, signer(7).keyid, back.new}
    assert len(list((store.folder / ROTATIONS).iterdir())) == 2


def test_a_failed_rotation_leaves_the_old_key_its_role(store: KeyStore) -> None:
    made = store.create(KeyRole.RELEASE)
    (store.folder / ROTATIONS).write_bytes(b"in the way")
    with pytest.raises(Exception, match="rotations"):
        rotated(store)
    assert store.keys().keys == (made,)
    assert store.signer(KeyRole.RELEASE).keyid == made.keyid


def test_a_revoked_key_signs_no_more_and_another_can_be_made(store: KeyStore) -> None:
    made = store.create(KeyRole.RELEASE)
    assert store.revoke(made.keyid[:8], NOW, "stolen").status is KeyStatus.REVOKED
    with pytest.raises(KeyChoiceError, match="no release key"):
        store.signer(KeyRole.RELEASE)
    assert store.create(KeyRole.RELEASE).keyid != made.keyid


def test_a_revocation_can_only_be_made_earlier(store: KeyStore) -> None:
    made = store.create(KeyRole.RELEASE)
    store.revoke(made.keyid, NOW, "stolen")
    with pytest.raises(KeyChoiceError, match="revoked already; expected an earlier time"):
        store.revoke(made.keyid, NOW, "stolen")
    assert store.revoke(made.keyid, NOW - 1, "stolen before").revoked_ms == NOW - 1
    with pytest.raises(KeyChoiceError, match="found 0 keys that begin with 'zz'"):
        store.revoke("zz", NOW, "stolen")


@pytest.mark.parametrize(
    ("at_ms", "counts"),
    [
        pytest.param(None, False, id="no word for when"),
        pytest.param(NOW - 1, True, id="before"),
        pytest.param(NOW, False, id="just then"),
        pytest.param(NOW + 1, False, id="after"),
    ],
)
def test_a_revoked_keys_signature_counts_only_if_it_is_known_to_be_older(at_ms: int | None, *, counts: bool) -> None:
    key = signer(1).key
    pins = (
        Pin(key=key, role=KeyRole.RELEASE, source="a"),
        Pin(key=key, role=None, source="b", revoked_ms=NOW, reason="stolen"),
        Pin(key=key, role=KeyRole.RELEASE, source="c", revoked_ms=NOW + 9),
    )
    objection = Trust(pins=pins).objection(key, KeyRole.RELEASE, at_ms)
    assert (objection is None) is counts
    assert counts or "revoked since 2023-11-14T22:13:20Z (stolen)" in str(objection)


@pytest.mark.parametrize(
    ("data", "told"),
    [
        pytest.param(b"", "no PEM of a public key", id="empty"),
        pytest.param(b"{}", "schema", id="another document"),
        pytest.param(b'{"keys":[],"keys":[],"schema":"cleanroom/keys/1"}', "the same key twice", id="a twin"),
        pytest.param(b'{"payload":"","payloadType":"x","signatures":[]}', "signatures", id="not signed"),
    ],
)
def test_what_is_no_key_file_is_told(tmp_path: Path, data: bytes, told: str) -> None:
    (tmp_path / "key").write_bytes(data)
    with pytest.raises((DocumentError, DocumentErrors), match=told):
        read_trust((tmp_path / "key",))
