"""The exploit suite: made for a nomination's own files, and each cheat really changes something."""

import pytest

from runner.validating import cheats as suite
from runner.validating.catalogue import BY_NUMBER, number_of
from runner.validating.cheats import Target, cheats
from sandbox.tree import Kind

BASE = b"def size(n):\n    return n\n"


def test_a_python_nomination_meets_two_dozen_cheats_and_more() -> None:
    made = cheats(Target(files={"pkg/size.py": BASE}, root="."))
    names = [each.name for each in made]
    assert len(made) >= 40
    assert len(set(names)) == len(names)
    assert {"exit 0 at import", "objects that are equal to everything", "conftest files", "stale bytecode"} <= {*names}
    assert {"tests rewritten in the background", "the evaluator read from disk", "planted results"} <= {*names}


def test_code_goes_before_the_base_or_in_its_place() -> None:
    made = {each.name: each.changes for each in cheats(Target(files={"size.py": BASE}, root="."))}
    before, instead = made["exit 0 at import"], made["exit 0 in every call"]
    assert before.blobs(before.entries[0].sha256 or "").endswith(BASE)
    assert BASE not in instead.blobs(instead.entries[0].sha256 or "")


def test_code_goes_behind_what_python_wants_to_stand_first_and_runs() -> None:
    base = b'"""A module."""\nfrom __future__ import annotations\n\nSIZE = 3\n'
    made = {each.name: each.changes for each in cheats(Target(files={"size.py": base}, root="."))}
    changed = made["SystemExit at import"]
    source = changed.blobs(changed.entries[0].sha256 or "")
    assert source.endswith(b"\nSIZE = 3\n")
    with pytest.raises(SystemExit):
        exec(compile(source, "size.py", "exec"), {})  # noqa: S102 - our own payload


@pytest.mark.parametrize("name", sorted(suite._PYTHON))
def test_every_python_cheat_is_code(name: str) -> None:
    payload, _ = suite._PYTHON[name]
    compile(payload, name, "exec")
    compile(suite._with(payload, b"from __future__ import annotations\n"), name, "exec")


def test_javascript_and_data_have_cheats_of_their_own() -> None:
    script = {each.name for each in cheats(Target(files={"index.js": b"x"}, root="."))}
    assert "process.exit(0) at import" in script
    assert "exit 0 at import" not in script
    assert len(script) >= 24
    data = {each.name for each in cheats(Target(files={"answer.json": b""}, root="."))}
    assert {"an empty list", "output is a link to nothing"} <= data
    assert len(data) >= 24
    assert "the work is removed" not in data


def test_what_lies_beside_lies_at_the_fixtures_root() -> None:
    made = {each.name: each.changes for each in cheats(Target(files={"app/size.py": BASE}, root="app"))}
    paths = {entry.path for entry in made["modules that shadow"].entries}
    assert paths
    assert all(path.startswith(b"app/") for path in paths)


def test_links_and_removals_are_changes_too() -> None:
    made = {each.name: each.changes.entries for each in cheats(Target(files={"size.py": BASE}, root="."))}
    assert [entry.kind for entry in made["output is a link to nothing"]] == [Kind.LINK]
    assert [entry.kind for entry in made["the work is removed"]] == [Kind.GONE]


def test_every_cheat_is_an_attack_of_the_catalogue() -> None:
    files = {"size.py": BASE, "index.js": b"x", "answer.json": b""}
    targets = (Target(files=files, root=".", is_timed=True), Target(files=files, root=".", tested={"size.py": BASE}))
    made = {each.name for target in targets for each in cheats(target)}
    listed = [name for names in BY_NUMBER.values() for name in names]
    assert sorted(made) == sorted(listed)
    assert all(number_of(name) is not None for name in made)


TIMED = {
    "clocks patched",
    "answers cached between calls",
    "lazy results",
    "work at import",
    "outputs replayed",
    "threads and a child that steal time",
    "games with the garbage collector",
    "answers sent in advance",
}


def test_what_is_timed_meets_cheats_of_time_and_nothing_else_does() -> None:
    plain = {each.name for each in cheats(Target(files={"size.py": BASE}, root="."))}
    timed = {each.name for each in cheats(Target(files={"size.py": BASE}, root=".", is_timed=True))}
    assert timed - plain == TIMED


@pytest.mark.parametrize("name", sorted(TIMED))
def test_every_cheat_of_time_is_code_around_the_base(name: str) -> None:
    made = {each.name: each.changes for each in cheats(Target(files={"size.py": BASE}, root=".", is_timed=True))}
    source = made[name].blobs(made[name].entries[0].sha256 or "")
    assert BASE in source
    compile(source, name, "exec")


def test_a_suite_meets_cheats_that_know_the_module_and_cheats_that_guess() -> None:
    plain = {each.name for each in cheats(Target(files={"tests/test_size.py": b""}, root="."))}
    made = {
        each.name: each
        for each in cheats(Target(files={"tests/test_size.py": b""}, root=".", tested={"size.py": BASE}))
    }
    own = made.keys() - plain
    assert len(own) >= 12
    for name in own:
        (entry,) = made[name].changes.entries
        assert entry.path == b"tests/test_size.py"
        compile(made[name].changes.blobs(entry.sha256 or ""), name, "exec")
