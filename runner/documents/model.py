"""What all documents share: strict, frozen, no unknown keys, no floats (contracts 3)."""

from typing import Annotated, ClassVar

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

Sha256 = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]
"""Lower-case hex."""

Integrity = Annotated[str, StringConstraints(pattern=r"^sha512-[A-Za-z0-9+/]{86}==$")]
"""As the npm registry gives it: SHA-512 of the package file, in base64 (W3C Subresource Integrity)."""

DecimalText = Annotated[str, StringConstraints(pattern=r"^-?(0|[1-9][0-9]*)(\.[0-9]+)?$")]
"""Money, scores and ratios; never a float."""

Milliseconds = Annotated[int, Field(ge=0)]

Identifier = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9._-]{0,79}$")]
"""A name that is also a folder's name."""


class Shape(BaseModel):
    """A part of a document."""

    # Built when it is first used: most commands use few of the documents.
    model_config = ConfigDict(
        frozen=True, extra="forbid", strict=True, validate_by_name=True, serialize_by_alias=True, defer_build=True
    )


class Document(Shape):
    """A whole document; each subclass has `schema_: Literal["cleanroom/<name>/<version>"]` aliased to `schema`.

    A subclass sets `SCHEMA_NAME`, the name of its JSON Schema file in `schemas/`.
    """

    SCHEMA_NAME: ClassVar[str]
