"""Laws of a signed release: known bytes, standard tools agree, and each kind of damage has a message of its own."""

import base64
import subprocess
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import MappingProxyType

import pytest

from runner.canonical import canonical, sha256
from runner.documents.keys import KeyRole
from runner.publishing.names import NamesError
from runner.signing import dsse, sshsig
from runner.signing.bundle import (
    NAMES,
    BundleFiles,
    Extras,
    ReleaseContents,
    Signers,
    check_bundle,
    leaf,
    not_checked,
    signed_files,
)
from runner.signing.merkle import head, inclusion, leaf_hash
from runner.signing.note import Checkpoint, peek_checkpoint, sign_checkpoint
from runner.signing.signer import PublicKey
from runner.signing.statement import PAYLOAD_TYPE
from runner.signing.sums import sums
from runner.signing.trust import KeyInsideError, Pin, Trust, read_trust
from tests.unit.runner.signing.known import RFC_8032_1, signer

Folder = dict[str, bytes]
RELEASE, LOG, THIEF = signer(1), signer(2), signer(3)
SIGNERS = Signers(release=RELEASE, log=LOG)
NAMED = tuple(f"oracle/slugs/attempt-{number}" for number in (1, 2, 3))
TRUST = Trust(
    pins=(
        Pin(key=RELEASE.key, role=KeyRole.RELEASE, source="elsewhere"),
        Pin(key=LOG.key, role=KeyRole.LOG, source="elsewhere"),
    )
)
FILES: Folder = {
    "manifest.json": b'{"release":"rel-1"}',
    "aggregate.json": b"{}",
    **{f"oracle/slugs/attempts/attempt-{number}/run.json": b'{"n":%d}' % number for number in (1, 2, 3)},
}


def run_path(name: str) -> str:
    candidate, nomination, attempt = name.split("/")
    return f"{candidate}/{nomination}/attempts/{attempt}/run.json"


def leaves(files: Folder, named: tuple[str, ...] = NAMED) -> tuple[bytes, ...]:
    """Give the leaves that follow from plan and files; the last attempt is a void."""
    return tuple(
        leaf(name, sha256(files.get(run_path(name), b"")), "host" if name == NAMED[-1] else None) for name in named
    )


def signed(
    files: Folder = FILES,
    signers: Signers = SIGNERS,
    *,
    listed: tuple[bytes, ...] | None = None,
    extras: Extras | None = None,
) -> Folder:
    contents = ReleaseContents(
        release="rel-1",
        origin="evals.example/rel-1",
        files={path: sha256(data) for path, data in files.items()},
        leaves=leaves(files) if listed is None else listed,
        supersedes=None,
        log_checkpoint=sign_checkpoint(Checkpoint(origin="evals.example/log", head=head((b"a",))), LOG),
    )
    return {**files, **signed_files(contents, signers, extras)}


def found_in(folder: Folder) -> BundleFiles:
    return BundleFiles(
        release="rel-1",
        digests=MappingProxyType({path: sha256(data) for path, data in folder.items()}),
        signed=MappingProxyType({name: data for name, data in folder.items() if name in NAMES}),
        leaves=leaves(folder),
    )


def told(folder: Folder, trust: Trust = TRUST) -> list[str]:
    return [str(each) for each in check_bundle(found_in(folder), trust)]


WHOLE = signed()


def test_a_whole_release_has_no_finding_and_nothing_is_left_open() -> None:
    assert told(WHOLE) == []
    assert list(not_checked(found_in(WHOLE), TRUST)) == []


def test_the_same_contents_and_keys_give_the_same_bytes() -> None:
    assert signed() == WHOLE


def test_sums_of_the_known_release_and_their_signature_are_the_known_ones() -> None:
    listed = sums(
        {
            "attempts/a1/manifest.json": "00d137b8981c9489375197e979e900eb07ed4ad3d9b1b5afb05b33b9b42feec1",
            "attempts/a0/manifest.json": "fc926dd4cac4f0d6eb12781ad45e51be6f15770386451def648bc9e8993a0d2d",
        }
    )
    assert sha256(listed) == "3db58eca7a3c5dcb044f22795087e9e3e0420bb49c903b0dcac201ca84db1a4c"
    known = "ZK+6q0Vr2R7OQUrRAV0NmbfKb3qBFtl3ls54yFbn66G44awzpsimxnIlUSCQiMxtCHTB2H7LTYINAw9xwjqfBQ=="
    assert base64.b64encode(RFC_8032_1.sign(listed)).decode() == known


