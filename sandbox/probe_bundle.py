"""The probes as one stored folder, which a unit's Python starts."""

import hashlib
import importlib.util
from pathlib import Path

from sandbox.api import Pack
from sandbox.bytecode import program_bytes
from sandbox.spec import PYTHON
from sandbox.tree import Entry, Kind

TARGET = "/opt/probes"
"""Where a unit sees it."""

_ENTRY = b"import sys\nfrom probes.probe import main\nsys.exit(main(sys.argv[1:]))\n"


def probe_command(*arguments: str) -> tuple[str, ...]:
    """Give the command of a unit that has the bundle at `TARGET`."""
    return (PYTHON, "-I", "-S", "-B", TARGET, *arguments)


def probe_pack() -> Pack:
    """Give the folder, its programs as bytecode where units have this very interpreter."""
    files = {"__main__.py": _ENTRY}
    for source in sorted((Path(__file__).parent / "probes").glob("*.py")):
        content = program_bytes(source)
        compiled = content.startswith(importlib.util.MAGIC_NUMBER)
        files[f"probes/{source.stem}.{'pyc' if compiled else 'py'}"] = content
    digests = {path: hashlib.sha256(content).hexdigest() for path, content in files.items()}
    entries = tuple(
        Entry(path=path.encode(), kind=Kind.FILE, sha256=digests[path], size=len(content))
        for path, content in sorted(files.items())
    )
    return Pack(entries=entries, blobs={digests[path]: content for path, content in files.items()}.__getitem__)
