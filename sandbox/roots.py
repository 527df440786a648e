"""The empty root folder a unit starts from: links of a merged /usr, mount points, a minimal generated /etc."""

from pathlib import Path

from sandbox.errors import HostUnfitError

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


def build_root(root: Path, account: str, number: int, targets: tuple[str, ...]) -> None:
    """Make a unit's root in the new folder `root`; `targets` are mount points besides the usual ones.

    Raises:
        HostUnfitError: this host's /bin is no link into /usr.
    """
    root.mkdir(mode=0o755)
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
    for name, text in generated_etc(account, number).items():
        (root / "etc" / name).write_text(text, encoding="ascii")
    for name in ("alternatives", "ssl"):
        (root / "etc" / name).mkdir()
    (root / "etc" / "ld.so.cache").touch()


def generated_etc(account: str, number: int) -> dict[str, str]:
    """Give the text of every file of a unit's /etc."""
    return {
        "passwd": f"root:x:0:0::/:/usr/sbin/nologin\n{account}:x:{number}:{number}::/home/agent:/bin/sh\n"
        "nobody:x:65534:65534::/:/usr/sbin/nologin\n",
        "group": f"root:x:0:\n{account}:x:{number}:\nnogroup:x:65534:\n",
        "hosts": "127.0.0.1 localhost\n::1 localhost\n",
        "nsswitch.conf": "passwd: files\ngroup: files\nhosts: files dns\n",
        "resolv.conf": "",
        "hostname": "localhost\n",
    }
