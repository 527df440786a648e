"""Whom a verifier believes: keys that came from outside of what is verified, and whether they still count."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from runner.canonical import parse
from runner.documents.keys import KeyRole, Keys
from runner.errors import UsageError
from runner.parsing import file_name, parse_json, read_file
from runner.signing.errors import SignatureError
from runner.signing.keys import KeyStore, recorded_key
from runner.signing.rotation import follow
from runner.signing.signer import PublicKey, public_key


@dataclass(slots=True, kw_only=True, eq=False)
class KeyInsideError(UsageError):
    """A key was given that lies in what it should vouch for."""

    file: str
    folder: str

    def __str__(self) -> str:
        return (
            f"{self.file}: found a key inside {self.folder}, which it would vouch for; expected a key from elsewhere; "
            "get it from whoever made the release, over another way"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Pin:
    """A key that somebody outside vouches for."""

    key: PublicKey
    role: KeyRole | None
    """What it may sign; None, where a file does not tell: anything."""
    source: str
    revoked_ms: int | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Trust:
    """All keys that were pinned."""

    pins: tuple[Pin, ...]
    roots: Path | None = None
    """Certificates of time-stamping authorities that are believed; None: nobody is."""

    def keys(self, role: KeyRole) -> tuple[PublicKey, ...]:
        """Give the keys of a role, each once, revoked ones too: `objection` tells whether they count."""
        return tuple(dict.fromkeys(each.key for each in self.pins if each.role in {role, None}))

    def expects(self, role: KeyRole) -> bool:
        """Whether a key was pinned for just this role."""
        return any(each.role is role for each in self.pins)

    def objection(self, key: PublicKey, role: KeyRole, at_ms: int | None) -> str | None:
        """Say why a key's signature does not count, or give None.

        `at_ms` is when it was made, by somebody's word who is trusted for it; None where nobody's is there.
        """
        own = [each for each in self.pins if each.key == key and each.role in {role, None}]
        if not own:
            return f"a signature of key {key.keyid}, which nobody pinned"
        revoked = min((each.revoked_ms for each in own if each.revoked_ms is not None), default=None)
        if revoked is None or (at_ms is not None and at_ms < revoked):
            return None
        reason = next((each.reason for each in own if each.reason), None)
        why = f"revoked since {moment(revoked)}" + (f" ({reason})" if reason else "")
        made = "which nothing proves to be older" if at_ms is None else f"made at {moment(at_ms)}"
        return f"a signature of key {key.keyid}, {why}, {made}"


def moment(at_ms: int) -> str:
    """Write a time for people."""
    return datetime.fromtimestamp(at_ms / 1000, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def own_pins(store: KeyStore) -> tuple[Pin, ...]:
    """Give the keys of this host."""
    return tuple(_recorded(store.keys(), str(store.folder)))


def read_trust(
    files: Sequence[Path], own: Iterable[Pin] = (), *, outside: Path | None = None, roots: Path | None = None
) -> Trust:
    """Give whom to believe: this host's own keys, and those in files, none of which may lie below `outside`.

    A file is a public key in PEM, what `runner keys show --json` prints, or a statement of `runner keys rotate`, which
    leads from a key that is pinned to the one that took its place.

    Raises:
        KeyInsideError: a file lies in the folder that is to be verified.
        SignatureError: a statement leads from no key that is pinned and counts, or is not signed by both keys.
        DocumentError, DocumentErrors: a file holds none of these.
    """
    pins, statements = list(own), []
    for path in (*files, *(() if roots is None else (roots,))):
        if outside is not None and path.resolve().is_relative_to(outside.resolve()):
            raise KeyInsideError(file=file_name(path), folder=file_name(outside))
    for path in files:
        data, name = read_file(path), file_name(path)
        if data.lstrip().startswith(b"{") and "payload" in parse_json(data, name):
            statements.append((name, data))
        elif data.lstrip().startswith(b"{"):
            pins += _recorded(parse(Keys, data.strip(), name), name)
        else:
            pins.append(Pin(key=public_key(data, name), role=None, source=name))
    return _followed(Trust(pins=tuple(pins), roots=roots), statements)


def _followed(trust: Trust, statements: Sequence[tuple[str, bytes]]) -> Trust:
    """Add what statements of rotations lead to, in whichever order they came."""
    left = list(statements)
    refused: SignatureError | None = None
    while left:
        before = len(left)
        for each in tuple(left):
            try:
                trust = replace(trust, pins=(*trust.pins, _successor(trust, *each)))
                left.remove(each)
            except SignatureError as error:
                refused = error
        if refused is not None and len(left) == before:
            raise refused
    return trust


def _successor(trust: Trust, name: str, data: bytes) -> Pin:
    found = follow(data, [each.key for each in trust.pins], name)
    if (objection := trust.objection(found.old, found.role, None)) is not None:
        raise SignatureError(file=name, found=objection, expected=f"a rotation of a {found.role} key that counts")
    return Pin(key=found.new, role=found.role, source=name)


def _recorded(keys: Keys, source: str) -> Iterator[Pin]:
    for each in keys.keys:
        yield Pin(
            key=recorded_key(each, source),
            role=each.role,
            source=source,
            revoked_ms=each.revoked_ms,
            reason=each.reason,
        )
