"""Installing an agent's program: exactly the pinned file, whole, or nothing."""

import base64
import hashlib
import io
import tarfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from runner.bundles.bundle import BundleError, load_bundle, record_of
from runner.bundles.install import folder_of, install
from runner.bundles.pins import NEEDS, load_pins
from runner.documents.runtimes import PlatformPin, RuntimePin
from runner.errors import DocumentError, StorageError, SupplyError
from runner.npm import registry_of

PINS = Path(__file__).parents[3] / "config/runtimes.json"


def package(files: dict[str, bytes], *, odd: tarfile.TarInfo | None = None) -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as tar:
        for name, content in files.items():
            info = tarfile.TarInfo(name)
            info.size, info.mode = len(content), 0o755 if not name.endswith(".json") else 0o644
            tar.addfile(info, io.BytesIO(content))
        if odd is not None:
            tar.addfile(odd)
    return packed.getvalue()


CODEX = {f"package/vendor/x/{name}": name.encode() for name in NEEDS["codex"]}


def pin(content: bytes) -> RuntimePin:
    integrity = "sha512-" + base64.b64encode(hashlib.sha512(content).digest()).decode()
    chosen = PlatformPin(platform="linux-x64", file="codex/-/c.tgz", integrity=integrity, folder="package/vendor/x")
    return RuntimePin(
        agent="codex", package="@openai/codex", version="1.2.3", leave_out=("voice",), platforms=(chosen,)
    )


@contextmanager
def registry(content: bytes, status: int = 200) -> Iterator[str]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(status if self.path == "/codex/-/c.tgz" else 404)
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class names it so
            """Print nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    serving = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    serving.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        serving.join()
        server.server_close()


def installed(content: bytes, into: Path, *, status: int = 200, pinned: RuntimePin | None = None) -> bool:
    with registry(content, status) as address:
        return install(pinned or pin(content), "linux-x64", into, address)


def test_the_pinned_file_becomes_a_read_only_folder_with_its_record(tmp_path: Path) -> None:
    more = {"package/vendor/x/voice/a.so": b"large", "package/README.md": b"beside"}
    content = package(CODEX | more)
    assert installed(content, tmp_path) is True
    folder = folder_of(tmp_path, pin(content))
    found = sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())
    assert found == sorted(NEEDS["codex"])
    assert {path.stat().st_mode & 0o222 for path in folder.rglob("*") if path.is_file()} == {0}
    bundle = load_bundle("codex", folder)
    assert (bundle.version, bundle.executable) == ("1.2.3", "bin/codex")
    assert bundle.pack.blobs(hashlib.sha256(b"codex-path/rg").hexdigest()) == b"codex-path/rg"
    assert installed(b"nobody asks", tmp_path, pinned=pin(content)) is False


def test_another_file_than_the_pinned_one_is_refused_and_nothing_stays(tmp_path: Path) -> None:
    with pytest.raises(SupplyError, match="serves another file than was pinned"):
        installed(package(CODEX | {"package/vendor/x/more": b"x"}), tmp_path, pinned=pin(package(CODEX)))
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


@pytest.mark.parametrize("lacking", NEEDS["codex"])
def test_a_program_that_is_not_whole_is_not_installed(tmp_path: Path, lacking: str) -> None:
    content = package({name: data for name, data in CODEX.items() if not name.endswith(lacking)})
    with pytest.raises(SupplyError, match=lacking):
        installed(content, tmp_path)
    assert not folder_of(tmp_path, pin(content)).exists()


def test_a_registry_without_the_file_is_told(tmp_path: Path) -> None:
    with pytest.raises(SupplyError, match=r"status 404.*NPM_CONFIG_REGISTRY"):
        installed(package(CODEX), tmp_path, status=404)
    with pytest.raises(SupplyError, match="Connection refused"):
        install(pin(package(CODEX)), "linux-x64", tmp_path, "http://127.0.0.1:1")


def test_a_path_that_leads_elsewhere_and_links_are_not_unpacked(tmp_path: Path) -> None:
    link = tarfile.TarInfo("package/vendor/x/link")
    link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
    content = package(CODEX, odd=link)
    installed(content, tmp_path)
    assert not (folder_of(tmp_path, pin(content)) / "link").is_symlink()
    with pytest.raises(StorageError, match="no path of a tree"):
        installed(package(CODEX | {"package/vendor/x/../../../../out": b"x"}), tmp_path / "other")
    assert not (tmp_path / "out").exists()


def test_an_installation_that_was_cut_off_is_made_again(tmp_path: Path) -> None:
    content = package(CODEX)
    folder = folder_of(tmp_path, pin(content))
    (folder / "bin").mkdir(parents=True)
    (folder / "bin/codex").write_bytes(b"half")
    assert installed(content, tmp_path) is True
    assert load_bundle("codex", folder).version == "1.2.3"


def test_a_changed_byte_is_found_before_a_model_is_asked(tmp_path: Path) -> None:
    content = package(CODEX)
    installed(content, tmp_path)
    folder = folder_of(tmp_path, pin(content))
    rg = folder / "codex-path/rg"
    rg.chmod(0o755)
    rg.write_bytes(b"other")
    with pytest.raises(BundleError, match=r"as installed; remove .*scripts/runtimes"):
        load_bundle("codex", folder)


def test_a_folder_without_a_record_has_no_version_and_must_be_whole(tmp_path: Path) -> None:
    content = package(CODEX)
    installed(content, tmp_path)
    folder = folder_of(tmp_path, pin(content))
    record_of(folder).unlink()
    assert load_bundle("codex", folder).version is None
    (folder / "bin/codex-code-mode-host").chmod(0o644)
    with pytest.raises(BundleError, match="cannot be executed"):
        load_bundle("codex", folder)
    (folder / "codex-resources/bwrap").unlink()
    with pytest.raises(BundleError, match=r"cannot be executed|no file codex-resources/bwrap"):
        load_bundle("codex", folder)
    with pytest.raises(BundleError, match="no such file"):
        load_bundle("codex", tmp_path / "nowhere")


def test_a_folder_of_another_agent_is_told(tmp_path: Path) -> None:
    files = {f"package/vendor/x/{name}": b"x" for name in (*NEEDS["codex"], "claude")}
    content = package(files)
    installed(content, tmp_path)
    with pytest.raises(BundleError, match=r"codex 1\.2\.3"):
        load_bundle("claude", folder_of(tmp_path, pin(content)))


def test_the_shipped_pins_are_read_and_each_agent_stands_once(tmp_path: Path) -> None:
    assert {each.agent for each in load_pins(PINS)} == set(NEEDS)
    twice = tmp_path / "runtimes.json"
    twice.write_text(PINS.read_text().replace('"agent": "codex"', '"agent": "claude"'))
    with pytest.raises(DocumentError, match="claude twice"):
        load_pins(twice)


def test_a_platform_that_is_not_pinned_is_told(tmp_path: Path) -> None:
    with pytest.raises(DocumentError, match="linux-riscv64"):
        install(pin(package(CODEX)), "linux-riscv64", tmp_path, "http://127.0.0.1:1")


def test_the_registry_is_where_npm_looks() -> None:
    assert registry_of({}) == "https://registry.npmjs.org"
    assert registry_of({"NPM_CONFIG_REGISTRY": "http://mirror/npm/"}) == "http://mirror/npm"
