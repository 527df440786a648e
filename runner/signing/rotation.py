"""Putting another key in the place of one: a statement that both sign, so that who knows the old finds the new."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from runner.documents.keys import KeyRole, KeyStatus
from runner.documents.signed import KeyRotation
from runner.durable import replace_file
from runner.parsing import validate
from runner.signing import dsse
from runner.signing.encoding import b64, unb64
from runner.signing.errors import SignatureError
from runner.signing.keys import KeyStore
from runner.signing.signer import PublicKey
from runner.signing.statement import PAYLOAD_TYPE, Statement, parse_statement

PREDICATE = "https://cleanroom.invalid/key-rotation/v1"

ROTATIONS = "rotations"
"""Below the folder of keys."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Successor:
    """What comes in a key's place, and how both sign where they are held elsewhere."""

    public: PublicKey | None = None
    """None: a new key is made here."""
    sign_with: str | None = None
    """The command that signs with the old key."""
    new_sign_with: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Rotated:
    """A key that took another's place."""

    old: str
    new: str
    statement: Path


def rotate(store: KeyStore, role: KeyRole, successor: Successor) -> Rotated:
    """Put another key in the place of a role's; the old one is retired, what it signed still counts.

    Raises:
        KeyChoiceError: the role has no key, or one is held elsewhere and no command was given for it.
        SigningError: such a command did not sign.
        StorageError: the disk failed; the old key is still the role's.
    """
    with store.changing() as listed:
        old = store.signer(role, successor.sign_with)
        before = store.find(old.keyid)
        made = store.add(listed, role, successor.public)
        new = store.signer_of(made, successor.new_sign_with)
        payload = _statement(role, old.keyid, PublicKey(raw=new.public), store.clock()).payload
        path = store.folder / ROTATIONS / f"{role}-{made.keyid[:16]}.dsse.json"
        replace_file(path, dsse.sign(PAYLOAD_TYPE, payload, (old, new)))
        store.change(listed, before, {"status": KeyStatus.RETIRED, "retired_ms": store.clock()}, made)
    return Rotated(old=before.keyid, new=made.keyid, statement=path)


def _statement(role: KeyRole, old: str, new: PublicKey, at_ms: int) -> Statement:
    claim = KeyRotation(role=role, old=old, new=b64(new.raw), at_ms=at_ms)
    return Statement(
        subjects=MappingProxyType({f"{role} key": new.keyid}),
        predicate_type=PREDICATE,
        predicate=claim.model_dump(mode="json", by_alias=True),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Followed:
    """A rotation whose two signatures were checked."""

    role: KeyRole
    old: PublicKey
    new: PublicKey


def follow(data: bytes, known: Sequence[PublicKey], file: str) -> Followed:
    """Give the rotation that a statement tells, if one of the known keys was the old one and both signed it.

    Raises:
        SignatureError: the old key is not known, or one of both did not sign.
        DocumentError, DocumentErrors: it is no statement of a rotation.
    """
    claim = _claim(dsse.parse(data, file).payload, file)
    old = next((each for each in known if each.keyid == claim.old), None)
    if old is None:
        raise SignatureError(
            file=file, found=f"a rotation of key {claim.old}, which nobody pinned", expected="one of a pinned key"
        )
    new = PublicKey(raw=unb64(claim.new))
    # Nothing but the hint of whose signatures to look for was taken from the payload before this.
    dsse.verify(data, (old, new), payload_type=PAYLOAD_TYPE, file=file, threshold=2)
    return Followed(role=claim.role, old=old, new=new)


def _claim(payload: bytes, file: str) -> KeyRotation:
    return validate(KeyRotation, parse_statement(payload, PREDICATE, file).predicate, file)
