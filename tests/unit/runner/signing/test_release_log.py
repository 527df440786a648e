"""Laws of the log of releases: it only grows, and whoever kept a checkpoint elsewhere sees when it did not."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from runner.canonical import canonical, sha256
from runner.documents.keys import KeyRole
from runner.documents.release_log import LogEntry
from runner.errors import VerificationError
from runner.signing.errors import SignatureError
from runner.signing.keys import KeyStore
from runner.signing.log_check import check_log
from runner.signing.merkle import head
from runner.signing.note import Checkpoint, sign_checkpoint
from runner.signing.release_log import Logged, ReleaseLog, frozen_entry, log_release, published_entry
from runner.signing.trust import Pin, Trust
from tests.unit.runner.signing.known import signer

LOG, OTHER = signer(2), signer(3)
TRUST = Trust(pins=(Pin(key=LOG.key, role=KeyRole.LOG, source="here"),))
MANIFESTS = {f"rel-{number}": b'{"n":%d}' % number for number in (1, 2, 3)}


@pytest.fixture
def log(tmp_path: Path) -> ReleaseLog:
    return ReleaseLog(releases=tmp_path / "releases")


def freeze(log: ReleaseLog, release: str) -> Logged:
    (log.releases / release).mkdir(parents=True, exist_ok=True)
    (log.releases / release / "manifest.json").write_bytes(MANIFESTS[release])
    return append(log, frozen_entry(release, sha256(MANIFESTS[release])))


def append(log: ReleaseLog, entry: LogEntry, told: list[str] | None = None) -> Logged:
    return log.append(entry, LOG, (LOG.key,), [].append if told is None else told.append)


def kept(log: ReleaseLog, name: str) -> Path:
    """Give a copy of the checkpoint, elsewhere."""
    path = log.releases.parent / name
    path.write_bytes(log.checkpoint.read_bytes())
    return path


def findings(log: ReleaseLog, earlier: Path, trust: Trust = TRUST) -> list[str]:
    return [str(each) for each in check_log(log.releases, earlier, trust)]


def test_each_entry_is_a_leaf_and_the_checkpoint_covers_all(log: ReleaseLog) -> None:
    freeze(log, "rel-1")
    logged = append(log, published_entry("rel-1", "b" * 64))
    lines = log.entries.read_bytes().splitlines()
    assert lines == [
        b'{"kind":"freeze","release":"rel-1","schema":"cleanroom/release-log-entry/1","sha256":"%b"}'
        % sha256(MANIFESTS["rel-1"]).encode(),
        b'{"kind":"publish","release":"rel-1","schema":"cleanroom/release-log-entry/1","sha256":"%b"}' % (b"b" * 64),
    ]
    state = log.read()
    assert state.checkpoint == Checkpoint(origin=f"cleanroom.invalid/log/{LOG.keyid[:16]}", head=head(lines))
    assert (logged.size, logged.added, logged.note) == (2, True, log.checkpoint.read_bytes())


def test_freezing_again_adds_nothing_and_changes_nothing(log: ReleaseLog) -> None:
    freeze(log, "rel-1")
    before = log.checkpoint.read_bytes(), log.entries.read_bytes()
    again = freeze(log, "rel-1")
    assert (log.checkpoint.read_bytes(), log.entries.read_bytes()) == before
    assert (again.added, again.size, again.note) == (False, 1, before[0])


def test_the_checkpoint_is_told_with_the_command_that_puts_it_elsewhere(log: ReleaseLog) -> None:
    lines = list(freeze(log, "rel-1").lines())
    assert lines[0] == "log of releases: 1 entry; its checkpoint:"
    assert lines[-1] == f"  scp {log.checkpoint} USER@HOST:cleanroom-1.checkpoint"
    assert "\n".join(line.removeprefix("  ") for line in lines[1:6]).encode() + b"\n" == log.checkpoint.read_bytes()


def test_a_release_that_is_logged_as_something_else_is_told(log: ReleaseLog) -> None:
    told: list[str] = []
    freeze(log, "rel-1")
    assert append(log, frozen_entry("rel-1", "c" * 64), told).size == 2
    assert told == [
        f"{log.entries}: rel-1 has a freeze entry already, with sha256 {sha256(MANIFESTS['rel-1'])}",
    ]


@pytest.mark.parametrize("torn", [b"{", b"\0" * 9, b"\0\n{}\n", b'{"kind":"freeze"}\n'])
def test_what_a_crash_left_behind_the_checkpoint_is_cut_off(log: ReleaseLog, torn: bytes) -> None:
    freeze(log, "rel-1")
    whole = log.entries.read_bytes()
    log.entries.write_bytes(whole + torn)
    freeze(log, "rel-2")
    assert log.entries.read_bytes() == whole + canonical(frozen_entry("rel-2", sha256(MANIFESTS["rel-2"]))) + b"\n"
    assert log.read().checkpoint is not None


def test_an_entry_that_was_added_without_a_checkpoint_gets_one(log: ReleaseLog) -> None:
    freeze(log, "rel-1")
    first = log.checkpoint.read_bytes()
    logged = freeze(log, "rel-2")
    log.checkpoint.write_bytes(first)
    again = freeze(log, "rel-2")
    assert (again.added, again.note) == (False, logged.note)


def swap_lines(data: bytes) -> bytes:
    first, second = data.splitlines(keepends=True)
    return second + first


@pytest.mark.parametrize(
    ("spoil", "told"),
    [
        pytest.param(lambda data: data.replace(b"rel-1", b"rel-9"), "found other entries", id="changed"),
        pytest.param(swap_lines, "found other entries", id="reordered"),
        pytest.param(lambda data: data.splitlines(keepends=True)[1], "found 1 entries", id="removed"),
        pytest.param(lambda data: data[:-1], "found 1 entries", id="torn"),
        pytest.param(lambda _: b"", "found 0 entries", id="emptied"),
    ],
)
def test_covered_entries_that_are_not_what_they_were_are_refused_and_left(
    log: ReleaseLog, spoil: Callable[[bytes], bytes], told: str
) -> None:
    freeze(log, "rel-1")
    freeze(log, "rel-2")
    spoilt = spoil(log.entries.read_bytes())
    log.entries.write_bytes(spoilt)
    with pytest.raises(VerificationError, match=told):
        freeze(log, "rel-3")
    assert log.entries.read_bytes() == spoilt


def test_a_checkpoint_that_our_key_did_not_sign_is_not_continued(log: ReleaseLog) -> None:
    freeze(log, "rel-1")
    data = log.checkpoint.read_bytes()
    log.checkpoint.write_bytes(data[:-9] + b"AAAA" + data[-5:])
    with pytest.raises(SignatureError, match="did not make over this note"):
        freeze(log, "rel-2")


def test_a_checkpoint_of_another_host_is_continued_and_that_is_told(log: ReleaseLog) -> None:
    freeze(log, "rel-1")
    told: list[str] = []
    log.append(frozen_entry("rel-2", "d" * 64), OTHER, (OTHER.key,), told.append)
    assert told == [
        f"{log.checkpoint}: signed by a key that is not of this host; its entries are as it says, and are continued"
    ]
    state = log.read()
    assert state.checkpoint is not None
    assert state.checkpoint.origin.endswith(LOG.keyid[:16])


def test_the_first_entry_makes_this_hosts_log_key(tmp_path: Path) -> None:
    keys = KeyStore(folder=tmp_path / "keys", clock=lambda: 0)
    told: list[str] = []
    first = log_release(tmp_path / "releases", keys, frozen_entry("rel-1", "a" * 64), told.append)
    second = log_release(tmp_path / "releases", keys, frozen_entry("rel-2", "a" * 64), told.append)
    assert (first.size, second.size) == (1, 2)
    assert [line.split(",")[0] for line in told] == ["made a log key"]


def test_from_each_earlier_checkpoint_the_log_only_grew(log: ReleaseLog) -> None:
    for release in MANIFESTS:
        freeze(log, release)
        kept(log, release)
    assert [findings(log, log.releases.parent / release) for release in MANIFESTS] == [[], [], []]


def grown(log: ReleaseLog) -> Path:
    """Give a checkpoint over the first two of three entries."""
    freeze(log, "rel-1")
    freeze(log, "rel-2")
    earlier = kept(log, "earlier")
    freeze(log, "rel-3")
    return earlier


def sign_again(log: ReleaseLog, origin: str = f"cleanroom.invalid/log/{LOG.keyid[:16]}") -> None:
    """Lie, as one who has the log's key can: sign what the entries are now."""
    now = head(log.entries.read_bytes().splitlines())
    log.checkpoint.write_bytes(sign_checkpoint(Checkpoint(origin=origin, head=now), LOG))


