"""Laws of a machine that fails at any moment: nothing half is visible, nothing that was told is lost.

The states are those of `tests/crashes.py`, from what the code that writes evidence really does to a disk.
"""

from collections.abc import Callable, Hashable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import takewhile
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from runner.artifacts import Bond, read_sealed, replace_file, seal_folder
from runner.canonical import canonical, sha256
from runner.disk import Disk
from runner.documents.journal import State
from runner.documents.release_log import LogEntry
from runner.documents.seal import SealKind, Trial
from runner.durable import TEMPORARY, append_file, cut_file, make_folders, new_file, settle, settle_name, write_file
from runner.errors import SealBrokenError, SealTakenError, UsageError
from runner.journal import read_journal
from runner.journal import whole_lines as whole_lines_of
from runner.manifests import load_manifest, manifest_path
from runner.publishing.publish import OtherwisePublishedError, Ready, is_published, write_release
from runner.recovering import recover, sealed_parts
from runner.release import write_manifest
from runner.schedule import Standing
from runner.signing.errors import SignatureError
from runner.signing.merkle import head
from runner.signing.release_log import LogState, ReleaseLog, frozen_entry
from runner.signing.signer import LocalSigner
from tests.crashes import crashes
from tests.disks import FailingDisk, KilledError, RecordingDisk
from tests.unit.runner.evidence_maker import IDLER, SOLVER, Run, a_manifest, a_store, grade, submit

MANIFEST = a_manifest()
TRIAL = Trial(release="pilot", manifest_sha256="a" * 64, candidate="oracle", nomination="slugs", attempt=1, try_=1)
BOND = Bond(kind=SealKind.SUBMISSION, trial=TRIAL)
FILES = {"candidate.diff": b"diff\n", "streams/stdout": b"told\n"}
LINES = (b'{"n":1}\n', b'{"n":22}\n', b'{"n":333}\n')

READY = Ready(release="pilot", files=FILES, leaves=(), allowed=(), incomplete=0)

Protocol = Callable[[Path, RecordingDisk], None]
"""Writes below a folder, and tells in the trace what is done."""
Told = tuple[Hashable, ...]
Check = Callable[[Path, Told], tuple[bool, bool]]
"""Looks at what a crash left, and says whether something half is visible, and whether something told is lost."""


ORDER = (Standing.OPEN, Standing.CAPTURED, Standing.DONE)
Keeps = Callable[[Path], bool]


def every(_: Path) -> bool:
    return True


@dataclass(slots=True)
class Tally:
    """What was found among the states that crashes leave."""

    states: int = 0
    half: int = 0
    lost: int = 0
    _work: Path = field(default=Path(), repr=False, compare=False)

    def look(self, disk: RecordingDisk, check: Check, *, ordered: bool, known: int = 0) -> None:
        for crash in crashes(disk.trace, ordered=ordered, known=known):
            self.states += 1
            half, lost = check(crash.rebuild(self._work / str(self.states)), crash.told)
            self.half += half
            self.lost += lost


def explored(
    place: Path,
    protocol: Protocol,
    check: Check,
    *,
    ordered: bool = False,
    keeps: Keeps = every,
) -> Tally:
    """Run a protocol, and look at all that a crash could leave of it."""
    disk = a_disk(place / "disk", keeps)
    protocol(disk.root, disk)
    found = a_tally(place)
    found.look(disk, check, ordered=ordered)
    return found


def killed_and_again(place: Path, protocol: Protocol, check: Check, *, all_along: bool = False) -> Tally:
    """Kill a protocol after each of its events, run it again, and look at all that a crash could leave after that.

    With `all_along` also at what one could leave while it runs again.
    """
    found = a_tally(place / "killed")
    whole = a_disk(place / "killed" / "whole", every)
    protocol(whole.root, whole)
    for events in range(1, len(whole.trace) + 1):
        disk = replace(a_disk(place / "killed" / str(events), every), killed_at=events)
        with suppress(KilledError):
            protocol(disk.root, disk)
        disk.restart()
        restarted = len(disk.trace)
        protocol(disk.root, disk)
        found.look(disk, check, ordered=False, known=restarted if all_along else len(disk.trace))
    return found


def a_disk(root: Path, keeps: Keeps) -> RecordingDisk:
    root.mkdir(parents=True)
    return RecordingDisk(root=root, keeps=keeps)


def a_tally(place: Path) -> Tally:
    (place / "crashed").mkdir(parents=True)
    return Tally(_work=place / "crashed")


