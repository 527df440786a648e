"""Programs of ours that run inside a unit, as packs."""

from pathlib import Path

from evaluators.packing import pack_files
from sandbox.api import Pack

HERE = Path(__file__).parent


def folder_program(name: str, program: str = "main") -> Pack:
    """Give a package of this folder as `python3 FOLDER` starts it: a start file and the package below it.

    `program` is the module whose `main` is called.
    """
    start = f"from {name}.{program} import main\n\nraise SystemExit(main())\n".encode()
    files = {f"{name}/{path.name}": path.read_bytes() for path in sorted((HERE / name).glob("*.py"))}
    return pack_files({"__main__.py": start, **files})


def file_program(name: str) -> Pack:
    """Give one file of this folder."""
    return pack_files({name: (HERE / name).read_bytes()})
