"""Ed25519 keys (RFC 8032) as values, and what signs with them."""

import hashlib
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    load_pem_private_key,
    load_pem_public_key,
)

from runner.signing.errors import KeyFileError

PUBLIC_BYTES = 32
SIGNATURE_BYTES = 64


@dataclass(frozen=True, kw_only=True)
class PublicKey:
    """A key that checks signatures."""

    raw: bytes
    """32 bytes (RFC 8032)."""

    def __post_init__(self) -> None:
        if len(self.raw) != PUBLIC_BYTES:
            raise ValueError(f"an Ed25519 public key has {PUBLIC_BYTES} bytes, not {len(self.raw)}")

    @cached_property
    def keyid(self) -> str:
        """Its name everywhere: SHA-256, in hex, of its SubjectPublicKeyInfo in DER (RFC 8410)."""
        der = self._key.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
        return hashlib.sha256(der).hexdigest()

    @property
    def pem(self) -> bytes:
        """Its file for openssl."""
        return self._key.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)

    def made(self, signature: bytes, data: bytes) -> bool:
        """Whether a signature over data is this key's."""
        try:
            self._key.verify(signature, data)
        except InvalidSignature:
            return False
        return True

    @cached_property
    def _key(self) -> Ed25519PublicKey:
        return Ed25519PublicKey.from_public_bytes(self.raw)


class Signer(Protocol):
    """What signs: a key of this host, or a command that asks one held elsewhere."""

    @property
    def keyid(self) -> str:
        """Name of the key that it signs with."""
        ...

    @property
    def public(self) -> bytes:
        """The key that checks its signatures, 32 bytes."""
        ...

    def sign(self, data: bytes) -> bytes:
        """Give the signature over data, 64 bytes."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalSigner:
    """Signs with a key in this process."""

    private: Ed25519PrivateKey

    @property
    def key(self) -> PublicKey:
        """The key that checks its signatures."""
        return PublicKey(raw=self.public)

    @property
    def keyid(self) -> str:
        """Name of its key."""
        return self.key.keyid

    @property
    def public(self) -> bytes:
        """The key that checks its signatures, 32 bytes."""
        return self.private.public_key().public_bytes_raw()

    @property
    def pem(self) -> bytes:
        """The private key, PKCS #8, for a file that its owner alone can read."""
        return self.private.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())

    def sign(self, data: bytes) -> bytes:
        """Give the signature over data."""
        return self.private.sign(data)


def new_signer() -> LocalSigner:
    """Make a new key."""
    return LocalSigner(private=Ed25519PrivateKey.generate())


def public_key(data: bytes, file: str) -> PublicKey:
    """Read a public key in PEM.

    Raises:
        KeyFileError: it is none, or not of Ed25519.
    """
    found = "no PEM of a public key"
    try:
        key = load_pem_public_key(data)
    except (ValueError, UnsupportedAlgorithm) as error:
        if b"PRIVATE KEY" in data:
            found = "a private key, which nobody but its owner should have"
        raise _not_a_key(file, found, "a public key") from error
    if not isinstance(key, Ed25519PublicKey):
        raise _not_a_key(file, "a key of another kind", "a public key")
    return PublicKey(raw=key.public_bytes_raw())


def private_key(data: bytes, file: str) -> LocalSigner:
    """Read a private key in PEM, PKCS #8, without a password.

    Raises:
        KeyFileError: it is none, or not of Ed25519.
    """
    try:
        key = load_pem_private_key(data, password=None)
    except (ValueError, TypeError, UnsupportedAlgorithm) as error:
        raise _not_a_key(file, "no PEM of a private key without a password", "a private key") from error
    if not isinstance(key, Ed25519PrivateKey):
        raise _not_a_key(file, "a key of another kind", "a private key")
    return LocalSigner(private=key)


def _not_a_key(file: str, found: str, expected: str) -> KeyFileError:
    mend = "give the file that 'runner keys show --pem' or 'openssl pkey -pubout' writes"
    if expected == "a private key":
        mend = "restore it from a copy, or make another key: runner keys rotate"
    return KeyFileError(file=file, field="", found=found, expected=f"{expected} of Ed25519 in PEM", mend=mend)
