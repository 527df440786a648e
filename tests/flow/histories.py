"""A real package's repository, as far as its releases tell: a commit a release."""

import os
from pathlib import Path

from runner.package_index import ConfiguredIndex
from runner.sdist import Downloads, Pin, unpack
from tests.unit.history.repositories import git

PARSE = (
    Pin(name="parse", version="1.22.3", sha256="7e79bb39c72c3bf1613510fd5cdffe5baa9a7873892bef1d4566f1672c8a42f4"),
    Pin(name="parse", version="1.22.4", sha256="706d458feed5a81b02768d3156e8070baf6cee7d150a3a3c0cd43101a875c3b5"),
)
"""Two releases of which the later one mends how dates are read, in several places, with tests of its own."""

MESSAGE = "Dates are read as they are written (#1)\n\nA week day, or an hour before noon, was lost on the way.\n"

TASK = """\
# Dates are not read as they were written

`parse` reads back what was formatted with a date's directives. With week days, time zones, the twelve hour clock and
days without a year it gives no match, fails, or gives another moment than was written.

Please mend this: what `strftime` writes is read back as the same moment. Only files below `parse/` may be changed. The
tests are in `tests`.
"""


def package_repository(folder: Path, pins: tuple[Pin, ...], downloads: Path) -> Path:
    """Make a git repository with a commit a release; the newest is HEAD."""
    folder.mkdir(parents=True)
    git(folder, "init", "-q")
    obtained = Downloads(folder=downloads, index=ConfiguredIndex(environment=os.environ))
    for pin in pins:
        git(folder, "rm", "-rqf", "--ignore-unmatch", ".")
        for member in unpack(obtained.obtain(pin), pin):
            path = folder / member.path.decode()
            if b"egg-info" not in member.path and member.path != b"PKG-INFO":
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(member.data)
        git(folder, "add", "-A")
        git(folder, "commit", "-q", "-m", MESSAGE)
    return folder
