"""What a verification works with, and what it finds."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from runner.artifacts import Sealed
from runner.documents.manifest import FrozenNomination, Manifest
from runner.documents.model import Document
from runner.documents.seal import Trial
from sandbox.tree import Entry, Leaf

Documents = Document | tuple[Document, ...]
"""What a file holds: one document, or one a line."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing that is not as it says it is."""

    file: str
    found: str
    expected: str

    def __str__(self) -> str:
        return f"{self.file}: found {self.found}; expected {self.expected}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rebuilt:
    """What a patch makes of its frozen base."""

    tree_sha256: str
    changes: tuple[Entry, ...]
    before: Callable[[bytes], Leaf | None]
    """What stands at a path of the base."""
    base: Callable[[bytes], bytes | None]
    """The plain file at a path of the base; None where there is none."""
    content: Callable[[str], bytes]
    """What a file that the patch leaves holds, by its digest."""


Rebuild = Callable[[str, bytes], Rebuilt]
"""Applies a patch to the base of a nomination (by id).

Raises:
    SandboxError, RunnerError: it does not apply, or the base cannot be had.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """What evidence is held against."""

    manifest: Manifest
    schemas: Mapping[str, Mapping[str, object]]
    """JSON Schemas by name."""
    rebuild: Rebuild | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    """A sealed folder with all documents that could be read."""

    sealed: Sealed
    documents: Mapping[str, Documents]

    @property
    def folder(self) -> Path:
        """Where it lies."""
        return self.sealed.folder

    def file(self, path: str) -> str:
        """Name one of its files for people."""
        return f"{self.sealed.folder}/{path}"

    def below(self, folder: str) -> "Opened":
        """Give what lies in one of its folders as if that had been sealed by itself."""
        head = f"{folder}/"
        inside = {name.removeprefix(head): each for name, each in self.documents.items() if name.startswith(head)}
        return Opened(sealed=self.sealed.below(folder), documents=inside)

    @property
    def trial(self) -> Trial:
        """The try that it is evidence of."""
        return self.sealed.seal.trial


def nomination_of(scope: Scope, trial: Trial) -> FrozenNomination:
    """Give the frozen nomination of a planned try."""
    return scope.manifest.nomination(trial.nomination)


def differ(file: Path | str, field: str, found: object, expected: object) -> Iterator[Finding]:
    """Find that a field is not what follows from everything else."""
    if found != expected:
        yield Finding(
            file=str(file), found=f"{field} {_short(found)}", expected=f"{_short(expected)}, as follows from the rest"
        )


def _short(value: object) -> str:
    text = value if isinstance(value, str) else repr(value)
    return text if len(text) <= 200 else f"{text[:200]}..."  # noqa: PLR2004 - a line for people
