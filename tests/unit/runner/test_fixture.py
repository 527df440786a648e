"""Fixtures and solutions: the same tree from the same source, and nothing in it that should not be."""

import os
import time
from collections.abc import Mapping
from pathlib import Path

import pytest

from runner.errors import FixtureError, SupplyError
from runner.fixture import Fixture, build_fixture, check_fixture
from runner.nomination import Nomination, load_nomination, parted
from runner.sdist import Downloads
from runner.solution import Solution, build_solution, patched
from sandbox.patch import Repository
from sandbox.tree import Kind
from tests.unit.runner.archives import FakeIndex, pin_of, sdist
from tests.unit.runner.written import NOMINATION, nomination_files, written

NOTHING = Downloads(folder=Path("/nonexistent"), index=None)

OLD = {
    "PKG-INFO": b"Version: 1.0",
    "demo.egg-info/PKG-INFO": b"Version: 1.0",
    "AGENTS.md": b"do as I say",
    "src/CLAUDE.md": b"and I",
    ".cursor/rules/x.mdc": b"and I",
    "docs/index.md": b"docs",
    "src/demo.py": b"broken\n",
    "src/old.py": b"old\n",
    "src/data/PKG-INFO": b"a file of theirs\n",
    "tests/test_demo.py": b"old tests\n",
}
NEW = {path: data for path, data in OLD.items() if path != "src/old.py"} | {
    "src/demo.py": b"mended\n",
    "src/extra.py": b"new\n",
    "tests/test_demo.py": b"new tests\n",
}


def nomination(folder: Path, files: Mapping[str, str]) -> Nomination:
    return load_nomination(written(folder / "wordcount", files))


def sdist_nomination(folder: Path, *, allowed: str = '["src/"]', extra: str = "") -> Nomination:
    old, new = pin_of(sdist(OLD)), pin_of(sdist(NEW, top="demo-1.1"), "1.1")
    text = NOMINATION.replace('allowed_changes = ["wordcount.py"]', f"allowed_changes = {allowed}").replace(
        "[public_tests]",
        f'[fixture]\nkind = "sdist"\nname = "demo"\nversion = "1.0"\nsha256 = "{old.sha256}"\n{extra}\n'
        f'[solution]\nkind = "sdist"\nversion = "1.1"\nsha256 = "{new.sha256}"\n[public_tests]',
    )
    keep = ("prompt.md", "requirements.txt", "private/test_hidden.py")
    files = {path: text for path, text in nomination_files().items() if path in keep}
    return nomination(folder, files | {"nomination.toml": text})


def downloads(folder: Path) -> Downloads:
    return Downloads(
        folder=folder / "downloads",
        index=FakeIndex({"1.0": sdist(OLD), "1.1": sdist(NEW, top="demo-1.1")}),
    )


def content(fixture: Fixture) -> dict[str, bytes]:
    return {
        entry.path.decode(): fixture.contents.get(entry.sha256) if entry.sha256 else entry.target or b""
        for entry in fixture.entries
    }


def solution_content(solution: Solution) -> dict[str, bytes | None]:
    return {
        entry.path.decode(): None if entry.sha256 is None else solution.change.blobs(entry.sha256)
        for entry in solution.change.entries
    }


def test_a_folder_stands_at_the_root_with_public_laid_over_it(tmp_path: Path) -> None:
    files = nomination_files() | {"public/wordcount.py": "public wins\n", "fixture/lib/a.txt": "a"}
    fixture = build_fixture(nomination(tmp_path, files), NOTHING)
    assert content(fixture) == {
        "lib/a.txt": b"a",
        "tests/test_public.py": files["public/tests/test_public.py"].encode(),
        "wordcount.py": b"public wins\n",
    }
    assert [entry.path for entry in fixture.public] == [b"tests/test_public.py", b"wordcount.py"]


def test_a_fixture_stands_below_its_root_and_public_does_not(tmp_path: Path) -> None:
    files = nomination_files()
    files["nomination.toml"] = files["nomination.toml"].replace('tier = "easy"', 'tier = "easy"\nroot = "pkg/a"')
    fixture = build_fixture(nomination(tmp_path, files), NOTHING)
    assert set(content(fixture)) == {"pkg/a/wordcount.py", "tests/test_public.py"}


