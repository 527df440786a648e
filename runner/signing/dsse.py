"""DSSE: an envelope around a payload and its signatures (secure-systems-lab/dsse, protocol and envelope v1.0.2)."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NoReturn

from runner.canonical import canonical
from runner.errors import DocumentError
from runner.parsing import parse_json
from runner.signing.encoding import b64, unb64
from runner.signing.errors import SignatureError
from runner.signing.signer import PublicKey, Signer


@dataclass(frozen=True, slots=True, kw_only=True)
class Verified:
    """A payload that was signed by keys that we asked for."""

    payload: bytes
    keys: tuple[PublicKey, ...]
    """Each once, however many signatures it made."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Envelope:
    """An envelope as it was read: nothing in it is known to be true."""

    payload: bytes
    payload_type: str
    signatures: tuple[tuple[str, bytes], ...]
    """The hint of a keyid, which may be empty, and a signature."""


def pae(payload_type: str, payload: bytes) -> bytes:
    """Give the bytes that are signed; lengths are those of bytes."""
    kind = payload_type.encode()
    return b"DSSEv1 %d %b %d %b" % (len(kind), kind, len(payload), payload)


def sign(payload_type: str, payload: bytes, signers: Iterable[Signer]) -> bytes:
    """Give an envelope, signed by each signer in turn."""
    signed = pae(payload_type, payload)
    signatures = [{"keyid": each.keyid, "sig": b64(each.sign(signed))} for each in signers]
    return canonical({"payload": b64(payload), "payloadType": payload_type, "signatures": signatures})


def verify(data: bytes, keys: Sequence[PublicKey], *, payload_type: str, file: str, threshold: int = 1) -> Verified:
    """Give the payload of an envelope that enough different keys of ours have signed.

    Raises:
        SignatureError: it is of another type, or too few have.
        DocumentError: it is no envelope.
    """
    envelope = parse(data, file)
    if envelope.payload_type != payload_type:
        _refuse(file, f"a payload of the type {envelope.payload_type!r}", repr(payload_type))
    signed = pae(payload_type, envelope.payload)
    made = {key for key in keys for _, signature in envelope.signatures if key.made(signature, signed)}
    if len(made) < threshold:
        _refuse(file, _found(envelope, keys, len(made)), _expected(keys, threshold))
    return Verified(payload=envelope.payload, keys=tuple(key for key in keys if key in made))


def parse(data: bytes, file: str) -> Envelope:
    """Read an envelope without believing it; unknown fields are ignored, both alphabets of base64 are read.

    Raises:
        DocumentError: it is none.
    """
    whole = parse_json(data, file)
    payload_type = whole.get("payloadType")
    if not isinstance(payload_type, str):
        _broken(file, "payloadType", "a text")
    listed = whole.get("signatures")
    if not isinstance(listed, list) or not listed:
        _broken(file, "signatures", "a list of at least one signature")
    return Envelope(
        payload=_bytes(whole.get("payload"), "payload", file),
        payload_type=payload_type,
        signatures=tuple(_signature(each, f"signatures[{at}]", file) for at, each in enumerate(listed)),
    )


def _signature(value: object, field: str, file: str) -> tuple[str, bytes]:
    if not isinstance(value, dict):
        _broken(file, field, "an object")
    keyid = value.get("keyid") or ""
    if not isinstance(keyid, str):
        _broken(file, f"{field}.keyid", "a text")
    return keyid, _bytes(value.get("sig"), f"{field}.sig", file)


def _bytes(value: object, field: str, file: str) -> bytes:
    if not isinstance(value, str):
        _broken(file, field, "base64")
    try:
        return unb64(value, url_too=True)
    except ValueError:
        _broken(file, field, "base64")


def _found(envelope: Envelope, keys: Sequence[PublicKey], made: int) -> str:
    """Say why signatures do not count: made by a key that we know, but not over this; or by others."""
    if made:
        return f"signatures of {made} of these keys"
    ours = {key.keyid for key in keys}
    hints = [keyid for keyid, _ in envelope.signatures]
    if spoilt := next((keyid for keyid in hints if keyid in ours), None):
        return f"a signature that key {spoilt} did not make over this payload"
    return f"signatures of other keys: {', '.join(hint or 'one that is not named' for hint in hints)}"


def _expected(keys: Sequence[PublicKey], threshold: int) -> str:
    names = ", ".join(key.keyid for key in keys) or "none, for no key was given"
    return f"one of {names}" if threshold == 1 else f"{threshold} of {names}"


def _refuse(file: str, found: str, expected: str) -> NoReturn:
    raise SignatureError(file=file, found=found, expected=expected)


def _broken(file: str, field: str, expected: str) -> NoReturn:
    mend = "restore the file from a copy"
    raise DocumentError(file=file, field=field, found="something else", expected=expected, mend=mend)
