"""What a fix changes, sorted: sources, which become the solution, and tests, which are hidden. Pure."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath

TEST_FOLDERS = frozenset({"test", "tests", "testing"})
_SUFFIXES = frozenset(
    {
        *(".py", ".pyi", ".pyx", ".pxd", ".c", ".cc", ".cpp", ".h", ".hpp", ".rs", ".go", ".java"),
        *(".js", ".mjs", ".cjs", ".ts", ".tsx", ".jsx", ".sh", ".sql"),
    }
)
_NO_SOURCES = frozenset({"setup.py", "noxfile.py", "fabfile.py", "tasks.py", "conf.py", "_version.py"})
_NO_FOLDERS = frozenset({"docs", "doc", "examples", "benchmarks", ".github", "ci"})
_TEST = re.compile(rb"^\s*(?:async\s+)?(?:def\s+test|class\s+Test|class\s+\w+\([\w.]*TestCase\))", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sorted:
    """Paths of the fixture that a fix touches."""

    sources: tuple[str, ...]
    tests: tuple[str, ...]
    """What belongs to tests: modules, their helpers and data, as the fix leaves them."""
    others: tuple[str, ...]
    """Pages, settings and the like: no part of anything."""


def sort_change(touched: Iterable[str], wanted: Mapping[str, bool] | None = None) -> Sorted:
    """Sort touched paths; `wanted` says of some whether they are sources, whatever they look like."""
    sources: list[str] = []
    tests: list[str] = []
    others: list[str] = []
    for path in sorted(touched):
        chosen = (wanted or {}).get(path)
        if chosen or (chosen is None and not is_of_tests(path) and _is_source(path)):
            sources.append(path)
        elif is_of_tests(path):
            tests.append(path)
        else:
            others.append(path)
    return Sorted(sources=tuple(sources), tests=tuple(tests), others=tuple(others))


def is_of_tests(path: str) -> bool:
    """Whether a path lies among tests, or is named like one."""
    *above, name = path.lower().split("/")
    return not TEST_FOLDERS.isdisjoint(above) or is_test_module(path) or name in {"conftest.py", "tests.py"}


def is_test_module(path: str) -> bool:
    """Whether pytest takes a file for a module of tests by its name."""
    name = PurePosixPath(path).name
    return name.endswith(".py") and (name.startswith("test_") or name.endswith("_test.py"))


def holds_tests(data: bytes) -> bool:
    """Whether a module defines tests."""
    return _TEST.search(data) is not None


def hidden_path(path: str) -> str:
    """Give a test module's path in `private/`: its own, with a name that pytest knows."""
    if is_test_module(path):
        return path
    place = PurePosixPath(path)
    return str(place.with_name(f"test_{place.name}"))


def test_root(path: str) -> str | None:
    """Give the folder of tests that a path lies in, the outermost; None outside of any."""
    parts = path.split("/")[:-1]
    for count, part in enumerate(parts, start=1):
        if part.lower() in TEST_FOLDERS:
            return "/".join(parts[:count])
    return None


def allowed_rules(sources: Iterable[str]) -> tuple[str, ...]:
    """Give rules for where a repair may be made: the package of each source, or the file where it stands alone."""
    return tuple(sorted({_rule(path) for path in sources}))


def import_folders(sources: Iterable[str]) -> tuple[str, ...]:
    """Give the folders that packages are imported from, where that is not the top."""
    folders = {path.split("/", 1)[0] for path in sources if path.split("/", 1)[0] in {"src", "lib"}}
    return tuple(sorted(folders))


def _rule(path: str) -> str:
    parts = path.split("/")
    depth = 2 if parts[0] in {"src", "lib"} else 1
    return path if len(parts) <= depth else "/".join(parts[:depth]) + "/"


def _is_source(path: str) -> bool:
    *above, name = path.lower().split("/")
    return PurePosixPath(name).suffix in _SUFFIXES and name not in _NO_SOURCES and _NO_FOLDERS.isdisjoint(above)