def test_the_tree_of_the_known_release_is_the_known_one() -> None:
    nothing = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    one = "dc51b8c96c2d745df3bd5590d990230a482fd247123599548e0632fdbf97fc22"
    other = "2056a28ea38a000f3a3328cb7fabe330638d3258affe1a869e3f92986222d997"
    patch = {"path": "patch.diff", "sha256": nothing, "size": 0}
    records = [
        canonical({"attempt": attempt, "files": files, "schema": "attempt/v1", "task": task})
        for attempt, task, files in (
            ("a0", "t0", [{"path": "log.txt", "sha256": one, "size": 3}, patch]),
            ("a1", "t1", [{"path": "log.txt", "sha256": other, "size": 5}]),
        )
    ]
    assert [len(each) for each in records] == [271, 164]
    named = [{"attempt": f"a{at}", "manifest_sha256": sha256(each)} for at, each in enumerate(records)]
    known = [canonical(each) for each in (*named, {"attempt": "a2", "void": "host-lost"})]
    hashes = [leaf_hash(each) for each in known]
    assert [each.hex() for each in hashes] == [
        "78722fed1eda32b56610522dee14f1b93921b448976c6d759ef05bc1743f8f7b",
        "22dc52d14bf522803daf9a806811703d4e6b89a296453151f062f750200ec890",
        "77ea0655aee7573d1ce24aaf024075ae90a73278534d6bd6bdc8f97d696c431d",
    ]
    assert head(known).root.hex() == "cf093b135755a592af0e01071dcd7f1113c03efaefeadb600139957806268d24"
    assert inclusion(hashes, 1) == (hashes[0], hashes[2])


def write(folder: Path, files: Folder) -> None:
    for path, data in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(data)


STANDARD = {
    "sha256sum": "sha256sum --strict --quiet -c SHA256SUMS",
    "sort": "cut -c67- SHA256SUMS | LC_ALL=C sort -c",
    "nothing unlisted": (
        "diff <(find . -type f ! -name SHA256SUMS ! -name 'SHA256SUMS.*' ! -name release.dsse.json"
        " ! -name release.sigstore.json ! -name checkpoint -printf '%P\\n' | LC_ALL=C sort) <(cut -c67- SHA256SUMS)"
    ),
    "openssl": "openssl pkeyutl -verify -pubin -inkey ../release.pem -rawin -in SHA256SUMS -sigfile SHA256SUMS.sig",
    "ssh-keygen": (
        "ssh-keygen -Y verify -f ../allowed_signers -I release -n cleanroom-release -s SHA256SUMS.sshsig < SHA256SUMS"
    ),
    "openssl on the statement": (
        'T=$(sed -E \'s/.*"payloadType":"([^"]*)".*/\\1/\' release.dsse.json);'
        'sed -E \'s/.*"payload":"([^"]*)".*/\\1/\' release.dsse.json | base64 -d > ../body;'
        'sed -E \'s/.*"sig":"([^"]*)".*/\\1/\' release.dsse.json | base64 -d > ../sig;'
        "{ printf 'DSSEv1 %d %s %d ' ${#T} \"$T\" $(stat -c%s ../body); cat ../body; } > ../pae;"
        "openssl pkeyutl -verify -pubin -inkey ../release.pem -rawin -in ../pae -sigfile ../sig"
    ),
}
"""What anybody can run, in the release's folder."""


def accepted(folder: Path, name: str) -> bool:
    return (
        subprocess.run(["/bin/bash", "-c", STANDARD[name]], cwd=folder, capture_output=True, check=False).returncode
        == 0
    )


def test_standard_tools_take_a_whole_release_and_refuse_a_changed_one(tmp_path: Path) -> None:
    folder = tmp_path / "release"
    write(folder, WHOLE)
    (tmp_path / "release.pem").write_bytes(RELEASE.key.pem)
    (tmp_path / "allowed_signers").write_text(sshsig.allowed_signer(RELEASE.key, "release"))
    assert {name for name in STANDARD if not accepted(folder, name)} == set()
    (folder / "aggregate.json").write_bytes(b"{ }")
    (folder / "more").write_bytes(b"")
    assert {name for name in STANDARD if not accepted(folder, name)} == {"sha256sum", "nothing unlisted"}
    write(folder, signed(FILES, Signers(release=THIEF, log=LOG)))
    (folder / "more").unlink()
    refused = {"openssl", "ssh-keygen", "openssl on the statement"}
    assert {name for name in STANDARD if not accepted(folder, name)} == refused


def without(*names: str) -> Folder:
    return {path: data for path, data in WHOLE.items() if path not in names}


def lines_swapped() -> Folder:
    lines = WHOLE["SHA256SUMS"].splitlines(keepends=True)
    return WHOLE | {"SHA256SUMS": b"".join((lines[1], lines[0], *lines[2:]))}


