"""Programs that end, or are ended, in one way each. Many units run them: they import next to nothing."""

import os
from collections.abc import Callable

_CHUNK = 1 << 14
_BLOCK = 1 << 20


def remember(argv: list[str]) -> int:
    """Take so many bytes of memory: of the heap, or of files without a place."""
    held: list[object] = []
    for _ in range(int(argv[1]) // _BLOCK):
        if argv[0] == "heap":
            held.append(bytearray(b"x") * _BLOCK)
        else:
            held.append(os.memfd_create("eaten"))
            os.write(int(str(held[-1])), b"x" * _BLOCK)
    os.write(1, b"all of it\n")
    return 0


def pour(argv: list[str]) -> int:
    """Write to a stream for ever, without a line's end."""
    while True:
        os.write(int(argv[0]), b"x" * _CHUNK)


def fill(count: int) -> None:
    """Write so many bytes to standard error, and only then as many to standard output."""
    for stream in (2, 1):
        left = count
        while left:
            left -= os.write(stream, b"x" * min(left, _CHUNK))


def give_up(argv: list[str]) -> int:
    """End by a signal of one's own."""
    os.write(1, b"ALL PASSED\n")
    os.kill(os.getpid(), int(argv[0]))
    return 0


PROGRAMS: dict[str, Callable[[list[str]], int]] = {"remember": remember, "pour": pour, "give-up": give_up}
