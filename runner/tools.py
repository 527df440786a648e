"""Our own pinned programs for looking at submitted files as data: ruff, and PyYAML (`evaluators/tools.txt`)."""

from pathlib import Path
from typing import Final

import evaluators
from runner.canonical import sha256
from runner.errors import SupplyError
from runner.parsing import file_name, read_file
from runner.toolchain import Lock, build_toolchain, parse_lock, python_key
from runner.toolchain_store import Workshop
from sandbox.api import Pack, Sandbox
from sandbox.spec import Mount
from sandbox.tree import Entry, Kind

TARGET = "/opt/tools"
"""Where units see them."""

HELM_TARGET = "/opt/helm"

PROGRAMS: Final = ("ruff",)
TOOL_KINDS: Final = frozenset({"helm", "lint", "rbac"})
"""Kinds of evaluators that use them."""

_FILE = Path(evaluators.__file__).with_name("tools.txt")


def tools_lock() -> Lock:
    """Read what they are pinned by: version and digest of each package."""
    return parse_lock(read_file(_FILE).decode(), file_name(_FILE))


def tools_key() -> str:
    """Give the name under which they are kept on this host.

    Raises:
        SupplyError: this host cannot have them.
    """
    return python_key(tools_lock(), PROGRAMS)


def shown_tools(workshop: Workshop, sandbox: Sandbox) -> tuple[Mount, ...]:
    """Build them if they are not built yet, and give their mount.

    Raises:
        SupplyError: they cannot be had.
        ToolchainError: what was kept is no longer what was built.
    """
    made = build_toolchain(tools_lock(), workshop, PROGRAMS)
    return (Mount(object=sandbox.store(made.pack), target=TARGET),)


def helm_pack(program: Path) -> Pack:
    """Give the host's Helm as a stored tree.

    Raises:
        SupplyError: it cannot be read.
    """
    try:
        content = program.read_bytes()
    except OSError as error:
        raise SupplyError(
            file=str(program),
            field="HELM",
            found=(error.strerror or "an error").lower(),
            expected="the program of Helm",
            mend="name it by its whole path in $HELM, or unset that",
        ) from error
    digest = sha256(content)
    entry = Entry(path=b"helm", kind=Kind.FILE, executable=True, sha256=digest, size=len(content))
    return Pack(entries=(entry,), blobs={digest: content}.__getitem__)
