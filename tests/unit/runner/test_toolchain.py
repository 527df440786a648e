"""Toolchains: nothing but locked packages, built once, the same everywhere."""

import hashlib
import os
import shutil
import subprocess
import zipfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from runner.errors import SupplyError, ToolchainError
from runner.package_index import IndexSettings
from runner.toolchain import Lock, build_toolchain, parse_lock
from runner.toolchain_store import TARGET, Workshop, distributions, stored
from sandbox.spec import PYTHON
from tests.fakes import PlainSandbox

DIGEST = "0123456789abcdef" * 4
HASH = f"--hash=sha256:{DIGEST}"


def lock(text: str) -> Lock:
    return parse_lock(text, "requirements.txt")


def refused(text: str) -> ToolchainError:
    with pytest.raises(ToolchainError) as caught:
        lock(text)
    return caught.value


def test_a_lock_is_read_with_comments_continuations_markers_and_several_hashes() -> None:
    text = (
        "# made by a tool\n"
        f"PyTest==9.2.0 \\\n    {HASH} \\\n    --hash=sha256:{'f' * 64}\n"
        "    # via nothing\n\n"
        f"zope.interface[test]==7.0 ; python_version >= '3.8' {HASH}  # a comment\n"
    )
    found = lock(text)
    assert [(each.name, each.version) for each in found.requirements] == [
        ("PyTest", "9.2.0"),
        ("zope.interface", "7.0"),
    ]
    assert found.requirements[0].sha256 == (DIGEST, "f" * 64)
    assert found.distributions == ("pytest", "zope-interface")
    assert found.digest == hashlib.sha256(text.encode()).hexdigest()


@pytest.mark.parametrize(
    "line",
    [
        pytest.param("pytest==9.2.0", id="without-hash"),
        pytest.param(f"pytest>=9 {HASH}", id="not-pinned"),
        pytest.param(f"pytest==9.* {HASH}", id="any-patch-version"),
        pytest.param(f"pytest {HASH}", id="without-version"),
        pytest.param("pytest==9.2.0 --hash=md5:d41d8cd98f00b204e9800998ecf8427e", id="weak-hash"),
        pytest.param("pytest==9.2.0 --hash=sha256:12", id="short-hash"),
        pytest.param(f"pytest==9.2.0 {HASH} --install-option=--x", id="option-behind"),
        pytest.param("--index-url https://evil.example/simple", id="other-index"),
        pytest.param("-r other.txt", id="other-file"),
        pytest.param("-e .", id="editable"),
        pytest.param(f"pytest @ https://evil.example/p.whl {HASH}", id="link"),
        pytest.param(f"./pytest.whl {HASH}", id="path"),
        pytest.param("pytest==9.2.0 \\", id="open-end"),
        pytest.param("\x1b[2Jpytest", id="terminal"),
    ],
)
def test_a_line_that_is_not_pinned_by_digest_is_refused_with_its_place(line: str) -> None:
    error = refused(f"# first\niniconfig==2.3.1 {HASH}\n{line}\n")
    assert (error.file, error.field) == ("requirements.txt", "line 3")
    assert error.mend
    assert str(error).isprintable()


def test_a_package_that_stands_twice_is_refused() -> None:
    text = f"py-test==9.2.0 {HASH}\nother==1.0 {HASH}\nPy.Test==9.1.0 ; python_version > '3' {HASH}\n"
    assert refused(text).field == "line 3"


def wheel(folder: Path, name: str, files: dict[str, str], requires: str) -> str:
    """Write a wheel and give the line that locks it."""
    info = f"{name}-1.0.dist-info"
    contents = files | {
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n{requires}",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: hand\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{info}/entry_points.txt": f"[console_scripts]\n{name} = {name}:main\n",
    }
    record = "".join(f"{path},,\n" for path in [*contents, f"{info}/RECORD"])
    place = folder / f"{name}-1.0-py3-none-any.whl"
    with zipfile.ZipFile(place, "w") as packed:
        for path, text in (contents | {f"{info}/RECORD": record}).items():
            packed.writestr(zipfile.ZipInfo(path, (2020, 1, 1, 0, 0, 0)), text)
    return f"{name}==1.0 --hash=sha256:{hashlib.sha256(place.read_bytes()).hexdigest()}\n"


@pytest.fixture(name="index")
def _index(tmp_path: Path) -> Path:
    """Give a folder that serves as a package index, in PEP 503's form."""
    return tmp_path / "index"


def published(index: Path, name: str, files: dict[str, str], requires: str = "") -> str:
    page = index / name
    page.mkdir(parents=True)
    line = wheel(page, name, files, requires)
    (page / "index.html").write_text("".join(f'<a href="{path.name}">x</a>' for path in page.glob("*.whl")))
    return line


def workshop(folder: Path, index: Path) -> Workshop:
    return Workshop(folder=folder, find_index=lambda: IndexSettings(url=f"file://{index}"))


