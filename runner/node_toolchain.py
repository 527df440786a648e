"""A nomination's Node: the pinned program and the locked packages, unpacked by us; nothing of them is run for it."""

import os
from collections.abc import Iterable
from pathlib import Path

from runner.bundles.pins import this_platform
from runner.canonical import canonical, sha256
from runner.errors import ToolchainError
from runner.folder import Caps
from runner.members import Member, checked_members
from runner.node_lock import NodeLock, NodePackage
from runner.npm import fetch_package, integrity_of, package_file
from runner.sdist import Pin, unpack
from runner.toolchain_store import TARGET, Toolchain, Workshop, built, unbuilt
from sandbox.spec import MIB

PROGRAM = "bin/node"
"""Below a toolchain's folder."""

RESOLVER = Path(__file__).with_name("node_resolver.mjs")
OPTIONS = (f"--import={TARGET}/{RESOLVER.name}",)
"""What Node is told so that it finds the locked packages."""

RECIPE = 1
"""Raised when what is made of the same lock changes."""

_FETCHED_BYTES = 256 * MIB
_CAPS = Caps(files=100_000, file_bytes=256 * MIB, total_bytes=1024 * MIB)
_TAKEN = frozenset({PROGRAM.encode(), b"LICENSE"})
"""Of Node's package; headers and manuals are left."""


def build_node_toolchain(lock: NodeLock, workshop: Workshop) -> Toolchain:
    """Give Node and the lock's packages, built now or before; the same lock is built once.

    Raises:
        SupplyError: a file cannot be fetched, or this machine has another processor.
        ToolchainError: a file is not the pinned one, or what was kept is no longer what was built.
        StorageError: the disk failed or is full.
    """
    return built(node_key(lock), workshop.folder, lambda half: _make(lock, half, workshop), lock.distributions)


def node_key(lock: NodeLock) -> str:
    """Give the name under which a lock's toolchain is kept.

    Raises:
        SupplyError: this machine has another processor.
    """
    if this_platform() != "linux-x64":
        raise unbuilt(f"a machine of {this_platform()}", "run nominations with Node on an x64 processor")
    return sha256(canonical({"recipe": RECIPE, "lock": lock.digest, "resolver": sha256(RESOLVER.read_bytes())}))


def _make(lock: NodeLock, half: Path, workshop: Workshop) -> None:
    tree = half / "tree"
    node = tuple(each for each in _unpacked(lock.node, workshop) if each.path in _TAKEN)
    if PROGRAM.encode() not in {each.path for each in node}:
        raise ToolchainError(
            file=f"{lock.node.name} {lock.node.version}",
            field="files",
            found=f"no {PROGRAM}",
            expected="Node's program",
            mend="pin another version",
        )
    _write(node, tree)
    for package in lock.packages:
        members = _unpacked(package, workshop)
        _write(checked_members(members, package.place, _CAPS), tree / package.place)
    if lock.packages:
        _write((Member(path=RESOLVER.name.encode(), data=RESOLVER.read_bytes()),), tree)


def _unpacked(package: NodePackage, workshop: Workshop) -> tuple[Member, ...]:
    """Fetch, check and unpack one package file; a package's own node_modules is not taken: the lock says it all."""
    url = f"{workshop.npm}/{package_file(package.name, package.version)}"
    data = fetch_package(url, _FETCHED_BYTES)
    if (found := integrity_of(data)) != package.integrity:
        raise ToolchainError(
            file=url,
            field="integrity",
            found=found,
            expected=package.integrity,
            mend="pin the file you have reviewed; the registry serves another",
        )
    pin = Pin(name=package.name, version=package.version, sha256=sha256(data), kind="npm")
    members = unpack(data, pin, _CAPS)
    return tuple(each for each in members if each.target is None and not each.path.startswith(b"node_modules/"))


def _write(members: Iterable[Member], folder: Path) -> None:
    for member in members:
        place = folder / os.fsdecode(member.path)
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(member.data)
        place.chmod(0o555 if member.executable else 0o444)
