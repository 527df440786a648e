"""Seals a folder in its own process, so that a test can kill it, fill its disk or make its calls fail."""

import sys
from pathlib import Path

from runner.artifacts import Bond, seal_folder
from runner.documents.seal import SealKind, Trial
from runner.errors import StorageError

TRIAL = Trial(
    release="pilot", manifest_sha256="a" * 64, candidate="oracle", nomination="slugs", attempt=1, try_=1
)
BOND = Bond(kind=SealKind.SUBMISSION, trial=TRIAL)
FILES = {
    "candidate.diff": b"diff --git a/x b/x\n" * 400,
    "streams/stdout": b"line\n" * 2000,
    "streams/stderr": b"",
    "tree.json": b"{}",
}


def main(parent: str) -> int:
    """Seal the folder; 0 sealed, 7 refused by the disk."""
    try:
        seal_folder(Path(parent), "submission", FILES, BOND)
    except StorageError as error:
        print(error)  # noqa: T201 - the test reads it
        return 7
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
