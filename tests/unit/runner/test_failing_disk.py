"""Laws of a disk whose n-th call fails, for every n: an error that says what and where, nothing half, and a way on."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from runner.artifacts import (
    Bond,
    make_private,
    new_folder,
    read_sealed,
    replace_file,
    seal_folder,
)
from runner.disk import Disk
from runner.documents.seal import SealKind, Trial
from runner.durable import TEMPORARY, append_file, cut_file, new_file, settle_file, settle_name
from runner.errors import SealTakenError, StorageError
from runner.manifests import load_manifest, manifest_path
from runner.publishing.publish import Ready, is_published, write_release
from runner.release import write_manifest
from tests.disks import FAULTS, FailingDisk, Fault
from tests.unit.runner.evidence_maker import a_manifest

MANIFEST = a_manifest()
TRIAL = Trial(release="pilot", manifest_sha256="a" * 64, candidate="oracle", nomination="slugs", attempt=1, try_=1)
BOND = Bond(kind=SealKind.SUBMISSION, trial=TRIAL)
FILES = {"candidate.diff": b"diff\n", "streams/stdout": b"told\n"}

READY = Ready(release="pilot", files=FILES, leaves=(), allowed=(), incomplete=0)

Work = Callable[[Path, Disk], object]
Look = Callable[[Path], bool]
"""Says whether the work is done; fails where it is half done."""


def well() -> FailingDisk:
    return FailingDisk(number=0, fault=None)


def seal(root: Path, disk: Disk) -> None:
    seal_folder(root / "store" / "try", "submission", FILES, BOND, disk=disk)


def is_sealed(root: Path) -> bool:
    folder = root / "store" / "try" / "submission"
    return folder.exists() and all(read_sealed(folder).bytes(path) == data for path, data in FILES.items())


def begin(root: Path, disk: Disk) -> None:
    new_folder(root / "store", "try", {"begun.json": b"{}"}, disk=disk)


def is_begun(root: Path) -> bool:
    folder = root / "store" / "try"
    return folder.exists() and (folder / "begun.json").read_bytes() == b"{}"


def freeze(root: Path, disk: Disk) -> None:
    write_manifest(root / "releases", MANIFEST, disk=disk)


def is_frozen(root: Path) -> bool:
    file = manifest_path(root / "releases", MANIFEST.release)
    return file.parent.exists() and load_manifest(file) == MANIFEST


def publish(root: Path, disk: Disk) -> None:
    if not is_published(root / "results", READY, disk=disk):
        write_release(root / "results", READY, lambda *_: {"SHA256SUMS": b"sums\n"}, disk=disk)


def stands_published(root: Path) -> bool:
    return is_published(root / "results", READY, disk=well()) and (root / "results/pilot/SHA256SUMS").exists()


def derive(root: Path, disk: Disk) -> None:
    if not (root / "results").exists():
        replace_file(root / "results" / "table", b"older", disk=well())
    replace_file(root / "results" / "table", b"newer", disk=disk)


def is_derived(root: Path) -> bool:
    data = (root / "results" / "table").read_bytes()
    assert data in {b"older", b"newer"}
    return data == b"newer"


def log(root: Path, disk: Disk) -> None:
    if not (root / "lines").exists():
        append_file(root / "lines", b"one\n", disk=well())
    append_file(root / "lines", b"two\n", disk=disk)


def is_logged(root: Path) -> bool:
    data = (root / "lines").read_bytes()
    assert data.startswith(b"one\n")
    return data == b"one\ntwo\n"


def make(root: Path, disk: Disk) -> None:
    make_private(root / "a" / "b" / "c", disk=disk)


def is_made(root: Path) -> bool:
    return (root / "a" / "b" / "c").is_dir()


def settled(root: Path, disk: Disk) -> None:
    (root / "lines").write_bytes(b"one\nto")
    settle_file(root / "lines", disk=disk)
    cut_file(root / "lines", 4, disk=disk)
    settle_name(root / "lines", disk=disk)


def is_settled(root: Path) -> bool:
    return (root / "lines").read_bytes() == b"one\n"


def log_again(root: Path, disk: Disk) -> None:
    """Do as whoever keeps such a file does when he opens it: what was never told is cut off."""
    cut_file(root / "lines", len(b"one\n"), disk=disk)
    log(root, disk)


def review(root: Path, disk: Disk) -> None:
    new_file(root / "reviews" / "ann.json", b"reviewed", disk=disk)


def is_reviewed(root: Path) -> bool:
    file = root / "reviews" / "ann.json"
    return file.exists() and file.read_bytes() == b"reviewed"


WORKS = [
    pytest.param(seal, seal, is_sealed, 40, id="seal"),
    pytest.param(begin, begin, is_begun, 20, id="begin"),
    pytest.param(freeze, freeze, is_frozen, 20, id="freeze"),
    pytest.param(publish, publish, stands_published, 34, id="publication"),
    pytest.param(derive, derive, is_derived, 13, id="derived file"),
    pytest.param(review, review, is_reviewed, 17, id="new file"),
    pytest.param(log, log_again, is_logged, 5, id="growing file"),
    pytest.param(make, make, is_made, 15, id="folders"),
    pytest.param(settled, settled, is_settled, 8, id="settled"),
]


@pytest.mark.parametrize(("work", "again", "is_done", "calls"), WORKS)
def test_whichever_call_fails_it_is_told_nothing_is_half_done_and_again_is_well(
    memory: Path, work: Work, again: Work, is_done: Look, calls: int
) -> None:
    for place, fault in enumerate(FAULTS):
        number = 0
        disk = well()
        while number == 0 or not disk.is_untouched:
            number += 1
            root = memory / f"{place}-{number}"
            root.mkdir()
            disk = FailingDisk(number=number, fault=fault)
            try:
                work(root, disk)
            except StorageError as error:
                check_told(error, root, fault)
                is_done(root)
                assert fault.lasts or not list(root.rglob(f"{TEMPORARY}*"))
                do_again(again, root, fault)
            assert not disk.held
            assert is_done(root)
        assert number == calls + 1


def check_told(error: StorageError, root: Path, fault: Fault) -> None:
    assert str(root) in error.file
    assert error.found == os.strerror(fault.code)
    assert "free space there (or mend the disk)" in str(error)


def do_again(again: Work, root: Path, fault: Fault) -> None:
    """Do it once more on a disk that is well; only one that did not even let go of it may have kept what was made."""
    try:
        again(root, well())
    except SealTakenError:
        assert fault.lasts


@pytest.mark.parametrize(("work", "again", "is_done", "calls"), WORKS)
def test_a_write_that_takes_a_part_is_gone_on_with(
    memory: Path, work: Work, again: Work, is_done: Look, calls: int
) -> None:
    del again
    for number in range(1, calls + 1):
        root = memory / str(number)
        root.mkdir()
        work(root, FailingDisk(number=number, fault=None))
        assert is_done(root)


@pytest.mark.parametrize("fault", [fault for fault in FAULTS if not fault.lasts])
def test_a_growing_file_ends_as_before_when_a_line_could_not_be_added(memory: Path, fault: Fault) -> None:
    file = memory / "lines"
    append_file(file, b"one\n", disk=well())
    for number in range(1, 5):
        with pytest.raises(StorageError):
            append_file(file, b"two\n", disk=FailingDisk(number=number, fault=fault))
        assert file.read_bytes() == b"one\n"


def test_a_disk_that_takes_nothing_is_not_asked_for_ever(memory: Path) -> None:
    class Full(Disk):
        def write(self, file: int, data: memoryview) -> int:
            del file, data
            return 0

    with pytest.raises(StorageError, match="nothing more was taken"):
        seal_folder(memory, "submission", FILES, BOND, disk=Full())
    assert list(memory.iterdir()) == []
