"""Which agents' programs are installed, from where, and what came of it."""

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from runner.documents.model import Document, Integrity, Sha256, Shape
from runner.fields import Line, RelativePath

RuntimeName = Literal["opencode", "codex", "claude"]
"""Agents that are other people's programs."""


class PlatformPin(Shape):
    """The package file of one platform."""

    platform: Literal["linux-x64", "linux-arm64"]
    """Operating system and processor."""
    file: Line
    """Where it lies, from the registry's address on."""
    integrity: Integrity
    """Digest of the file."""
    folder: RelativePath
    """What of the package is taken: the files below this folder."""


class RuntimePin(Shape):
    """One agent's program, pinned."""

    agent: RuntimeName
    """The agent that needs it."""
    package: Line
    """The package's name in the registry."""
    version: Line
    """Its version."""
    leave_out: tuple[RelativePath, ...] = ()
    """Folders of it that are not installed."""
    platforms: Annotated[tuple[PlatformPin, ...], Field(min_length=1)]
    """One a platform."""


class RuntimePins(Document):
    """All programs that `scripts/runtimes` installs."""

    SCHEMA_NAME: ClassVar[str] = "runtimes"
    schema_: Literal["cleanroom/runtimes/1"] = Field(default="cleanroom/runtimes/1", alias="schema")
    runtimes: tuple[RuntimePin, ...]
    """One an agent."""


class InstalledRuntime(Document):
    """Beside an installed folder: what it was made of, and what it holds."""

    SCHEMA_NAME: ClassVar[str] = "installed-runtime"
    schema_: Literal["cleanroom/installed-runtime/1"] = Field(default="cleanroom/installed-runtime/1", alias="schema")
    agent: RuntimeName
    package: Line
    version: Line
    platform: Literal["linux-x64", "linux-arm64"]
    integrity: Integrity
    tree_sha256: Sha256
