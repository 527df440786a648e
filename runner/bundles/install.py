"""Putting a pinned program of an agent's onto this host: one file of the npm registry, checked, unpacked, read-only.

No package manager takes part and nothing of the package is run: the platform packages hold the whole program.
"""

import base64
import hashlib
import os
import shutil
import tarfile
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPException
from pathlib import Path
from typing import BinaryIO
from urllib.error import HTTPError
from urllib.request import Request, urlopen

from runner.bundles.bundle import record_of
from runner.bundles.pins import NEEDS, platform_pin
from runner.canonical import canonical
from runner.disk import DISK
from runner.documents.runtimes import InstalledRuntime, PlatformPin, RuntimePin
from runner.durable import make_folders, replace_file
from runner.errors import StorageError, SupplyError
from runner.npm import unserved
from sandbox.errors import TreeError
from sandbox.spec import GIB
from sandbox.tree import read_folder, tree_digest

_SECONDS = 120
_PACKAGE_BYTES = 2 * GIB
_CHUNK = 1 << 20


def folder_of(into: Path, pin: RuntimePin) -> Path:
    """Give where a program is installed: `<into>/<agent>/<version>`."""
    return into / pin.agent / pin.version


def install(pin: RuntimePin, platform: str, into: Path, registry: str) -> bool:
    """Install a program; false where it was there already.

    Raises:
        SupplyError: the registry does not have the pinned file, or the file lacks what the program needs.
        StorageError: the disk failed or is full.
    """
    chosen = platform_pin(pin, platform)
    folder = folder_of(into, pin)
    if folder.is_dir() and record_of(folder).exists():
        return False
    try:
        make_folders(folder.parent)
        with _downloaded(f"{registry}/{chosen.file}", chosen, folder.parent) as package, _half(folder) as half:
            _unpack(package, pin, chosen, half)
            _complete(pin, half)
            record = InstalledRuntime(
                agent=pin.agent,
                package=pin.package,
                version=pin.version,
                platform=chosen.platform,
                integrity=chosen.integrity,
                tree_sha256=tree_digest(read_folder(half)),
            )
            if folder.exists():
                shutil.rmtree(folder)  # Without its record nobody knows what it is: an installation that was cut off.
            DISK.rename_new(half, folder)
            replace_file(record_of(folder), canonical(record))
    except (OSError, TreeError) as error:
        found = (error.strerror if isinstance(error, OSError) else None) or str(error)
        raise StorageError(file=str(folder), found=found) from error
    return True


@contextmanager
def _downloaded(url: str, pin: PlatformPin, beside: Path) -> Iterator[BinaryIO]:
    """Fetch a package file whole, and give it once its digest is the pinned one."""
    digest = hashlib.sha512()
    size = 0
    with tempfile.TemporaryFile(dir=beside) as file:
        try:
            request = Request(url, headers={"user-agent": "npm"})  # noqa: S310 - the registry's address is the operator's
            with urlopen(request, timeout=_SECONDS) as answer:  # noqa: S310 - as above
                while (chunk := answer.read(_CHUNK)) and size <= _PACKAGE_BYTES:
                    file.write(chunk)
                    digest.update(chunk)
                    size += len(chunk)
        except HTTPError as error:
            raise unserved(url, f"status {error.code}") from error
        except (HTTPException, TimeoutError, ConnectionError) as error:
            raise unserved(url, str(error) or type(error).__name__) from error
        except OSError as error:
            if error.filename is not None:
                raise
            raise unserved(url, str(error)) from error
        found = "sha512-" + base64.b64encode(digest.digest()).decode()
        if found != pin.integrity:
            raise SupplyError(
                file=url,
                field="integrity",
                found=found,
                expected=pin.integrity,
                mend="the registry serves another file than was pinned; look at config/runtimes.json",
            )
        file.seek(0)
        yield file


@contextmanager
def _half(folder: Path) -> Iterator[Path]:
    half = Path(tempfile.mkdtemp(prefix=f".tmp-{folder.name}-", dir=folder.parent))
    try:
        half.chmod(0o755)
        yield half
    finally:
        shutil.rmtree(half, ignore_errors=True)


def _unpack(package: BinaryIO, pin: RuntimePin, chosen: PlatformPin, half: Path) -> None:
    """Write the plain files of one folder of the package; a link or a path that leads elsewhere is not taken."""
    prefix = f"{chosen.folder}/"
    with tarfile.open(fileobj=package, mode="r:gz") as tar:
        for info in tar:
            name = info.name.removeprefix("./")
            path = name.removeprefix(prefix)
            if not info.isreg() or not name.startswith(prefix) or _is_left_out(path, pin):
                continue
            if any(part in {"", ".", ".."} for part in path.split("/")):
                raise TreeError(f"{name!r} in the package is no path of a tree")
            place = half / path
            place.parent.mkdir(parents=True, exist_ok=True, mode=0o755)
            stream = tar.extractfile(info)
            with place.open("xb") as file:
                shutil.copyfileobj(stream or _nothing(name), file, _CHUNK)
                os.fsync(file.fileno())
            place.chmod(0o555 if info.mode & 0o100 else 0o444)


def _nothing(name: str) -> BinaryIO:
    raise TreeError(f"{name!r} in the package has no content")


def _is_left_out(path: str, pin: RuntimePin) -> bool:
    return any(path == each or path.startswith(f"{each}/") for each in pin.leave_out)


def _complete(pin: RuntimePin, half: Path) -> None:
    lacking = [each for each in NEEDS[pin.agent] if not (half / each).is_file()]
    if lacking:
        raise SupplyError(
            file=f"{pin.package} {pin.version}",
            field="files",
            found=f"a package without {', '.join(lacking)}",
            expected="the whole program",
            mend="pin another version in config/runtimes.json",
        )
