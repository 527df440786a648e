"""A release that was really run is published and verified, through the real command line and without our code."""

import shutil
from pathlib import Path

import pytest

from tests.flow.bench import Bench, copied, listing
from tests.flow.page import prepared, unmet
from tests.unit.runner.signing.authority import make_authority, openssl

pytestmark = pytest.mark.systemd

REASON = "three candidates were never run"
INCOMPLETE = ("--incomplete", REASON)


@pytest.fixture(scope="module", name="ran")
def _ran(benches: Path, piloted: Bench) -> Bench:
    """A bench of which half was run, with nothing published."""
    return copied(piloted, benches / "ran", runnable=False)


@pytest.fixture(scope="module", name="published")
def _published(benches: Path, ran: Bench) -> Bench:
    """The same, published. Tests read it, or copy it."""
    bench = copied(ran, benches / "published", runnable=False)
    said = bench.run("publish", "bench-1", *INCOMPLETE)
    assert said.code == 0, said
    assert "release bench-1: published" in said.out
    assert "3 attempts without an end stand in it as void" in said.out
    assert "checkpoint" in said.out
    return bench


def test_a_release_with_attempts_to_run_is_not_published_and_they_are_named(ran: Bench) -> None:
    before = listing(ran.checkout)
    said = ran.run("publish", "bench-1")
    assert said.code == 2
    assert "3 planned attempts have no end" in said.err
    assert "sleeper/clamp/attempt-1: never begun" in said.err
    assert "runner pilot --resume" in said.err
    assert listing(ran.checkout) == before


def test_a_dry_run_lists_what_would_be_written_and_writes_nothing(ran: Bench) -> None:
    before = listing(ran.checkout)
    said = ran.run("publish", "bench-1", "--dry-run", *INCOMPLETE)
    assert said.code == 0, said.err
    assert "right/clamp/attempts/attempt-1/candidate.diff" in said.out
    assert "nothing was written" in said.out
    assert listing(ran.checkout) == before


def test_another_release_than_the_configurations_is_refused(ran: Bench) -> None:
    said = ran.run("publish", "bench-2", *INCOMPLETE)
    assert said.code == 2
    assert "found bench-1; expected bench-2" in said.err


def test_broken_evidence_is_not_published(ran: Bench, benches: Path) -> None:
    bench = copied(ran, benches / "published-broken", runnable=False)
    diff = bench.attempt("right") / "try-1/submission/candidate.diff"
    diff.chmod(0o644)
    diff.write_bytes(diff.read_bytes() + b"\n")
    said = bench.run("publish", "bench-1", *INCOMPLETE)
    assert said.code == 3
    assert "candidate.diff" in said.err
    assert not (bench.checkout / "results").exists()


def test_what_was_published_verifies_with_keys_from_elsewhere(published: Bench, benches: Path) -> None:
    folder = taken_away(published, benches / "reader")
    keys = [word for name in ("release", "log") for word in ("--key", str(folder.parent / f"{name}.pem"))]
    said = published.run("verify", str(folder), *keys)
    assert said.code == 0, said
    assert "note: " in said.err, "what was not checked is told"


def test_what_was_published_verifies_without_our_code(published: Bench, benches: Path) -> None:
    assert unmet(prepared(taken_away(published, benches / "stranger"))) == []


def taken_away(bench: Bench, place: Path) -> Path:
    """Take a published release and its keys to somebody else."""
    folder = place / "bench-1"
    shutil.copytree(bench.checkout / "results/bench-1", folder)
    for role in ("release", "log"):
        said = bench.run("keys", "show", "--role", role, "--pem")
        assert said.code == 0, said
        (place / f"{role}.pem").write_text(said.out)
    return folder


def test_a_key_held_elsewhere_signs_and_a_stamp_outlives_its_revocation(ran: Bench, benches: Path) -> None:
    bench = copied(ran, benches / "stamped", runnable=False)
    place = benches / "vault"
    place.mkdir()
    make_authority(place)
    sign = held_elsewhere(place)
    assert bench.run("keys", "new", "--role", "release", "--public", str(place / "public.pem")).code == 0
    said = bench.run("publish", "bench-1", *INCOMPLETE)
    assert (said.code, "give it: --sign-with CMD" in said.err) == (2, True)
    stamped = ("--sign-with", sign, "--timestamp-with", str(place / "stamp"))
    said = bench.run("publish", "bench-1", *INCOMPLETE, *stamped)
    assert said.code == 0, said.err
    folder = taken_away(bench, benches / "later")
    keyid = bench.run("keys", "show", "--role", "release").out.split()[1]
    assert bench.run("keys", "revoke", keyid, "--reason", "lost", "--since", "2100-01-01T00:00:00Z").code == 0
    (place / "keys.json").write_text(bench.run("keys", "show", "--json").out)
    keys = ("verify", str(folder), "--no-rebuild", "--key", str(place / "keys.json"))
    said = bench.run(*keys, "--roots", str(place / "root.pem"))
    assert (said.code, "timestamp" in said.err) == (0, False)
    said = bench.run(*keys)
    assert said.code == 3
    assert "revoked since 2100-01-01T00:00:00Z (lost), which nothing proves to be older" in said.out


def held_elsewhere(place: Path) -> str:
    """Make a release key that openssl holds, and give the command that signs with it."""
    openssl(place, "genpkey -algorithm ed25519 -out private.pem")
    openssl(place, "pkey -in private.pem -pubout -out public.pem")
    script = place / "sign"
    script.write_text(
        f"#!/bin/sh\ncd {place}\ncat >data\nexec openssl pkeyutl -sign -rawin -inkey private.pem -in data\n"
    )
    script.chmod(0o755)
    return str(script)


def test_publishing_again_changes_nothing_or_is_refused(published: Bench, benches: Path) -> None:
    bench = copied(published, benches / "again", runnable=False)
    before = listing(bench.checkout)
    said = bench.run("publish", "bench-1", *INCOMPLETE)
    assert (said.code, "release bench-1: already published, unchanged" in said.out) == (0, True)
    assert listing(bench.checkout) == before
    said = bench.run("publish", "bench-1", "--incomplete", "another reason")
    assert said.code == 2
    assert "sleeper/clamp/attempts/attempt-1/run.json: is published with sha256" in said.err
    assert listing(bench.checkout) == before


def test_a_secret_of_this_host_stops_it_with_file_and_field(ran: Bench, benches: Path) -> None:
    bench = copied(ran, benches / "leaky", runnable=False)
    said = bench.run("publish", "bench-1", "--incomplete", f"see {bench.checkout}/notes")
    assert said.code == 2
    assert "sleeper/clamp/attempts/attempt-1/run.json: void: private-path" in said.err
    assert "bench.publish-allow.json" in said.err
    assert not (bench.checkout / "results").exists()
