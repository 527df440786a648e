"""Programs of ours that run inside a unit, as packs."""

import hashlib
from collections.abc import Mapping
from pathlib import Path

from sandbox.api import Pack
from sandbox.tree import Entry, Kind

HERE = Path(__file__).parent


def folder_program(name: str) -> Pack:
    """Give a package of this folder as `python3 FOLDER` starts it: a start file and the package below it."""
    start = f"from {name}.main import main\n\nraise SystemExit(main())\n".encode()
    files = {f"{name}/{path.name}": path.read_bytes() for path in sorted((HERE / name).glob("*.py"))}
    return file_pack({"__main__.py": start, **files})


def file_program(name: str) -> Pack:
    """Give one file of this folder."""
    return file_pack({name: (HERE / name).read_bytes()})


def file_pack(files: Mapping[str, bytes]) -> Pack:
    """Make a pack of plain files."""
    digests = {path: hashlib.sha256(data).hexdigest() for path, data in files.items()}
    blobs = {digests[path]: data for path, data in files.items()}
    entries = tuple(
        Entry(path=path.encode(), kind=Kind.FILE, sha256=digests[path], size=len(data))
        for path, data in sorted(files.items())
    )
    return Pack(entries=entries, blobs=blobs.__getitem__)
