"""What lies in a folder that somebody wants verified: told from its files' names, and from what they say they are."""

import json
from enum import StrEnum
from pathlib import Path

from runner.durable import read_regular
from runner.errors import DocumentError
from runner.reference_system.verify import is_reference_release
from runner.signing.layout import MANIFEST, NAMES

LARGEST = 16 << 20
"""Bytes of the largest manifest that is looked into."""

UNSIGNED = "nothing that is signed: the reference system signs nothing, and no key can vouch for this"


class ReleaseKind(StrEnum):
    """Whose release it is."""

    OURS = "ours"
    REFERENCE = "reference"
    """As the reference clean-room system publishes them: with hashes, without signatures."""


def release_kind(folder: Path) -> ReleaseKind:
    """Say whose release a folder holds, whole or damaged.

    One of our signed files makes it ours, whatever else is there: a release that was signed is never read by the
    weaker rules of another system.

    Raises:
        DocumentError: it is no folder, or holds no release that is known.
    """
    if not folder.is_dir():
        raise _unknown(folder, "no folder")
    if any((folder / name).exists() for name in NAMES) or _says_schema(folder / MANIFEST):
        return ReleaseKind.OURS
    if is_reference_release(folder):
        return ReleaseKind.REFERENCE
    raise _unknown(folder, "no release that is known")


def _says_schema(path: Path) -> bool:
    """Whether a file is JSON with the kind of schema that our documents have."""
    try:
        value = json.loads(read_regular(path)) if path.lstat().st_size <= LARGEST else None
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(value, dict) and str(value.get("schema")).startswith("cleanroom/")


def _unknown(folder: Path, found: str) -> DocumentError:
    return DocumentError(
        file=str(folder),
        field="",
        found=found,
        expected=(
            "a published release: a manifest.json with `schema` and the signed files beside it, or, of the reference "
            "clean-room system, a manifest.json or aggregate.json with `schema_version`, or its attempts' run.json"
        ),
        mend="name the folder of one release; without PATH the configured release's store is verified",
    )
