"""Laws of notes and checkpoints: known bytes, unknown signatures ignored, a bad one of a known key refused."""

import base64

import pytest

from runner.canonical import sha256
from runner.signing.errors import SignatureError
from runner.signing.merkle import Head, head
from runner.signing.note import (
    Checkpoint,
    NoteKey,
    open_note,
    parse_checkpoint,
    parse_vkey,
    peek_checkpoint,
    sign_checkpoint,
    sign_note,
)
from tests.unit.runner.signing.known import RFC_8032_1, signer

ORIGIN = "evals.example/rel-1"
TEXT = "evals.example/rel-1\n3\nzwk7E1dVpZKvDgEHHc1/ERPAPvrv6ttgATmVeAYmjSQ=\n"
NOTE = (
    f"{TEXT}\n\u2014 evals.example/rel-1 GvAZ0qGar2OyRw8l7oGICYBspkDCWTyrc5CodSq6HNaGy8UQm36Xw/RzCaVKDn"
    "S42RgXbc2H9EsEryr5aEVwr1WQgA0=\n"
).encode()
KEY = NoteKey(name=ORIGIN, key=RFC_8032_1.key)
LEAVES = (
    b'{"attempt":"a0","manifest_sha256":"fc926dd4cac4f0d6eb12781ad45e51be6f15770386451def648bc9e8993a0d2d"}',
    b'{"attempt":"a1","manifest_sha256":"00d137b8981c9489375197e979e900eb07ed4ad3d9b1b5afb05b33b9b42feec1"}',
    b'{"attempt":"a2","void":"host-lost"}',
)


def test_a_checkpoint_is_the_known_one() -> None:
    made = sign_checkpoint(Checkpoint(origin=ORIGIN, head=head(LEAVES)), RFC_8032_1)
    assert made == NOTE
    assert (len(made), sha256(made)) == (185, "8547b98b67becd2bc1eec393c88471a8a8f4799621a71fdd4bf3512e7f7cd8be")
    assert KEY.vkey == "evals.example/rel-1+1af019d2+AddamAGCsQq31Uv+08lkBzoO4XLz2qYjJa8CGmj3B1Ea"


def test_a_verifier_key_reads_back_and_one_with_another_id_is_refused() -> None:
    text = "example.com/foo+530d903a+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k"
    assert parse_vkey(text).vkey == text
    with pytest.raises(ValueError, match="whose id is 530d903a"):
        parse_vkey(text.replace("530d903a", "530d903b"))
    with pytest.raises(ValueError, match="another kind"):
        parse_vkey(f"example.com/foo+530d903a+{base64.b64encode(bytes([4]) * 33).decode()}")
    with pytest.raises(ValueError, match="NAME"):
        parse_vkey("example.com/foo")


def test_a_checkpoint_opens_with_its_key_under_its_origin_alone() -> None:
    assert open_note(NOTE, [KEY], "checkpoint").text == TEXT
    assert peek_checkpoint(NOTE, "checkpoint").head == head(LEAVES)
    with pytest.raises(SignatureError, match="signatures of other keys"):
        open_note(NOTE, [NoteKey(name=ORIGIN, key=signer(7).key)], "checkpoint")
    with pytest.raises(SignatureError, match="signatures of other keys"):
        open_note(NOTE, [NoteKey(name="elsewhere", key=RFC_8032_1.key)], "checkpoint")
    with pytest.raises(SignatureError, match="no key was given"):
        open_note(NOTE, [], "checkpoint")


def test_signatures_of_unknown_keys_are_ignored() -> None:
    stranger = sign_note(TEXT, "witness.example", (signer(7),)).removeprefix(f"{TEXT}\n".encode())
    assert open_note(NOTE + stranger, [KEY], "x").keys == (KEY,)
    assert open_note(f"{TEXT}\n".encode() + stranger + NOTE.removeprefix(f"{TEXT}\n".encode()), [KEY], "x").text == TEXT


def test_a_bad_signature_of_a_known_key_refuses_the_note_though_another_is_good() -> None:
    other = NoteKey(name="witness.example", key=signer(7).key)
    forged = base64.b64encode(other.id + bytes(64)).decode()
    spoilt = NOTE + f"\u2014 witness.example {forged}\n".encode()
    assert open_note(spoilt, [KEY], "x").keys == (KEY,)
    with pytest.raises(SignatureError, match=f"key {other.key.keyid} did not make over this note"):
        open_note(spoilt, [KEY, other], "x")
    with pytest.raises(SignatureError, match="did not make over this note"):
        open_note(NOTE.replace(b"\n3\n", b"\n4\n"), [KEY], "x")


@pytest.mark.parametrize(
    "spoilt",
    [
        pytest.param(b"", id="empty"),
        pytest.param(NOTE[:-1], id="no end"),
        pytest.param(NOTE.replace(b"\n\n", b"\n"), id="no blank line"),
        pytest.param(f"{TEXT}\n".encode(), id="no signature"),
        pytest.param(NOTE.replace("\u2014".encode(), b"-"), id="no dash"),
        pytest.param(NOTE.replace(b"GvAZ", b"!!!!"), id="no base64"),
        pytest.param(NOTE + b"\xff\n", id="no UTF-8"),
        pytest.param(NOTE.replace(b"\n3\n", b"\n3\r\n"), id="a control character"),
        pytest.param(NOTE + b"x" * 1_000_001, id="too long"),
    ],
)
def test_what_is_no_note_is_refused(spoilt: bytes) -> None:
    with pytest.raises(SignatureError):
        open_note(spoilt, [KEY], "x")


@pytest.mark.parametrize(
    "spoilt",
    [
        pytest.param("a\n1\n", id="no root"),
        pytest.param("a\n01\nzwk7E1dVpZKvDgEHHc1/ERPAPvrv6ttgATmVeAYmjSQ=\n", id="a zero before"),
        pytest.param("a\n-1\nzwk7E1dVpZKvDgEHHc1/ERPAPvrv6ttgATmVeAYmjSQ=\n", id="below zero"),
        pytest.param("\n1\nzwk7E1dVpZKvDgEHHc1/ERPAPvrv6ttgATmVeAYmjSQ=\n", id="no origin"),
        pytest.param("a\n1\nzwk7\n", id="a short root"),
        pytest.param("a\n1\n!\n", id="no base64"),
    ],
)
def test_what_is_no_checkpoint_is_refused(spoilt: str) -> None:
    with pytest.raises(SignatureError):
        parse_checkpoint(spoilt, "x")


def test_further_lines_of_a_checkpoint_are_ignored() -> None:
    assert parse_checkpoint(f"{TEXT}more\n", "x") == Checkpoint(origin=ORIGIN, head=head(LEAVES))
    assert parse_checkpoint("a\n0\n" + base64.b64encode(bytes(32)).decode() + "\n", "x").head == Head(
        size=0, root=bytes(32)
    )


@pytest.mark.parametrize("name", ["", "a b", "a+b", "a\u00a0b"])
def test_a_key_has_a_name_without_blanks(name: str) -> None:
    with pytest.raises(ValueError, match="no key can be called"):
        NoteKey(name=name, key=RFC_8032_1.key)


@pytest.mark.parametrize("text", ["", "\n", "no end", "a\tb\n"])
def test_what_cannot_be_a_note_is_not_signed(text: str) -> None:
    with pytest.raises(ValueError, match="a note is text"):
        sign_note(text, "a", (RFC_8032_1,))
