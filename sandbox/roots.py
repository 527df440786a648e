"""The root folder a unit starts from: links of a merged /usr, mount points, a minimal generated /etc, the launcher.

What never differs between units stands in here and is not bound: systemd looks through the whole table of mounts
several times for each one.
"""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sandbox.bytecode import program_bytes
from sandbox.errors import HostUnfitError
from sandbox.properties import LAUNCHER
from sandbox.telling import tell

_LINKS = ("bin", "sbin", "lib", "lib32", "lib64", "libx32")
_FOLDERS = (
    "usr",
    "etc",
    "proc",
    "sys",
    "dev",
    "run",
    "tmp",
    "var/tmp",
    "work",
    "home/agent",
    "opt",
)


ROOTS = Path("/run/jobs")
"""Where they stand. It is a short path in memory: the kernel writes it out for every mount of every look."""


@contextmanager
def standing_roots() -> Iterator["Roots"]:
    """Give a place for roots, without what an earlier keeper left there; it is gone afterwards."""
    if ROOTS.exists():
        shutil.rmtree(ROOTS)
        tell((str(ROOTS),))
    ROOTS.mkdir(mode=0o700)
    try:
        yield Roots(ROOTS)
    finally:
        shutil.rmtree(ROOTS)


class Roots:
    """Root folders below one of root's own, used again: nothing in a unit can write to its root."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._idle: dict[tuple[str, ...], list[Path]] = {}
        self._built = 0

    @contextmanager
    def root(self, account: str, number: int, targets: tuple[str, ...]) -> Iterator[Path]:
        """Give a unit's root, with mount points for `targets` besides the usual ones.

        Raises:
            HostUnfitError: this host's /bin is no link into /usr.
        """
        idle = self._idle.setdefault(targets, [])
        root = idle.pop() if idle else self._build(targets)
        for name, text in generated_accounts(account, number).items():
            file = root / "etc" / name
            file.unlink(missing_ok=True)  # ext4 writes a file at once whose old content was cut off
            file.write_text(text, encoding="ascii")
        try:
            yield root
        finally:
            idle.append(root)

    def _build(self, targets: tuple[str, ...]) -> Path:
        self._built += 1
        root = self._folder / str(self._built)
        build_root(root, targets)
        return root


def build_root(root: Path, targets: tuple[str, ...]) -> None:
    """Make all of a unit's root, but its accounts, in the new folder `root`.

    Raises:
        HostUnfitError: this host's /bin is no link into /usr.
    """
    root.mkdir(mode=0o755, parents=True)
    for folder in (*_FOLDERS, *(target.lstrip("/") for target in targets)):
        (root / folder).mkdir(parents=True, exist_ok=True)
    for name in _LINKS:
        host = Path("/", name)
        if host.is_symlink():
            (root / name).symlink_to(host.readlink())
        elif host.exists():
            raise HostUnfitError(
                f"a read-only system below /usr ({host} is no link into it)", "run: apt-get install usrmerge"
            )
    for name, text in _ETC.items():
        (root / "etc" / name).write_text(text, encoding="ascii")
    (root / "etc" / "ssl").mkdir()
    _copy_links(Path("/etc/alternatives"), root / "etc" / "alternatives")
    (root / "etc" / "ld.so.cache").write_bytes(_LIBRARIES.read_bytes() if _LIBRARIES.exists() else b"")
    launcher = root / LAUNCHER.lstrip("/")
    launcher.parent.mkdir()
    launcher.write_bytes(_PROGRAM)
    launcher.chmod(0o644)


def _copy_links(source: Path, target: Path) -> None:
    """Copy the links of the Debian alternatives: each names the program of several that a name stands for."""
    target.mkdir()
    for each in source.iterdir() if source.is_dir() else ():
        if each.is_symlink():
            (target / each.name).symlink_to(each.readlink())


_PROGRAM = program_bytes(Path(__file__).with_name("launcher.py"))
"""Read at import, before the keeper enters the namespaces in which the checkout may be hidden."""
_LIBRARIES = Path("/etc/ld.so.cache")
"""Where programs find their libraries."""

_ETC = {
    "hosts": "127.0.0.1 localhost\n::1 localhost\n",
    "nsswitch.conf": "passwd: files\ngroup: files\nhosts: files dns\n",
    "resolv.conf": "",
    "hostname": "localhost\n",
}


def generated_accounts(account: str, number: int) -> dict[str, str]:
    """Give the text of the files in a unit's /etc that name its account."""
    return {
        "passwd": f"root:x:0:0::/:/usr/sbin/nologin\n{account}:x:{number}:{number}::/home/agent:/bin/sh\n"
        "nobody:x:65534:65534::/:/usr/sbin/nologin\n",
        "group": f"root:x:0:\n{account}:x:{number}:\nnogroup:x:65534:\n",
    }
