"""What is read of somebody's repository: objects and names, whatever else it says."""

import os
from pathlib import Path
from subprocess import CalledProcessError

import pytest

from runner.errors import FixtureError
from runner.history.clone import Clone, bring, open_clone, resolved
from runner.history.source import find_source, revision
from tests.unit.history.repositories import blob, commit, git, raw_commit


def brought(repository: Path, clone: Path, *names: str) -> tuple[Clone, tuple[str, ...]]:
    source = find_source(repository)
    found = resolved(source, [revision(source, name) for name in names])
    return bring(source, clone, found, lambda _: True), found


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = tmp_path / "theirs"
    commit(folder, {"src/a.py": "one\n", "run.sh": "#!/bin/sh\n"}, "first")
    (folder / "run.sh").chmod(0o755)
    commit(folder, {"src/a.py": "two\n"}, "second\n\nwith words")
    return folder


@pytest.mark.parametrize("name", ["HEAD", "main", "refs/heads/main", "v1", "heads/main"])
def test_a_commit_has_every_name_that_git_gives_it(repository: Path, name: str) -> None:
    git(repository, "tag", "-a", "v1", "-m", "a tag of its own")
    source = find_source(repository)
    assert resolved(source, [revision(source, name)]) == (git(repository, "rev-parse", "HEAD"),)
    git(repository, "pack-refs", "--all")
    assert resolved(source, [revision(source, name)]) == (git(repository, "rev-parse", "HEAD"),)


@pytest.mark.parametrize("steps", ["^", "~1", "~", "^1"])
def test_an_ancestor_is_found_from_a_whole_or_a_short_name(repository: Path, steps: str) -> None:
    source, head = find_source(repository), git(repository, "rev-parse", "HEAD")
    asked = [revision(source, f"{head}{steps}"), revision(source, f"{head[:9]}{steps}")]
    assert set(resolved(source, asked)) == {git(repository, "rev-parse", "HEAD~1")}


@pytest.mark.parametrize("name", ["nobody", "HEAD:src", "--upload-pack=x", "../../etc/passwd", "HEAD@{1}", "", "^HEAD"])
def test_a_name_that_means_no_commit_is_refused(repository: Path, name: str) -> None:
    with pytest.raises(FixtureError, match="no commit of that name"):
        revision(find_source(repository), name)


def test_the_clone_gives_files_modes_and_words_without_the_repository(repository: Path, tmp_path: Path) -> None:
    _, (head, parent) = brought(repository, tmp_path / "ours.git", "HEAD", "HEAD^")
    repository.rename(tmp_path / "gone")
    ours = open_clone(tmp_path / "ours.git")
    members = {member.path: member for member in ours.members(head, lambda _: True)}
    assert (members[b"src/a.py"].data, members[b"src/a.py"].executable) == (b"two\n", False)
    assert members[b"run.sh"].executable
    assert ours.members(parent, lambda path: path == b"src/a.py")[0].data == b"one\n"
    assert (ours.commit(head).parents, ours.commit(head).message) == ((parent,), "second\n\nwith words\n")


def test_what_was_not_brought_is_asked_for_by_name(repository: Path, tmp_path: Path) -> None:
    head = git(repository, "rev-parse", "HEAD")
    with pytest.raises(FixtureError, match="--from-git REPO"):
        open_clone(tmp_path / "ours.git").commit(head)


def test_a_shallow_clone_says_what_it_lacks(repository: Path, tmp_path: Path) -> None:
    git(tmp_path, "clone", "-q", "--depth=1", f"file://{repository}", "shallow")
    with pytest.raises(FixtureError, match="shallow"):
        brought(tmp_path / "shallow", tmp_path / "ours.git", "HEAD^")


