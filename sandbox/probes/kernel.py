"""Asking the kernel: what it answers is a number, 0 for 'done'."""

import ctypes
import os
from collections.abc import Callable

from .numbers import NUMBERS

_libc = ctypes.CDLL(None, use_errno=True)
_libc.syscall.restype = ctypes.c_long

UNKNOWN = 255
"""An answer that no error number is."""


def tried(act: Callable[[], object]) -> int:
    """Do something and give the kernel's error number; 0 if it was done."""
    try:
        act()
    except OSError as error:
        return error.errno or UNKNOWN
    return 0


def call(name: str, *given: int) -> int | None:
    """Make a system call and give its error number; None where this machine's number is not known."""
    number = NUMBERS.get(os.uname().machine, {}).get(name)
    return None if number is None else number_called(number, *given)


def number_called(number: int, *given: int) -> int:
    """Make a system call by its number and give its error number."""
    words = (number, *given, *(0,) * (6 - len(given)))
    return ctypes.get_errno() if _libc.syscall(*map(ctypes.c_long, words)) == -1 else 0


def in_child(act: Callable[[], int | None]) -> int:
    """Do in a child what this process must survive: its error number, or the signal that killed it below zero."""
    child = os.fork()
    if child == 0:
        answer: int | None = None
        try:
            answer = act()
        finally:
            os._exit(UNKNOWN if answer is None else answer)
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status)


def opened(path: str, flags: int = os.O_RDONLY) -> int:
    """Open a file and close it again."""
    return tried(lambda: os.close(os.open(path, flags | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)))


def text(path: str) -> str:
    """Read a file of the kernel's; empty if it cannot be."""
    try:
        with open(path, encoding="utf-8", errors="replace") as stream:  # noqa: PTH123 - as everywhere in here
            return stream.read()
    except OSError:
        return ""


def names(path: str) -> list[str] | None:
    """List a folder."""
    try:
        return sorted(os.listdir(path))  # noqa: PTH208 - as everywhere in here
    except OSError:
        return None
