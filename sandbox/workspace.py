"""Workspaces: a frozen tree below, a bounded file system above, both in the keeper's mount namespace.

Below `<root>/<name>/`: `image` (the bounded file system with upper, work, home, tmp, vartmp), `tree` (the
overlay), `seen` (the same read-only, for an inspection account), `bottom` (an empty or copied tree), and for a
moment only `l0`, `l1`... and `top`, layers with their owners mapped.
"""

import errno
import os
import re
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from sandbox import loop
from sandbox.api import Changes
from sandbox.beneath import FOLDER, remove
from sandbox.copying import copy_tree, give
from sandbox.errors import WorkspaceError
from sandbox.image import Bounds, Image, mount_image
from sandbox.layers import Layers
from sandbox.laying import LAID_TIME, lay
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
from sandbox.upper import read_upper

MOST_CHANGES = 100_000
"""More than any capture takes (sandbox.inspected.CaptureLimits)."""
_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,79}")
_FOLDERS = {"upper": 0o755, "work": 0o755, "home": 0o755, "tmp": 0o1777, "vartmp": 0o1777}
OVERLAY = "redirect_dir=on,metacopy=off,index=off"
_TREE_FLAGS = Flag.NOSUID | Flag.NODEV
_SEEN_FLAGS = _TREE_FLAGS | Flag.RDONLY | Flag.NOEXEC | Flag.NOSYMFOLLOW
_BUSY_TRIES, _BUSY_PAUSE = 20, 0.005


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """One workspace to be built. `uid` is the account's user and group; packs are descriptors."""

    name: str
    layers: tuple[Path, ...]
    """Stored trees, the first on top."""
    uid: int
    bounds: Bounds
    lay: int | None = None
    home: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Paths:
    """What a unit's binds point at."""

    workspace: Path
    home: Path
    tmp: Path
    vartmp: Path


@dataclass(slots=True, kw_only=True)
class Workspaces:
    """All workspaces of one keeper, below one folder of root's that nothing else writes to."""

    root: Path
    templates: Path
    """Where empty images are kept, on the same file system as `root` for speed."""
    layers: Layers
    image: Image
    opened: dict[str, Plan] = field(default_factory=dict)

    def open(self, plan: Plan) -> Paths:
        """Build and mount a workspace; what fails half way is taken down again.

        Raises:
            WorkspaceError: the name is bad or taken, or the host refused a step.
            PackError: a pack is malformed or lies about its bytes.
            PatchError: a pack removes what is not there.
        """
        folder = self._folder(plan.name)
        try:
            folder.mkdir(mode=0o700, parents=True)
        except FileExistsError as error:
            raise WorkspaceError(f"workspace {plan.name} is open already") from error
        with ExitStack() as undo:
            undo.callback(self.close, plan.name)
            with refusals_told(f"workspace {plan.name} cannot be built"):
                self._build(plan, folder)
            undo.pop_all()
        self.opened[plan.name] = plan
        image = folder / "image"
        return Paths(workspace=folder / "tree", home=image / "home", tmp=image / "tmp", vartmp=image / "vartmp")

    def inspect(self, name: str, uid: int) -> tuple[Path, Changes]:
        """Show a workspace read-only as another account's, and list what changed; its units have ended.

        The writable mount is taken away first, for good.

        Raises:
            WorkspaceError: it is not open, is being inspected, is still in use, or the host refused a step.
            CaptureError: too much changed, or the upper layer cannot be read.
        """
        plan, folder = self._opened(name), self._folder(name)
        with refusals_told(f"workspace {name} cannot be shown for inspection"):
            if mount_point_exists(folder / "tree") and not _unmount_patiently(folder / "tree"):
                raise WorkspaceError(f"a program still uses workspace {name}")
            (folder / "seen").mkdir()
            with ExitStack() as undo:
                undo.callback(self.end_inspection, name)
                changes = self._changes(plan, folder)
                self._show(plan, folder, uid)
                undo.pop_all()
        return folder / "seen", changes

    def end_inspection(self, name: str) -> None:
        """Take the inspection's mount away; doing so twice is fine."""
        folder = self._folder(name)
        with refusals_told(f"the inspection of workspace {name} cannot be ended"):
            for point in reversed(mount_points_below(folder / "seen")):
                if not _unmount_patiently(point):
                    raise WorkspaceError(f"a program still inspects workspace {name}")
            if (folder / "seen").exists():
                (folder / "seen").rmdir()

    def close(self, name: str) -> tuple[str, ...]:
        """Take a workspace down and remove every trace; doing so twice is fine. Gives what was not clean."""
        folder = self._folder(name)
        self.opened.pop(name, None)
        with refusals_told(f"workspace {name} cannot be removed"):
            return _clear(folder) if folder.exists() else ()

    def sweep(self) -> tuple[str, ...]:
        """Remove what a killed keeper left below the root, and tell it."""
        if not self.root.exists():
            return ()
        told: list[str] = []
        for folder in sorted(self.root.iterdir()):
            if folder.name not in self.opened:
                with refusals_told(f"{folder} cannot be removed"):
                    told += (f"{folder} was left behind", *_clear(folder))
        return tuple(told)

    def _folder(self, name: str) -> Path:
        if not _NAME.fullmatch(name):
            raise WorkspaceError(f"{name!r:.100} is no name of a workspace")
        return self.root / name

    def _opened(self, name: str) -> Plan:
        try:
            return self.opened[name]
        except KeyError as error:
            raise WorkspaceError(f"workspace {name} is not open") from error

    def _build(self, plan: Plan, folder: Path) -> None:
        for part in ("image", "tree", "bottom"):
            (folder / part).mkdir()
        image = folder / "image"
        mount_image(self.image, plan.bounds, self.templates, image)
        for part, mode in _FOLDERS.items():
            (image / part).mkdir()
            (image / part).chmod(mode)
            os.chown(image / part, plan.uid, plan.uid)
        if self.layers is Layers.COPY:
            for layer in reversed(plan.layers):
                copy_tree(layer, folder / "bottom", plan.uid)
        upper = "upperdir=image/upper,workdir=image/work"
        with self._lower(plan, folder, plan.uid) as lower:
            mount("work", folder / "tree", "overlay", _TREE_FLAGS, f"lowerdir={lower},{upper},{OVERLAY}")
        if plan.lay is not None:
            _lay_at(folder / "tree", plan.lay, plan.uid)
        if plan.home is not None:
            _lay_at(image / "home", plan.home, plan.uid, private=True)

    def _show(self, plan: Plan, folder: Path, uid: int) -> None:
        if self.layers is Layers.COPY:
            give(folder / "bottom", uid)
        with self._upper(plan, folder, uid) as upper, self._lower(plan, folder, uid) as lower:
            options = f"lowerdir={upper}:{lower},{OVERLAY}"
            mount("work", folder / "seen", "overlay", _SEEN_FLAGS, options)

    @contextmanager
    def _upper(self, plan: Plan, folder: Path, uid: int) -> Iterator[str]:
        """Attach the upper layer as another account's, or give it away where it cannot be idmapped."""
        upper, point = folder / "image" / "upper", folder / "top"
        point.mkdir(exist_ok=True)
        with ExitStack() as undo:
            namespace = undo.enter_context(_namespace(plan.uid, uid)) if _maps(self.layers) else None
            if namespace is not None and _attaches(upper, point, namespace):
                undo.callback(unmount, point)
                yield "top"
            else:
                give(upper, uid)
                yield "image/upper"

    @contextmanager
    def _lower(self, plan: Plan, folder: Path, uid: int) -> Iterator[str]:
        """Attach the layers as the account's; give an overlay's `lowerdir`, relative to where we stand."""
        mapped = plan.layers if _maps(self.layers) else ()
        points = [folder / f"l{index}" for index in range(len(mapped))]
        with ExitStack() as undo:
            namespace = undo.enter_context(_namespace(0, uid)) if mapped else -1
            for layer, point in zip(mapped, points, strict=True):
                point.mkdir(exist_ok=True)
                attach_idmapped(layer, point, namespace)
                undo.callback(unmount, point)
            undo.enter_context(standing_in(folder))
            yield ":".join(point.name for point in points) or "bottom"

    def _changes(self, plan: Plan, folder: Path) -> Changes:
        """Read the upper layer against the layers as they lie in the store."""
        below = plan.layers if _maps(self.layers) else (folder / "bottom",)
        with ExitStack() as opened:
            upper = opened.enter_context(_open(folder / "image" / "upper"))
            layers = tuple(opened.enter_context(_open(layer)) for layer in below)
            return read_upper(upper, layers, most=MOST_CHANGES)


