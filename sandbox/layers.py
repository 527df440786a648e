"""How a frozen tree gets a unit's account, tried on the very file system it lies on."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path

from sandbox import loop
from sandbox.errors import WorkspaceError
from sandbox.image import Bounds, Image, make_file_system, mount_image
from sandbox.mounts import (
    Flag,
    attach_idmapped,
    mount,
    mount_point_exists,
    mount_points_below,
    refusals_told,
    standing_in,
    unmount,
    user_namespace,
)

_PROBE_ACCOUNT = 1_900_000_000
_PROBE_BOUNDS = Bounds(disk_bytes=4 << 20, disk_inodes=64)
_STORE_BYTES, _STORE_INODES = 64 << 30, 4_000_000
_STORE_FEATURES = (
    "none,has_journal,extent,sparse_super,large_file,filetype,dir_index,dir_nlink,extra_isize,"
    "flex_bg,64bit,metadata_csum,huge_file,ext_attr"
)


class Layers(StrEnum):
    """How a frozen tree gets a unit's account."""

    IDMAP = "idmap"
    IDMAP_LOOP = "idmap-loop"
    """As before, where the store lies in an image of its own (`mount_store`)."""
    COPY = "copy"


def probe_layers(state: Path) -> Layers:
    """Try, from the best to the plainest, what holds for trees stored below `state`."""
    with _probe_folder(state) as folder:
        if _idmap_works(folder, folder / "store"):
            return Layers.IDMAP
        if _loop_works(folder) and _idmap_works(folder, folder / "image"):
            return Layers.IDMAP_LOOP
    return Layers.COPY


def probe_image(state: Path) -> Image:
    """Try whether loop devices work here."""
    with _probe_folder(state) as folder:
        return Image.LOOP if _loop_works(folder) else Image.TMPFS


def mount_store(state: Path, objects: Path) -> None:
    """Mount the store's own image at `objects` unless it is; the first call makes the image."""
    if mount_point_exists(objects):
        return
    with refusals_told(f"the store's image cannot be mounted at {objects}"):
        _mount_store(state, objects)


def _mount_store(state: Path, objects: Path) -> None:
    file = state / "objects.ext4"
    if not file.exists():
        making = file.with_suffix(".new")
        making.unlink(missing_ok=True)
        make_file_system(making, _STORE_BYTES, _STORE_FEATURES, _STORE_INODES)
        making.replace(file)
    objects.mkdir(mode=0o755, parents=True, exist_ok=True)
    image = os.open(file, os.O_RDWR | os.O_CLOEXEC)
    try:
        number, device = loop.attach(image)
    finally:
        os.close(image)
    try:
        mount(loop.node(number), objects, "ext4", Flag.NOSUID | Flag.NODEV, "noinit_itable")
    finally:
        os.close(device)


@contextmanager
def _probe_folder(state: Path) -> Iterator[Path]:
    told = refusals_told(f"nothing can be tried below {state}")
    with told, tempfile.TemporaryDirectory(prefix="probe-", dir=state) as name:
        folder = Path(name)
        for part in ("store", "image", "mapped", "shown", "plain"):
            (folder / part).mkdir()
        try:
            yield folder
        finally:
            for point in reversed(mount_points_below(folder)):
                unmount(point)


def _idmap_works(folder: Path, store: Path) -> bool:
    """Whether an overlay over an idmapped folder shows root's files as an account's."""
    (store / "file").touch()
    try:
        namespace = user_namespace(0, _PROBE_ACCOUNT)
        try:
            attach_idmapped(store, folder / "mapped", namespace)
        finally:
            os.close(namespace)
        with standing_in(folder):
            mount("cleanroom", folder / "shown", "overlay", Flag.RDONLY, "lowerdir=mapped:plain")
        return (folder / "shown" / "file").stat().st_uid == _PROBE_ACCOUNT
    except OSError:
        return False


def _loop_works(folder: Path) -> bool:
    try:
        mount_image(Image.LOOP, _PROBE_BOUNDS, folder / "templates", folder / "image")
    except (OSError, WorkspaceError):
        return False
    return True
