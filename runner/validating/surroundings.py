"""What the rounds of a validation differ in: time zone, locale, hash seed; and the locales that units find for it.

Debian's minimal systems have C and C.UTF-8 alone. The others are compiled here by the C library's own program from
Debian's sources of locales, and shown to units: nothing of the host is changed. In the first, Turkish, `i` and `I` are
no pair and numbers have a comma; in the second, German, the encoding is not UTF-8 either, and letters are in an order
that is not that of their numbers.
"""

import subprocess
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

from evaluators.packing import pack_files
from sandbox.api import Sandbox
from sandbox.errors import HostUnfitError
from sandbox.spec import Mount

LOCALEDEF = Path("/usr/bin/localedef")
SOURCES = Path("/usr/share/i18n")
"""Debian's package locales."""

LOCALES = {"tr_TR.UTF-8": ("tr_TR", "UTF-8"), "de_DE.ISO-8859-1": ("de_DE", "ISO-8859-1")}
"""By the name that programs ask for: source and character map."""

TARGET = "/opt/locales"

ROUNDS = (
    {"TZ": "UTC", "LC_ALL": "C.UTF-8"},
    {"TZ": "Asia/Kathmandu", "LC_ALL": "tr_TR.UTF-8", "LOCPATH": TARGET, "PYTHONHASHSEED": "1"},
    {"TZ": "America/St_Johns", "LC_ALL": "de_DE.ISO-8859-1", "LOCPATH": TARGET, "PYTHONHASHSEED": "4242"},
)
"""Variables of the rounds, in turn; interpreters that are told to ignore a hash seed have a random one anyway."""


def variables(number: int) -> tuple[tuple[str, str], ...]:
    """Give the variables of a round, counted from 0."""
    return tuple(ROUNDS[number % len(ROUNDS)].items())


def locales_mount(sandbox: Sandbox, locales: Mapping[str, tuple[str, str]] = LOCALES) -> Mount:
    """Compile locales and store them; give where units see them.

    Raises:
        HostUnfitError: what compiles them, or their sources, is not here.
        SandboxError: a fault.
    """
    return Mount(object=sandbox.store(pack_files(compiled_locales(locales))), target=TARGET)


def compiled_locales(locales: Mapping[str, tuple[str, str]] = LOCALES) -> Mapping[str, bytes]:
    """Give the files of each locale, by path.

    Raises:
        HostUnfitError: what compiles them, or their sources, is not here.
    """
    missing = [path for path in (LOCALEDEF, SOURCES / "locales/tr_TR") if not path.exists()]
    if missing:
        what = f"rounds under other locales without {', '.join(map(str, missing))}"
        raise HostUnfitError(what, "run: apt-get install --no-install-recommends locales libc-bin")
    with TemporaryDirectory(prefix="cleanroom-locales-") as folder:
        top = Path(folder)
        for name, (source, letters) in locales.items():
            _compile(top / name, source, letters)
        return {str(path.relative_to(top)): path.read_bytes() for path in sorted(top.rglob("*")) if path.is_file()}


def _compile(place: Path, source: str, letters: str) -> None:
    options = ("--no-archive", "--quiet", "--no-warnings=ascii", "-i", source, "-f", letters)
    command = [str(LOCALEDEF), *options, str(place)]
    done = subprocess.run(command, env={"LC_ALL": "C"}, stdin=subprocess.DEVNULL, capture_output=True, check=False)
    if done.returncode:
        said = done.stderr.decode(errors="replace").strip()[-500:]
        raise HostUnfitError(f"the locale {place.name}: {said}", "run: apt-get install --reinstall locales")
