"""Kind `compile`: whether files are what their suffix says, told by a parser of ours; nothing of them is run."""

import json
import subprocess
import tempfile
import tomllib
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path

from .driver import Driver, RefusedError, wanted

NODE = "/opt/toolchain/bin/node"
REST = "what else is changed"
_SECONDS = 20


def main(driver: Driver, options: Mapping[str, list[str]], node: str = NODE) -> None:
    """Report a case for each file, and one for whatever else is changed."""
    named, others = options["files"], []
    for path in named:
        said = trouble(driver, path, node)
        driver.check(path, said is None, said or "")
    for path in driver.changed():
        if path not in named and Path(path).suffix in CHECKS and driver.read(path) is not None:
            said = trouble(driver, path, node)
            others += [] if said is None else [f"{path}: {said}"]
    driver.check(REST, not others, "; ".join(others)[:500])


def trouble(driver: Driver, path: str, node: str) -> str | None:
    """Say what is wrong with a file; None where nothing is."""
    try:
        content = wanted(driver, [path], ())[path]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            CHECKS[Path(path).suffix](content, path, node)
    except RefusedError as error:
        return str(error)
    except (SyntaxError, ValueError, RecursionError, MemoryError, OverflowError) as error:
        return f"{type(error).__name__}: {error}"[:300]
    return None


def _python(content: bytes, path: str, _node: str) -> None:
    compile(content, path, "exec", dont_inherit=True)


def _json(content: bytes, _path: str, _node: str) -> None:
    json.loads(content.decode())


def _toml(content: bytes, _path: str, _node: str) -> None:
    tomllib.loads(content.decode())


def _javascript(content: bytes, path: str, node: str) -> None:
    """Ask Node, which runs nothing of a file that it only checks; a `.js` may be a script or a module."""
    suffix = Path(path).suffix
    tried = [_node_says(content, each, node) for each in ((".cjs", ".mjs") if suffix == ".js" else (suffix,))]
    if all(tried):
        raise RefusedError(tried[0] or "")


def _node_says(content: bytes, suffix: str, node: str) -> str | None:
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / f"file{suffix}"
        place.write_bytes(content)
        try:
            ended = subprocess.run(
                [node, "--check", str(place)], env={}, capture_output=True, timeout=_SECONDS, check=False
            )
        except (OSError, subprocess.SubprocessError) as error:
            return f"node: {type(error).__name__}"
    return None if ended.returncode == 0 else ended.stderr.decode(errors="replace")[-300:] or "node refuses it"


CHECKS: Mapping[str, Callable[[bytes, str, str], None]] = {
    ".py": _python,
    ".pyi": _python,
    ".json": _json,
    ".toml": _toml,
    ".js": _javascript,
    ".cjs": _javascript,
    ".mjs": _javascript,
}
"""By suffix."""
