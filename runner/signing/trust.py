"""Whom a verifier believes: keys that came from outside of what is verified, and whether they still count."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from runner.documents.keys import KeyRole, Keys
from runner.errors import UsageError
from runner.parsing import file_name, parse_json, read_file, validate
from runner.signing.keys import KeyStore, recorded_key
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

    def keys(self, role: KeyRole) -> tuple[PublicKey, ...]:
        """Give the keys of a role, each once, revoked ones too: `objection` tells whether they count."""
        return tuple(dict.fromkeys(each.key for each in self.pins if each.role in {role, None}))

    def expects(self, role: KeyRole, key: PublicKey | None = None) -> bool:
        """Whether a key (this one, or any) was pinned for just this role."""
        return any(each.role is role and key in {None, each.key} for each in self.pins)

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


def own_pins(store: KeyStore) -> Iterator[Pin]:
    """Give the keys of this host."""
    return _recorded(store.keys(), str(store.folder))


def read_pins(files: Iterable[Path], outside: Path | None = None) -> Iterator[Pin]:
    """Give the keys in files: a public key in PEM, or what `runner keys show --json` prints.

    Raises:
        KeyInsideError: a file lies in the folder that is to be verified.
        DocumentError, DocumentErrors: it holds no key.
    """
    for path in files:
        if outside is not None and path.resolve().is_relative_to(outside.resolve()):
            raise KeyInsideError(file=file_name(path), folder=file_name(outside))
        data, name = read_file(path), file_name(path)
        if data.lstrip().startswith(b"{"):
            yield from _recorded(validate(Keys, parse_json(data, name), name), name)
        else:
            yield Pin(key=public_key(data, name), role=None, source=name)


def _recorded(keys: Keys, source: str) -> Iterator[Pin]:
    for each in keys.keys:
        yield Pin(
            key=recorded_key(each, source),
            role=each.role,
            source=source,
            revoked_ms=each.revoked_ms,
            reason=each.reason,
        )