def seal(root: Path, disk: RecordingDisk) -> None:
    """Seal a folder; one that was sealed before is told of again."""
    try:
        seal_folder(root / "store", "submission", FILES, BOND, disk=disk)
    except SealTakenError:
        settle_name(root / "store" / "submission", disk=disk)
    disk.tell("submission")


def seal_in_place(root: Path, disk: RecordingDisk) -> None:
    """Write what `seal` writes, under its final name from the start."""
    if not (root.parent / "made").exists():
        seal_folder(root.parent / "made", "submission", FILES, BOND)
    made, folder = root.parent / "made" / "submission", root / "store" / "submission"
    make_folders(folder, disk=disk)
    for path in sorted(each for each in made.rglob("*") if each.is_file()):
        write_file(folder, str(path.relative_to(made)), path, disk=disk)
    settle(folder, writable=False, disk=disk)
    disk.tell("submission")


def find_and_tell(root: Path, disk: RecordingDisk) -> None:
    """Seal a folder; one that is there already is believed."""
    with suppress(SealTakenError):
        seal_folder(root / "store", "submission", FILES, BOND, disk=disk)
    disk.tell("submission")


def check_seal(place: Path, told: Told) -> tuple[bool, bool]:
    folder = place / "store" / "submission"
    if not folder.exists():
        return False, bool(told)
    try:
        return any(read_sealed(folder).bytes(path) != data for path, data in FILES.items()), False
    except SealBrokenError:
        return True, False


@pytest.mark.parametrize(("ordered", "expected"), [(False, Tally(52, 0, 0)), (True, Tally(21, 0, 0))])
def test_no_crash_shows_half_a_sealed_folder_or_loses_one_that_was_told(
    memory: Path, *, ordered: bool, expected: Tally
) -> None:
    assert explored(memory, seal, check_seal, ordered=ordered) == expected


def no_sync(_: Path) -> bool:
    return False


def but_the_parent(path: Path) -> bool:
    return path.name != "store"


def but_what_is_sealed(path: Path) -> bool:
    """Obey all syncs but those of folders that are not visible yet."""
    return path.is_file() or TEMPORARY not in str(path)


@pytest.mark.parametrize(
    ("protocol", "keeps", "weak", "ordered"),
    [
        pytest.param(seal_in_place, no_sync, Tally(508, 502, 2), Tally(366, 360, 2), id="in place, no sync"),
        pytest.param(seal_in_place, every, Tally(43, 39, 0), Tally(20, 16, 0), id="in place, all synced"),
        pytest.param(seal, no_sync, Tally(1012, 502, 254), Tally(576, 248, 163), id="no sync"),
        pytest.param(seal, Path.is_dir, Tally(504, 248, 0), Tally(413, 248, 0), id="files not synced"),
        pytest.param(seal, Path.is_file, Tally(88, 22, 14), Tally(22, 0, 1), id="no folder synced"),
        pytest.param(seal, but_what_is_sealed, Tally(74, 22, 0), Tally(21, 0, 0), id="sealed folders not synced"),
        pytest.param(seal, but_the_parent, Tally(54, 0, 2), Tally(22, 0, 1), id="parent not synced"),
    ],
)
def test_what_a_protocol_lacks_is_found(
    memory: Path, protocol: Protocol, keeps: Keeps, weak: Tally, ordered: Tally
) -> None:
    """A file system that keeps the order of names forgives some of it; POSIX promises no such order."""
    for name, expected in (("weak", weak), ("ordered", ordered)):
        place = memory / name
        place.mkdir()
        assert explored(place, protocol, check_seal, ordered=name == "ordered", keeps=keeps) == expected


def test_what_a_killed_runner_left_is_made_to_last_before_the_next_one_tells_of_it(memory: Path) -> None:
    assert killed_and_again(memory / "settled", seal, check_seal) == Tally(115, 0, 0)
    assert killed_and_again(memory / "believed", find_and_tell, check_seal) == Tally(177, 0, 26)


def test_a_manifest_that_was_frozen_lasts_also_when_it_was_found_frozen(memory: Path) -> None:
    def freeze(root: Path, disk: RecordingDisk) -> None:
        write_manifest(root / "releases", MANIFEST, disk=disk)
        disk.tell("frozen")

    def check(place: Path, told: Told) -> tuple[bool, bool]:
        file = manifest_path(place / "releases", MANIFEST.release)
        if not file.parent.exists():
            return False, bool(told)
        return load_manifest(file) != MANIFEST, False

    assert explored(memory, freeze, check) == Tally(10, 0, 0)
    assert killed_and_again(memory, freeze, check, all_along=True) == Tally(175, 0, 0)


