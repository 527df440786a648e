"""A real small file system runs full below the store, or below the state: a sentence, no half-written evidence."""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.flow.bench import Bench, listing, names

pytestmark = pytest.mark.systemd

MIB = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Disk:
    """An ext4 image that is mounted in the namespace of one command alone."""

    image: Path
    place: Path

    def within(self, before: str = ":") -> tuple[str, ...]:
        """Give how a command is run with the disk mounted, and what is done to the disk before."""
        script = f'mount -o loop "$0" "$1" && cd "$1" && {before}; cd / && shift && exec "$@"'
        own = ("/usr/bin/unshare", "--mount", "--propagation", "private", "/bin/bash", "-c", script)
        return (*own, str(self.image), str(self.place))

    def full_but(self, kib: int) -> tuple[str, ...]:
        """Fill it up to a few KiB."""
        grow = "dd if=/dev/zero of=filler oflag=append conv=notrunc status=none"
        return self.within(f"rm -f filler; {grow} bs=1M 2>&-; {grow} bs=1k 2>&-; truncate -s -{kib}K filler")


@contextmanager
def disk(place: Path, size: int) -> Iterator[Disk]:
    """Make a disk that has what lies at a place; the place itself stays as it is, and is hidden by the disk."""
    image = place.parent / f"{place.name}.img"
    with image.open("wb") as made:
        made.truncate(size)
    argv = [
        "/usr/sbin/mkfs.ext4",
        "-q",
        "-F",
        "-m",
        "0",
        "-b",
        "1024",
        "-O",
        "^has_journal",
        "-d",
        str(place),
        str(image),
    ]
    subprocess.run(argv, check=True)
    yield Disk(image=image, place=place)
    image.unlink()


def kept(store: Disk, bench: Bench) -> dict[str, tuple[int, bytes]]:
    """Give what lies on the disk, but for the filler."""
    copy = bench.checkout / "seen"
    script = 'rm -rf "$0" && cp -a . "$0" && rm -rf "$0/filler" "$0/lost+found"'
    subprocess.run([*store.within(), "/bin/bash", "-c", f'cd "{store.place}" && {script}', str(copy)], check=True)
    return listing(copy)


@pytest.mark.parametrize(("candidate", "room"), [("oracle", (0, 6, 14, 30)), ("right", (8,))])
def test_a_full_store_keeps_no_half_evidence_and_the_run_goes_on_when_there_is_space_again(
    bench: Bench, candidate: str, room: tuple[int, ...]
) -> None:
    words = ("pilot", "--resume", "--candidate", candidate)
    with disk(bench.store.parent, 4 * MIB) as store:
        for kib in room:
            said = bench.run(*words, within=store.full_but(kib))
            assert said.code == 1, (kib, said)
            assert "No space left on device" in said.err
            for path in kept(store, bench):
                growing = path.count("/.tmp-ledger.jsonl") + path.count("/.tmp-exchanges-")
                assert path.count("/.tmp-") in {0, growing}, path
        said = bench.run(*words, within=store.within("rm -f filler"))
        assert said.code == 0, said
        assert said.err.rstrip().endswith("completed")
        assert bench.run("verify", "--no-rebuild", within=store.within()).code == 0
        assert bench.run(*words, within=store.within()).out == "nothing was left to do\n"


def test_a_full_state_is_told_and_costs_no_evidence(bench: Bench) -> None:
    state = bench.checkout / ".cleanroom"
    words = ("pilot", "--resume", "--candidate", "oracle")
    with disk(state, 128 * MIB) as held:
        for kib in (0, 64):
            said = bench.run(*words, within=held.full_but(kib))
            assert said.code == 1, (kib, said)
            assert "No space left on device" in said.err or "free bytes" in said.err
        said = bench.run(*words, within=held.within("rm -f filler"))
        assert said.code == 0, said


def test_a_full_folder_of_tables_keeps_the_older_table(bench: Bench) -> None:
    tables = bench.tables.parent
    assert bench.run("aggregate").code == 0
    with disk(tables, 1 * MIB) as small:
        before = kept(small, bench)
        said = bench.run("aggregate", "--fresh", within=small.full_but(0))
        assert said.code == 1
        assert "No space left on device" in said.err
        assert kept(small, bench) == before
    assert names(tables) == ["bench-1"]
