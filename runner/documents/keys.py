"""keys: the public parts of a host's keys, what each is for, and whether it still counts."""

from enum import StrEnum
from typing import Annotated, ClassVar, Literal

from pydantic import Field, StringConstraints

from runner.documents.facts import Epoch
from runner.documents.model import Document, Sha256, Shape

PublicText = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9+/]{43}=$")]
"""The 32 bytes of an Ed25519 public key, in base64."""


class KeyRole(StrEnum):
    """What a key signs. No key has two roles."""

    RUNNER = "runner"
    """This host's journals."""
    RELEASE = "release"
    """Published releases."""
    LOG = "log"
    """Checkpoints: of a release's attempts, and of the log of releases."""


class KeyStatus(StrEnum):
    """Whether a key still counts."""

    ACTIVE = "active"
    RETIRED = "retired"
    """It signs no more; what it signed still counts."""
    REVOKED = "revoked"
    """From `revoked_ms` on, nothing that it signed counts."""


class KeyPlace(StrEnum):
    """Where the private part lies."""

    HERE = "here"
    """In a file beside this document."""
    ELSEWHERE = "elsewhere"
    """A command signs with it."""


class KeyRecord(Shape):
    """One key."""

    keyid: Sha256
    """Of its SubjectPublicKeyInfo in DER."""
    role: KeyRole
    public: PublicText
    place: KeyPlace
    status: KeyStatus
    created_ms: Epoch
    retired_ms: Epoch | None
    revoked_ms: Epoch | None
    """From when on its signatures do not count; null unless it is revoked."""
    reason: str | None
    """Why it was revoked."""


class Keys(Document):
    """<state>/keys/keys.json; the same document, got from elsewhere, tells a verifier whom to trust."""

    SCHEMA_NAME: ClassVar[str] = "keys"

    schema_: Literal["cleanroom/keys/1"] = Field(default="cleanroom/keys/1", alias="schema")
    keys: tuple[KeyRecord, ...]
    """In the order made."""
