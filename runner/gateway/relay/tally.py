"""What an answer says about itself: model, tokens, cost, end. Pure."""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import cast

from .terms import Json

LARGEST = 2**53
NAME_LIMIT = 200
BLOCK_LIMIT = 32 << 20

DONE = b"[DONE]"

Paths = Mapping[str, tuple[tuple[str, ...], ...]]
"""Where a protocol's usage report holds each kind of tokens; the first place that has a number counts."""

KINDS = ("input", "cached", "cache_write", "output", "reasoning")


class BrokenAnswerError(Exception):
    """What came is not what a completion looks like."""


@dataclass(slots=True)
class Tally:
    """What the parts of one answer said so far."""

    model: str | None = None
    provider: str | None = None
    finish_reason: str | None = None
    cost: str | None = None
    tokens: dict[str, int | None] = field(default_factory=lambda: dict.fromkeys(KINDS))
    error: object = None
    """An error told with status 200 or amid a stream."""

    def take_usage(self, usage: object, paths: Paths) -> None:
        """Note what a usage report says, each count as the provider means it."""
        if not isinstance(usage, dict):
            return
        for name, places in paths.items():
            found = [count for count in (_count(usage, path) for path in places) if count is not None]
            self.tokens[name] = found[0] if found else self.tokens[name]
        self.cost = money(usage.get("cost")) or self.cost


def name_of(value: object) -> str | None:
    """Give a text as a ledger may hold it, or None."""
    if not isinstance(value, str) or not value:
        return None
    return value[:NAME_LIMIT].encode("utf-8", "replace").decode()


def _count(usage: Json, path: tuple[str, ...]) -> int | None:
    value: object = usage
    for name in path:
        value = value.get(name) if isinstance(value, dict) else None
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= LARGEST else None


def money(value: object) -> str | None:
    """Give a non-negative amount as a decimal text without an exponent, or None."""
    if isinstance(value, bool) or not isinstance(value, int | Decimal):
        return None
    amount = Decimal(value)
    if not amount.is_finite() or amount < 0 or not -30 < amount.adjusted() < 30:  # noqa: PLR2004 - no sum has more digits
        return "0" if amount == 0 else None
    text = format(amount, "f")[:60]
    return text.rstrip("0").rstrip(".") if "." in text else text


def parse_part(data: bytes) -> Json:
    """Read one JSON object of an answer, numbers with a point as exact decimals.

    Raises:
        BrokenAnswerError: It is not one.
    """
    try:
        part = json.loads(data, parse_float=Decimal)
    except (ValueError, RecursionError, ArithmeticError) as error:
        raise BrokenAnswerError(f"{len(data)} bytes that are not JSON") from error
    if not isinstance(part, dict):
        raise BrokenAnswerError("JSON, but no object")
    return cast("Json", part)


def blocks(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Cut an event stream into its blocks, each with the empty line that ends it; the rest, if any, last.

    Raises:
        BrokenAnswerError: One block outgrows every bound.
    """
    rest = b""
    for chunk in chunks:
        rest += chunk
        while (end := _end_of_block(rest)) is not None:
            yield rest[:end]
            rest = rest[end:]
        if len(rest) > BLOCK_LIMIT:
            raise BrokenAnswerError("an event without an end")
    if rest.strip():
        yield rest


def _end_of_block(data: bytes) -> int | None:
    ends = [at + len(mark) for mark in (b"\n\n", b"\r\n\r\n") if (at := data.find(mark)) >= 0]
    return min(ends, default=None)


def data_of(block: bytes) -> bytes | None:
    """Give the data of an event, or None for a comment."""
    lines = [line for line in block.splitlines() if line.startswith(b"data:")]
    return b"\n".join(line[5:].removeprefix(b" ") for line in lines) if lines else None


def is_done(data: bytes) -> bool:
    """Say whether data is the mark that ends OpenAI's streams, which is no JSON."""
    return data == DONE


def without_usage(block: bytes, part: Json) -> bytes | None:
    """Give a block as it was before usage was asked for; None where it held nothing else."""
    if "usage" not in part:
        return block
    if part["usage"] and not part.get("choices") and "error" not in part:
        return None
    shown = {name: value for name, value in part.items() if name != "usage"}
    return b"data: " + json.dumps(shown, default=float).encode() + b"\n\n"