def well() -> FailingDisk:
    return FailingDisk(number=0, fault=None)


def test_a_publication_is_there_whole_or_not_at_all_and_stays_once_told(memory: Path) -> None:
    def publish(root: Path, disk: RecordingDisk) -> None:
        if not is_published(root / "results", READY, disk=disk):
            write_release(root / "results", READY, lambda *_: {"SHA256SUMS": b"sums\n"}, disk=disk)
        disk.tell("published")

    def check(place: Path, told: Told) -> tuple[bool, bool]:
        try:
            stands = is_published(place / "results", READY, disk=well())
        except OtherwisePublishedError:
            return True, False
        sums = place / "results" / "pilot" / "SHA256SUMS"
        return stands and (not sums.exists() or sums.read_bytes() != b"sums\n"), bool(told) and not stands

    assert explored(memory, publish, check) == Tally(44, 0, 0)
    assert killed_and_again(memory, publish, check) == Tally(105, 0, 0)


def add_lines(file: Path, disk: Disk, tell: Callable[[bytes], None]) -> None:
    """Add the lines that are not there yet, after what was torn at the end is cut off."""
    make_folders(file.parent, disk=disk)
    done = whole_lines(file)
    if file.exists():
        cut_file(file, sum(map(len, done)), disk=disk)
    for line in LINES[len(done) :]:
        append_file(file, line, disk=disk)
        tell(line)


def whole_lines(file: Path) -> tuple[bytes, ...]:
    """Give the lines up to the first that is not what was written."""
    found = file.read_bytes().splitlines(keepends=True) if file.exists() else []
    return tuple(line for line, _ in takewhile(lambda both: both[0] == both[1], zip(found, LINES, strict=False)))


def test_no_crash_takes_a_line_that_was_told_or_tears_more_than_the_last(memory: Path) -> None:
    def log(root: Path, disk: RecordingDisk) -> None:
        add_lines(root / "store" / "lines", disk, disk.tell)

    def check(place: Path, told: Told) -> tuple[bool, bool]:
        file = place / "store" / "lines"
        whole = whole_lines(file)
        rest = file.stat().st_size - sum(map(len, whole)) if file.exists() else 0
        add_lines(file, well(), lambda _: None)
        is_mended = file.read_bytes() == b"".join(LINES)
        return rest > len(max(LINES, key=len)) or not is_mended, not set(told) <= set(whole)

    assert explored(memory / "1", log, check) == Tally(18, 0, 0)
    assert killed_and_again(memory, log, check, all_along=True) == Tally(151, 0, 0)
    assert explored(memory / "2", log, check, keeps=Path.is_file) == Tally(24, 0, 6)
    assert explored(memory / "3", log, check, keeps=Path.is_dir) == Tally(48, 6, 30)


def test_a_derived_file_is_the_older_or_the_newer_one(memory: Path) -> None:
    def write(root: Path, disk: RecordingDisk) -> None:
        for data in (b"older", b"newer"):
            replace_file(root / "results" / "table.md", data, disk=disk)
            disk.tell(data)

    def check(place: Path, told: Told) -> tuple[bool, bool]:
        file = place / "results" / "table.md"
        data = file.read_bytes() if file.exists() else None
        return data not in {None, b"older", b"newer"}, bool(told) and data not in {told[-1], b"newer"}

    assert explored(memory, write, check) == Tally(16, 0, 0)


def test_a_single_new_file_is_there_whole_or_not_at_all_and_stays_once_told(memory: Path) -> None:
    def write(root: Path, disk: RecordingDisk) -> None:
        with suppress(SealTakenError):
            new_file(root / "reviews" / "ann.json", b"reviewed", disk=disk)
        settle_name(root / "reviews" / "ann.json", disk=disk)
        disk.tell(b"reviewed")

    def check(place: Path, told: Told) -> tuple[bool, bool]:
        file = place / "reviews" / "ann.json"
        data = file.read_bytes() if file.exists() else None
        return data not in {None, b"reviewed"}, bool(told) and data is None

    assert explored(memory, write, check) == Tally(9, 0, 0)
    assert killed_and_again(memory, write, check, all_along=True) == Tally(134, 0, 0)


