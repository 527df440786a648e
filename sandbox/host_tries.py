"""What is tried on the state folder's own file system: run as `python -I -m sandbox.host_tries FOLDER`.

It stands in a mount namespace of its own, so that whatever it mounts goes with it, however it ends. What it saw is
one JSON object on standard output; it judges nothing.
"""

import json
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import sandbox.keeper  # the import itself is tried: what it lacks is told by the traceback's last line
from sandbox.errors import WorkspaceError
from sandbox.layers import probe_image, probe_layers
from sandbox.mounts import Flag, mount, standing_in, unmount
from sandbox.workspace import OVERLAY


def try_overlay(folder: Path) -> str:
    """Mount an overlay as workspaces are: over this file system, below a small one in memory."""
    with tempfile.TemporaryDirectory(prefix="overlay-", dir=folder) as name:
        place = Path(name)
        for part in ("lower", "image", "shown"):
            (place / part).mkdir()
        mount("cleanroom", place / "image", "tmpfs", Flag.NOSUID, "size=1m")
        try:
            (place / "image" / "upper").mkdir()
            (place / "image" / "work").mkdir()
            with standing_in(place):
                options = f"lowerdir=lower,upperdir=image/upper,workdir=image/work,{OVERLAY}"
                mount("cleanroom", place / "shown", "overlay", Flag.NOSUID, options)
                unmount(place / "shown")
        finally:
            unmount(place / "image", detach=True)
    return ""


def main(folder: Path) -> int:
    """Try everything and tell it."""
    found = {
        "keeper": sandbox.keeper.__name__,
        "overlay": _answer(lambda: try_overlay(folder)),
        "layers": _known(lambda: probe_layers(folder).value),
        "image": _known(lambda: probe_image(folder).value),
    }
    sys.stdout.write(json.dumps(found))
    return 0


def _answer(trying: Callable[[], str]) -> str:
    try:
        return trying()
    except (OSError, WorkspaceError) as error:
        return str(error)


def _known(trying: Callable[[], str]) -> str | None:
    try:
        return trying()
    except (OSError, WorkspaceError):
        return None


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
