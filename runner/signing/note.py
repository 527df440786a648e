"""Signed notes and checkpoints (C2SP signed-note and tlog-checkpoint, v1)."""

import hashlib
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NoReturn

from runner.signing.encoding import b64, unb64
from runner.signing.errors import SignatureError
from runner.signing.merkle import HASH_BYTES, Head
from runner.signing.signer import PublicKey, Signer

ED25519 = b"\x01"
"""The type of a key in key ids and verifier keys."""

LONGEST = 1_000_000
"""Bytes of a note that is read."""

_ID_BYTES = 4
_DASH = "\N{EM DASH} "
_NAME = re.compile(r"[^\s+]+")
_SIZE = re.compile(r"0|[1-9][0-9]{0,15}")
_VKEY = re.compile(r"([^\s+]+)\+([0-9a-f]{8})\+(.+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class NoteKey:
    """A key under the name that it signs notes with."""

    name: str
    key: PublicKey

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.name):
            raise ValueError(f"no key can be called {self.name!r}: there may be no blank and no + in it")

    @property
    def id(self) -> bytes:
        """The 4 bytes by which a signature line tells whose it is."""
        return hashlib.sha256(self.name.encode() + b"\n" + ED25519 + self.key.raw).digest()[:_ID_BYTES]

    @property
    def vkey(self) -> str:
        """Its public form for other tools."""
        return f"{self.name}+{self.id.hex()}+{b64(ED25519 + self.key.raw)}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """A note that keys of ours have signed."""

    text: str
    """With the end of its last line."""
    keys: tuple[NoteKey, ...]
    """Whose signatures are on it; never none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkpoint:
    """What a log, or a release, says of its tree."""

    origin: str
    """Which tree it is; the same for ever."""
    head: Head

    @property
    def text(self) -> str:
        """What is signed."""
        return f"{self.origin}\n{self.head.size}\n{b64(self.head.root)}\n"


def parse_vkey(text: str) -> NoteKey:
    """Read a verifier key.

    Raises:
        ValueError: it is none of Ed25519, or its id is another's.
    """
    found = _VKEY.fullmatch(text)
    if found is None:
        raise ValueError("no verifier key: expected NAME+ID+KEY")
    data = unb64(found[3])
    if data[:1] != ED25519:
        raise ValueError("a verifier key of another kind than Ed25519")
    made = NoteKey(name=found[1], key=PublicKey(raw=data[1:]))
    if made.id.hex() != found[2]:
        raise ValueError(f"a verifier key whose id is {made.id.hex()}, not {found[2]}")
    return made


def sign_note(text: str, name: str, signers: Iterable[Signer]) -> bytes:
    """Give a note, signed by each signer under one name."""
    if not _is_note_text(text):
        raise ValueError("a note is text without control characters that ends with its last line")
    lines = []
    for each in signers:
        key = NoteKey(name=name, key=PublicKey(raw=each.public))
        lines.append(f"{_DASH}{name} {b64(key.id + each.sign(text.encode()))}\n")
    return "".join((text, "\n", *lines)).encode()


def open_note(data: bytes, keys: Sequence[NoteKey], file: str) -> Note:
    """Give a note that at least one of these keys has signed; signatures of others are ignored.

    Raises:
        SignatureError: it is no note, none of them has signed it, or one of them has signed something else.
    """
    text, signatures = split_note(data, file)
    signers = []
    for key in keys:
        own = [signature for name, ident, signature in signatures if (name, ident) == (key.name, key.id)]
        if any(not key.key.made(signature, text.encode()) for signature in own):
            _refuse(file, f"a signature that key {key.key.keyid} did not make over this note", "its signature")
        if own:
            signers.append(key)
    if not signers:
        wanted = ", ".join(f"{each.name}+{each.id.hex()}" for each in keys) or "none, for no key was given"
        found = ", ".join(f"{name}+{ident.hex()}" for name, ident, _ in signatures)
        _refuse(file, f"signatures of other keys: {found}", f"one of {wanted}")
    return Note(text=text, keys=tuple(signers))


def split_note(data: bytes, file: str) -> tuple[str, tuple[tuple[str, bytes, bytes], ...]]:
    """Give a note's text, and name, key id and signature of each of its signature lines; none is checked.

    Raises:
        SignatureError: it is no note.
    """
    if len(data) > LONGEST:
        _refuse(file, f"{len(data)} bytes", f"a note of at most {LONGEST}")
    try:
        whole = data.decode()
    except UnicodeDecodeError:
        _refuse(file, "a byte that is no UTF-8", "a signed note")
    body, blank, tail = whole.rpartition("\n\n")
    if not blank or not tail.endswith("\n") or not _is_note_text(f"{body}\n"):
        _refuse(file, "no text, blank line and signatures", "a signed note")
    return f"{body}\n", tuple(_signatures(tail, file))


def _signatures(tail: str, file: str) -> Iterator[tuple[str, bytes, bytes]]:
    for line in tail[:-1].split("\n"):
        name, _, encoded = line.removeprefix(_DASH).partition(" ")
        try:
            data = unb64(encoded)
        except ValueError:
            data = b""
        if not line.startswith(_DASH) or not _NAME.fullmatch(name) or len(data) <= _ID_BYTES:
            _refuse(file, "a line that is no signature, below the blank one", "one signature a line")
        yield name, data[:_ID_BYTES], data[_ID_BYTES:]


def _is_note_text(text: str) -> bool:
    return text.endswith("\n") and len(text) > 1 and all(each == "\n" or each >= " " for each in text)


def sign_checkpoint(checkpoint: Checkpoint, signer: Signer) -> bytes:
    """Give a checkpoint as a note, signed under the name of its origin."""
    return sign_note(checkpoint.text, checkpoint.origin, (signer,))


def parse_checkpoint(text: str, file: str) -> Checkpoint:
    """Read a checkpoint's text; lines after the third are extensions, which are ignored.

    Raises:
        SignatureError: it is none.
    """
    lines = text.split("\n")
    if len(lines) <= 3 or not lines[0] or not _SIZE.fullmatch(lines[1]):  # noqa: PLR2004 - origin, size, root, end
        _refuse(file, "other lines", "a checkpoint: origin, size, root")
    try:
        root = unb64(lines[2])
    except ValueError:
        root = b""
    if len(root) != HASH_BYTES:
        _refuse(file, "a root that is no hash", f"{HASH_BYTES} bytes in base64")
    return Checkpoint(origin=lines[0], head=Head(size=int(lines[1]), root=root))


def peek_checkpoint(data: bytes, file: str) -> Checkpoint:
    """Read the checkpoint in a note whose signatures are not checked.

    Raises:
        SignatureError: it is none.
    """
    return parse_checkpoint(split_note(data, file)[0], file)


def named_keys(note: bytes, keys: Iterable[PublicKey], file: str) -> tuple[NoteKey, ...]:
    """Give those of some keys whose signatures a checkpoint says it has.

    Raises:
        SignatureError: it is no checkpoint.
    """
    origin = peek_checkpoint(note, file).origin
    named = {ident for _, ident, _ in split_note(note, file)[1]}
    return tuple(each for key in keys if (each := NoteKey(name=origin, key=key)).id in named)


def _refuse(file: str, found: str, expected: str) -> NoReturn:
    raise SignatureError(file=file, found=found, expected=expected)
