"""The keys of this host: made, found again, retired and revoked, in a folder that its owner alone can look into."""

import os
import stat
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from runner.canonical import canonical, parse
from runner.documents.keys import KeyPlace, KeyRecord, KeyRole, Keys, KeyStatus
from runner.durable import locked, make_private, replace_file, write_private
from runner.errors import UsageError
from runner.parsing import file_name, open_file, read_file
from runner.signing.command import CommandSigner
from runner.signing.encoding import b64, unb64
from runner.signing.errors import KeyFileError
from runner.signing.signer import LocalSigner, PublicKey, Signer, new_signer, private_key

KEYS = "keys"
KEYS_FILE = "keys.json"

_OTHERS = stat.S_IRWXG | stat.S_IRWXO
_LONGEST = 16384


@dataclass(slots=True, kw_only=True, eq=False)
class KeyChoiceError(UsageError):
    """A key is asked for that is not there, or is there already."""

    folder: str
    found: str
    expected: str
    mend: str

    def __str__(self) -> str:
        return f"{self.folder}: found {self.found}; expected {self.expected}; {self.mend}"


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyStore:
    """The keys below one state."""

    folder: Path
    clock: Callable[[], int]
    """Milliseconds since 1970, UTC."""

    def keys(self) -> Keys:
        """Give what is known of all keys; none where none was ever made.

        Raises:
            DocumentError, DocumentErrors: the list is not what we write.
        """
        path = self.folder / KEYS_FILE
        if not os.path.lexists(path):
            return Keys(keys=())
        listed = parse(Keys, read_file(path), str(path))
        for each in listed.keys:
            recorded_key(each, str(path))
        return listed

    def public_keys(self, role: KeyRole) -> tuple[PublicKey, ...]:
        """Give every key that a role ever had."""
        file = str(self.folder / KEYS_FILE)
        return tuple(recorded_key(each, file) for each in self.keys().keys if each.role is role)

    def active(self, role: KeyRole) -> KeyRecord | None:
        """Give the key that signs in a role now."""
        found = (each for each in self.keys().keys if each.role is role and each.status is KeyStatus.ACTIVE)
        return next(found, None)

    def create(self, role: KeyRole, public: PublicKey | None = None) -> KeyRecord:
        """Make the key of a role; with `public`, take one whose private part is held elsewhere.

        Raises:
            KeyChoiceError: the role has one, or that key has a role.
            StorageError: the disk failed; no key is listed then.
        """
        with self.changing() as listed:
            if self.active(role) is not None:
                raise self.choice(
                    f"a {role} key", "none", f"put another in its place: runner keys rotate --role {role}"
                )
            made = self.add(listed, role, public)
            self.write(Keys(keys=(*listed.keys, made)))
        return made

    def ensure(self, role: KeyRole, tell: Callable[[str], None]) -> Signer:
        """Give what signs in a role; a key that is missing is made, and told in a line."""
        if self.active(role) is None:
            with self.changing() as listed:
                # Looked at again: another runner may have made it meanwhile.
                if self.active(role) is None:
                    made = self.add(listed, role, None)
                    self.write(Keys(keys=(*listed.keys, made)))
                    tell(f"made a {role} key, {made.keyid}, in {self.folder}")
        return self.signer(role)

    def signer(self, role: KeyRole, sign_with: str | None = None) -> Signer:
        """Give what signs in a role: a key that lies here, or a command that asks one elsewhere.

        Raises:
            KeyChoiceError: there is no such key, or it lies elsewhere and no command was given.
            KeyFileError: its file is gone, broken, or open to others.
        """
        record = self.active(role)
        if record is None:
            raise self.choice(f"no {role} key", "one", f"make it: runner keys new --role {role}")
        return self.signer_of(record, sign_with)

    def signer_of(self, record: KeyRecord, sign_with: str | None = None) -> Signer:
        """Give what signs with one of these keys, whichever role and status it has."""
        key = recorded_key(record, str(self.folder / KEYS_FILE))
        if sign_with is not None:
            return CommandSigner(command=sign_with, key=key)
        if record.place is KeyPlace.ELSEWHERE:
            found = f"a {record.role} key that is held elsewhere"
            raise self.choice(found, "a command that signs with it", "give it: --sign-with CMD")
        return self._local(record)

    def find(self, start: str) -> KeyRecord:
        """Give the one key whose name begins so.

        Raises:
            KeyChoiceError: none does, or several do.
        """
        found = [each for each in self.keys().keys if each.keyid.startswith(start)]
        if len(found) != 1:
            mend = "name one of those that 'runner keys show' lists"
            raise self.choice(f"{len(found)} keys that begin with {start!r}", "one", mend)
        return found[0]

    def revoke(self, keyid: str, since_ms: int, reason: str) -> KeyRecord:
        """Say that what a key signed since a time does not count; a time can only be made earlier.

        Raises:
            KeyChoiceError: it was revoked since then, or earlier, already.
        """
        with self.changing() as listed:
            record = self.find(keyid)
            if record.revoked_ms is not None and record.revoked_ms <= since_ms:
                raise self.choice(f"key {record.keyid} revoked already", "an earlier time", "give it by --since")
            update = {"status": KeyStatus.REVOKED, "revoked_ms": since_ms, "reason": reason}
            return self.change(listed, record, update)

    def change(self, listed: Keys, record: KeyRecord, update: Mapping[str, object], *more: KeyRecord) -> KeyRecord:
        """Put a record's new fields, and further records, into the list; give the record as it is now."""
        changed = record.model_copy(update=dict(update))
        self.write(Keys(keys=(*(changed if each == record else each for each in listed.keys), *more)))
        return changed

    @contextmanager
    def changing(self) -> Iterator[Keys]:
        """Keep other runners from changing the keys; give what is known of them."""
        make_private(self.folder)
        self._check_private(self.folder, self.folder.stat())
        with locked(self.folder):
            yield self.keys()

    def add(self, listed: Keys, role: KeyRole, public: PublicKey | None) -> KeyRecord:
        """Give a new key's record; its private part, if it is ours, is in its file before."""
        if public is not None:
            if any(each.keyid == public.keyid for each in listed.keys):
                raise self.choice(f"key {public.keyid}", "a key that has no role yet", "give another key's file")
            return self._record(role, public, KeyPlace.ELSEWHERE)
        made = new_signer()
        write_private(self.folder / _file(role, made.keyid), made.pem)
        return self._record(role, made.key, KeyPlace.HERE)

    def write(self, keys: Keys) -> None:
        """Put the list in its place."""
        replace_file(self.folder / KEYS_FILE, canonical(keys))

    def choice(self, found: str, expected: str, mend: str) -> KeyChoiceError:
        """Give an error about which key is meant."""
        return KeyChoiceError(folder=str(self.folder), found=found, expected=expected, mend=mend)

    def _record(self, role: KeyRole, key: PublicKey, place: KeyPlace) -> KeyRecord:
        return KeyRecord(
            keyid=key.keyid,
            role=role,
            public=b64(key.raw),
            place=place,
            status=KeyStatus.ACTIVE,
            created_ms=self.clock(),
            retired_ms=None,
            revoked_ms=None,
            reason=None,
        )

    def _local(self, record: KeyRecord) -> LocalSigner:
        path = self.folder / _file(record.role, record.keyid)
        self._check_private(self.folder, self.folder.stat())
        with open_file(path) as (stream, facts):
            self._check_private(path, facts)
            made = private_key(stream.read(_LONGEST), file_name(path))
        if made.keyid != record.keyid:
            mend = "restore the file from a copy, or make another key: runner keys rotate"
            raise self._refused(path, f"key {made.keyid}", f"key {record.keyid}", mend)
        return made

    def _check_private(self, path: Path, facts: os.stat_result) -> None:
        """Refuse what others can read or own: they may have the key by now."""
        if facts.st_uid not in {0, os.geteuid()}:
            mend = "find out whose key it is; make another: runner keys rotate"
            raise self._refused(path, f"account {facts.st_uid} as its owner", "root or this account", mend)
        if facts.st_mode & _OTHERS:
            wanted = "700" if stat.S_ISDIR(facts.st_mode) else "600"
            mend = f"if nobody can have read it, run: chmod {wanted} {path}; else: runner keys revoke"
            raise self._refused(path, f"the mode {stat.S_IMODE(facts.st_mode):o}", wanted, mend)

    def _refused(self, path: Path, found: str, expected: str, mend: str) -> KeyFileError:
        return KeyFileError(file=file_name(path), field="", found=found, expected=expected, mend=mend)


def recorded_key(record: KeyRecord, file: str) -> PublicKey:
    """Give the key that a record is about.

    Raises:
        KeyFileError: the record calls it by another key's id.
    """
    try:
        key = PublicKey(raw=unb64(record.public))
    except ValueError as error:
        raise _not_recorded(file, record, "no key") from error
    if key.keyid != record.keyid:
        raise _not_recorded(file, record, f"key {key.keyid}")
    return key


def _not_recorded(file: str, record: KeyRecord, found: str) -> KeyFileError:
    mend = "restore the file from a copy"
    return KeyFileError(file=file, field="public", found=found, expected=f"key {record.keyid}", mend=mend)


def _file(role: KeyRole, keyid: str) -> str:
    return f"{role}-{keyid[:16]}.pem"