def change_entries(log: ReleaseLog, change: Callable[[list[bytes]], list[bytes]]) -> None:
    log.entries.write_bytes(b"".join(change(log.entries.read_bytes().splitlines(keepends=True))))
    sign_again(log)


LIES: dict[str, tuple[Callable[[ReleaseLog], object], str]] = {
    "an entry is another": (
        lambda log: change_entries(log, lambda lines: [lines[0].replace(b"freeze", b"publish"), *lines[1:]]),
        "entries.jsonl: found other entries, or in another order; expected the 2 entries that there were",
    ),
    "entries in another order": (
        lambda log: change_entries(log, lambda lines: [lines[1], lines[0], lines[2]]),
        "found other entries, or in another order",
    ),
    "an entry is gone": (lambda log: change_entries(log, lambda lines: lines[:1]), "found 1 entries; expected the 2"),
    "an entry before": (lambda log: change_entries(log, lambda lines: [lines[2], *lines]), "in another order"),
    "another log": (lambda log: sign_again(log, "elsewhere"), "found the log elsewhere; expected cleanroom.invalid"),
    "no checkpoint": (lambda log: log.checkpoint.unlink(), "checkpoint: found no such file"),
    "entries without a new checkpoint": (
        lambda log: log.entries.write_bytes(b"".join(log.entries.read_bytes().splitlines(keepends=True)[:1])),
        "entries.jsonl: found 1 entries; expected the 3",
    ),
    "another manifest": (
        lambda log: (log.releases / "rel-1/manifest.json").write_bytes(b"{}"),
        "rel-1/manifest.json: found sha256 44136fa3",
    ),
    "no manifest": (lambda log: (log.releases / "rel-1/manifest.json").unlink(), "rel-1/manifest.json: found no such"),
    "a release beside the log": (
        lambda log: (log.releases / "rel-1").rename(log.releases / "rel-0"),
        "rel-0/manifest.json: found a release that was never logged",
    ),
}


@pytest.mark.parametrize("lie", list(LIES))
def test_each_lie_is_seen_by_who_kept_a_checkpoint(log: ReleaseLog, lie: str) -> None:
    earlier = grown(log)
    assert findings(log, earlier) == []
    tell, words = LIES[lie]
    tell(log)
    assert [line for line in findings(log, earlier) if words in line]


def test_a_checkpoint_counts_only_with_a_log_key_that_was_pinned_and_is_not_revoked(log: ReleaseLog) -> None:
    earlier = grown(log)
    other = Trust(pins=(Pin(key=OTHER.key, role=KeyRole.LOG, source="here"),))
    assert "found signatures of other keys" in findings(log, earlier, other)[0]
    revoked = Trust(pins=(replace(TRUST.pins[0], revoked_ms=1, reason="lost"),))
    assert (
        "revoked since 1970-01-01T00:00:00Z (lost), which nothing proves to be older"
        in (findings(log, earlier, revoked)[0])
    )
    forged = log.releases.parent / "forged"
    forged.write_bytes(sign_checkpoint(Checkpoint(origin="x", head=head((b"",))), OTHER))
    assert "forged: found signatures of other keys" in findings(log, forged)[0]
