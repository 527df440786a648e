"""Laws of envelopes: known bytes, both alphabets, and nothing counts that a key of ours did not sign."""

import base64
import json
from typing import Any

import pytest

from runner.canonical import sha256
from runner.errors import DocumentError, DocumentErrors
from runner.signing import dsse
from runner.signing.errors import SignatureError
from runner.signing.signer import PublicKey
from runner.signing.statement import PAYLOAD_TYPE, Statement, parse_statement
from tests.unit.runner.signing.known import RFC_8032_1, signer

EMPTY = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
STATEMENT = Statement(subjects={"empty": EMPTY}, predicate_type="https://example.com/attempt/v1", predicate={})
KEYS = (RFC_8032_1.key,)


def envelope(payload: bytes = STATEMENT.payload, kind: str = PAYLOAD_TYPE) -> dict[str, Any]:
    return json.loads(dsse.sign(kind, payload, (RFC_8032_1,)))  # type: ignore[no-any-return]


def verify(fields: dict[str, Any], *, keys: tuple[PublicKey, ...] = KEYS, threshold: int = 1) -> bytes:
    data = json.dumps(fields).encode()
    return dsse.verify(data, keys, payload_type=PAYLOAD_TYPE, file="x.dsse.json", threshold=threshold).payload


@pytest.mark.parametrize(
    ("kind", "payload", "expected"),
    [
        pytest.param(
            "http://example.com/HelloWorld",
            b"hello world",
            b"DSSEv1 29 http://example.com/HelloWorld 11 hello world",
            id="of the specification",
        ),
        pytest.param("", b"", bytes.fromhex("445353457631203020203020"), id="empty"),
        pytest.param("\u00e9", b"x", bytes.fromhex("445353457631203220c3a920312078"), id="lengths are of bytes"),
        pytest.param("t", "\u00e9".encode(), b"DSSEv1 1 t 2 \xc3\xa9", id="of the payload too"),
    ],
)
def test_what_is_signed_is_known_to_the_byte(kind: str, payload: bytes, expected: bytes) -> None:
    assert dsse.pae(kind, payload) == expected


def test_a_whole_envelope_is_the_known_one() -> None:
    assert len(STATEMENT.payload) == 223
    assert sha256(STATEMENT.payload) == "18830fdeb2423e23356fd3ecaa249dab6fc157147797b06caf0a2ea5b4a24981"
    assert (
        sha256(dsse.pae(PAYLOAD_TYPE, STATEMENT.payload))
        == "878e679a5cffa3976cc57f26ba55a08cff2331f8dbccdfc69fc0ffe618d8fc34"
    )
    made = envelope()
    assert made["signatures"] == [
        {
            "keyid": "06e3fd8fda29bb60ab59557de61edb0aecdb231134be30e75b455f8e1b792fa9",
            "sig": "0f+B8IWCv4SL7Hy3RVuwikzL9oYUKT46Ev6XpGjlnNpNfQEmCHWbryBqg+AoDgDlME8PF7nvnCDblvC2GX0uCg==",
        }
    ]
    assert verify(made) == STATEMENT.payload


def test_ed25519_is_that_of_rfc_8032() -> None:
    assert RFC_8032_1.public.hex() == "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a"
    assert RFC_8032_1.sign(b"").hex() == (
        "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e06522490155"
        "5fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b"
    )


def test_both_alphabets_and_unknown_fields_are_read() -> None:
    payload = "\u00ff\u00fe\u00fb~~~???".encode("latin-1")
    made = envelope(payload)
    made["payload"] = base64.urlsafe_b64encode(payload).decode()
    assert set("-_") & set(made["payload"])
    made["signatures"][0]["sig"] = made["signatures"][0]["sig"].replace("+", "-").replace("/", "_")
    made["signatures"][0]["more"] = made["more"] = 1
    assert verify(made) == payload


def test_a_keyid_is_a_hint_and_no_more() -> None:
    made = envelope()
    made["signatures"][0]["keyid"] = signer(7).keyid
    assert verify(made) == STATEMENT.payload
    del made["signatures"][0]["keyid"]
    assert verify(made) == STATEMENT.payload
    made["signatures"][0] = {"keyid": RFC_8032_1.keyid, "sig": base64.b64encode(bytes(64)).decode()}
    with pytest.raises(SignatureError, match="did not make over this payload"):
        verify(made)


