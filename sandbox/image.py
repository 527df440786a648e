"""The bounded file system of one workspace: a sparse ext4 image on a loop device, or a sized tmpfs."""

import os
import subprocess
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from sandbox import loop
from sandbox.errors import WorkspaceError
from sandbox.mounts import Flag, mount

_MKFS = "/usr/sbin/mkfs.ext4"
_BLOCK, _INODE = 4096, 256
_FLAGS = Flag.NOSUID | Flag.NODEV
# Thrown away with its workspace: no journal, no flushes. Inode tables stay holes (noinit_itable).
_OPTIONS = "nobarrier,noinit_itable,noauto_da_alloc,errors=remount-ro"
_FEATURES = (
    "none,extent,sparse_super,large_file,filetype,dir_index,dir_nlink,extra_isize,"
    "flex_bg,64bit,uninit_bg,huge_file,ext_attr"
)
_CHUNK = 1 << 20


class Image(StrEnum):
    """What bounds a workspace."""

    LOOP = "loop"
    TMPFS = "tmpfs"


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """Room for a program's own bytes and files; what the file system itself needs comes on top."""

    disk_bytes: int
    disk_inodes: int

    @property
    def image_bytes(self) -> int:
        """Size of the image file: inode tables, bitmaps and directories of the file system included."""
        size = self.disk_bytes + self.disk_inodes * _INODE + self.disk_bytes // 64 + (1 << 20)
        return -(-size // _BLOCK) * _BLOCK


def mount_image(kind: Image, bounds: Bounds, templates: Path, target: Path) -> int | None:
    """Mount a fresh file system at `target`; give the loop device's number, if there is one."""
    if kind is Image.LOOP:
        return _mount_loop(bounds, templates, target)
    options = f"size={bounds.disk_bytes},nr_inodes={bounds.disk_inodes},mode=0755"
    mount("cleanroom", target, "tmpfs", _FLAGS, options)
    return None


def _mount_loop(bounds: Bounds, templates: Path, target: Path) -> int:
    free = os.statvfs(target)
    if free.f_bavail * free.f_frsize < bounds.image_bytes:
        raise WorkspaceError(f"{target.parent} lacks the {bounds.image_bytes} free bytes that an image may take")
    template = _template(bounds, templates)
    file = target.with_name(target.name + ".ext4")
    image = os.open(file, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        _copy_sparse(template, image, bounds.image_bytes)
        number, device = loop.attach(image)
    finally:
        os.close(image)
        file.unlink()  # the device holds it: however this ends, no file is left
    try:
        mount(loop.node(number), target, "ext4", _FLAGS, _OPTIONS)
    finally:
        os.close(device)
    return number


def _template(bounds: Bounds, templates: Path) -> Path:
    """Give an empty file system of this size, making it on the first call."""
    ready = templates / f"{bounds.disk_bytes}-{bounds.disk_inodes}.ext4"
    if not ready.exists():
        templates.mkdir(mode=0o700, parents=True, exist_ok=True)
        making = ready.with_suffix(f".{os.getpid()}")
        try:
            make_file_system(making, bounds.image_bytes, _FEATURES, bounds.disk_inodes)
            making.replace(ready)
        finally:
            making.unlink(missing_ok=True)
    return ready


def make_file_system(file: Path, size: int, features: str, inodes: int) -> None:
    """Make a sparse ext4 image with nothing reserved for root.

    Raises:
        WorkspaceError: mkfs.ext4 is missing or refuses.
    """
    with file.open("xb") as made:
        made.truncate(size)
    extended = "lazy_itable_init=1,nodiscard,packed_meta_blocks=1"
    argv = [_MKFS, "-q", "-F", "-b", str(_BLOCK), "-I", str(_INODE), "-N", str(inodes), "-m", "0"]
    argv += ["-O", features, "-E", extended, str(file)]
    try:
        done = subprocess.run(argv, env={"PATH": "/usr/sbin:/usr/bin"}, capture_output=True, check=False)
    except FileNotFoundError as error:
        raise WorkspaceError(f"{_MKFS} is missing; install e2fsprogs") from error
    if done.returncode:
        raise WorkspaceError(f"{_MKFS} refuses: {done.stderr.decode(errors='replace').strip()}")


def _copy_sparse(template: Path, image: int, size: int) -> None:
    """Copy what is data; holes stay holes."""
    os.ftruncate(image, size)
    with template.open("rb", buffering=0) as source:
        position = _next(source.fileno(), 0, os.SEEK_DATA)
        while position is not None:
            end = _next(source.fileno(), position, os.SEEK_HOLE) or size
            while position < end:
                chunk = os.pread(source.fileno(), min(_CHUNK, end - position), position)
                os.pwrite(image, chunk, position)
                position += len(chunk)
            position = _next(source.fileno(), position, os.SEEK_DATA)


def _next(fd: int, position: int, what: int) -> int | None:
    try:
        return os.lseek(fd, position, what)
    except OSError:  # ENXIO: nothing but a hole follows
        return None
