"""Toolchains of both kinds, shown to units."""

from evaluators.model import Node
from runner.documents.nomination import NodeToolchain
from runner.node_lock import NodeLock, parse_node_lock
from runner.node_toolchain import OPTIONS, PROGRAM, build_node_toolchain, node_key
from runner.nomination import Nomination
from runner.parsing import decode, file_name
from runner.toolchain import Lock, build_toolchain, parse_lock, python_key
from runner.toolchain_store import TARGET, Workshop, stored
from sandbox.api import Sandbox
from sandbox.spec import Mount

AnyLock = Lock | NodeLock


def read_lock(nomination: Nomination) -> AnyLock | None:
    """Read what a nomination's toolchain is built from; None for Python's standard library alone.

    Raises:
        ToolchainError: something in it is not pinned by version and digest.
    """
    file, spec = nomination.lock_file, nomination.spec.toolchain
    name = nomination.file if file is None else file_name(file.place)
    text = None if file is None else decode(file.read(), name)
    if isinstance(spec, NodeToolchain):
        return parse_node_lock(spec, text, name)
    return None if text is None else parse_lock(text, name)


def toolchain_key(lock: AnyLock) -> str:
    """Give the name under which a lock's toolchain is kept on this host.

    Raises:
        SupplyError: this host cannot have it.
    """
    return node_key(lock) if isinstance(lock, NodeLock) else python_key(lock)


def shown(lock: AnyLock | None, workshop: Workshop, sandbox: Sandbox) -> tuple[Mount, ...]:
    """Build what is not built yet and give its mount; none for the standard library alone."""
    if lock is None:
        return ()
    made = build_node_toolchain(lock, workshop) if isinstance(lock, NodeLock) else build_toolchain(lock, workshop)
    return (stored(made, sandbox),)


def node_of(lock: AnyLock | None) -> Node | None:
    """Tell evaluators where Node is; None where there is none."""
    if not isinstance(lock, NodeLock):
        return None
    return Node(program=f"{TARGET}/{PROGRAM}", options=OPTIONS if lock.packages else ())


def python_path_of(lock: AnyLock | None) -> tuple[str, ...]:
    """Give the folders with a toolchain's Python packages."""
    return (TARGET,) if isinstance(lock, Lock) else ()
