"""Laws of giving disk back: what is sealed, signed or told stays; what goes loses its name first."""

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from runner.disk import Disk
from runner.documents.manifest import Manifest
from runner.errors import RunnerError, StorageError, UsageError, VerificationError
from runner.inputs import Places
from runner.journal import sole_writer
from runner.pruning.finding import PRUNED, Ground, Item, What, find_items, item, size_of
from runner.pruning.needed import Needed
from runner.pruning.removing import quiet, remove
from runner.pruning.superseded import evidence_item
from sandbox.errors import BusyError
from sandbox.room import locked
from tests.unit.runner.evidence_maker import SOLVER, Run, a_manifest, a_store, attempt
from tests.unit.runner.written import written

HELD, LOOSE = "a" * 64, "b" * 64
STATE = {
    f"toolchains/{HELD}/tree/x.py": "x",
    f"toolchains/{LOOSE}/tree/x.py": "x",
    "toolchains/.tmp-abc/tree/x.py": "it is being built",
    f"downloads/{HELD}": "x",
    f"downloads/{LOOSE}": "x",
    f"objects/{HELD}/x": "x",
    f"objects/{LOOSE}/x": "x",
    "objects/building-1/x": "a keeper's",
    "runtimes/codex/1/bin/codex": "x",
    "runtimes/codex/1.json": "{}",
    "runtimes/codex/2/bin/codex": "x",
    "runtimes/codex/2.json": "{}",
    "bases.git/HEAD": "x",
    "tables/pilot/aggregate.md": "x",
    "tables/gone/aggregate.md": "x",
    "store/pilot/journal.jsonl": "evidence",
    "store/pilot/.tmp-ledger.jsonl": "what a killed runner left; the next one reads it",
    "store/other/journal.jsonl": "evidence of another release",
    "keys/keys.json": "x",
    "keys/release.pem": "x",
    "pilots/1.log": "x",
    "proofs/sandbox.json": "x",
    "host/lock": "",
}
KEPT_ALWAYS = ("store", "keys", "pilots", "proofs", "host")


@pytest.fixture
def state(tmp_path: Path) -> Path:
    written(tmp_path / "state", STATE)
    return tmp_path / "state"


def needed(state: Path) -> Needed:
    held = frozenset({HELD})
    return Needed(toolchains=held, downloads=held, objects=held, runtimes=frozenset({state / "runtimes/codex/2"}))


def found(state: Path, *, everything: bool = False) -> dict[str, What]:
    ground = Ground(state=state, store=state / "store", everything=everything)
    return {str(each.place.relative_to(state)): each.what for each in find_items(ground, needed(state))}


def test_what_nothing_of_the_checkout_needs_may_go_and_nothing_else(state: Path) -> None:
    assert found(state) == {
        f"toolchains/{LOOSE}": What.TOOLCHAIN,
        f"downloads/{LOOSE}": What.DOWNLOAD,
        f"objects/{LOOSE}": What.TREES,
        "runtimes/codex/1": What.RUNTIME,
        "tables/gone": What.TABLES,
    }


@pytest.mark.parametrize("everything", [False, True])
def test_what_is_sealed_signed_or_told_is_never_found(state: Path, *, everything: bool) -> None:
    names = found(state, everything=everything)
    assert not [name for name in names if name.split("/")[0] in KEPT_ALWAYS]
    assert not [name for name in names if ".tmp-" in name or "building-" in name]
    if everything:
        assert {f"toolchains/{HELD}", "bases.git", f"objects/{HELD}"} <= set(names)
        assert "runtimes/codex/2" not in names


def test_what_goes_is_gone_with_what_belongs_to_it_and_the_rest_is_as_it_was(state: Path) -> None:
    ground = Ground(state=state, store=state / "store")
    gone = list(remove(find_items(ground, needed(state))))
    assert len(gone) == 5
    left = {str(path.relative_to(state)) for path in state.rglob("*") if path.is_file()}
    assert left == {name for name in STATE if LOOSE not in name and "codex/1" not in name and "gone" not in name}
    assert find_items(ground, needed(state)) == ()


class Killed(BaseException):
    """As if by a signal."""


class DyingDisk(Disk):
    """Is killed right after it has moved something."""

    def rename(self, source: Path, target: Path) -> None:
        super().rename(source, target)
        raise Killed


class FullDisk(Disk):
    """Moves nothing."""

    def rename(self, source: Path, target: Path) -> None:
        raise OSError(30, "Read-only file system", str(source), None, str(target))


def test_a_kill_amid_it_leaves_nothing_under_a_name_and_the_next_prune_ends_it(state: Path) -> None:
    ground = Ground(state=state, store=state / "store")
    items = find_items(ground, needed(state))
    with pytest.raises(Killed):
        list(remove(items, disk=DyingDisk()))
    assert not (state / "toolchains" / LOOSE).exists()
    (rest,) = (each for each in find_items(ground, needed(state)) if each.what is What.REST)
    assert rest.place.name.startswith(f"{PRUNED}{LOOSE}")
    list(remove([rest]))
    assert not list((state / "toolchains").glob(f"{PRUNED}*"))