def test_a_toolchain_is_built_once_and_is_the_same_wherever_it_is_built(tmp_path: Path, index: Path) -> None:
    text = published(index, "demo", {"demo/__init__.py": "def main():\n    return 1\n", "demo/data.txt": "x"})
    first = build_toolchain(lock(text), workshop(tmp_path / "one", index))
    old = os.umask(0o077)
    try:
        second = build_toolchain(lock(text), workshop(tmp_path / "another" / "place", index))
    finally:
        os.umask(old)
    assert first.digest == second.digest
    shutil.rmtree(index)
    assert build_toolchain(lock(text), workshop(tmp_path / "one", index)).digest == first.digest
    assert distributions(first) == ("demo",)


def test_a_toolchain_holds_no_programs_no_notes_of_the_installer_and_no_path_of_this_host(
    tmp_path: Path, index: Path
) -> None:
    text = published(index, "demo", {"demo/__init__.py": "def main():\n    return 1\n"})
    built = build_toolchain(lock(text), workshop(tmp_path / "one", index))
    paths = {entry.path.decode() for entry in built.entries}
    assert {path for path in paths if "__pycache__" not in path} == {
        "demo/__init__.py",
        *(f"demo-1.0.dist-info/{name}" for name in ("METADATA", "RECORD", "WHEEL", "entry_points.txt")),
    }
    for entry in built.entries:
        assert str(tmp_path).encode() not in built.pack.blobs(entry.sha256 or "")


def test_a_toolchain_can_be_imported_from_the_mount(tmp_path: Path, index: Path) -> None:
    text = published(index, "demo", {"demo/__init__.py": "value = 41\n"})
    built = build_toolchain(lock(text), workshop(tmp_path / "one", index))
    sandbox = PlainSandbox(tmp_path)
    mount = stored(built, sandbox)
    assert mount.target == TARGET
    folder = tmp_path / "objects" / mount.object
    code = f"import sys; sys.path.insert(0, {str(folder)!r}); import demo; print(demo.value + 1)"
    told = subprocess.run([PYTHON, "-I", "-S", "-B", "-c", code], capture_output=True, text=True, check=True)
    assert told.stdout == "42\n"


def test_a_built_toolchain_that_changed_is_refused(tmp_path: Path, index: Path) -> None:
    text = published(index, "demo", {"demo/__init__.py": "value = 41\n"})
    built = build_toolchain(lock(text), workshop(tmp_path / "one", index))
    (built.folder / "demo/__init__.py").write_text("value = 'evil'\n")
    with pytest.raises(ToolchainError, match="remove"):
        build_toolchain(lock(text), workshop(tmp_path / "one", index))


def test_what_the_index_serves_must_be_what_is_locked(tmp_path: Path, index: Path) -> None:
    published(index, "demo", {"demo/__init__.py": ""})
    with pytest.raises(SupplyError, match="pip ended with"):
        build_toolchain(lock(f"demo==1.0 {HASH}\n"), workshop(tmp_path / "one", index))
    assert not [path for path in (tmp_path / "one").iterdir() if path.is_dir()]


def test_a_dependency_that_is_not_locked_is_refused(tmp_path: Path, index: Path) -> None:
    text = published(index, "demo", {"demo/__init__.py": ""}, requires="Requires-Dist: other\n")
    other = published(index, "other", {"other/__init__.py": ""})
    with pytest.raises(SupplyError, match="require-hashes"):
        build_toolchain(lock(text), workshop(tmp_path / "one", index))
    whole = build_toolchain(lock(text + other), workshop(tmp_path / "one", index))
    assert distributions(whole) == ("demo", "other")


def test_two_builders_at_once_leave_one_toolchain(tmp_path: Path, index: Path) -> None:
    text = published(index, "demo", {"demo/__init__.py": ""})
    with ThreadPoolExecutor(2) as builders:
        one, other = builders.map(lambda _: build_toolchain(lock(text), workshop(tmp_path / "one", index)), range(2))
    assert one.digest == other.digest
    assert [path.name for path in (tmp_path / "one").iterdir()] == [one.key]


def test_what_a_killed_builder_left_is_removed_by_the_next_one(tmp_path: Path, index: Path) -> None:
    text = published(index, "demo", {"demo/__init__.py": ""})
    (tmp_path / "one/.tmp-0123-x/tree").mkdir(parents=True)
    built = build_toolchain(lock(text), workshop(tmp_path / "one", index))
    assert [path.name for path in (tmp_path / "one").iterdir()] == [built.key]


def test_without_an_index_the_failure_is_told(tmp_path: Path) -> None:
    with pytest.raises(SupplyError) as caught:
        build_toolchain(lock(f"demo==1.0 {HASH}\n"), workshop(tmp_path / "one", tmp_path / "nowhere"))
    assert str(caught.value).isprintable()
