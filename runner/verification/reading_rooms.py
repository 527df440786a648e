"""The trees that in-depth judges read, held against who was to read one, and against what their units saw of it."""

import errno
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from runner.documents.evidence import Walls
from runner.documents.judging import Cell, RubricItem
from runner.documents.judging_tree import WorkspaceRecord
from runner.documents.manifest import Manifest
from runner.judging.showing import looks_around
from runner.verification.model import Finding, differ
from runner.verification.rereading import Kept
from sandbox.spec import WORKSPACE_ROOT

_READ_ONLY = frozenset({errno.EROFS, errno.EACCES})


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadingRooms:
    """All trees that judges of a release read, by the digest of their record."""

    manifest: Manifest
    records: Mapping[str, WorkspaceRecord]

    def check(self, kept: Kept) -> Iterator[Finding]:
        """Hold one answer against the tree that it was, or was not, to be given with."""
        said, asked = kept.said, kept.said.asked
        if asked is None:
            return
        judge = next((each for each in self.manifest.judges if each.id == asked.judge), None)
        looks = judge is not None and looks_around(judge, said.item)
        yield from differ(kept.file, "workspace", asked.workspace_sha256 is not None, looks)
        if asked.workspace_sha256 is None or not isinstance(said.item, RubricItem):
            return
        record = self.records.get(asked.workspace_sha256)
        if record is None:
            expected = f"the record {asked.workspace_sha256} of what it looked around in"
            yield Finding(file=str(kept.file), found="nothing", expected=expected)
            return
        yield from self._bound(kept, record, said.item.cell)
        if kept.walls is not None and not _was_read_only(kept.walls):
            expected = f"a launcher that could not write to {WORKSPACE_ROOT}"
            yield Finding(file=str(kept.file), found="one that could, or did not say", expected=expected)

    def _bound(self, kept: Kept, record: WorkspaceRecord, cell: Cell) -> Iterator[Finding]:
        asked, nominations = kept.said.asked, {each.id: each for each in self.manifest.nominations}
        nomination = nominations.get(cell.nomination)
        frozen = None if nomination is None else nomination.fixture_sha256
        yield from differ(kept.file, "fixture of its workspace", record.fixture_sha256, frozen)
        yield from differ(kept.file, "view of its workspace", record.view, None if asked is None else asked.view)
        if kept.walls is None and kept.answer is not None:
            yield Finding(file=str(kept.file), found="no launcher's report", expected="one beside the answer")


def _was_read_only(walls: Walls) -> bool:
    seen = walls.units.get("judge", {}).get("writing")
    return isinstance(seen, dict) and seen.get(WORKSPACE_ROOT) in _READ_ONLY
