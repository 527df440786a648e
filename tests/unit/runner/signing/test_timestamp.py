"""Laws of RFC 3161 tokens, with an authority of the test's own: nothing leaves the machine."""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from runner.documents.keys import KeyRole
from runner.signing.bundle import NAMES, Extras, check_bundle, not_checked
from runner.signing.errors import SignatureError, SigningError
from runner.signing.timestamp import Stamper, check_token
from runner.signing.trust import KeyInsideError, Trust, read_trust
from tests.unit.runner.signing.authority import make_authority
from tests.unit.runner.signing.test_bundle import LOG, RELEASE, TRUST, Folder, found_in, signed

DATA = b"a signature"


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("authority")
    make_authority(folder)
    return folder


@pytest.fixture(scope="module")
def token(authority: Path) -> bytes:
    return Stamper(command=str(authority / "stamp"))(DATA)


def test_a_token_tells_when_it_was_there(authority: Path, token: bytes) -> None:
    now = datetime.now(UTC).timestamp() * 1000
    assert now - 60_000 < check_token(token, DATA, authority / "root.pem") <= now


@pytest.mark.parametrize(
    ("spoil", "data", "roots", "told"),
    [
        pytest.param(lambda token: token, b"other", "root.pem", "message imprint mismatch", id="other bytes"),
        pytest.param(lambda token: token, DATA, "other.pem", "certificate verify error", id="another authority"),
        pytest.param(lambda token: token[:-9], DATA, "root.pem", "", id="cut"),
        pytest.param(lambda token: token[:-9] + bytes(9), DATA, "root.pem", "", id="changed"),
        pytest.param(lambda _: b"", DATA, "root.pem", "", id="empty"),
    ],
)
def test_a_token_over_something_else_or_of_somebody_else_is_refused(
    authority: Path, token: bytes, spoil: Callable[[bytes], bytes], data: bytes, roots: str, told: str
) -> None:
    with pytest.raises(SignatureError, match=rf"timestamp\.tsr: found {told}"):
        check_token(spoil(token), data, authority / roots)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        pytest.param("exit 7", "status 7", id="fails"),
        pytest.param("echo no", "no token over these bytes", id="no answer"),
        pytest.param("cat answer", "no token over these bytes", id="an old answer"),
    ],
)
def test_a_command_that_gives_no_token_is_told(authority: Path, tmp_path: Path, text: str, told: str) -> None:
    script = tmp_path / "stamp"
    script.write_text(f"#!/bin/sh\ncd {authority}\n{text}\n")
    script.chmod(0o755)
    Stamper(command=str(authority / "stamp"))(b"something else")
    with pytest.raises(SigningError, match=told):
        Stamper(command=str(script))(DATA)


@pytest.fixture(scope="module")
def stamped(authority: Path) -> Folder:
    return signed(extras=Extras(timestamp=Stamper(command=str(authority / "stamp"))))


def told(folder: Folder, trust: Trust) -> list[str]:
    return [str(each) for each in check_bundle(found_in(folder), trust)]


def revoked_at(at_ms: int, roots: Path | None) -> Trust:
    pins = tuple(replace(pin, revoked_ms=at_ms) for pin in TRUST.pins)
    return Trust(pins=pins, roots=roots)


def test_a_stamped_release_is_whole_and_without_roots_that_is_left_open(authority: Path, stamped: Folder) -> None:
    assert stamped.keys() & NAMES == NAMES
    assert told(stamped, replace(TRUST, roots=authority / "root.pem")) == []
    assert list(not_checked(found_in(stamped), replace(TRUST, roots=authority / "root.pem"))) == []
    assert told(stamped, TRUST) == []
    assert list(not_checked(found_in(stamped), TRUST)) == [
        "timestamp.tsr: no certificates of time-stamping authorities were given"
    ]


def test_what_a_revoked_key_signed_counts_only_with_a_trusted_time_before(authority: Path, stamped: Folder) -> None:
    later = int(datetime.now(UTC).timestamp() * 1000) + 3_600_000
    assert told(stamped, revoked_at(later, authority / "root.pem")) == []
    without_time = told(stamped, revoked_at(later, None))
    assert len(without_time) == 4
    assert all("which nothing proves to be older" in line for line in without_time)
    assert {key.keyid for key in (RELEASE.key, LOG.key)} == {
        key.keyid for key in (RELEASE.key, LOG.key) if any(key.keyid in line for line in without_time)
    }
    after = told(stamped, revoked_at(1, authority / "root.pem"))
    assert len(after) == 4
    assert all("made at 20" in line for line in after)
    foreign = told(stamped, revoked_at(later, authority / "other.pem"))
    assert "timestamp.tsr: found certificate verify error" in foreign[0]
    assert len(foreign) == 5


def test_a_release_stamped_for_another_signature_is_told(authority: Path, stamped: Folder, token: bytes) -> None:
    spoilt = stamped | {"timestamp.tsr": token}
    assert (
        "timestamp.tsr: found message imprint mismatch" in told(spoilt, replace(TRUST, roots=authority / "root.pem"))[0]
    )


def test_certificates_from_within_the_release_are_refused(tmp_path: Path) -> None:
    (tmp_path / "roots.pem").write_bytes(b"")
    with pytest.raises(KeyInsideError, match="expected a key from elsewhere"):
        read_trust((), TRUST.pins, outside=tmp_path, roots=tmp_path / "roots.pem")
    assert read_trust((), TRUST.pins, roots=tmp_path / "roots.pem").keys(KeyRole.LOG) == (LOG.key,)
