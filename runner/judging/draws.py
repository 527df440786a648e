"""Draws that are the same on every machine and with every library: bootstrap samples from SHAKE-256. Pure."""

import hashlib
import struct

_WORD = 8
_SPAN = 1 << 64


def resample(seed: bytes, draw: int, size: int) -> tuple[int, ...]:
    """Draw `size` of the numbers 0 .. size-1, with replacement.

    The 64-bit big-endian words of SHAKE-256("boot/v1" NUL, seed, be64(draw), be32(block)) are taken one after
    another; those at or above the largest multiple of `size` are passed over, so that no number is favoured.

    Args:
        seed: 32 bytes.
        draw: number of the sample, from 0.
        size: at least 1.

    Raises:
        ValueError: another seed or size.
    """
    if len(seed) != hashlib.sha256().digest_size or size < 1:
        raise ValueError(f"found a seed of {len(seed)} bytes for a sample of {size}; expected 32 bytes, and 1 or more")
    limit = _SPAN - _SPAN % size
    drawn: list[int] = []
    block = 0
    while len(drawn) < size:
        head = b"boot/v1\0" + seed + draw.to_bytes(8, "big") + block.to_bytes(4, "big")
        stream = hashlib.shake_256(head).digest(_WORD * size)
        drawn += (word % size for word in struct.unpack(f">{size}Q", stream) if word < limit)
        block += 1
    return tuple(drawn[:size])
