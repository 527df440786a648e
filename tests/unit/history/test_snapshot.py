"""A snapshot's fields, one law each; on commits that are plain tables."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import pytest

from runner.documents.snapshot import Snapshot
from runner.errors import DocumentErrors, FixtureError
from runner.history.presets import PRESETS, completed
from runner.history.snapshot import commits_of, needed, snap
from runner.members import Member
from runner.parsing import validate
from runner.rules import Matcher

PARENT, FIX = "a" * 40, "b" * 40

FILES: Mapping[str, Mapping[str, str]] = {
    PARENT: {
        "app/src/a.py": "one = 1\n",
        "app/src/a_test.py": "test\n",
        "app/docs/page.md": "page\n",
        "app/AGENTS.md": "obey\n",
        "README.md": "read\n",
    },
    FIX: {"app/src/a.py": "one = 2\n", "app/src/new.py": "new\n", "chart/c.yaml": "x: 1\n"},
}


@dataclass(frozen=True, kw_only=True)
class Table:
    """Commits written down."""

    more: Mapping[str, tuple[Member, ...]] = field(default_factory=dict)

    def listing(self, commit: str) -> tuple[bytes, ...]:
        return tuple(member.path for member in self.members(commit, lambda _: True))

    def members(self, commit: str, wanted: Matcher) -> tuple[Member, ...]:
        known = tuple(Member(path=path.encode(), data=text.encode()) for path, text in FILES[commit].items())
        return tuple(each for each in (*known, *self.more.get(commit, ())) if wanted(each.path))


def written(**fields: object) -> Snapshot:
    return validate(Snapshot, fields, "nomination.toml")


def made(**fields: object) -> dict[str, str]:
    snapped = snap(written(**fields), Table(), "nomination.toml")
    return {member.path.decode(): member.data.decode() for member in snapped.members}


def test_a_commit_alone_gives_all_of_it_but_what_speaks_to_agents() -> None:
    snapped = snap(written(commit=PARENT), Table(), "f")
    assert snapped.orders == (b"app/AGENTS.md",)
    assert len(snapped.members) == 4


def test_paths_choose_and_parts_are_stripped() -> None:
    assert made(commit=PARENT, paths=["app/src/"], strip=2) == {"a.py": "one = 1\n", "a_test.py": "test\n"}


@pytest.mark.parametrize(
    ("exclude", "left"),
    [
        pytest.param(["*_test.py"], {"src/a.py", "docs/page.md"}, id="a-glob-means-names"),
        pytest.param(["docs/"], {"src/a.py", "src/a_test.py"}, id="a-folder-of-that-name-anywhere"),
        pytest.param(["src/a*.py"], {"docs/page.md"}, id="a-path-means-paths"),
        pytest.param(["src/a.py", "docs/"], {"src/a_test.py"}, id="several"),
        pytest.param(["src"], {"src/a.py", "src/a_test.py", "docs/page.md"}, id="a-name-is-no-folder"),
    ],
)
def test_exclusions(exclude: list[str], left: set[str]) -> None:
    assert set(made(commit=PARENT, paths=["app/**"], strip=1, exclude=exclude)) == left


def test_overlays_replace_and_add_under_the_same_stripping() -> None:
    overlays = [{"commit": FIX, "paths": ["app/src/"]}]
    assert made(commit=PARENT, paths=["app/src/a.py"], strip=2, overlays=overlays) == {
        "a.py": "one = 2\n",
        "new.py": "new\n",
    }


def test_files_come_after_exclusions_and_need_no_commit() -> None:
    assert made(files={"a_test.py": "x"}, exclude=["*_test.py"]) == {"a_test.py": "x"}
    assert made(commit=PARENT, paths=["README.md"], files={"README.md": "other"}) == {"README.md": "other"}


def test_patches_are_made_in_order_each_exactly_once() -> None:
    patches = [
        {"file": "a.py", "find": "1", "replace": "7"},
        {"file": "a.py", "find": "7", "replace": "8"},
        {"file": "b.py", "content": "b\n"},
    ]
    assert made(commit=PARENT, paths=["app/src/a.py"], strip=2, patches=patches) == {"a.py": "one = 8\n", "b.py": "b\n"}


@pytest.mark.parametrize(("find", "times"), [("zero", 0), ("e", 2)])
def test_a_text_that_is_not_there_exactly_once_is_refused(find: str, times: int) -> None:
    patches = [{"file": "README.md", "content": "e e"}, {"file": "README.md", "find": find, "replace": ""}]
    with pytest.raises(FixtureError, match=rf"snapshot.patches\[1\].find: found the text {times} times in README.md"):
        made(commit=PARENT, paths=["README.md"], patches=patches)


def test_the_diff_for_a_reviewer_shows_what_the_patches_planted_and_what_is_new() -> None:
    files = made(
        commit=PARENT,
        paths=["app/src/"],
        strip=1,
        patches=[{"file": "src/a.py", "find": "1", "replace": "3"}, {"file": "src/n.py", "content": "n\n"}],
        review_diff={"base": PARENT, "file": "REVIEW.diff", "paths": ["src/a.py", "src/n.py"]},
    )
    assert files["REVIEW.diff"] == (
        "--- a/src/a.py\n+++ b/src/a.py\n@@ -1 +1 @@\n-one = 1\n+one = 3\n"
        "--- /dev/null\n+++ b/src/n.py\n@@ -0,0 +1 @@\n+n\n"
    )


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        pytest.param({"paths": ["src/"]}, "src/, which means no file of a", id="a-rule-that-means-nothing"),
        pytest.param({"paths": ["app/src/a.p"]}, "did you mean app/src/a.py", id="a-near-one"),
        pytest.param({"strip": 1}, "nothing left of README.md without 1 parts", id="stripped-to-nothing"),
        pytest.param({"paths": ["README.md"], "exclude": ["*.md"]}, "no file that is left", id="nothing-left"),
        pytest.param({"files": {"app/src": "x"}}, "which is no folder", id="a-file-above-another"),
        pytest.param({"review_diff": {"base": FIX, "file": "README.md", "paths": ["a"]}}, "a free path", id="taken"),
        pytest.param(
            {"review_diff": {"base": FIX, "file": "D", "paths": ["a"]}}, "no file of the fixture", id="not-there"
        ),
    ],
)
def test_what_history_does_not_give_is_refused_by_field(fields: dict[str, object], said: str) -> None:
    with pytest.raises(FixtureError, match=said):
        made(commit=PARENT, **fields)


@pytest.mark.parametrize(
    "member",
    [
        pytest.param(Member(path=b"l", target=b"README.md"), id="a-link"),
        pytest.param(Member(path=b"../out", data=b"x"), id="a-path-that-leads-out"),
        pytest.param(Member(path=b"/etc/passwd", data=b"x"), id="an-absolute-path"),
        pytest.param(Member(path=b".git/config", data=b"x"), id="gits-own"),
        pytest.param(Member(path=b"a\xff", data=b"x"), id="no-utf-8"),
        pytest.param(Member(path=b"a\nb", data=b"x"), id="two-lines"),
        pytest.param(Member(path=b"big", data=b"version https://git-lfs.github.com/spec/v1\noid"), id="a-pointer"),
    ],
)
def test_what_no_fixture_may_hold_is_refused_though_a_tree_names_it(member: Member) -> None:
    with pytest.raises(FixtureError):
        snap(written(commit=PARENT), Table(more={PARENT: (member,)}), "f")


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"commit": "HEAD"},
        {"commit": "a" * 39},
        {"paths": ["a"]},
        {"commit": PARENT, "files": {"../a": "x"}},
        {"commit": PARENT, "files": {"/a": "x"}},
        {"commit": PARENT, "paths": ["../a"]},
        {"commit": PARENT, "exclude": ["../"]},
        {"commit": PARENT, "patches": [{"file": "a", "find": "x"}]},
        {"commit": PARENT, "patches": [{"file": "a", "find": "x", "replace": "y", "content": "z"}]},
        {"commit": PARENT, "preset": "monolith"},
        {"commit": PARENT, "excludes": ["a"]},
    ],
)
def test_a_snapshot_that_means_nothing_is_refused_when_it_is_read(fields: dict[str, object]) -> None:
    with pytest.raises(DocumentErrors):
        written(**fields)


def test_own_values_replace_a_presets_as_a_whole() -> None:
    own = completed(written(commit=PARENT, preset="folder", exclude=["x"]))
    assert (own.strip, own.exclude) == (1, ("x",))
    assert completed(written(commit=PARENT, preset="folder")).exclude == PRESETS["folder"]["exclude"]


@pytest.mark.parametrize("name", sorted(PRESETS))
def test_every_preset_is_made_of_values_that_a_snapshot_may_have(name: str) -> None:
    fields = {key: list(value) if isinstance(value, tuple) else value for key, value in PRESETS[name].items()}
    written(commit=PARENT, **fields)


def test_a_snapshot_says_which_commits_and_paths_it_needs() -> None:
    snapshot = written(
        commit=PARENT,
        paths=["app/src/"],
        strip=1,
        overlays=[{"commit": FIX, "paths": ["chart/"]}],
        review_diff={"base": f"{FIX}^", "file": "D", "paths": ["docs/page.md"]},
    )
    assert commits_of(snapshot) == (PARENT, FIX, f"{FIX}^")
    wanted = needed(snapshot)
    asked = (b"app/src/a.py", b"chart/c.yaml", b"app/docs/page.md", b"README.md")
    assert [wanted(path) for path in asked] == [True, True, True, False]
