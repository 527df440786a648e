"""The gateway's program and the packages it needs, as one stored folder."""

import re
from collections.abc import Iterator
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

from evaluators.packing import pack_files
from runner.gateway.errors import GatewayError
from sandbox.api import Pack

ROOTS = ("httpx", "h11")

START = b"""from relay.main import main

raise SystemExit(main())
"""

CODE = frozenset({".py", ".pem"})


def gateway_bundle() -> Pack:
    """Give the folder that `/usr/bin/python3 -I -S -B FOLDER` starts: our files and pure Python packages.

    Raises:
        GatewayError: A package is not installed, or is not pure.
    """
    files = {"__main__.py": START, **_own_files()}
    for name in sorted(_closure(ROOTS)):
        files.update(_package_files(name))
    return pack_files(files)


def _own_files() -> dict[str, bytes]:
    folder = Path(__file__).with_name("relay")
    return {f"relay/{path.name}": path.read_bytes() for path in sorted(folder.glob("*.py"))}


def _closure(names: tuple[str, ...]) -> set[str]:
    found: set[str] = set()
    waiting = list(names)
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting.extend(_needs(name))
    return found


def _needs(name: str) -> Iterator[str]:
    for requirement in _distribution(name).requires or []:
        needed, _, marker = requirement.partition(";")
        needed = re.split(r"[^A-Za-z0-9._-]", needed.strip(), maxsplit=1)[0]
        # A marker without `extra` tells Pythons apart; that a package is installed says that it holds here.
        if not marker or ("extra" not in marker and _is_installed(needed)):
            yield needed


def _is_installed(name: str) -> bool:
    try:
        distribution(name)
    except PackageNotFoundError:
        return False
    return True


def _distribution(name: str) -> Distribution:
    try:
        return distribution(name)
    except PackageNotFoundError as error:
        raise GatewayError(f"the package {name} of the gateway is not installed") from error


def _package_files(name: str) -> dict[str, bytes]:
    files: dict[str, bytes] = {}
    for path in _distribution(name).files or []:
        if path.suffix == ".so":
            raise GatewayError(f"the package {name} of the gateway is not pure Python: {path}")
        if path.suffix in CODE and ".." not in path.parts:
            files[path.as_posix()] = Path(str(path.locate())).read_bytes()
    return files
