"""A nomination's Python packages: locked by hash, built once outside the clean room, read-only inside."""

import csv
import io
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from runner.canonical import canonical, sha256
from runner.documents.writing import printable
from runner.errors import ToolchainError
from runner.parsing import describe
from runner.sdist import normal_name
from runner.toolchain_store import TARGET, Toolchain, Workshop, built, unbuilt
from sandbox.spec import PYTHON

RECIPE = 1
"""Raised when what is made of the same lock changes."""

BUILD_SECONDS = 600
LINE = re.compile(
    r"(?P<name>[A-Za-z0-9][A-Za-z0-9._-]*)(?:\[[A-Za-z0-9._, -]*\])?"
    r"==(?P<version>[A-Za-z0-9][A-Za-z0-9.!+_-]*)"
    r"\s*(?:;[^#]*?)?(?P<hashes>(?:\s+--hash=sha256:[0-9a-f]{64})+)"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Requirement:
    """One locked package; any one of the digests will do."""

    name: str
    version: str
    sha256: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Lock:
    """A requirements file in which every line is pinned by version and digest."""

    text: str
    requirements: tuple[Requirement, ...]

    @property
    def digest(self) -> str:
        """SHA-256 of the file's bytes."""
        return sha256(self.text.encode())

    @property
    def distributions(self) -> tuple[str, ...]:
        """Canonical names of what is in it."""
        return tuple(sorted(normal_name(each.name) for each in self.requirements))


def parse_lock(text: str, file: str) -> Lock:
    """Read a requirements file; nothing but pinned and hashed packages may stand in it.

    Raises:
        ToolchainError: a line is anything else, or a package stands there twice.
    """
    requirements: dict[str, Requirement] = {}
    for number, line in _logical_lines(text):
        found = LINE.fullmatch(line)
        if found is None:
            raise ToolchainError(
                file=file,
                field=f"line {number}",
                found=describe(line),
                expected="`name==version --hash=sha256:<64 hex digits>`, options and links refused",
                mend="lock it again, for example with `uv pip compile --generate-hashes`",
            )
        name = normal_name(found["name"])
        if name in requirements:
            raise ToolchainError(
                file=file,
                field=f"line {number}",
                found=f"{found['name']} a second time",
                expected="each package once",
                mend="keep one of the two lines",
            )
        hashes = tuple(part.rpartition(":")[2] for part in found["hashes"].split())
        requirements[name] = Requirement(name=found["name"], version=found["version"], sha256=hashes)
    return Lock(text=text, requirements=tuple(requirements.values()))


def build_toolchain(lock: Lock, workshop: Workshop, programs: tuple[str, ...] = ()) -> Toolchain:
    """Give the lock's packages, built now or before; the same lock on the same Python is built once.

    `programs` are those of its `bin` that stay: compiled ones, which hold no path.

    Raises:
        SupplyError: pip could not build it.
        ToolchainError: what was kept is no longer what was built.
        StorageError: the disk failed or is full.
    """
    key = python_key(lock, programs)
    return built(key, workshop.folder, lambda half: _make(lock, half, workshop, programs), lock.distributions)


def _make(lock: Lock, half: Path, workshop: Workshop, programs: tuple[str, ...]) -> None:
    _install(lock, half, workshop)
    kept = {name: half / "tree" / "bin" / name for name in programs}
    for name, place in kept.items():
        place.rename(half / name)
    _seal(half)
    for name, place in kept.items():
        place.parent.mkdir(exist_ok=True)
        (half / name).rename(place)


def _logical_lines(text: str) -> Iterator[tuple[int, str]]:
    """Join continued lines, take comments off, and number each by its first line."""
    pending, first = "", 0
    for number, raw in enumerate(text.splitlines(), start=1):
        line = re.sub(r"(^|\s)#.*$", "", raw).rstrip()
        first = first or number
        pending += line.removesuffix("\\") + " "
        if line.endswith("\\"):
            continue
        if pending.strip():
            yield first, " ".join(pending.split())
        pending, first = "", 0
    if pending.strip():
        yield first, " ".join(pending.split())


def python_key(lock: Lock, programs: tuple[str, ...] = ()) -> str:
    """Give the name under which a lock's toolchain is kept: the same lock on the same Python has the same.

    Raises:
        SupplyError: there is no Python.
    """
    asked = "import platform, sysconfig; print(platform.python_version(), sysconfig.get_platform())"
    try:
        answer = subprocess.run(
            [PYTHON, "-I", "-S", "-c", asked], env={}, capture_output=True, text=True, timeout=30, check=True
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise unbuilt(f"{PYTHON}: {error}", "install Debian's python3") from error
    known = {"recipe": RECIPE, "python": answer.stdout.strip(), "lock": lock.digest}
    return sha256(canonical({**known, "programs": list(programs)} if programs else known))


def _install(lock: Lock, half: Path, workshop: Workshop) -> None:
    (half / "home").mkdir()
    (half / "requirements.txt").write_text(lock.text, encoding="utf-8")
    argv = [
        *(sys.executable, "-m", "pip", f"--python={PYTHON}", "--isolated", "--disable-pip-version-check"),
        *(
            "--no-input",
            "--no-cache-dir",
            "install",
            "--require-hashes",
            "--only-binary=:all:",
            "--no-compile",
        ),
        *("--quiet", "--progress-bar=off", f"--target={half / 'tree'}", "-r", str(half / "requirements.txt")),
        *workshop.find_index().pip_options(),
    ]
    environment = {
        "PATH": "/usr/bin:/bin",
        "HOME": str(half / "home"),
        "TMPDIR": str(half / "home"),
        "LANG": "C.UTF-8",
        "PIP_CONFIG_FILE": "/dev/null",
    }
    try:
        ended = subprocess.run(
            argv, env=environment, capture_output=True, text=True, timeout=BUILD_SECONDS, check=False
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise unbuilt(str(error), "run scripts/setup, which installs pip beside the runner") from error
    if ended.returncode:
        said = " / ".join(ended.stderr.strip().splitlines()[-6:])
        raise unbuilt(f"pip ended with {ended.returncode}: {printable(said)}", "mend the lock, or the way to the index")


def _seal(half: Path) -> None:
    """Leave what the lock alone decides: no programs with a path in them, caches or installer's notes."""
    tree = half / "tree"
    tree.mkdir(exist_ok=True)
    shutil.rmtree(tree / "bin", ignore_errors=True)
    for path in sorted(tree.rglob("*")):
        if path.name == "__pycache__":
            shutil.rmtree(path)
        elif path.suffix == ".pyc" or _is_note(path):
            path.unlink(missing_ok=True)
    for record in sorted(tree.glob("*.dist-info/RECORD")):
        _mend_record(record, tree)
    shutil.rmtree(half / "home")
    _compile(tree)


def _compile(tree: Path) -> None:
    """Add byte code that never looks at its source again: it halves the start of every test run.

    A source that this Python cannot compile is left as it is; importing it fails as it would have anyway.
    """
    argv = [
        *(PYTHON, "-I", "-S", "-m", "compileall", "-q", "-j1", "--invalidation-mode=unchecked-hash"),
        *("-s", str(tree), "-p", TARGET, str(tree)),
    ]
    try:
        subprocess.run(argv, env={}, capture_output=True, timeout=BUILD_SECONDS, check=False)
    except (OSError, subprocess.SubprocessError) as error:
        raise unbuilt(f"{PYTHON}: {error}", "install Debian's python3") from error


def _is_note(path: Path) -> bool:
    return path.parent.suffix == ".dist-info" and path.name in {"INSTALLER", "REQUESTED", "direct_url.json"}


def _mend_record(record: Path, tree: Path) -> None:
    """Keep the lines of files that are still there."""
    kept = io.StringIO()
    writer = csv.writer(kept, lineterminator="\n")
    for row in csv.reader(record.read_text().splitlines()):
        if row and ".." not in PurePosixPath(row[0]).parts and (tree / row[0]).is_file():
            writer.writerow(row)
    record.write_text(kept.getvalue())