def test_no_crash_leaves_a_try_that_cannot_be_read_stands_before_what_was_told_or_is_told_before_it_stands(
    memory: Path,
) -> None:
    def attempt(root: Path, disk: RecordingDisk) -> None:
        store = replace(a_store(root / "store", MANIFEST), disk=disk)
        trial = store.trial(SOLVER, 1)
        store.begin(trial, runner="0.1.0", started_ms=1_000)
        disk.tell(Standing.OPEN)
        made, digest = submit(store, trial, Run())
        disk.tell(Standing.CAPTURED)
        grade(store, made, digest, Run())
        disk.tell(Standing.DONE)

    def check(place: Path, told: Told) -> tuple[bool, bool]:
        store = replace(a_store(place / "store", MANIFEST), disk=well())
        try:
            entries = read_journal(store.journal)
            sealed = {each.sha256 for each in sealed_parts(store.folder(store.trial(SOLVER, 1)))}
            told_early = {each.sealed_sha256 for each in entries} - sealed - {None}
            recover(store, (SOLVER,), "first")
            states = store.states((SOLVER,), "first")[SOLVER]
            is_broken = bool(told_early or (states and not entries)) or not is_chained(store.journal)
        except (SealBrokenError, UsageError):
            return True, False
        standing = ORDER.index(states[0].standing) if states else -1
        has_lines = len(told) <= len(read_journal(store.journal))
        return is_broken, bool(told) and (standing < len(told) - 1 or not has_lines)

    assert explored(memory, attempt, check, ordered=True) == Tally(130, 0, 0)


def test_no_crash_loses_an_entry_of_the_log_that_was_told_or_leaves_one_that_is_refused(memory: Path) -> None:
    """Whatever is left, the next runner adds what is missing, to a log whose checkpoint covers it all."""
    signer = LocalSigner(private=Ed25519PrivateKey.from_private_bytes(bytes(32)))
    entries = [frozen_entry(f"pilot-{number}", "a" * 64) for number in (1, 2)]

    def add(root: Path, disk: Disk, tell: Callable[[LogEntry], None]) -> LogState:
        log = ReleaseLog(releases=root / "releases", disk=disk)
        for entry in entries:
            log.append(entry, signer, (signer.key,), lambda _: None)
            tell(entry)
        return log.read()

    def write(root: Path, disk: RecordingDisk) -> None:
        add(root, disk, disk.tell)

    def check(place: Path, told: Told) -> tuple[bool, bool]:
        try:
            lasting = ReleaseLog(releases=place / "releases").read()
            whole = add(place, FailingDisk(number=0, fault=None), lambda _: None)
        except (SignatureError, UsageError):
            return True, True
        signed = 0 if lasting.checkpoint is None else lasting.checkpoint.head.size
        is_whole = whole.checkpoint is not None and whole.checkpoint.head == head(whole.leaves)
        is_lost = not {canonical(each) for each in told} <= set(lasting.leaves) or signed < len(set(told))
        return not is_whole or len(whole.leaves) != 2, is_lost

    assert explored(memory / "1", write, check) == Tally(26, 0, 0)
    assert killed_and_again(memory, write, check, all_along=True) == Tally(555, 0, 0)


STATES = (State.PLANNED, State.PROBING, State.RUNNING)


def is_chained(journal: Path) -> bool:
    lines = whole_lines_of(journal).splitlines()
    heads = [None, *(sha256(line) for line in lines)]
    return [entry.previous for entry in read_journal(journal)] == heads[: len(lines)]


def test_no_crash_breaks_the_journal_or_takes_a_line_that_was_told(memory: Path) -> None:
    """Whatever a crash leaves, the lines that were told are read, and the next runner's line follows the last."""

    def journal(root: Path, disk: RecordingDisk) -> None:
        store = replace(a_store(root / "store", MANIFEST), disk=disk)
        for reached in STATES[len(read_journal(store.journal)) :]:
            store.note(store.trial(SOLVER, 1), reached)
            disk.tell(reached)

    def check(place: Path, told: Told) -> tuple[bool, bool]:
        store = replace(a_store(place / "store", MANIFEST), disk=well())
        try:
            found = [entry.state for entry in read_journal(store.journal)]
            store.note(store.trial(IDLER, 1), State.PLANNED)
            goes_on = is_chained(store.journal) and len(read_journal(store.journal)) == len(found) + 1
        except UsageError:
            return True, False
        return found != list(STATES[: len(found)]) or not goes_on, not set(told) <= set(found)

    assert explored(memory / "weak", journal, check) == Tally(19, 0, 0)
    assert killed_and_again(memory, journal, check, all_along=True) == Tally(223, 0, 0)
