"""Runs inside a unit: put recorded changes into the workspace. Standard library only, loaded by path.

Standard input is one JSON document: `root`, and `changes`, each with `path` (base64 of bytes), `kind` (file,
link, folder, gone), and `content` (base64) and `executable`, or `target` (base64); `words` are said at the end. No
link is ever followed.
"""

import base64
import json
import os
import shutil
import sys
from pathlib import Path

FAILED = 1

Change = dict[str, object]


class ChangeError(Exception):
    """A change that cannot be made here."""


def main() -> int:
    """Make the changes, deletions first and deepest first."""
    document = json.loads(sys.stdin.buffer.read())
    root = Path(document["root"])
    try:
        changes = sorted(((parts_of(each), each) for each in document["changes"]), key=lambda item: item[0])
        for parts, change in sorted(changes, key=lambda item: -len(item[0])):
            if change["kind"] == "gone":
                remove(root, parts)
        for parts, change in changes:
            if change["kind"] != "gone":
                put(root, parts, change)
    except (ChangeError, OSError) as error:
        tell("error", kind="change", status=None, message=str(error))
        return FAILED
    tell("end", reason="done", message=document.get("words") or f"{len(changes)} changes made")
    return 0


def tell(event: str, **members: object) -> None:
    """Write one event."""
    sys.stdout.write(json.dumps({"event": event, **members}) + "\n")


def parts_of(change: Change) -> tuple[str, ...]:
    """Give the names on the way to a change's path."""
    path = os.fsdecode(base64.b64decode(str(change["path"])))
    parts = tuple(path.split("/"))
    if any(part in {"", ".", ".."} or "\0" in part for part in parts):
        raise ChangeError(f"{path!r} is no path of a tree")
    return parts


def is_folder(where: Path) -> bool:
    """Say whether a folder itself, not a link to one, stands somewhere."""
    return where.is_dir() and not where.is_symlink()


def remove(root: Path, parts: tuple[str, ...]) -> None:
    """Remove what stands at a path, if anything does."""
    where = root
    for part in parts[:-1]:
        where /= part
        if not is_folder(where):
            return
    clear(where / parts[-1])


def clear(where: Path) -> None:
    """Leave nothing at a place."""
    if is_folder(where):
        shutil.rmtree(where)
    else:
        where.unlink(missing_ok=True)


def make_folder(where: Path) -> None:
    """Make a folder stand at a place."""
    if not is_folder(where):
        clear(where)
        where.mkdir()


def put(root: Path, parts: tuple[str, ...], change: Change) -> None:
    """Put a file, a link or a folder where nothing, or something else, stands."""
    where = root
    for part in parts[:-1]:
        where /= part
        make_folder(where)
    where /= parts[-1]
    if change["kind"] == "folder":
        make_folder(where)
        return
    clear(where)
    if change["kind"] == "link":
        where.symlink_to(os.fsdecode(base64.b64decode(str(change["target"]))))
        return
    where.write_bytes(base64.b64decode(str(change["content"])))
    where.chmod(0o755 if change["executable"] else 0o644)


if __name__ == "__main__":
    raise SystemExit(main())
