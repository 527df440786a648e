"""SSH signatures, so that `ssh-keygen -Y verify` checks what we sign (OpenSSH PROTOCOL.sshsig, version 1)."""

import hashlib
import re
import textwrap
from dataclasses import dataclass
from typing import NoReturn

from runner.signing.encoding import b64, unb64
from runner.signing.errors import SignatureError
from runner.signing.signer import PUBLIC_BYTES, PublicKey, Signer

NAMESPACE = "cleanroom-release"
"""Keeps a release's signature from being taken for one over anything else."""

_MAGIC = b"SSHSIG"
_VERSION = 1
_KIND = b"ssh-ed25519"
_HASH = b"sha512"
_BEGIN, _END = "-----BEGIN SSH SIGNATURE-----", "-----END SSH SIGNATURE-----"
_ARMOUR = re.compile(rf"{_BEGIN}\n((?:[A-Za-z0-9+/=]{{1,76}}\n)+){_END}\n?")
_LINE = 70
"""Characters of a line, as ssh-keygen writes them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SshSignature:
    """A signature as it was read; the key in it is whoever's."""

    key: PublicKey
    namespace: str
    signature: bytes


def public_line(key: PublicKey) -> str:
    """Give a key as SSH writes it, without a comment."""
    return f"{_KIND.decode()} {b64(_wire(key))}"


def allowed_signer(key: PublicKey, identity: str, namespace: str = NAMESPACE) -> str:
    """Give the line of an allowed signers file that accepts a key for one namespace."""
    return f'{identity} namespaces="{namespace}" {public_line(key)}\n'


def sign(data: bytes, signer: Signer, namespace: str = NAMESPACE) -> bytes:
    """Give an armoured signature."""
    made = signer.sign(_signed(data, namespace))
    key = PublicKey(raw=signer.public)
    blob = b"".join(
        (
            _MAGIC,
            _VERSION.to_bytes(4),
            _string(_wire(key)),
            _string(namespace.encode()),
            _string(b""),
            _string(_HASH),
            _string(_string(_KIND) + _string(made)),
        )
    )
    return "\n".join((_BEGIN, *textwrap.wrap(b64(blob), _LINE), _END, "")).encode()


def parse(armoured: bytes, file: str) -> SshSignature:
    """Read a signature without believing it.

    Raises:
        SignatureError: it is none of Ed25519 and SHA-512.
    """
    found = _ARMOUR.fullmatch(armoured.decode("ascii", "replace"))
    if found is None:
        _refuse(file, "no armour of an SSH signature", _BEGIN)
    try:
        blob = unb64(found[1].replace("\n", ""))
        if blob[:10] != _MAGIC + _VERSION.to_bytes(4):
            _refuse(file, "another version", "an SSH signature, version 1")
        public, namespace, _, hashed, signature = _strings(blob[10:], 5)
        kind, raw = _strings(public, 2)
        kind_again, made = _strings(signature, 2)
    except ValueError as error:
        raise SignatureError(file=file, found=f"a broken form ({error})", expected="an SSH signature") from error
    if (kind, kind_again, hashed) != (_KIND, _KIND, _HASH) or len(raw) != PUBLIC_BYTES:
        _refuse(file, "other algorithms", "ssh-ed25519 and sha512")
    return SshSignature(key=PublicKey(raw=raw), namespace=namespace.decode("utf-8", "replace"), signature=made)


def check(data: bytes, found: SshSignature, file: str, namespace: str = NAMESPACE) -> None:
    """Say nothing if a signature is over these bytes by the key that it names, whoever's that is.

    Raises:
        SignatureError: it is not.
    """
    if found.namespace != namespace:
        _refuse(file, f"a signature for {found.namespace!r}", repr(namespace))
    if not found.key.made(found.signature, _signed(data, namespace)):
        _refuse(file, f"a signature that key {found.key.keyid} did not make over these bytes", "its signature")


def _signed(data: bytes, namespace: str) -> bytes:
    parts = (namespace.encode(), b"", _HASH, hashlib.sha512(data).digest())
    return _MAGIC + b"".join(_string(each) for each in parts)


def _wire(key: PublicKey) -> bytes:
    return _string(_KIND) + _string(key.raw)


def _string(data: bytes) -> bytes:
    return len(data).to_bytes(4) + data


def _strings(data: bytes, count: int) -> list[bytes]:
    parts = []
    for _ in range(count):
        size = int.from_bytes(data[:4])
        parts.append(data[4 : 4 + size])
        if len(data) < 4 or len(parts[-1]) != size:  # noqa: PLR2004 - a length has four bytes
            raise ValueError("it ends too early")
        data = data[4 + size :]
    if data:
        raise ValueError("it goes on")
    return parts


def _refuse(file: str, found: str, expected: str) -> NoReturn:
    raise SignatureError(file=file, found=found, expected=expected)
