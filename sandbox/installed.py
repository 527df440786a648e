"""How a keeper is started: by root from its own code, by others through sudo from a copy that is root's alone.

`scripts/host` makes that copy and the sudo rule. The rule names the copy's launcher and nothing else: a rule for a
checkout would make everybody root who can write the checkout.
"""

import hashlib
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from sandbox.errors import HostUnfitError

SUDO = "/usr/bin/sudo"


@dataclass(frozen=True, slots=True, kw_only=True)
class Copy:
    """Where a root-owned copy of the keeper stands."""

    folder: Path = Path("/usr/local/lib/cleanroom")
    """The package `sandbox`, and what it imports, below `lib/`."""
    launcher: Path = Path("/usr/local/sbin/cleanroom-keeper")
    """What the sudo rule allows."""

    @property
    def mark(self) -> Path:
        """The digest of the code that was copied."""
        return self.folder / "sandbox.sha256"


def keeper_command(copy: Copy | None = None) -> tuple[str, ...]:
    """Give the command that starts a keeper for this process's account.

    Raises:
        HostUnfitError: this account may not start one, or only one of other code than this.
    """
    if os.geteuid() == 0:
        return (sys.executable, "-I", "-m", "sandbox.keeper")
    found = copy or Copy()
    _need_same_code(found)
    command = (SUDO, "-n", str(found.launcher))
    if not _is_allowed(found.launcher):
        raise HostUnfitError(
            f"a clean room of account {os.geteuid()}'s (sudo does not let it start {found.launcher})",
            "let root run 'scripts/host install --group GROUP', and be in that group; whoever is in it counts as root",
        )
    return command


def _need_same_code(copy: Copy) -> None:
    """Say nothing if there is a copy, and it is one of the code that is running here."""
    try:
        copied = copy.mark.read_text(encoding="ascii").strip()
    except FileNotFoundError:
        raise HostUnfitError(
            f"a clean room of account {os.geteuid()}'s (only root can make one, and there is no keeper below "
            f"{copy.folder} that sudo could start)",
            "run this as root, or let root run 'scripts/host install --group GROUP' (docs/how-to/real-host.md)",
        ) from None
    if copied != code_digest():
        raise HostUnfitError(
            f"a clean room (the keeper below {copy.folder} is a copy of other code than this)",
            "let root run 'scripts/host install' again, from this checkout",
        )


def _is_allowed(launcher: Path) -> bool:
    """Ask sudo whether it would start the keeper without a password."""
    try:
        asked = subprocess.run(
            [SUDO, "-n", "-l", str(launcher)], stdin=subprocess.DEVNULL, capture_output=True, check=False, env={}
        )
    except FileNotFoundError:
        return False
    return asked.returncode == 0


def code_digest(package: Path = Path(__file__).parent) -> str:
    """Give a digest of a package's files, compiled ones aside."""
    digest = hashlib.sha256()
    for path in sorted(package.rglob("*")):
        if path.is_file() and "__pycache__" not in path.parts:
            data = path.read_bytes()
            digest.update(f"{path.relative_to(package).as_posix()} {len(data)}\n".encode())
            digest.update(data)
    return digest.hexdigest()
