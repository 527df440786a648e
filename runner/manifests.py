"""A frozen manifest: where it lies, its digest, and reading it."""

from dataclasses import dataclass
from pathlib import Path

from runner.canonical import canonical, parse, sha256
from runner.documents.manifest import Manifest
from runner.errors import DocumentError, UsageError
from runner.parsing import read_file
from sandbox.spec import MIB

RELEASES = Path("releases")
MANIFEST = "manifest.json"
MANIFEST_BYTES = 64 * MIB


@dataclass(slots=True, kw_only=True, eq=False)
class NotFrozenError(UsageError):
    """A release has no manifest yet."""

    release: str

    def __str__(self) -> str:
        return f"release {self.release} is not frozen; run: runner freeze"


def manifest_digest(manifest: Manifest) -> str:
    """Give the SHA-256 of a manifest's bytes: what every document of the release names."""
    return sha256(canonical(manifest))


def manifest_path(releases: Path, release: str) -> Path:
    """Give the place of a release's manifest."""
    return releases / release / MANIFEST


def load_manifest(path: Path) -> Manifest:
    """Read a manifest, which must be canonical, of our schema, and under its own release's name.

    Raises:
        DocumentError, DocumentErrors: it is not, or not there.
    """
    return load_with_digest(path)[0]


def load_with_digest(path: Path) -> tuple[Manifest, str]:
    """Read a manifest; give its digest too, which is that of the file, since it has one form only.

    Raises:
        DocumentError, DocumentErrors: as `load_manifest`.
    """
    if not path.exists():
        raise _manifest_error(path, "", "no such file", "a frozen release", "freeze it: runner freeze")
    data = read_file(path, MANIFEST_BYTES)
    manifest = parse(Manifest, data, str(path))
    if manifest.release != path.parent.name:
        mend = "move it back below its release's own folder"
        raise _manifest_error(path, "release", manifest.release, path.parent.name, mend)
    return manifest, sha256(data)


def _manifest_error(path: Path, field: str, found: str, expected: str, mend: str) -> DocumentError:
    return DocumentError(file=str(path), field=field, found=found, expected=expected, mend=mend)
