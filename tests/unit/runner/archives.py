"""Hand-made source distributions and indexes, honest and hostile."""

import gzip
import hashlib
import io
import tarfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from runner.errors import SupplyError
from runner.sdist import Pin


def entry(name: str, data: bytes = b"", **fields: object) -> tuple[tarfile.TarInfo, bytes]:
    """Make one tar entry; `fields` are set on its header as they are."""
    info = tarfile.TarInfo(name)
    info.size = len(data)
    for key, value in fields.items():
        setattr(info, key, value)
    return info, data


def archive(entries: Iterable[tuple[tarfile.TarInfo, bytes]], behind: bytes = b"") -> bytes:
    """Pack entries as a .tar.gz, with some bytes behind the archive's end."""
    plain = io.BytesIO()
    with tarfile.open(fileobj=plain, mode="w", format=tarfile.PAX_FORMAT) as tar:
        for info, data in entries:
            tar.addfile(info, io.BytesIO(data))
    return gzip.compress(plain.getvalue() + behind, mtime=0)


def sdist(files: Mapping[str, bytes], top: str = "demo-1.0") -> bytes:
    """Pack plain files as a source distribution."""
    return archive(entry(f"{top}/{path}", data) for path, data in files.items())


def pin_of(data: bytes, version: str = "1.0") -> Pin:
    """Pin these bytes."""
    return Pin(name="demo", version=version, sha256=hashlib.sha256(data).hexdigest())


@dataclass
class FakeIndex:
    """Serves bytes by version and remembers what it was asked."""

    files: Mapping[str, bytes]
    asked: list[Pin] = field(default_factory=list)

    def download(self, pin: Pin) -> bytes:
        self.asked.append(pin)
        if pin.version not in self.files:
            raise SupplyError(file=f"sdist {pin}", field="index", found="nothing", expected="a file", mend="add it")
        return self.files[pin.version]
