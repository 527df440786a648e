"""Questions put to judges one after another: each answer is kept, or that there is none, before the next is asked."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from runner.artifacts import make_private
from runner.canonical import canonical, canonical_lines, sha256
from runner.disk import Disk
from runner.documents.judging import Asked, RubricVerdict, Unscored, UnscoredWhy, View
from runner.documents.ledger import LedgerLine
from runner.documents.writing import walls
from runner.durable import append_file, make_folders
from runner.errors import StorageError
from runner.gateway.errors import GatewayError
from runner.judging.answers import NoVerdict
from runner.judging.archive import ANSWER, LAUNCHER, LEDGER, OPEN, Archive
from runner.judging.caching import cache_key
from runner.judging.calling import Asks, Call, Put
from runner.judging.key import asking_id, secrets_of
from runner.judging.packet import flags, packet_digest, refusal
from runner.judging.pairing import Item
from runner.judging.planning import Question
from runner.judging.ruling import Binding, Exam, Heard, Said, rule, told, unscored
from runner.judging.showing import Showroom, sides_of
from runner.trail import left_lines

Tell = Callable[[str], None]

AsKnown = tuple[str, Item, View]
"""What answers are found by: who answers, what, in which view."""

MOST_SILENT = 3
"""Calls in a row that brought no answer; then a judge is left alone for this run, and the rest to `--resume`."""

NOBODY = ""
"""In a judge's place, where nobody is asked."""

KILLED = "the call was broken off before its answer was kept"


@dataclass(slots=True, kw_only=True)
class Tally:
    """What a run did."""

    calls: int = 0
    verdicts: int = 0
    unscored: Counter[UnscoredWhy] = field(default_factory=Counter)
    """Askings of this run that ended without a verdict, by why."""
    left: int = 0
    """Askings that have not come to an end."""


@dataclass(slots=True, kw_only=True)
class _Growing:
    """The ledger of a call, line by line; called from the gateway's thread."""

    file: Path
    disk: Disk
    unsaved: StorageError | None = None
    """Why a line could not be kept, if so; the gateway's thread cannot raise it."""

    def __call__(self, line: LedgerLine) -> None:
        try:
            append_file(self.file, canonical(line) + b"\n", disk=self.disk)
        except StorageError as error:
            self.unsaved = error
            raise GatewayError(f"a line of the ledger could not be kept: {error}") from error


