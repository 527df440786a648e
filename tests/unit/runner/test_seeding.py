"""Laws of planted bugs: each stands exactly once, the diff shows all of them, and drift is loud."""

import json
from pathlib import Path

import pytest

from runner.errors import DocumentError, DocumentErrors, FixtureError
from runner.fixture import build_fixture
from runner.members import Member
from runner.nomination import load_nomination
from runner.sdist import Downloads
from runner.seeding import Seed, parse_seed, plant
from tests.unit.runner.written import NOMINATION, nomination_files, written

FILES = (
    Member(path=b"src/a.py", data=b"def size(n):\n    return n + 1\n", executable=True),
    Member(path=b"src/b.py", data=b"LIMIT = 10\nLIMIT_TEXT = 'ten'"),
    Member(path=b"link", target=b"src/a.py"),
)


def seed(*changes: tuple[str, str, str], diff: str | None = None) -> Seed:
    whole = {"changes": [{"file": f, "find": old, "replace": new} for f, old, new in changes], "review_diff": diff}
    return parse_seed(json.dumps(whole).encode(), "seed.json")


def test_a_bug_is_planted_and_everything_else_stays() -> None:
    planted = plant(FILES, seed(("src/a.py", "n + 1", "n"), ("src/b.py", "= 10", "= 11")), "seed.json")
    assert planted[0] == Member(path=b"src/a.py", data=b"def size(n):\n    return n\n", executable=True)
    assert planted[1].data == b"LIMIT = 11\nLIMIT_TEXT = 'ten'"
    assert planted[2] == FILES[2]


def test_the_diff_shows_all_that_was_planted_and_its_last_line_too() -> None:
    planted = plant(FILES, seed(("src/b.py", "'ten'", "'ten '"), ("src/a.py", "n + 1", "n"), diff="change.diff"), "s")
    assert planted[-1].path == b"change.diff"
    assert planted[-1].data.decode() == (
        "--- a/src/a.py\n+++ b/src/a.py\n@@ -1,2 +1,2 @@\n def size(n):\n-    return n + 1\n+    return n\n"
        "--- a/src/b.py\n+++ b/src/b.py\n@@ -1,2 +1,2 @@\n LIMIT = 10\n-LIMIT_TEXT = 'ten'\n"
        "\\ No newline at end of file\n+LIMIT_TEXT = 'ten '\n\\ No newline at end of file\n"
    )


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (("src/a.py", "n + 2", ""), "the text 0 times"),
        (("src/b.py", "LIMIT", ""), "the text 2 times"),
        (("src/c.py", "x", ""), "no file of the fixture"),
        (("link", "x", ""), "no file of the fixture"),
    ],
)
def test_a_source_that_drifted_is_refused(change: tuple[str, str, str], told: str) -> None:
    with pytest.raises(FixtureError, match=told):
        plant(FILES, seed(change), "seed.json")


@pytest.mark.parametrize("place", ["src/b.py", "src", "src/b.py/change.diff"])
def test_a_diff_takes_nobodys_place(place: str) -> None:
    with pytest.raises(FixtureError, match="which the fixture has"):
        plant(FILES, seed(("src/a.py", "n + 1", "n"), diff=place), "seed.json")


@pytest.mark.parametrize(
    "text", ["[]", "{}", '{"changes": []}', '{"changes": [{"file": "../a", "find": "", "replace": ""}]}']
)
def test_what_is_no_seed_is_refused(text: str) -> None:
    with pytest.raises((DocumentError, DocumentErrors)):
        parse_seed(text.encode(), "seed.json")


def test_a_nomination_plants_its_seed(tmp_path: Path) -> None:
    files = dict(nomination_files())
    fixture = next(path for path in files if path.startswith("fixture/"))
    line = files[fixture].splitlines()[0]
    change = {"file": fixture.removeprefix("fixture/"), "find": files[fixture], "replace": f"# planted\n{line}\n"}
    files["private/seed.json"] = json.dumps({"changes": [change], "review_diff": "change.diff"})
    files["nomination.toml"] = NOMINATION.replace('mode = "agentic"', 'mode = "agentic"\nseed = "seed.json"')
    built = build_fixture(
        load_nomination(written(tmp_path / "wordcount", files)), Downloads(folder=tmp_path, index=None)
    )
    held = {entry.path: built.contents.get(entry.sha256) for entry in built.entries if entry.sha256}
    assert held[change["file"].encode()] == change["replace"].encode()
    assert b"+# planted" in held[b"change.diff"]


def test_a_seed_that_is_not_there_is_named(tmp_path: Path) -> None:
    files = dict(nomination_files())
    files["nomination.toml"] = NOMINATION.replace('mode = "agentic"', 'mode = "agentic"\nseed = "seed.json"')
    nomination = load_nomination(written(tmp_path / "wordcount", files))
    with pytest.raises(FixtureError, match=r"seed\.json, which is not in private/"):
        build_fixture(nomination, Downloads(folder=tmp_path, index=None))