def test_seeded_files_are_a_fixture_too(tmp_path: Path) -> None:
    files = {path: text for path, text in nomination_files().items() if not path.startswith("fixture/")}
    files["nomination.toml"] += (
        '[fixture]\nkind = "files"\nexecutable = ["run.sh"]\nfiles = {"run.sh" = "#!/bin/sh\\n", "a/b.txt" = "é"}\n'
    )
    fixture = build_fixture(nomination(tmp_path, files), NOTHING)
    assert content(fixture)["a/b.txt"] == "é".encode()
    assert {entry.path for entry in fixture.entries if entry.executable} == {b"run.sh"}


def test_an_sdist_loses_packaging_notes_and_orders_for_agents_and_tells_what(tmp_path: Path) -> None:
    fixture = build_fixture(sdist_nomination(tmp_path, extra='drop = ["docs/"]'), downloads(tmp_path))
    assert set(content(fixture)) == {"src/data/PKG-INFO", "src/demo.py", "src/old.py", "tests/test_demo.py"}
    assert fixture.dropped == (
        *(b".cursor/rules/x.mdc", b"AGENTS.md", b"PKG-INFO", b"demo.egg-info/PKG-INFO"),
        *(b"docs/index.md", b"src/CLAUDE.md"),
    )


def test_one_folder_of_an_sdist_can_be_the_fixture(tmp_path: Path) -> None:
    extra = 'path = "src"\nkeep = ["**/*.py", "data/"]\ndrop = ["data/PKG-*"]'
    chosen = sdist_nomination(tmp_path, allowed='["demo.py"]', extra=extra)
    assert set(content(build_fixture(chosen, downloads(tmp_path)))) == {"demo.py", "old.py"}


@pytest.mark.parametrize(
    "order",
    [
        "AGENTS.md",
        "deep/er/claude.MD",
        ".claude/settings.json",
        "GEMINI.md",
        ".opencode/plugin/greet.js",
        "x/opencode.json",
    ],
)
def test_no_source_brings_orders_for_agents(tmp_path: Path, order: str) -> None:
    files = nomination_files() | {f"fixture/{order}": "obey", f"public/{order}": "obey"}
    fixture = build_fixture(nomination(tmp_path, files), NOTHING)
    assert order not in content(fixture)
    assert order.encode() in fixture.dropped


def test_neither_umask_nor_times_nor_names_of_folders_change_the_digest(tmp_path: Path) -> None:
    before = build_fixture(nomination(tmp_path / "one", nomination_files()), NOTHING)
    old = os.umask(0o077)
    try:
        again = nomination(tmp_path / "two", dict(reversed(nomination_files().items())))
    finally:
        os.umask(old)
    for file in again.files:
        os.utime(file.place, (time.time() - 1e6,) * 2)
    assert build_fixture(again, NOTHING).digest == before.digest


def test_the_owners_x_bit_changes_the_digest(tmp_path: Path) -> None:
    before = build_fixture(nomination(tmp_path / "one", nomination_files()), NOTHING)
    folder = written(tmp_path / "two" / "wordcount", nomination_files())
    (folder / "fixture/wordcount.py").chmod(0o755)
    assert build_fixture(load_nomination(folder), NOTHING).digest != before.digest


def test_a_drifted_fixture_is_refused_and_both_digests_are_named(tmp_path: Path) -> None:
    files = nomination_files()
    frozen = build_fixture(nomination(tmp_path / "one", files), NOTHING)
    check_fixture(frozen, frozen.digest, "x")
    found = build_fixture(nomination(tmp_path / "two", files | {"fixture/wordcount.py": "changed"}), NOTHING)
    with pytest.raises(FixtureError) as caught:
        check_fixture(found, frozen.digest, "x")
    assert frozen.digest in caught.value.expected
    assert found.digest in caught.value.found


@pytest.mark.parametrize(
    ("files", "found"),
    [
        pytest.param({"fixture/AGENTS.md": "only orders"}, "no file", id="nothing-left"),
        pytest.param({"fixture/tests": "a file", "fixture/a": "a"}, "which is no folder", id="public-beneath"),
        pytest.param({"fixture/.git/config": "x"}, "git keeps for itself", id="git"),
    ],
)
def test_what_is_no_fixture_is_refused(tmp_path: Path, files: Mapping[str, str], found: str) -> None:
    kept = {path: text for path, text in nomination_files().items() if not path.startswith("fixture/")}
    with pytest.raises(FixtureError, match=found):
        build_fixture(nomination(tmp_path, {**kept, **files}), NOTHING)


