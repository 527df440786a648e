"""What judges said, held against what it is about: submissions, packets, prompts, ledgers, and the answers read again.

That plans and packets are those which follow from the submissions needs their trees: runner/verification/rejudging.py.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from runner.canonical import sha256
from runner.documents.evidence import Walls
from runner.documents.judging import (
    FlagKind,
    PacketRecord,
    PairVerdict,
    RubricVerdict,
    Unscored,
    UnscoredWhy,
)
from runner.documents.judging_plan import JudgingPlan, PlannedAsking
from runner.documents.judging_tree import WorkspaceRecord
from runner.documents.manifest import Manifest
from runner.documents.model import Document
from runner.documents.seal import Trial
from runner.durable import TEMPORARY
from runner.errors import UsageError
from runner.freezing import find_records
from runner.judging.archive import (
    ANSWER,
    ANSWERS,
    JUDGES,
    LAUNCHER,
    LEDGER,
    LONGEST,
    OPEN,
    PACKET,
    PACKETS,
    PLAN,
    PLANS,
    RECORD,
    UNASKED,
    UNSCORED,
    VERDICT,
    WORKSPACES,
    Archive,
    all_tries,
    model_of,
    packet_file,
    trial_of,
)
from runner.judging.askings import cells
from runner.judging.caching import judge_settings
from runner.judging.pairing import Item
from runner.judging.ruling import Said
from runner.judging.showing import template_name
from runner.judging.sitting import AsKnown, by_asking, place_of
from runner.parsing import read_file
from runner.store import Store
from runner.verification.folders import Reader
from runner.verification.model import Finding, differ
from runner.verification.reading_rooms import ReadingRooms
from runner.verification.rereading import Kept, Rereading, rereading
from runner.verification.reviews import submission_digest

_BESIDE = {VERDICT, UNSCORED, ANSWER, LEDGER, LAUNCHER}


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgingFound:
    """What was found about a release's judging."""

    findings: tuple[Finding, ...]
    files: int
    unfinished: tuple[str, ...]
    unchecked: tuple[str, ...]


def check_judging(store: Store, manifest: Manifest, reader: Reader) -> JudgingFound:
    """Check everything that judging has kept of a release."""
    work = _Judging(archive=Archive(store=store), manifest=manifest, reader=reader)
    work.check()
    return JudgingFound(
        findings=tuple(work.findings),
        files=work.files,
        unfinished=tuple(work.unfinished),
        unchecked=tuple(work.unchecked),
    )


