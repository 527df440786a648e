"""Seals a folder in its own process, so that a test can kill it, fill its disk or make its calls fail."""

import json
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

from runner.artifacts import Bond, seal_folder
from runner.documents.seal import SealKind, Trial
from runner.durable import append_file, replace_file
from runner.errors import StorageError

TRIAL = Trial(release="pilot", manifest_sha256="a" * 64, candidate="oracle", nomination="slugs", attempt=1, try_=1)
BOND = Bond(kind=SealKind.SUBMISSION, trial=TRIAL)
LINE = b"x" * 49_999 + b"\n"
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


def fill(parent: Path) -> None:
    """Add lines until the disk is full, then replace a table; tell what stands, and what does once there is space."""
    spare, table, lines = parent / "spare", parent / "table", parent / "lines"
    spare.write_bytes(bytes(200_000))
    replace_file(table, b"older")
    told, refused = 0, ""
    while not refused:
        try:
            append_file(lines, LINE)
            told += 1
        except StorageError as error:
            refused = str(error)
    whole = lines.read_bytes()
    with suppress(StorageError):
        replace_file(table, LINE)
    kept = table.read_text()
    spare.unlink()
    append_file(lines, LINE)
    again = lines.read_bytes() == LINE * (told + 1)
    said = {"refused": refused, "told": told, "whole": len(whole) / len(LINE), "table": kept, "again": again}
    print(json.dumps(said))  # noqa: T201 - to be read


def main() -> int:
    """Seal once (0 sealed, 7 refused by the disk), fill the disk with lines, or seal until there is room."""
    parent, *option = sys.argv[1:]
    if option == ["lines"]:
        fill(Path(parent))
        return 0
    if option:
        grow(parent, option[0])
        return 0
    said = seal(parent)
    sys.stderr.write(said)
    return 7 if said else 0


if __name__ == "__main__":
    sys.exit(main())
