"""A kept packet, put together again from its bytes: enough of it to read an answer once more. Pure."""

from runner.documents.judging import RubricItem, View
from runner.errors import VerificationError
from runner.judging.packet import Packet, PublicTests, Submitted
from runner.judging.pairing import Item
from runner.judging.render import Shown

_NOTHING = Shown(lines=()).visible


def reopened(data: bytes, item: Item) -> Packet:
    """Give a packet with its shown lines; its criteria are their names alone.

    Raises:
        VerificationError: these are no bytes of a packet that such an asking shows.
    """
    parts = list(_parts(data))
    count = 1 if isinstance(item, RubricItem) else 2
    sides = parts[-1 - 2 * count : -1]
    if len(parts) < 2 + 2 * count + 2 or len(sides) != 2 * count:
        raise VerificationError(f"found a packet of {len(parts)} texts; expected one with {count} changes")
    head, task = parts[:2]
    try:
        view = View(head.rpartition(" ")[2])
        changes = tuple(
            Submitted(shown=_shown(lines), tests=PublicTests(tests))
            for tests, lines in zip(sides[::2], sides[1::2], strict=True)
        )
    except ValueError as error:
        raise VerificationError(f"found a packet that is none: {error}") from error
    return Packet(
        task=task,
        criteria=tuple(parts[2 : -1 - 2 * count]),
        changes=changes,
        solution=_shown(parts[-1]) if parts[-1] else None,
        view=view,
    )


def _shown(text: str) -> Shown:
    lines = tuple(text.split("\n"))
    return Shown(lines=() if lines == _NOTHING else lines)


def _parts(data: bytes) -> list[str]:
    """Take netstrings apart."""
    parts: list[str] = []
    at = 0
    while at < len(data):
        colon = data.find(b":", at, at + 12)
        size = data[at:colon]
        if colon < 0 or not size.isdigit() or data[colon + 1 + int(size) : colon + 2 + int(size)] != b",":
            raise VerificationError("found bytes that are no netstring; expected the texts of a packet")
        parts.append(data[colon + 1 : colon + 1 + int(size)].decode("utf-8", "surrogatepass"))
        at = colon + 2 + int(size)
    return parts