def test_a_bare_repository_and_a_linked_work_tree_are_repositories(repository: Path, tmp_path: Path) -> None:
    head = git(repository, "rev-parse", "HEAD")
    git(tmp_path, "clone", "-q", "--bare", "--no-local", str(repository), "bare.git")
    git(repository, "worktree", "add", "-q", "--detach", str(tmp_path / "linked"), "HEAD")
    for number, place in enumerate((tmp_path / "bare.git", tmp_path / "linked", repository / ".git")):
        assert brought(place, tmp_path / f"ours-{number}.git", "HEAD")[1] == (head,)


@pytest.mark.parametrize("made", ["nothing", "a file", "a folder"])
def test_what_is_no_repository_is_refused(tmp_path: Path, made: str) -> None:
    place = tmp_path / "place"
    if made == "a file":
        place.write_text("x")
    elif made == "a folder":
        place.mkdir()
    with pytest.raises(FixtureError, match="no git repository"):
        find_source(place)


def test_a_repository_of_longer_names_is_refused(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q", "--object-format=sha256", "longer")
    commit(tmp_path / "longer", {"a": "b"})
    with pytest.raises(FixtureError, match="SHA-256"):
        revision(find_source(tmp_path / "longer"), "HEAD")


def poisoned(repository: Path, mark: Path) -> None:
    """Set every trap that a repository can set for whoever runs git in it: each would leave a mark."""
    trap = f"touch {mark}; false"
    script = f"#!/bin/sh\ntouch {mark}\nexit 1\n"
    evil = repository / "evil.sh"
    evil.write_text(script)
    evil.chmod(0o755)
    commit(repository, {".gitattributes": "* filter=evil diff=evil merge=evil export-subst\n"})
    for hook in ("post-checkout", "reference-transaction", "pre-auto-gc", "post-index-change", "fsmonitor-watchman"):
        (repository / ".git/hooks" / hook).write_text(script)
        (repository / ".git/hooks" / hook).chmod(0o755)
    (repository / "more.config").write_text(f'[core]\n\tsshCommand = "{trap}"\n\tpager = "{trap}"\n')
    config = f"""
[core]
    fsmonitor = "{evil}"
    sshCommand = "{trap}"
    hooksPath = "{repository}/.git/hooks"
    alternateRefsCommand = "{evil}"
    gitProxy = "{evil}"
[include]
    path = {repository}/more.config
[filter "evil"]
    clean = "{trap}"
    smudge = "{trap}"
    process = "{trap}"
    required = true
[diff "evil"]
    textconv = "{evil}"
    command = "{evil}"
[uploadpack]
    packObjectsHook = "{evil}"
[remote "origin"]
    url = "ext::sh -c touch% {mark}"
    uploadpack = "{trap}"
    promisor = true
    partialclonefilter = "blob:none"
[extensions]
    partialClone = origin
[alias]
    rev-parse = "!{trap}"
    cat-file = "!{trap}"
[protocol]
    allow = always
"""
    with (repository / ".git/config").open("a") as file:
        file.write(config)


def test_nothing_of_a_hostile_repository_is_run(repository: Path, tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    poisoned(repository, mark)
    mark.unlink(missing_ok=True)  # its owner's own commit may have sprung them
    clone, (head,) = brought(repository, tmp_path / "ours.git", "HEAD")
    assert {member.path for member in clone.members(head, lambda _: True)} >= {b"src/a.py", b".gitattributes"}
    assert not mark.exists()
    # The traps are set: who runs git in there springs one.
    with pytest.raises(CalledProcessError):
        git(repository, "-c", "core.preloadIndex=false", "add", "-A")
    assert mark.exists()


def test_what_a_promise_stands_for_is_never_fetched(repository: Path, tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    head = git(repository, "rev-parse", "HEAD")
    lost = git(repository, "rev-parse", "HEAD:src/a.py")
    poisoned(repository, mark)
    mark.unlink(missing_ok=True)
    (repository / ".git/objects" / lost[:2] / lost[2:]).unlink()
    with pytest.raises(FixtureError, match="partial clone lacks objects"):
        brought(repository, tmp_path / "ours.git", head)
    assert not mark.exists()


def test_a_repository_that_borrows_objects_is_refused(repository: Path, tmp_path: Path) -> None:
    git(tmp_path, "clone", "-q", "--shared", str(repository), "borrowing")
    with pytest.raises(FixtureError, match=r"objects/info/alternates: found objects borrowed from elsewhere"):
        find_source(tmp_path / "borrowing")


@pytest.mark.parametrize("where", ["objects/pack/pack-1.idx", "objects/ab", "objects/info/x"])
@pytest.mark.parametrize("kind", ["link", "fifo"])
def test_what_is_no_file_among_objects_is_refused_before_git_could_wait_for_it(
    repository: Path, where: str, kind: str
) -> None:
    place = repository / ".git" / where
    place.parent.mkdir(exist_ok=True)
    if kind == "link":
        place.symlink_to("/etc/passwd")
    else:
        os.mkfifo(place)
    with pytest.raises(FixtureError, match="something else than a file"):
        find_source(repository)


def test_a_reference_that_is_a_link_or_names_a_file_outside_is_refused(repository: Path, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("a" * 40)
    (repository / ".git/refs/heads/out").symlink_to(tmp_path / "secret")
    (repository / ".git/HEAD").write_text("ref: refs/../../../secret\n")
    for name in ("out", "HEAD"):
        with pytest.raises(Exception, match=r"no commit of that name|no symbolic link"):
            revision(find_source(repository), name)


def test_replaced_objects_are_read_as_they_were_committed(repository: Path, tmp_path: Path) -> None:
    head, parent = git(repository, "rev-parse", "HEAD"), git(repository, "rev-parse", "HEAD^")
    git(repository, "replace", head, parent)
    (repository / ".git/info/grafts").write_text(f"{head}\n")
    clone, (found, above) = brought(repository, tmp_path / "ours.git", head, f"{head}^")
    assert (found, above) == (head, parent)
    assert clone.members(head, lambda path: path == b"src/a.py")[0].data == b"two\n"


def test_an_object_that_is_not_what_its_name_says_is_refused(repository: Path, tmp_path: Path) -> None:
    name = git(repository, "rev-parse", "HEAD:src/a.py")
    other = git(repository, "rev-parse", "HEAD^:src/a.py")
    objects = repository / ".git/objects"
    (objects / name[:2] / name[2:]).chmod(0o644)
    (objects / name[:2] / name[2:]).write_bytes((objects / other[:2] / other[2:]).read_bytes())
    with pytest.raises(FixtureError):
        brought(repository, tmp_path / "ours.git", "HEAD")


def test_a_submodule_is_refused_where_it_is_wanted_and_passed_over_where_not(repository: Path, tmp_path: Path) -> None:
    head = git(repository, "rev-parse", "HEAD")
    odd = raw_commit(repository, {b"lib": (b"160000", head), b"a": (b"100644", blob(repository, b"x"))})
    clone, _ = brought(repository, tmp_path / "ours.git", odd)
    with pytest.raises(FixtureError, match="lib: found a submodule"):
        clone.members(odd, lambda _: True)
    assert [each.path for each in clone.members(odd, lambda path: path != b"lib")] == [b"a"]


def test_a_tree_that_unfolds_without_end_is_refused(repository: Path, tmp_path: Path) -> None:
    tree = git(repository, "rev-parse", "HEAD^{tree}")
    for _ in range(10):
        entries = {b"%02d" % number: (b"40000", tree) for number in range(10)}
        tree = git(repository, "rev-parse", f"{raw_commit(repository, entries)}^{{tree}}")
    bomb = git(repository, "commit-tree", tree, "-m", "bomb")
    with pytest.raises(FixtureError, match="a tree of more than 500000 entries"):
        brought(repository, tmp_path / "ours.git", bomb)