def _maps(layers: Layers) -> bool:
    return layers is not Layers.COPY


def _attaches(source: Path, point: Path, namespace: int) -> bool:
    """Attach a folder idmapped; false where its file system knows no such thing."""
    try:
        attach_idmapped(source, point, namespace)
    except OSError as error:
        if error.errno == errno.EINVAL:
            return False
        raise
    return True


def _lay_at(place: Path, pack: int, uid: int, *, private: bool = False) -> None:
    with _open(place) as folder:
        lay(pack, folder, owner=uid, time=LAID_TIME, private=private)


def _clear(folder: Path) -> tuple[str, ...]:
    """Unmount all that is mounted below a folder, last mounted first, free its loop devices, remove it."""
    busy = [point for point in reversed(mount_points_below(folder)) if not _unmount_patiently(point)]
    for point in busy:
        unmount(point, detach=True)
    with _open(folder.parent) as parent:
        remove(parent, os.fsencode(folder.name))
    told = [f"{point} was busy and had to be detached" for point in busy]
    return (*told, *(f"{loop.node(number)} is still held" for number in _held_devices(folder)))


def _unmount_patiently(point: Path) -> bool:
    """Unmount, and tell whether that was possible: the end of a program's last use may lag."""
    for _ in range(_BUSY_TRIES):
        try:
            unmount(point)
        except OSError as error:
            if error.errno != errno.EBUSY:
                raise
            time.sleep(_BUSY_PAUSE)
        else:
            return True
    return False


def _held_devices(folder: Path) -> list[int]:
    """List the loop devices that stay bound although nothing should use them: the last release may lag."""
    held = loop.backing_below(folder)
    for _ in range(_BUSY_TRIES):
        if not held:
            break
        time.sleep(_BUSY_PAUSE)
        held = loop.backing_below(folder)
    return held


@contextmanager
def _namespace(inside: int, outside: int) -> Iterator[int]:
    namespace = user_namespace(inside, outside)
    try:
        yield namespace
    finally:
        os.close(namespace)


@contextmanager
def _open(folder: Path) -> Iterator[int]:
    opened = os.open(folder, FOLDER)
    try:
        yield opened
    finally:
        os.close(opened)
