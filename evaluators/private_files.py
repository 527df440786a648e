"""The hidden files of a nomination's `private/` folder, as a pytest suite needs them."""

import os
import stat
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from evaluators.errors import EvaluatorError
from evaluators.twins import Sources

_MOST_BYTES = 16 * 1024 * 1024
_TWINS = "twins"


@dataclass(frozen=True, slots=True, kw_only=True)
class PrivateFiles:
    """Test modules and authors' twins as sources; helpers, conftests and data as they are."""

    sources: Sources
    others: Mapping[str, bytes]

    def contents(self) -> dict[str, bytes]:
        """Give every file's bytes by its path in the folder."""
        twins = {f"{_TWINS}/{path}": text.encode() for path, text in self.sources.authored.items()}
        tests = {path: text.encode() for path, text in self.sources.modules.items()}
        return {**self.others, **tests, **twins}


def read_private_files(folder: Path) -> PrivateFiles:
    """Read a `private/` folder; bytecode and caches are passed over.

    Raises:
        EvaluatorError: it has links or special files, is too large, or holds no test module.
    """
    files = _read(folder)
    twins = {path.removeprefix(f"{_TWINS}/") for path in files if path.startswith(f"{_TWINS}/")}
    modules = {path for path in files if _is_test_module(path) and not path.startswith(f"{_TWINS}/")}
    if not modules:
        raise EvaluatorError(f"{folder}: holds no test_*.py")
    if twins - modules:
        raise EvaluatorError(f"{folder}/{_TWINS}/{min(twins - modules)}: mirrors no test module of private/")
    sources = Sources(
        modules={path: _text(folder, path, files[path]) for path in sorted(modules)},
        authored={path: _text(folder, path, files[f"{_TWINS}/{path}"]) for path in sorted(twins)},
    )
    others = {path: content for path, content in files.items() if not path.startswith(f"{_TWINS}/")}
    return PrivateFiles(
        sources=sources, others={path: content for path, content in others.items() if path not in modules}
    )


def read_folder_files(folder: Path) -> dict[str, bytes]:
    """Read every file of a `private/` folder by its path there; bytecode and caches are passed over.

    Raises:
        EvaluatorError: it has links or special files, or is too large.
    """
    return _read(folder)


def read_private_file(folder: Path, path: str) -> bytes:
    """Read one file of a `private/` folder.

    Raises:
        EvaluatorError: it is not there, or the folder is not as it must be.
    """
    files = _read(folder)
    if path not in files:
        raise EvaluatorError(f"{folder}/{path}: no such file")
    return files[path]


def _read(folder: Path) -> dict[str, bytes]:
    files: dict[str, bytes] = {}
    total = 0
    waiting = [folder]
    while waiting:
        for entry in _children(waiting.pop()):
            mode = entry.stat(follow_symlinks=False).st_mode
            if entry.name == "__pycache__" or entry.name.endswith(".pyc"):
                continue
            if stat.S_ISDIR(mode):
                waiting.append(Path(entry.path))
                continue
            total += entry.stat(follow_symlinks=False).st_size
            if not stat.S_ISREG(mode) or total > _MOST_BYTES:
                raise EvaluatorError(f"{entry.path}: is no plain file, or makes private/ too large")
            files[Path(entry.path).relative_to(folder).as_posix()] = Path(entry.path).read_bytes()
    return files


def _children(folder: Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as children:
            return sorted(children, key=lambda child: child.name)
    except OSError as error:
        raise EvaluatorError(f"{folder}: {(error.strerror or 'cannot be read').lower()}") from error


def _is_test_module(path: str) -> bool:
    name = PurePosixPath(path).name
    return name.endswith(".py") and (name.startswith("test_") or name.endswith("_test.py"))


def _text(folder: Path, path: str, content: bytes) -> str:
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        raise EvaluatorError(f"{folder / path}: is not UTF-8") from error
