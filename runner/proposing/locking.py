"""A lock for a nomination's Python: what a project says it needs, and pytest, pinned by version and hash.

pip chooses among wheels and runs nothing of them; a project that computes its needs cannot be locked like this.
"""

import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Mapping
from pathlib import Path

from runner.documents.writing import printable
from runner.errors import SupplyError
from runner.package_index import IndexSettings
from runner.parsing import decode, file_name, read_file
from runner.sdist import normal_name
from runner.toolchain import BUILD_SECONDS, parse_lock
from sandbox.scratch import scratch_folder
from sandbox.spec import PYTHON

PROJECT = "pyproject.toml"
PYTEST = "pytest"
_NEED = re.compile(r"[A-Za-z0-9][^@\r\n]*")
"""A name, extras, versions and markers: no option of pip's, no address."""


def needs_of(project: bytes | None) -> tuple[str, ...]:
    """Read what a project says it needs to run.

    Raises:
        SupplyError: it says nothing, or that it finds out by running code.
    """
    if project is None:
        raise _refused(f"no {PROJECT}")
    try:
        table = tomllib.loads(project.decode()).get("project")
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise _refused(f"a {PROJECT} that cannot be read ({printable(str(error))})") from error
    if not isinstance(table, Mapping) or "dependencies" in table.get("dynamic", ()):
        raise _refused(f"a {PROJECT} that does not say what is needed")
    needs = table.get("dependencies", [])
    if not isinstance(needs, list) or not all(isinstance(each, str) and _NEED.fullmatch(each) for each in needs):
        raise _refused("needs that are no names with versions")
    return tuple(needs)


def lock_for(needs: tuple[str, ...], index: IndexSettings) -> str:
    """Ask pip which wheels it would install on this host's Python, and write them as a lock.

    Raises:
        SupplyError: pip could not choose, or a file has no digest.
    """
    with scratch_folder(None) as home:
        # The user's own words stand in a file, behind no option.
        (home / "needs.txt").write_text("\n".join((PYTEST, *needs)) + "\n", encoding="utf-8")
        report = home / "report.json"
        argv = [
            *(sys.executable, "-m", "pip", f"--python={PYTHON}", "--isolated", "--disable-pip-version-check"),
            *("--no-input", "install", "--dry-run", "--ignore-installed", "--only-binary=:all:", "--quiet"),
            *(f"--report={report}", "-r", str(home / "needs.txt"), *index.pip_options()),
        ]
        environment = {"PATH": "/usr/bin:/bin", "HOME": str(home), "LANG": "C.UTF-8", "PIP_CONFIG_FILE": "/dev/null"}
        try:
            ended = subprocess.run(
                argv, env=environment, capture_output=True, text=True, timeout=BUILD_SECONDS, check=False
            )
        except (OSError, subprocess.SubprocessError) as error:
            raise _refused(str(error)) from error
        if ended.returncode:
            said = " / ".join(ended.stderr.strip().splitlines()[-3:])
            raise _refused(f"pip ended with {ended.returncode}: {printable(said)}")
        return read_report(json.loads(report.read_bytes()))


def read_report(report: Mapping[str, object]) -> str:
    """Write what pip would install as lines with versions and hashes.

    Raises:
        SupplyError: something of it has no digest.
        ToolchainError: it makes no lock.
    """
    installed = report.get("install")
    lines = sorted(_line(each) for each in (installed if isinstance(installed, list) else ()))
    text = "".join(f"{line}\n" for line in lines)
    parse_lock(text, "pip's report")
    return text


def _line(entry: object) -> str:
    match entry:
        case {
            "metadata": {"name": str(name), "version": str(version)},
            "download_info": {"archive_info": {"hashes": {"sha256": str(digest)}}},
        }:
            return f"{normal_name(name)}=={version} --hash=sha256:{digest}"
        case _:
            raise _refused("a file without a SHA-256")


def given_lock(lock: Path) -> str:
    """Read the lock that somebody gave.

    Raises:
        DocumentError, ToolchainError: it cannot be read, or is none.
    """
    file = file_name(lock)
    text = decode(read_file(lock), file)
    parse_lock(text, file)
    return text


def _refused(found: str) -> SupplyError:
    return SupplyError(
        file="the repository",
        field=PROJECT,
        found=found,
        expected="needs that pip can lock",
        mend="give a lock: --requirements FILE, as 'uv pip compile --generate-hashes' writes it, with pytest in it",
    )
