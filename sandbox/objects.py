"""The keeper's store of frozen trees: a folder each, named by its tree digest, root's alone, never changed.

Files are 644 or 755, folders 755, times fixed. What has its name is whole: it was built beside and renamed.
"""

import os
import re
import tempfile
from dataclasses import dataclass
from pathlib import Path

from sandbox.beneath import FOLDER, remove
from sandbox.errors import PackError, WorkspaceError
from sandbox.laying import FROZEN_TIME, Ground, lay_entries
from sandbox.mounts import refusals_told, sync_file_system
from sandbox.pack import Packed, read_header
from sandbox.spec import ObjectId
from sandbox.tree import tree_digest

_DIGEST = re.compile(r"[0-9a-f]{64}")
_BUILDING = "building-"


@dataclass(frozen=True, slots=True)
class Objects:
    """The store below `root`, which belongs to root and lies where folders can be idmapped, if possible."""

    root: Path

    def path(self, digest: ObjectId) -> Path:
        """Name a stored tree's folder.

        Raises:
            WorkspaceError: no such tree is stored.
        """
        folder = self.root / digest
        if not _DIGEST.fullmatch(digest) or not folder.is_dir():
            raise WorkspaceError(f"no tree {digest:.80} is stored")
        return folder

    def has(self, digest: ObjectId) -> bool:
        """Tell whether a tree is stored."""
        return _DIGEST.fullmatch(digest) is not None and (self.root / digest).is_dir()

    def store(self, pack: int) -> ObjectId:
        """Keep the tree in a pack and give its digest; a stored one costs the reading of the pack's header.

        Raises:
            PackError: the pack is malformed, or its bytes are not what its entries say.
            TreeError: its entries are no whole tree.
            WorkspaceError: the host refused: a full disk, for one.
        """
        packed = read_header(pack)
        digest = ObjectId(tree_digest(each.entry for each in packed))
        if self.has(digest):
            return digest
        with refusals_told(f"tree {digest} cannot be stored"):
            self._build(pack, packed, digest)
        return digest

    def sweep(self) -> tuple[str, ...]:
        """Remove what a killed keeper was building, and name it."""
        if not self.root.is_dir():
            return ()
        left = tuple(sorted(each.name for each in self.root.iterdir() if each.name.startswith(_BUILDING)))
        for name in left:
            self._remove(name)
        return left

    def _build(self, pack: int, packed: tuple[Packed, ...], digest: ObjectId) -> None:
        self.root.mkdir(mode=0o755, parents=True, exist_ok=True)
        building = Path(tempfile.mkdtemp(prefix=_BUILDING, dir=self.root))
        folder = os.open(building, FOLDER)
        try:
            os.fchmod(folder, 0o755)
            lay_entries(pack, packed, Ground(folder=folder, owner=0, time=FROZEN_TIME))
            os.utime(folder, (FROZEN_TIME, FROZEN_TIME))
            sync_file_system(folder)
            building.rename(self.root / digest)
        except (OSError, PackError):
            self._remove(building.name)
            raise
        finally:
            os.close(folder)

    def _remove(self, name: str) -> None:
        root = os.open(self.root, FOLDER)
        try:
            remove(root, os.fsencode(name))
        finally:
            os.close(root)