def test_what_cannot_be_moved_stays_whole(state: Path) -> None:
    before = sorted(state.rglob("*"))
    items = find_items(Ground(state=state, store=state / "store"), needed(state))
    with pytest.raises(StorageError, match="Read-only file system"):
        list(remove(items, disk=FullDisk()))
    assert sorted(state.rglob("*")) == before


def test_nothing_goes_while_a_run_holds_the_room_or_a_toolchain_is_built(state: Path, tmp_path: Path) -> None:
    host = tmp_path / "host"
    with locked(host), pytest.raises(BusyError), quiet(state, host):
        pass
    with sole_writer(state / "toolchains", wait=True), pytest.raises(RunnerError, match="is being built"):  # noqa: SIM117
        with quiet(state, host):
            pass
    with quiet(state, host):
        pass


def test_what_has_two_names_counts_once_and_a_sparse_file_what_it_takes(tmp_path: Path) -> None:
    written(tmp_path / "a", {"x": "x" * 10_000})
    once = size_of(tmp_path / "a")
    os.link(tmp_path / "a/x", tmp_path / "a/y")
    with (tmp_path / "a/z").open("wb") as file:
        file.truncate(1 << 30)
    assert once <= size_of(tmp_path / "a") < once + (1 << 16)
    (tmp_path / "b").symlink_to(tmp_path / "a")
    assert size_of(tmp_path / "b") < once


def places(root: Path) -> Places:
    return Places(
        state=root,
        store=root / "store",
        tables=root / "tables",
        results=root / "results",
        models_test=root,
        nominations=root / "nominations",
    )


def heir(manifest: Manifest) -> Manifest:
    return manifest.model_copy(update={"release": "pilot-2", "supersedes": "pilot"})


def nothing_wrong(folder: Path) -> Iterator[object]:
    assert folder.name == "pilot"
    yield from ()


@pytest.fixture
def superseded(tmp_path: Path) -> Path:
    """A release with evidence, superseded and published."""
    store = a_store(tmp_path / "store", a_manifest())
    attempt(store, SOLVER, Run())
    written(tmp_path / "results/pilot", {"SHA256SUMS": ""})
    return tmp_path


def test_evidence_goes_only_if_it_is_superseded_published_verified_and_named(superseded: Path) -> None:
    old, new = a_manifest(), heir(a_manifest())
    known = places(superseded)
    named = evidence_item(known, (old, new), "pilot", "pilot-2", nothing_wrong)
    assert named == Item(
        what=What.EVIDENCE,
        place=superseded / "store/pilot",
        why="superseded by pilot-2, and published",
        frees=named.frees,
    )
    assert all(
        each.what is not What.EVIDENCE
        for each in find_items(
            Ground(state=superseded, store=superseded / "store", everything=True), needed(superseded)
        )
    )
    list(remove([named]))
    assert list((superseded / "store").iterdir()) == []


@pytest.mark.parametrize(
    ("change", "said"),
    [
        pytest.param(lambda root: shutil.rmtree(root / "results"), "is not published", id="unpublished"),
        pytest.param(lambda root: shutil.rmtree(root / "store"), "there is no evidence", id="nothing there"),
    ],
)
def test_other_evidence_stays(superseded: Path, change: Callable[[Path], None], said: str) -> None:
    change(superseded)
    with pytest.raises(UsageError, match=said):
        evidence_item(places(superseded), (a_manifest(), heir(a_manifest())), "pilot", "pilot-2", nothing_wrong)


def test_a_live_release_keeps_its_evidence(superseded: Path) -> None:
    old, new = a_manifest(), heir(a_manifest())
    known = places(superseded)
    with pytest.raises(UsageError, match="release pilot is live"):
        evidence_item(known, (old,), "pilot", "pilot-2", nothing_wrong)
    with pytest.raises(UsageError, match="release pilot is live"):
        evidence_item(known, (old, new), "pilot", "pilot", nothing_wrong)
    with pytest.raises(UsageError, match="no release other was frozen here"):
        evidence_item(known, (old, new), "other", "pilot", nothing_wrong)
    with pytest.raises(VerificationError, match="1 findings"):
        evidence_item(known, (old, new), "pilot", "pilot-2", lambda folder: [folder])


def test_evidence_that_a_pilot_writes_stays(superseded: Path) -> None:
    named = item(What.EVIDENCE, superseded / "store/pilot", "")
    with sole_writer(named.place, wait=True), pytest.raises(RunnerError, match="a pilot writes there"):
        list(remove([named]))
    assert named.place.is_dir()
