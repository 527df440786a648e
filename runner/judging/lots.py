"""What is drawn by lot: HMAC-SHA256 under a release's key, so that everybody who has the key draws the same. Pure."""

import hashlib
import hmac
from collections.abc import Callable, Iterable
from typing import TypeVar

T = TypeVar("T")


def lot(key: bytes, use: str, *names: str) -> bytes:
    """Draw 32 bytes for a use and what it is about; names are kept apart by NUL, which none of them holds."""
    return hmac.digest(key, "\0".join((f"judging/{use}/1", *names)).encode(), hashlib.sha256)


def coin(key: bytes, use: str, *names: str) -> bool:
    """Toss a coin."""
    return lot(key, use, *names)[0] & 1 == 1


def shuffled(key: bytes, use: str, things: Iterable[T], name: Callable[[T], str]) -> tuple[T, ...]:
    """Give things in an order drawn by lot; their names differ."""
    return tuple(sorted(things, key=lambda thing: lot(key, use, name(thing))))
