"""Bytes kept by what they are: listings and file contents, addressed by their SHA-256."""

import hashlib
import os
import re
from pathlib import Path
from typing import Protocol

from sandbox.errors import TreeError

_DIGEST = re.compile(r"[0-9a-f]{64}")


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


class FolderContents:
    """Contents as files `ab/cdef...` of a folder, hashed again on every reading.

    Writing does not wait for the disk, which would cost seconds a tree: bytes that a crash of the machine took
    are noticed on reading, and mended by putting them again.
    """

    def __init__(self, root: Path) -> None:
        self._root = root

    def get(self, digest: str) -> bytes:
        """Give the bytes of a digest."""
        path = self._place(digest)
        try:
            content = path.read_bytes()
        except FileNotFoundError as error:
            raise TreeError(f"nothing is kept under {digest}") from error
        if digest_of(content) != digest:
            raise TreeError(f"{path} does not hold what its name says")
        return content

    def put(self, content: bytes) -> str:
        """Keep bytes and give their digest."""
        digest = digest_of(content)
        path = self._place(digest)
        if path.exists() and path.read_bytes() == content:
            return digest
        path.parent.mkdir(parents=True, exist_ok=True)
        part = path.with_name(f".{path.name}.{os.getpid()}")
        try:
            part.write_bytes(content)
            part.replace(path)
        finally:
            part.unlink(missing_ok=True)
        return digest

    def _place(self, digest: str) -> Path:
        if not _DIGEST.fullmatch(digest):
            raise TreeError(f"{digest!r} is no digest")
        return self._root / digest[:2] / digest[2:]