def line_twice() -> Folder:
    lines = WHOLE["SHA256SUMS"].splitlines(keepends=True)
    return WHOLE | {"SHA256SUMS": b"".join((lines[0], *lines))}


def renamed() -> Folder:
    return {("total.json" if path == "aggregate.json" else path): data for path, data in WHOLE.items()}


def escaped() -> Folder:
    return WHOLE | {"SHA256SUMS": b"\\" + WHOLE["SHA256SUMS"]}


def old_plan() -> Folder:
    return WHOLE | {"manifest.json": b'{"release":"rel-0"}'}


def statement_of_another() -> Folder:
    other = signed(FILES | {"aggregate.json": b"[]"})
    return WHOLE | {name: other[name] for name in ("release.dsse.json", "release.sigstore.json")}


def checkpoint_of_another() -> Folder:
    other = signed(FILES | {run_path(NAMED[0]): b"other"})
    return WHOLE | {"checkpoint": other["checkpoint"]}


def by_another_log() -> Folder:
    return signed(FILES, Signers(release=RELEASE, log=THIEF))


def key_inside() -> Folder:
    return signed(FILES | {"release.pem": THIEF.key.pem}, Signers(release=THIEF, log=LOG))


def twin_key() -> Folder:
    return WHOLE | {
        "release.dsse.json": WHOLE["release.dsse.json"].replace(b'{"payload"', b'{"payload":"","payload"', 1)
    }


def runs(*numbers: int) -> tuple[bytes, ...]:
    """Give the true leaves of some attempts, and one of an attempt that nobody planned as number 4."""
    true = leaves(FILES, (*NAMED[:2], "oracle/slugs/attempt-9", NAMED[2]))
    return tuple((true[0], true[1], true[3], true[2])[number - 1] for number in numbers)


DAMAGE: dict[str, tuple[Callable[[], Folder], str]] = {
    "a flipped byte": (lambda: WHOLE | {"aggregate.json": b"{}\n"}, "aggregate.json: found sha256 ca3d163"),
    "a removed file": (lambda: without("aggregate.json"), "aggregate.json: found no such file"),
    "an added file": (lambda: WHOLE | {"more.txt": b"x"}, "more.txt: found a file; expected nothing"),
    "a renamed file": (renamed, "total.json: found what SHA256SUMS lists as aggregate.json; expected the name"),
    "lines in another order": (lines_swapped, "SHA256SUMS:2: found aggregate.json after leaves.jsonl"),
    "a line that stands twice": (line_twice, "SHA256SUMS:2: found aggregate.json once more"),
    "an escaped name": (escaped, "SHA256SUMS:1: found another form"),
    "another plan": (old_plan, "release.dsse.json: found the digest of manifest.json"),
    "another key": (
        lambda: signed(FILES, Signers(release=THIEF, log=LOG)),
        f"release.dsse.json: found a signature of key {THIEF.keyid}, which nobody pinned; expected one of the release",
    ),
    "a key inside": (key_inside, "which nobody pinned (it lies in the release itself, as release.pem)"),
    "another log's key": (by_another_log, "checkpoint: found signatures of other keys"),
    "an unplanned attempt": (
        lambda: signed(listed=runs(1, 2, 4, 3)),
        "leaves.jsonl: found attempt oracle/slugs/attempt-9; expected no attempt that the plan does not have",
    ),
    "a missing attempt": (
        lambda: signed(listed=runs(1, 3)),
        "leaves.jsonl: found no attempt oracle/slugs/attempt-2; expected every attempt of the plan",
    ),
    "attempts in another order": (
        lambda: signed(listed=runs(2, 1, 3)),
        "leaves.jsonl: found attempt oracle/slugs/attempt-2 as number 1; expected oracle/slugs/attempt-1",
    ),
    "an attempt twice": (lambda: signed(listed=runs(1, 1, 2, 3)), "attempt-1 2 times; expected each attempt once"),
    "an attempt's other record": (
        lambda: signed(listed=leaves(FILES | {run_path(NAMED[1]): b"other"})),
        "as follows from the attempt's run.json",
    ),
    "a tree of other attempts": (checkpoint_of_another, "checkpoint: found the root "),
    "a tree of another size": (lambda: signed(listed=runs(1, 3)), "checkpoint: found a tree of 2 attempts; expected 3"),
    "another release's statement": (statement_of_another, "release.dsse.json: found the digest of SHA256SUMS"),
    "another bundle": (lambda: WHOLE | {"release.sigstore.json": b"{}"}, "release.sigstore.json: found another bundle"),
    "a cut signature": (
        lambda: WHOLE | {"SHA256SUMS.sig": WHOLE["SHA256SUMS.sig"][:-1]},
        "SHA256SUMS.sig: found a signature that no key given made",
    ),
    "a cut SSH signature": (
        lambda: WHOLE | {"SHA256SUMS.sshsig": WHOLE["SHA256SUMS.sshsig"][:-40]},
        "SHA256SUMS.sshsig: found no armour",
    ),
    "a key of JSON twice": (twin_key, "release.dsse.json: found payload: the same key twice"),
    **{
        f"no {name}": (partial(without, name), f"{name}: found no such file; expected the file that")
        for name in sorted(NAMES - {"timestamp.tsr"})
    },
}


