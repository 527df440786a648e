"""Bytes kept by what they are: listings and file contents, addressed by their SHA-256."""

import hashlib
from typing import Protocol

from sandbox.errors import TreeError


def digest_of(content: bytes) -> str:
    """Give the address of some bytes: their SHA-256 in hex."""
    return hashlib.sha256(content).hexdigest()


class Contents(Protocol):
    """A store of bytes under their SHA-256 (64 hex digits)."""

    def get(self, digest: str) -> bytes:
        """Give the bytes of a digest.

        Raises:
            TreeError: nothing, or something else, is kept under it.
        """

    def put(self, content: bytes) -> str:
        """Keep bytes and give their digest. Keeping them again changes nothing."""


class MemoryContents:
    """Contents of this process alone; what it lacks it looks up in `below`, which it never writes."""

    def __init__(self, below: Contents | None = None) -> None:
        self._kept: dict[str, bytes] = {}
        self._below = below

    def get(self, digest: str) -> bytes:
        """Give the bytes of a digest."""
        kept = self._kept.get(digest)
        if kept is not None:
            return kept
        if self._below is None:
            raise TreeError(f"nothing is kept under {digest}")
        return self._below.get(digest)

    def put(self, content: bytes) -> str:
        """Keep bytes and give their digest."""
        digest = digest_of(content)
        self._kept.setdefault(digest, content)
        return digest
