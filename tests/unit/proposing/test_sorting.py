"""What of a fix becomes the solution, what is hidden, and what stands beside hidden tests."""

import pytest

from runner.documents.snapshot import Snapshot
from runner.history.snapshot import Snapped
from runner.members import Member
from runner.proposing.change import allowed_rules, import_folders, sort_change
from runner.proposing.draft import Draft, helpers_of, hidden_tests, licence_of, nomination_members, public_command
from runner.proposing.fix import Asked, Fix
from runner.proposing.pruning import split_case, without
from runner.proposing.wrong import Sides, repairs
from tests.unit.proposing.fixes import asked, fix

MIT = """\
MIT License

Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated
"""
TEST = "def test_a():\n    assert 1 == 1\n"


def test_a_fix_is_sorted_by_what_its_files_are() -> None:
    touched = (
        "src/p/a.py",
        "src/p/b_test.py",
        "tests/data.json",
        "docs/conf.py",
        "setup.py",
        "CHANGES.md",
        "conftest.py",
    )
    found = sort_change(touched)
    assert found.sources == ("src/p/a.py",)
    assert found.tests == ("conftest.py", "src/p/b_test.py", "tests/data.json")
    assert found.others == ("CHANGES.md", "docs/conf.py", "setup.py")


def test_what_is_said_of_a_file_counts_before_what_it_looks_like() -> None:
    found = sort_change(("a.py", "b.py", "table.csv"), {"a.py": False, "b.py": True, "table.csv": True})
    assert (found.sources, found.others) == (("b.py", "table.csv"), ("a.py",))


@pytest.mark.parametrize(
    ("sources", "allowed", "imports"),
    [
        (("a.py",), ("a.py",), ()),
        (("p/a.py", "p/q/b.py"), ("p/",), ()),
        (("src/p/a.py",), ("src/p/",), ("src",)),
        (("src/a.py",), ("src/a.py",), ("src",)),
    ],
)
def test_a_repair_may_be_made_in_the_packages_of_the_fix(
    sources: tuple[str, ...], allowed: tuple[str, ...], imports: tuple[str, ...]
) -> None:
    assert (allowed_rules(sources), import_folders(sources)) == (allowed, imports)


def test_hidden_tests_are_the_fixs_own_under_names_that_pytest_knows() -> None:
    made = fix(
        before={"a.py": "x", "tests.py": TEST},
        after={"a.py": "y", "tests.py": TEST + "\n", "tests/test_b.py": TEST, "tests/helper.py": "x = 1\n"},
    )
    modules, odd = hidden_tests(made)
    assert (modules, odd) == ({"test_tests.py": TEST + "\n", "tests/test_b.py": TEST}, ())


def test_a_test_that_is_no_text_is_named_and_left_out() -> None:
    made = fix(before={"a.py": "x"}, after={"a.py": "y"}, raw={"tests/test_b.py": b"# \xff\ndef test_a(): pass\n"})
    assert hidden_tests(made) == ({}, ("tests/test_b.py",))


def test_helpers_stand_beside_hidden_tests_and_public_data_does_not() -> None:
    known = {"tests/conftest.py": "c = 1\n", "tests/data.txt": "d", "tests/__init__.py": "", "tests/test_old.py": TEST}
    made = fix(
        before={"a.py": "x", "other/conftest.py": "o", **known},
        after={"a.py": "y", "tests/test_b.py": TEST, "tests/new.txt": "n", "other/conftest.py": "o", **known},
    )
    helpers, seen = helpers_of(made, {"tests/test_b.py": TEST})
    assert set(helpers) == {"tests/conftest.py", "tests/__init__.py", "tests/new.txt"}
    assert helpers["tests/conftest.py"].endswith(b"\nc = 1\n")
    assert helpers["tests/conftest.py"] != b"c = 1\n"  # the same bytes would be a private file that everybody sees
    assert seen == ("tests/data.txt",)


