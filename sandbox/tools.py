"""Programs of the system's that clean rooms are made with, each with the Debian package that brings it."""

import os
from collections.abc import Iterable

from sandbox.errors import HostUnfitError

GIT = "/usr/bin/git"

TOOLS = {
    "/usr/bin/python3": "python3",
    "/lib/systemd/systemd": "systemd",
    "/usr/bin/dbus-daemon": "dbus",
    "/usr/bin/setpriv": "util-linux",
    "/usr/bin/unshare": "util-linux",
    "/usr/bin/mount": "mount",
    "/usr/sbin/mkfs.ext4": "e2fsprogs",
    GIT: "git",
}


def need_tools(paths: Iterable[str] = tuple(TOOLS)) -> None:
    """Say nothing if all these programs are here.

    Raises:
        HostUnfitError: names what is missing, and the command that installs it.
    """
    missing = [path for path in paths if not os.access(path, os.X_OK)]
    if missing:
        packages = " ".join(dict.fromkeys(TOOLS[path] for path in missing))
        what = f"a clean room without {', '.join(missing)}"
        raise HostUnfitError(what, f"run: apt-get install --no-install-recommends {packages}")