def test_another_key_does_not_count() -> None:
    with pytest.raises(SignatureError, match=f"signatures of other keys: {RFC_8032_1.keyid}"):
        verify(envelope(), keys=(signer(7).key,))
    with pytest.raises(SignatureError, match="no key was given"):
        verify(envelope(), keys=())


def test_another_type_does_not_count() -> None:
    with pytest.raises(SignatureError, match="of the type 'text/plain'"):
        verify(envelope(kind="text/plain"))


def test_a_changed_type_does_not_count() -> None:
    with pytest.raises(SignatureError, match="did not make over this payload"):
        verify(envelope(kind="text/plain") | {"payloadType": PAYLOAD_TYPE})


def test_a_changed_payload_does_not_count() -> None:
    with pytest.raises(SignatureError, match="did not make over this payload"):
        verify(envelope() | {"payload": base64.b64encode(STATEMENT.payload + b" ").decode()})


def test_a_truncated_signature_does_not_count() -> None:
    made = envelope()
    made["signatures"][0]["sig"] = base64.b64encode(base64.b64decode(made["signatures"][0]["sig"])[:-1]).decode()
    with pytest.raises(SignatureError, match="did not make over this payload"):
        verify(made)


def test_two_signatures_of_one_key_count_once() -> None:
    twice = json.loads(dsse.sign(PAYLOAD_TYPE, b"x", (RFC_8032_1, RFC_8032_1)))
    keys = (RFC_8032_1.key, signer(7).key, RFC_8032_1.key)
    with pytest.raises(SignatureError, match="signatures of 1 of these keys"):
        verify(twice, keys=keys, threshold=2)
    both = json.loads(dsse.sign(PAYLOAD_TYPE, b"x", (RFC_8032_1, signer(7))))
    assert verify(both, keys=keys, threshold=2) == b"x"


@pytest.mark.parametrize(
    "spoilt",
    [
        pytest.param({"payload": "a"}, id="payload"),
        pytest.param({"payload": "QQ=="[:3]}, id="padding"),
        pytest.param({"payload": "QR=="}, id="idle bits"),
        pytest.param({"payloadType": 1}, id="type"),
        pytest.param({"signatures": []}, id="nothing signed"),
        pytest.param({"signatures": [1]}, id="no signature"),
        pytest.param({"signatures": [{"sig": 1}]}, id="no text"),
        pytest.param({"signatures": [{"sig": "", "keyid": 1}]}, id="no name"),
    ],
)
def test_what_is_no_envelope_is_told(spoilt: dict[str, Any]) -> None:
    with pytest.raises(DocumentError, match=r"x\.dsse\.json"):
        verify(envelope() | spoilt)


def test_a_key_that_stands_twice_is_refused() -> None:
    data = dsse.sign(PAYLOAD_TYPE, b"x", (RFC_8032_1,)).replace(b'{"payload"', b'{"payload":"eA==","payload"', 1)
    with pytest.raises(DocumentError, match="the same key twice"):
        dsse.verify(data, KEYS, payload_type=PAYLOAD_TYPE, file="x")


def test_a_statement_reads_back_and_unknown_fields_are_ignored() -> None:
    assert parse_statement(STATEMENT.payload, STATEMENT.predicate_type, "x") == STATEMENT
    more = json.loads(STATEMENT.payload)
    more["more"] = more["subject"][0]["more"] = more["subject"][0]["digest"]["gitBlob"] = "a"
    assert parse_statement(json.dumps(more).encode(), STATEMENT.predicate_type, "x") == STATEMENT


@pytest.mark.parametrize(
    ("spoilt", "told"),
    [
        pytest.param({"_type": "https://in-toto.io/Statement/v0.1"}, "_type", id="another version"),
        pytest.param({"predicateType": "https://example.com/other"}, "predicateType", id="another claim"),
        pytest.param({"subject": []}, "subject", id="of nothing"),
        pytest.param({"subject": [{"name": "a", "digest": {"sha256": EMPTY}}] * 2}, "stands twice", id="a twin"),
        pytest.param({"subject": [{"name": "a", "digest": {"sha256": EMPTY.upper()}}]}, "sha256", id="upper case"),
        pytest.param({"subject": [{"name": "a", "digest": {}}]}, "sha256", id="no digest"),
    ],
)
def test_what_is_no_statement_of_ours_is_told(spoilt: dict[str, Any], told: str) -> None:
    data = json.dumps(json.loads(STATEMENT.payload) | spoilt).encode()
    with pytest.raises((DocumentError, DocumentErrors), match=told):
        parse_statement(data, STATEMENT.predicate_type, "x")
