"""What is signed: the claims in the statements of a release and of a rotated key."""

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from runner.documents.facts import Epoch
from runner.documents.keys import KeyRole, PublicText
from runner.documents.model import Document, Identifier, Sha256, Shape

Count = Annotated[int, Field(ge=0)]


class TreeHead(Shape):
    """What names a whole RFC 6962 tree."""

    origin: Annotated[str, Field(min_length=1)]
    """Which tree it is."""
    size: Count
    """Leaves."""
    root: Sha256


class ReleaseClaim(Document):
    """The predicate of release.dsse.json: what one signature binds together."""

    SCHEMA_NAME: ClassVar[str] = "release-claim"

    schema_: Literal["cleanroom/release-claim/1"] = Field(default="cleanroom/release-claim/1", alias="schema")
    release: Identifier
    manifest_sha256: Sha256
    attempts: TreeHead
    """Over leaves.jsonl: one leaf a planned attempt, in the plan's order."""
    supersedes: Identifier | None
    log: TreeHead | None
    """The log of releases as it was before this one was added; null where there was none."""


class KeyRotation(Document):
    """The predicate of a rotation: from here on another key signs in a role. Both keys sign it."""

    SCHEMA_NAME: ClassVar[str] = "key-rotation"

    schema_: Literal["cleanroom/key-rotation/1"] = Field(default="cleanroom/key-rotation/1", alias="schema")
    role: KeyRole
    old: Sha256
    """Name of the key that signed until now."""
    new: PublicText
    at_ms: Epoch