@pytest.mark.parametrize("damage", list(DAMAGE))
def test_each_damage_is_told_by_its_own_words(damage: str) -> None:
    spoil, words = DAMAGE[damage]
    assert [line for line in told(spoil()) if words in line]
    others = [name for name, (_, other) in DAMAGE.items() if name != damage and other == words]
    assert others == []


def test_without_a_key_from_outside_nothing_is_believed() -> None:
    findings = told(WHOLE, Trust(pins=()))
    assert len(findings) == 3
    assert all("nobody pinned; expected a release key from elsewhere: give it by --key" in line for line in findings)
    assert list(not_checked(found_in(WHOLE), Trust(pins=()))) == [
        "checkpoint: its signature, for no log key was given; its tree is bound by release.dsse.json"
    ]


def nameless(*keys: bytes) -> Trust:
    return Trust(pins=tuple(Pin(key=PublicKey(raw=key), role=None, source="a PEM") for key in keys))


def test_a_key_without_a_role_counts_for_what_it_signed() -> None:
    assert told(WHOLE, nameless(RELEASE.public)) == []
    assert len(list(not_checked(found_in(WHOLE), nameless(RELEASE.public)))) == 1
    assert told(WHOLE, nameless(RELEASE.public, LOG.public)) == []
    assert list(not_checked(found_in(WHOLE), nameless(RELEASE.public, LOG.public))) == []


def test_what_is_no_checkpoint_is_found_and_not_left_open_as_well() -> None:
    spoilt = WHOLE | {"checkpoint": b"none"}
    assert any("checkpoint: found no text, blank line and signatures" in line for line in told(spoilt))
    assert list(not_checked(found_in(spoilt), nameless(RELEASE.public))) == []


def test_a_key_of_another_role_does_not_count() -> None:
    swapped = tuple(
        replace(pin, role=KeyRole.LOG if pin.role is KeyRole.RELEASE else KeyRole.RELEASE) for pin in TRUST.pins
    )
    assert len(told(WHOLE, Trust(pins=swapped))) == 4


def test_a_key_file_from_within_the_release_is_refused(tmp_path: Path) -> None:
    write(tmp_path / "release", key_inside())
    inside, outside = tmp_path / "release/release.pem", tmp_path / "thief.pem"
    with pytest.raises(KeyInsideError, match="expected a key from elsewhere"):
        read_trust([inside], outside=tmp_path / "release")
    outside.symlink_to(inside)
    with pytest.raises(KeyInsideError, match="expected a key from elsewhere"):
        read_trust([outside], outside=tmp_path / "release")


def test_a_statement_of_another_form_is_told() -> None:
    whole = dsse.parse(WHOLE["release.dsse.json"], "x")
    payload = whole.payload.replace(b',"supersedes":null', b"")
    assert payload != whole.payload
    spoilt = WHOLE | {"release.dsse.json": dsse.sign(PAYLOAD_TYPE, payload, (RELEASE,))}
    assert any("release.dsse.json: found supersedes: nothing" in line for line in told(spoilt))


@pytest.mark.parametrize(
    "files",
    [
        pytest.param({}, id="no manifest"),
        pytest.param(FILES | {"checkpoint": b""}, id="signed already"),
        pytest.param(FILES | {"-rf": b""}, id="an odd name"),
        pytest.param(FILES | {"Aggregate.json": b""}, id="a twin in another case"),
    ],
)
def test_what_cannot_be_published_is_not_signed(files: Folder) -> None:
    with pytest.raises((ValueError, NamesError), match=r"a release has|cannot be published"):
        signed(files)


def test_a_release_of_no_attempts_is_not_signed() -> None:
    with pytest.raises(ValueError, match="at least one attempt"):
        signed(listed=())


def test_the_claim_names_the_log_as_it_was() -> None:
    payload = dsse.parse(WHOLE["release.dsse.json"], "x").payload
    assert b'"log":{"origin":"evals.example/log","root":"' in payload
    assert peek_checkpoint(WHOLE["checkpoint"], "x").head.size == 3
