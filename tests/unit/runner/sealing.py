"""Seals a folder in its own process, so that a test can kill it, fill its disk or make its calls fail."""

import json
import subprocess
import sys
from pathlib import Path

from runner.artifacts import Bond, seal_folder
from runner.documents.seal import SealKind, Trial
from runner.errors import StorageError

TRIAL = Trial(release="pilot", manifest_sha256="a" * 64, candidate="oracle", nomination="slugs", attempt=1, try_=1)
BOND = Bond(kind=SealKind.SUBMISSION, trial=TRIAL)
FILES = {
    "candidate.diff": b"diff --git a/x b/x\n" * 400,
    "streams/stdout": b"line\n" * 2000,
    "streams/stderr": b"",
    "tree.json": b"{}",
}


def seal(parent: str) -> str:
    """Seal the folder; give what the disk said where it refused."""
    try:
        seal_folder(Path(parent), "submission", FILES, BOND)
    except StorageError as error:
        return str(error)
    return ""


def grow(parent: str, option: str) -> None:
    """Seal on a file system that is a page or an inode larger each time, until it fits; tell each step."""
    for step in range(2, 40):
        size = f"size={4096 * step}" if option == "size" else f"size=1m,nr_inodes={step}"
        subprocess.run(["/usr/bin/mount", "-o", f"remount,{size}", parent], check=True)
        said = seal(parent)
        print(json.dumps([said, sorted(each.name for each in Path(parent).iterdir())]))  # noqa: T201 - to be read
        if not said:
            return


def main() -> int:
    """Seal once (0 sealed, 7 refused by the disk), or, with an option of tmpfs, until there is room."""
    parent, *option = sys.argv[1:]
    if option:
        grow(parent, option[0])
        return 0
    said = seal(parent)
    sys.stderr.write(said)
    return 7 if said else 0


if __name__ == "__main__":
    sys.exit(main())