def test_the_public_tests_are_those_that_are_there() -> None:
    files = {"p/a.py": "x", "tests/test_a.py": TEST, "pyproject.toml": "[tool.pytest.ini_options]\naddopts = '--cov'\n"}
    members = tuple(Member(path=path.encode(), data=text.encode()) for path, text in files.items())
    known = asked()
    assert public_command(known, members, ("p/a.py",))[2:] == (
        *("pytest", "-q", "-p", "no:cacheprovider", "-o", "addopts=", "tests"),
    )
    assert public_command(known, members[:1], ("src/p/__init__.py",)) == ("{python}", "-c", "import p")
    assert public_command(asked(command=("/bin/true",)), members, ()) == ("/bin/true",)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        (MIT, "MIT"),
        ("Apache License\nVersion 2.0", "Apache-2.0"),
        ("All rights reserved", "not known"),
    ],
)
def test_a_licence_is_known_by_its_words(text: str, name: str) -> None:
    assert licence_of(fix(before={"LICENSE": text, "a.py": "x"}, after={"a.py": "y"})) == name


MODULE = """\
import pytest


@pytest.mark.parametrize("x", [1])
def test_a(x):
    assert x


class TestAll:
    def test_b(self):
        pass

    def test_c(self):
        pass


class TestOne:
    def test_d(self):
        pass
"""


def test_tests_are_taken_out_with_their_decorators_and_classes_that_become_empty() -> None:
    left = without(MODULE, [("test_a",), ("TestAll", "test_b"), ("TestOne", "test_d")])
    assert left is not None
    assert "parametrize" not in left
    assert "TestOne" not in left
    assert "test_c" in left
    compile(left, "left", "exec")


def test_a_test_that_stands_elsewhere_is_not_taken_out() -> None:
    assert without(MODULE, [("TestOne", "test_b")]) is None


def test_a_cases_id_is_its_module_and_names() -> None:
    assert split_case("tests/test_a.py::TestB::test_c[x::y]") == ("tests/test_a.py", ("TestB", "test_c"))


def test_wrong_repairs_lack_a_part_or_have_something_turned_round() -> None:
    before = b"def f(x):\n    return x\n\n\ndef g(x):\n    return x\n"
    after = b"def f(x):\n    return x + 1\n\n\ndef g(x):\n    if x > 2:\n        return 7\n    return x\n"
    made = list(repairs({"m.py": Sides(before=before, after=after)}))
    parts = [each for each in made if each.name.startswith("without")]
    assert [each.data for each in parts] == [
        after.replace(b"x + 1", b"x"),
        after.replace(b"    if x > 2:\n        return 7\n", b""),
    ]
    assert any(each.name.startswith("turned-m-") for each in made)
    assert after not in [each.data for each in made]


def test_a_fix_of_one_part_is_not_left_out_as_a_whole() -> None:
    made = list(repairs({"m.py": Sides(before=b"a = 1\n", after=b"a = 2\n")}))
    assert made
    assert all(each.name.startswith("turned") for each in made)


def drafted(known: Fix, asking: Asked | None = None) -> Draft:
    modules, _ = hidden_tests(known)
    return Draft(
        asked=asking or asked(),
        fix=known,
        lock="",
        solution=b"diff --git a/a.py b/a.py\n",
        modules=modules,
        helpers={},
        telling=frozenset(),
    )


def test_tests_among_what_may_be_changed_are_denied() -> None:
    known = fix(
        before={"p/a.py": "x", "p/tests/test_a.py": TEST, "p/b_test.py": TEST},
        after={"p/a.py": "y", "p/tests/test_a.py": TEST + "\n"},
    )
    files = {member.path: member.data.decode() for member in nomination_members(drafted(known))}
    assert 'deny = ["p/b_test.py", "p/tests/"]' in files[b"nomination.toml"]
    assert 'allowed_changes = ["p/"]' in files[b"nomination.toml"]
    assert files[b"private/p/tests/test_a.py"] == TEST + "\n"
    assert files[b"fixture/p/tests/test_a.py"] == TEST


def test_the_snapshot_that_is_written_gives_the_fixture_that_is_written() -> None:
    known = fix(
        before={"a.py": "x"}, after={"a.py": "y"}, snapshot=Snapshot(commit="a" * 40, strip=1, exclude=("*.md",))
    )
    text = next(member.data for member in nomination_members(drafted(known)) if member.path == b"nomination.toml")
    assert f'[snapshot]\ncommit = "{"a" * 40}"\nstrip = 1\nexclude = ["*.md"]\n'.encode() in text
    assert Snapped(members=drafted(known).fixture) == known.before