def test_a_patch_solution_changes_what_it_says(tmp_path: Path) -> None:
    chosen = nomination(tmp_path, nomination_files())
    fixture = build_fixture(chosen, NOTHING)
    repository = Repository(tmp_path / "bases.git")
    solution = build_solution(chosen, fixture, NOTHING, repository)
    assert solution_content(solution) == {"wordcount.py": b"def count(text): return len(text.split())\n"}
    base = repository.ingest(fixture.entries, fixture.contents.get)
    again = repository.apply(base, repository.patch(base, solution.change.entries, solution.change.blobs))
    assert again.changes == solution.change.entries


def test_words_before_a_diff_are_its_final_message(tmp_path: Path) -> None:
    files = nomination_files()
    words = "I mended the count.\n\nThe rest stays as it was.\n"
    files["solution/solution.patch"] = words + files["solution/solution.patch"]
    chosen = nomination(tmp_path, files)
    repository = Repository(tmp_path / "bases.git")
    solution = build_solution(chosen, build_fixture(chosen, NOTHING), NOTHING, repository)
    assert solution.message == "I mended the count.\n\nThe rest stays as it was."
    assert solution_content(solution) == {"wordcount.py": b"def count(text): return len(text.split())\n"}
    assert parted(b"diff --git a/x b/x\n") == (None, b"diff --git a/x b/x\n")


@pytest.mark.parametrize(
    ("patch", "found"),
    [
        pytest.param("diff --git a/x b/x\n", "changes nothing|does not apply", id="empty"),
        pytest.param(
            "diff --git a/wordcount.py b/wordcount.py\n--- a/wordcount.py\n+++ b/wordcount.py\n@@ -1 +1 @@\n-b\n+c\n",
            "does not apply",
            id="other-base",
        ),
        pytest.param(
            "diff --git a/../x b/../x\nnew file mode 100644\n--- /dev/null\n+++ b/../x\n@@ -0,0 +1 @@\n+c\n",
            "does not apply",
            id="climbs",
        ),
    ],
)
def test_a_patch_that_does_not_fit_is_refused(tmp_path: Path, patch: str, found: str) -> None:
    chosen = nomination(tmp_path, nomination_files() | {"solution/solution.patch": patch})
    fixture = build_fixture(chosen, NOTHING)
    file = chosen.solution_patch
    assert file is not None
    with pytest.raises(FixtureError, match=found):
        patched(fixture, file, Repository(tmp_path / "bases.git"))


def test_an_sdist_solution_is_what_the_later_version_changes_at_the_allowed_paths(tmp_path: Path) -> None:
    chosen, fetched = sdist_nomination(tmp_path), downloads(tmp_path)
    fixture = build_fixture(chosen, fetched)
    solution = build_solution(chosen, fixture, fetched, Repository(tmp_path / "bases.git"))
    assert solution_content(solution) == {
        "src/demo.py": b"mended\n",
        "src/extra.py": b"new\n",
        "src/old.py": None,
    }


def test_an_sdist_solution_can_be_narrowed(tmp_path: Path) -> None:
    narrow, fetched = sdist_nomination(tmp_path, allowed='["src/extra.py", "none.py"]'), downloads(tmp_path)
    fixture = build_fixture(narrow, fetched)
    solution = build_solution(narrow, fixture, fetched, Repository(tmp_path / "bases.git"))
    assert [(entry.path, entry.kind) for entry in solution.change.entries] == [(b"src/extra.py", Kind.FILE)]


def test_an_sdist_solution_without_a_difference_is_refused(tmp_path: Path) -> None:
    chosen, fetched = sdist_nomination(tmp_path, allowed='["docs/index.md"]'), downloads(tmp_path)
    with pytest.raises(FixtureError, match="no difference at the allowed paths"):
        build_solution(chosen, build_fixture(chosen, fetched), fetched, Repository(tmp_path / "bases.git"))


def test_offline_a_fixture_is_built_from_what_was_fetched_before(tmp_path: Path) -> None:
    chosen, online = sdist_nomination(tmp_path), downloads(tmp_path)
    first = build_fixture(chosen, online)
    offline = Downloads(folder=online.folder, index=None)
    assert build_fixture(chosen, offline).digest == first.digest
    with pytest.raises(SupplyError):
        build_solution(chosen, first, offline, Repository(tmp_path / "bases.git"))
