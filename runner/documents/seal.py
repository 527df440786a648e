"""The seal of an evidence folder: what is in it, byte for byte, and what it belongs to."""

from enum import StrEnum
from typing import Annotated, ClassVar, Literal

from pydantic import Field, StringConstraints

from runner.documents.model import Document, Identifier, Sha256, Shape

SEAL_NAME = "SEAL.json"

SealedPath = Annotated[
    str,
    StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*(/[A-Za-z0-9][A-Za-z0-9._-]*)*$", max_length=200),
]
"""A relative path that every tool reads alike."""

Ordinal = Annotated[int, Field(ge=1, le=9999)]
"""Attempts and tries are counted from 1."""


class SealKind(StrEnum):
    """What a sealed folder holds."""

    SUBMISSION = "submission"
    GRADING = "grading"
    VOID = "void"


class Trial(Shape):
    """One try of one planned attempt under one frozen manifest. Every document of a try names it."""

    release: Identifier
    manifest_sha256: Sha256
    candidate: Identifier
    nomination: Identifier
    attempt: Ordinal
    try_: Ordinal = Field(alias="try")
    """The try's number."""


class SealedFile(Shape):
    """One file of a sealed folder."""

    path: SealedPath
    sha256: Sha256
    size: Annotated[int, Field(ge=0)]


class Seal(Document):
    """SEAL.json: written last into a folder, before it becomes visible. Its own SHA-256 is the folder's digest."""

    SCHEMA_NAME: ClassVar[str] = "seal"

    schema_: Literal["cleanroom/seal/1"] = Field(default="cleanroom/seal/1", alias="schema")
    kind: SealKind
    """What the folder holds."""
    trial: Trial
    grading: Identifier | None = None
    """The grading's id, for a grading."""
    submission_sha256: Sha256 | None = None
    """The digest of the submission that a grading judged."""
    files: tuple[SealedFile, ...]
    """Sorted by path; the seal itself is not among them."""
