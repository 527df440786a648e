"""Where judging keeps what it adds: a folder an answer, whole or not there, never replaced, never in a sealed folder.

<try>/judges/<judge>/<sha256>/          an answer about one submission
judging/answers/<judge>/<sha256>/       an answer about a pair, or a hidden control
    verdict.json or unscored.json       the document; the folder is named by its digest
    answer.txt                          what the judge wrote: private
    ledger.jsonl, launcher.json         what was asked of the provider; what the unit's launcher saw
judging/packets/<sha256>/packet.txt     what was shown; the folder is named by its digest
judging/packets/<sha256>/record.json    what was scrubbed, left and labelled in it: private
judging/workspaces/<sha256>/record.json what an in-depth judge could read besides; named by its digest: private
judging/plans/<N>/plan.json             what is asked; the last counts
judging/open/<asking>-<number>.jsonl    ledger lines of a call that is being made
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from runner.artifacts import Files, keep_folder, new_folder
from runner.canonical import canonical, parse, sha256
from runner.documents.judging import Cell, PairVerdict, RubricItem, RubricVerdict, Unscored
from runner.documents.judging_plan import JudgingPlan
from runner.documents.judging_tree import WorkspaceRecord
from runner.documents.manifest import Manifest
from runner.documents.seal import Trial
from runner.durable import TEMPORARY
from runner.errors import VerificationError
from runner.judging.packet import Packet, netstrings, packet_record
from runner.judging.ruling import Said
from runner.parsing import read_file
from runner.reports.aggregate import planned
from runner.schedule import Cell as Planned
from runner.store import Store

JUDGES = "judges"
"""Folder of a try."""
JUDGING = "judging"
"""Folder of a release's evidence, and of its tables."""
ANSWERS, PACKETS, WORKSPACES, PLANS, OPEN = "answers", "packets", "workspaces", "plans", "open"

VERDICT, UNSCORED, ANSWER, LEDGER, LAUNCHER = (
    "verdict.json",
    "unscored.json",
    "answer.txt",
    "ledger.jsonl",
    "launcher.json",
)
PACKET, RECORD, PLAN = "packet.txt", "record.json", "plan.json"
UNASKED = "nobody"
"""In a judge's place, where nobody was asked: what was to be shown is too large."""
LONGEST = 16 << 20
"""Bytes of the largest file that is read back."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Archive:
    """What a release's judging has kept."""

    store: Store

    @property
    def top(self) -> Path:
        """Give the folder of what belongs to no single submission."""
        return self.store.root / self.store.release / JUDGING

    def folder(self, said: Said) -> Path:
        """Give the folder that a document's folder stands in."""
        judge = UNASKED if said.asked is None else said.asked.judge
        if isinstance(said.item, RubricItem):
            return self.store.folder(trial_of(self.store, said.item.cell)) / JUDGES / judge
        return self.top / ANSWERS / judge

    def keep(self, said: Said, files: Files) -> Path:
        """Keep a document with the private files that belong to it.

        Raises:
            StorageError: the disk failed or is full; nothing is there then.
        """
        data = canonical(said)
        name = UNSCORED if isinstance(said, Unscored) else VERDICT
        folder = self.folder(said)
        keep_folder(folder, sha256(data), {name: data, **files}, disk=self.store.disk)
        return folder / sha256(data)

    def keep_packet(self, packet: Packet) -> None:
        """Keep what is shown, before it is."""
        data = netstrings(packet)
        files = {PACKET: data, RECORD: canonical(packet_record(packet))}
        keep_folder(self.top / PACKETS, sha256(data), files, disk=self.store.disk)

    def keep_workspace(self, record: WorkspaceRecord) -> None:
        """Keep what a judge may look around in, before it does."""
        data = canonical(record)
        keep_folder(self.top / WORKSPACES, sha256(data), {RECORD: data}, disk=self.store.disk)

    def keep_plan(self, plan: JudgingPlan) -> int:
        """Keep a plan unless it is the last one; gives its number."""
        plans = self.plans()
        if plans and plans[-1] == plan:
            return len(plans)
        number = len(plans) + 1
        new_folder(self.top / PLANS, str(number), {PLAN: canonical(plan)}, disk=self.store.disk)
        return number

    def plans(self) -> tuple[JudgingPlan, ...]:
        """Give all plans, the last one last.

        Raises:
            DocumentError: one is not what was written.
        """
        files = (self.top / PLANS / str(number) / PLAN for number in self.plan_numbers())
        return tuple(parse(JudgingPlan, read_file(file, LONGEST), str(file)) for file in files)

    def plan_numbers(self) -> tuple[int, ...]:
        """List the numbers of the plans."""
        names = (each.name for each in _folders(self.top / PLANS))
        return tuple(sorted(int(name) for name in names if name.isdecimal()))

    def places(self, tries: tuple[Trial, ...]) -> Iterator[Path]:
        """List the folders that answers' folders stand in, one a judge."""
        for trial in tries:
            yield from _folders(self.store.folder(trial) / JUDGES)
        yield from _folders(self.top / ANSWERS)

    def answers(self, tries: tuple[Trial, ...]) -> Iterator[Said]:
        """Read every document.

        Raises:
            VerificationError: one is not what its folder is named by.
        """
        for place in self.places(tries):
            for folder in _folders(place):
                yield read_said(folder)


def read_said(folder: Path) -> Said:
    """Read the document of an answer's folder.

    Raises:
        VerificationError: it is not what the folder is named by.
        UsageError: it cannot be read.
    """
    is_verdict = (folder / VERDICT).exists()
    file = folder / (VERDICT if is_verdict else UNSCORED)
    data = read_file(file, LONGEST)
    if sha256(data) != folder.name:
        raise VerificationError(f"{file}: found sha256 {sha256(data)}; expected {folder.name}")
    return parse_said(data, file)


def parse_said(data: bytes, file: Path) -> Said:
    """Parse a document by what its file is called and begins with."""
    if file.name == UNSCORED:
        return parse(Unscored, data, str(file))
    return parse(model_of(data), data, str(file))


def model_of(data: bytes) -> type[RubricVerdict] | type[PairVerdict]:
    """Say which verdict a document says it is; canonical JSON has no blanks."""
    return RubricVerdict if b'"schema":"cleanroom/rubric-verdict/1"' in data else PairVerdict


def all_tries(store: Store, manifest: Manifest) -> tuple[Trial, ...]:
    """List every try that was begun."""
    return tuple(store.trial(cell, number) for cell in planned(manifest) for number in store.numbers(cell))


def trial_of(store: Store, cell: Cell) -> Trial:
    """Give the try that a submission was left by."""
    attempt = Planned(candidate=cell.candidate, nomination=cell.nomination, attempt=cell.attempt)
    return store.trial(attempt, cell.try_)


def packet_file(archive: Archive, digest: str) -> Path:
    """Give the place of what was shown."""
    return archive.top / PACKETS / digest / PACKET


def _folders(place: Path) -> tuple[Path, ...]:
    found = place.iterdir() if place.is_dir() else ()
    return tuple(sorted(each for each in found if each.is_dir() and not each.name.startswith(TEMPORARY)))
