"""in-toto Statement v1: what is said of which files (in-toto/attestation, spec v1)."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from runner.canonical import canonical
from runner.documents.model import Sha256
from runner.errors import DocumentError
from runner.parsing import parse_json, validate

PAYLOAD_TYPE = "application/vnd.in-toto+json"
STATEMENT = "https://in-toto.io/Statement/v1"

Predicate = Mapping[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """What is said (`predicate`, of a known type) of files (`subjects`: name -> SHA-256 in hex)."""

    subjects: Mapping[str, str]
    predicate_type: str
    predicate: Predicate

    @property
    def payload(self) -> bytes:
        """Its only form."""
        return canonical(
            {
                "_type": STATEMENT,
                "predicate": self.predicate,
                "predicateType": self.predicate_type,
                "subject": [
                    {"digest": {"sha256": self.subjects[name]}, "name": name} for name in sorted(self.subjects)
                ],
            }
        )


class _Foreign(BaseModel):
    """Consumers ignore fields that they do not know (the specification's rule)."""

    model_config = ConfigDict(frozen=True, extra="ignore", strict=True, defer_build=True)


class _Digest(_Foreign):
    sha256: Sha256


class _Subject(_Foreign):
    name: Annotated[str, Field(min_length=1)]
    digest: _Digest


class _Statement(_Foreign):
    type_: Literal["https://in-toto.io/Statement/v1"] = Field(alias="_type")
    subject: Annotated[tuple[_Subject, ...], Field(min_length=1)]
    predicate_type: str = Field(alias="predicateType")
    predicate: dict[str, object] = Field(default_factory=dict)


def parse_statement(data: bytes, predicate_type: str, file: str) -> Statement:
    """Read the payload of an envelope that was verified.

    Raises:
        DocumentError, DocumentErrors: it is no Statement, of another predicate, or names a file twice.
    """
    found = validate(_Statement, parse_json(data, file), file)
    if found.predicate_type != predicate_type:
        _refuse(file, "predicateType", repr(found.predicate_type), repr(predicate_type))
    subjects = {each.name: each.digest.sha256 for each in found.subject}
    if len(subjects) != len(found.subject):
        _refuse(file, "subject", "a name that stands twice", "each name once")
    return Statement(
        subjects=MappingProxyType(subjects), predicate_type=found.predicate_type, predicate=found.predicate
    )


def _refuse(file: str, field: str, found: str, expected: str) -> None:
    mend = "get the file again from whom you trust"
    raise DocumentError(file=file, field=field, found=found, expected=expected, mend=mend)