@dataclass(slots=True, kw_only=True)
class _Judging:
    archive: Archive
    manifest: Manifest
    reader: Reader
    findings: list[Finding] = field(default_factory=list)
    files: int = 0
    unfinished: list[str] = field(default_factory=list)
    unchecked: list[str] = field(default_factory=list)

    def check(self) -> None:
        """Check plans, packets and answers, and say what the last plan still asks for."""
        tries = all_tries(self.archive.store, self.manifest)
        places = tuple(self.archive.places(tries))
        if not self.archive.top.exists() and not places:
            return
        self._names(self.archive.top, {ANSWERS, PACKETS, WORKSPACES, PLANS, OPEN})
        for trial in tries:
            self._names(
                self.archive.store.folder(trial) / JUDGES, {judge.id for judge in self.manifest.judges} | {UNASKED}
            )
        plans = self._plans()
        packets = dict(self._packets())
        answers = [answer for place in places for answer in self._answers(place)]
        known = by_asking(answer.said for answer in answers)
        planned = {each for plan in plans for each in plan.askings}
        rooms = ReadingRooms(manifest=self.manifest, records=dict(self._workspaces()))
        again = self._rereading()
        bytes_of = {digest: data for digest, (data, _) in packets.items()}
        for answer in answers:
            self._answer(answer, packets, planned)
            self.findings += rooms.check(answer)
            if again is not None:
                self.findings += again.check(answer, bytes_of)
        self._order(answers, known)
        self._rest(plans, known)

    def _plans(self) -> list[JudgingPlan]:
        numbers = self.archive.plan_numbers()
        place = self.archive.top / PLANS
        self.findings += differ(place, "plans", numbers, tuple(range(1, len(numbers) + 1)))
        self._names(place, {str(number) for number in numbers})
        plans = []
        for number in numbers:
            self._names(place / str(number), {PLAN})
            plan = self._document(JudgingPlan, place / str(number) / PLAN)
            if isinstance(plan, JudgingPlan):
                self._bound(place / str(number) / PLAN, plan.release, plan.manifest_sha256)
                plans.append(plan)
        return plans

    def _packets(self) -> Iterator[tuple[str, tuple[bytes, PacketRecord]]]:
        for folder in _sorted(self.archive.top / PACKETS):
            self._names(folder, {PACKET, RECORD})
            data = self._bytes(folder / PACKET)
            record = self._document(PacketRecord, folder / RECORD)
            self.findings += differ(folder / PACKET, "sha256", None if data is None else sha256(data), folder.name)
            if data is not None and isinstance(record, PacketRecord):
                self.findings += differ(folder / RECORD, "packet_sha256", record.packet_sha256, folder.name)
                yield folder.name, (data, record)

    def _workspaces(self) -> Iterator[tuple[str, WorkspaceRecord]]:
        for folder in _sorted(self.archive.top / WORKSPACES):
            self._names(folder, {RECORD})
            data = self._bytes(folder / RECORD)
            self.findings += differ(folder / RECORD, "sha256", None if data is None else sha256(data), folder.name)
            record = self._document(WorkspaceRecord, folder / RECORD)
            if isinstance(record, WorkspaceRecord):
                yield folder.name, record

    def _answers(self, place: Path) -> Iterator[Kept]:
        """Read the answers of one judge in one place; each stands in a folder that its document names."""
        for folder in _sorted(place):
            self._names(folder, _BESIDE)
            found = [name for name in (VERDICT, UNSCORED) if (folder / name).exists()]
            if len(found) != 1:
                self.findings.append(Finding(file=str(folder), found=f"{len(found)} documents", expected="one"))
                continue
            file = folder / found[0]
            data = self._bytes(file)
            if data is None:
                continue
            self.findings += differ(file, "sha256", sha256(data), folder.name)
            said, findings = self.reader.one(Unscored if found[0] == UNSCORED else model_of(data), data, file)
            self.findings += findings
            answer, ledger = (
                self._bytes(folder / name) if (folder / name).exists() else None for name in (ANSWER, LEDGER)
            )
            walls = self._document(Walls, folder / LAUNCHER) if (folder / LAUNCHER).exists() else None
            if isinstance(said, RubricVerdict | PairVerdict | Unscored):
                seen = walls if isinstance(walls, Walls) else None
                yield Kept(file=file, said=said, answer=answer, ledger=ledger, walls=seen)

    def _answer(
        self,
        answer: Kept,
        packets: dict[str, tuple[bytes, PacketRecord]],
        planned: set[PlannedAsking],
    ) -> None:
        """Hold one document against everything that it names."""
        said, file = answer.said, answer.file
        self._bound(file, said.release, said.manifest_sha256)
        self.findings += differ(file, "folder", file.parent.parent, self.archive.folder(said))
        for cell in cells(said.item):
            self._cell(file, trial_of(self.archive.store, cell), cell.submission_sha256)
        asked = said.asked
        if asked is None:
            why = said.why if isinstance(said, Unscored) else None
            self.findings += differ(file, "why", why, UnscoredWhy.TOO_LARGE)
            return
        asking = PlannedAsking(judge=asked.judge, instead_of=asked.instead_of, item=said.item, view=asked.view)
        if asking not in planned:
            self.findings.append(Finding(file=str(file), found="an answer", expected="an asking of some plan"))
        for name, found, expected in (
            ("prompt_sha256", asked.prompt_sha256, self._prompt(asked.judge, said.item)),
            ("settings_sha256", asked.settings_sha256, judge_settings(self.manifest).get(asked.judge)),
            ("solution", asked.solution, self.manifest.judging.show_solution),
            ("answer_sha256", asked.answer_sha256, _digest(answer.answer)),
            ("ledger_sha256", asked.ledger_sha256, _digest(answer.ledger)),
        ):
            self.findings += differ(file, name, found, expected)
        record = packets.get(asked.packet_sha256)
        if record is None and asked.answer_sha256 is not None:
            place = packet_file(self.archive, asked.packet_sha256)
            self.findings.append(Finding(file=str(place), found="nothing", expected=f"what {file} was said of"))
        elif record is not None:
            left = any(change.left for change in record[1].changes)
            flagged = any(flag.kind is FlagKind.IDENTITY_LEFT for flag in said.flags)
            self.findings += differ(file, "flags", flagged, left)

    def _prompt(self, name: str, item: Item) -> str | None:
        """Give the digest of the template that a judge was to be asked with."""
        prompts = {each.path: each.sha256 for each in self.manifest.judge_prompts}
        judge = next((each for each in self.manifest.judges if each.id == name), None)
        return None if judge is None else prompts.get(template_name(judge, item))

    def _cell(self, file: Path, trial: Trial, digest: str) -> None:
        folder = self.archive.store.folder(trial)
        self.findings += differ(file, "submission_sha256", digest, submission_digest(folder))

    def _order(self, answers: list[Kept], known: dict[AsKnown, list[Said]]) -> None:
        """Answers to one asking are counted, within the bound, and none follows a verdict."""
        files = {place_of(answer.said): answer.file for answer in answers}
        for place, said in known.items():
            numbers = [each.asked.number for each in said if each.asked is not None]
            self.findings += differ(files[place], "numbers", numbers, list(range(1, len(numbers) + 1)))
            early = [each for each in said[:-1] if not isinstance(each, Unscored)]
            if early or len(numbers) > self.manifest.judging.answers:
                expected = f"at most {self.manifest.judging.answers}, and none after a verdict"
                self.findings.append(Finding(file=str(files[place]), found=f"{len(said)} answers", expected=expected))

    def _rest(self, plans: list[JudgingPlan], known: dict[AsKnown, list[Said]]) -> None:
        """Say what the last plan asks for and has no end."""
        if not plans:
            if known:
                self.findings.append(Finding(file=str(self.archive.top), found="answers", expected="a plan of them"))
            return
        unasked = {item for _, item, _ in (place for place in known if not place[0])}
        most = self.manifest.judging.answers
        left = sum(
            each.item not in unasked and not _ended(known.get((each.judge, each.item, each.view), []), most)
            for each in plans[-1].askings
        )
        if left:
            self.unfinished.append(f"judging: {left} of {len(plans[-1].askings)} askings of the plan have no end")
        open_calls = len(_sorted(self.archive.top / OPEN))
        if open_calls:
            self.unchecked.append(f"{self.archive.top / OPEN}: {open_calls} calls that are being made, or were lost")

    def _rereading(self) -> Rereading | None:
        """Find what answers are read with; None where a record of the controls is not there."""
        store = self.archive.store
        try:
            records = find_records(store.root, self.manifest)
        except UsageError as error:
            self.unchecked.append(f"judging: answers were not read again: {error}")
            return None
        return rereading(self.manifest, store.manifest_sha256, records)

    def _bound(self, file: Path, release: str, manifest_sha256: str) -> None:
        self.findings += differ(file, "release", release, self.manifest.release)
        self.findings += differ(file, "manifest_sha256", manifest_sha256, self.archive.store.manifest_sha256)

    def _document(self, model: type[Document], file: Path) -> Document | tuple[Document, ...] | None:
        data = self._bytes(file)
        if data is None:
            return None
        document, findings = self.reader.one(model, data, file)
        self.findings += findings
        return document

    def _bytes(self, file: Path) -> bytes | None:
        self.files += 1
        try:
            return read_file(file, LONGEST)
        except UsageError as error:
            self.findings.append(Finding(file=str(file), found=str(error), expected="a file of the judging"))
            return None

    def _names(self, folder: Path, known: set[str]) -> None:
        for each in folder.iterdir() if folder.is_dir() else ():
            if each.name.startswith(TEMPORARY):
                self.unchecked.append(f"{each}: left unfinished by a killed runner")
            elif each.name not in known:
                self.findings.append(Finding(file=str(each), found="something unknown", expected="nothing"))


def _sorted(place: Path) -> list[Path]:
    found = place.iterdir() if place.is_dir() else ()
    return sorted(each for each in found if not each.name.startswith(TEMPORARY))


def _digest(data: bytes | None) -> str | None:
    return None if data is None else sha256(data)


def _ended(said: list[Said], most: int) -> bool:
    return bool(said) and (not isinstance(said[-1], Unscored) or len(said) >= most)
