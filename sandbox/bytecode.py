"""A program of ours as its interpreter's bytecode: a unit's start does not wait for the compiler."""

import importlib.util
import marshal
import sys
from pathlib import Path

from sandbox.spec import PYTHON

_UNHASHED = bytes(12)
"""Flags, time and size of a source, which nobody looks at in a program that is run by its path."""

_STABLE = 2
"""The format without references, whose bytes do not depend on what else this process has loaded."""


def program_bytes(file: Path) -> bytes:
    """Give what to run in place of a source file; Python knows bytecode by its first bytes, not by its name.

    It is the source itself where this process is run by another interpreter than units have.
    """
    source = file.read_bytes()
    if Path(sys.executable).resolve() != Path(PYTHON).resolve():
        return source
    code = compile(source, file.name, "exec", dont_inherit=True, optimize=2)
    return importlib.util.MAGIC_NUMBER + _UNHASHED + marshal.dumps(code, _STABLE)