@dataclass(slots=True, kw_only=True)
class Sitting:
    """Judges at work on one plan."""

    archive: Archive
    show: Showroom
    key: bytes
    binding: Binding
    settings: Mapping[str, str]
    """Digest of each judge's settings, by judge."""
    tell: Tell
    asks: Asks | None = None
    """None: nobody is asked, and what is kept is only looked at."""
    known: dict[AsKnown, list[Said]] = field(default_factory=dict)
    tally: Tally = field(default_factory=Tally)
    _silent: Counter[str] = field(default_factory=Counter)
    _keys: dict[AsKnown, str] = field(default_factory=dict)

    def sit(self, questions: Iterable[Question]) -> None:
        """Put every question that has not come to its end.

        Raises:
            StorageError: the disk failed or is full.
            SandboxError, GatewayError: a fault of ours; what was kept stays.
        """
        todo = [each for each in questions if not self.is_over(each)]
        for place, question in enumerate(todo, 1):
            while not self.is_over(question):
                if self._silent[question.judge.id] >= MOST_SILENT:
                    self.tally.left += 1
                    break
                said = self._answer(question)
                self.tell(f"[{place}/{len(todo)}] {question.judge.id}: {spoken(question)}: {_word(said)}")
            else:
                self._count(question)

    def is_over(self, question: Question) -> bool:
        """Whether a question has its verdict, or all answers that it may have."""
        said = self.answers(question)
        return bool(said) and (
            said[-1].asked is None or not isinstance(said[-1], Unscored) or len(said) >= self.show.judging.answers
        )

    def answers(self, question: Question) -> list[Said]:
        """Give what was answered to this very question: same packet, prompt, judge and settings."""
        found = self.known.get((question.judge.id, question.item, question.view), [])
        unasked = self.known.get((NOBODY, question.item, View.FULL), [])
        return unasked or [each for each in found if each.asked is not None and self._same(question, each.asked)]

    def _same(self, question: Question, asked: Asked) -> bool:
        place = (question.judge.id, question.item, question.view)
        if place not in self._keys:
            digest = packet_digest(self.show.packet(question))
            self._keys[place] = _cached(self._asked(question, digest, 1), question.item)
        return self._keys[place] == _cached(asked, question.item)

    def _answer(self, question: Question) -> Said:
        """Ask once, or say why nobody is asked; keep what came of it."""
        packet = self.show.packet(question)
        number = len(self.answers(question)) + 1
        asking = asking_id(question.judge.id, question.item, question.view)
        exam = Exam(
            item=question.item,
            packet=packet,
            secrets=secrets_of(self.key, asking, number),
            known=self.show.known,
            flags=flags(packet, sides_of(question.item)),
        )
        excess = refusal(packet)
        if excess is not None:
            none = NoVerdict(why=UnscoredWhy.TOO_LARGE, detail=excess)
            return self._keep(unscored(self.binding, exam, None, none), {})
        asked = self._asked(question, packet_digest(packet), number)
        left = self._open(asking, number)
        if lines := left_lines(left):
            lost = Heard(text=None, lines=lines, duration_ms=0)
            none = NoVerdict(why=UnscoredWhy.PROVIDER, detail=KILLED)
            said: Said = unscored(self.binding, exam, told(asked, lost), none)
            return self._keep(said, _files(lost), left)
        self.archive.keep_packet(packet)
        prompt = self.show.prompt(question, packet, exam.secrets)
        put = Put(
            judge=question.judge,
            prompt=prompt,
            label=f"judge-{asking[:16]}-{number}",
            tree=self.show.tree(question),
        )
        if put.tree is not None:
            self.archive.keep_workspace(put.tree.record)
        call = self._call(put, left)
        asked = asked.model_copy(update={"runtime": call.runtime})
        said = rule(self.binding, exam, told(asked, call.heard), call.heard)
        self.tally.calls += 1
        is_silent = isinstance(said, Unscored) and said.why is UnscoredWhy.PROVIDER
        self._silent[question.judge.id] = self._silent[question.judge.id] + 1 if is_silent else 0
        return self._keep(said, {**_files(call.heard), LAUNCHER: walls({"judge": call.report})}, left)

    def _call(self, put: Put, left: Path) -> Call:
        """Ask; each line of the ledger is on the disk before the answer is whole."""
        if self.asks is None:
            raise ValueError("judges cannot be asked here")
        make_private(self.archive.store.root)
        make_folders(left.parent)
        growing = _Growing(file=left, disk=self.archive.store.disk)
        try:
            return self.asks(put, growing)
        except GatewayError:
            if growing.unsaved is not None:
                raise growing.unsaved from None
            raise

    def _keep(self, said: Said, files: Mapping[str, bytes], left: Path | None = None) -> Said:
        self.archive.keep(said, files)
        if left is not None:
            left.unlink(missing_ok=True)
        self.known.setdefault(place_of(said), []).append(said)
        return said

    def _open(self, asking: str, number: int) -> Path:
        return self.archive.top / OPEN / f"{asking}-{number}.jsonl"

    def _asked(self, question: Question, packet_sha256: str, number: int) -> Asked:
        tree = self.show.tree(question)
        return Asked(
            judge=question.judge.id,
            instead_of=question.instead_of,
            model=None,
            view=question.view,
            number=number,
            packet_sha256=packet_sha256,
            workspace_sha256=None if tree is None else sha256(canonical(tree.record)),
            prompt_sha256=self.show.template(question).sha256,
            settings_sha256=self.settings[question.judge.id],
            solution=self.show.judging.show_solution,
            answer_sha256=None,
            duration_ms=0,
        )

    def _count(self, question: Question) -> None:
        last = self.answers(question)[-1]
        if isinstance(last, Unscored):
            self.tally.unscored[last.why] += 1
        else:
            self.tally.verdicts += 1


def by_asking(documents: Iterable[Said]) -> dict[AsKnown, list[Said]]:
    """Sort answers by their asking, each asking's in order."""
    known: dict[AsKnown, list[Said]] = {}
    for said in documents:
        known.setdefault(place_of(said), []).append(said)
    for answers in known.values():
        answers.sort(key=lambda said: 0 if said.asked is None else said.asked.number)
    return known


def place_of(said: Said) -> AsKnown:
    """Give what a document is found by; where nobody was asked, nobody was in any view."""
    if said.asked is None:
        return (NOBODY, said.item, View.FULL)
    return (said.asked.judge, said.item, said.asked.view)


def _cached(asked: Asked, item: Item) -> str:
    repeat = 0 if item.kind == "control" else item.repeat
    shown = (asked.packet_sha256, asked.workspace_sha256)
    return cache_key(asked.judge, shown, asked.prompt_sha256, asked.settings_sha256, repeat)


def spoken(question: Question) -> str:
    """Say what a question is about, for people at the terminal."""
    item = question.item
    if item.kind == "rubric":
        cell = item.cell
        what = f"{cell.candidate}/{cell.nomination}/attempt-{cell.attempt}, {', '.join(item.criteria)}"
    elif item.kind == "pairwise":
        what = f"{item.first.candidate} and {item.second.candidate} on {item.nomination}"
    else:
        what = f"a hidden control on {item.nomination}"
    return what if question.view is View.FULL else f"{what}, without comments"


def _word(said: Said) -> str:
    if isinstance(said, Unscored):
        return f"no verdict ({said.why}): {said.detail}"
    if isinstance(said, RubricVerdict):
        return "points"
    return "a verdict"


def _files(heard: Heard) -> dict[str, bytes]:
    files = {} if heard.text is None else {ANSWER: heard.text.encode()}
    return files | ({LEDGER: canonical_lines(heard.lines)} if heard.lines else {})
