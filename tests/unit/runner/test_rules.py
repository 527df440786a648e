import time

import pytest

from runner.rules import matcher


@pytest.mark.parametrize(
    ("rule", "path", "means"),
    [
        ("a.py", b"a.py", True),
        ("a.py", b"b/a.py", False),
        ("a.py", b"a.py/x", False),
        ("a.py", b"A.PY", False),
        ("src/", b"src/a.py", True),
        ("src/", b"src/deep/a.py", True),
        ("src/", b"src", False),
        ("src/", b"src2/a.py", False),
        ("src/*.py", b"src/a.py", True),
        ("src/*.py", b"src/deep/a.py", False),
        ("src/*.py", b"src/.py", True),
        ("*", b"a", True),
        ("*", b"a/b", False),
        ("**", b"a/b/c", True),
        ("**/a.py", b"a.py", True),
        ("**/a.py", b"x/y/a.py", True),
        ("**/a.py", b"x/y/ba.py", False),
        ("src/**", b"src", False),
        ("src/**", b"src/a", True),
        ("src/**", b"src/a/b", True),
        ("src/**/t/*.py", b"src/t/a.py", True),
        ("src/**/t/*.py", b"src/x/y/t/a.py", True),
        ("src/**/t/*.py", b"src/x/y/t/z/a.py", False),
        ("**/**/a", b"a", True),
        ("file?.txt", b"file1.txt", True),
        ("file?.txt", b"file.txt", False),
        ("file[0-9].txt", b"file7.txt", True),
        ("pages/[id].tsx", b"pages/[id].tsx", True),
        ("src/*.py", b"src/\xff\n.py", True),
    ],
)
def test_a_rule_means_what_it_says(rule: str, path: bytes, means: bool) -> None:  # noqa: FBT001 - a column of the table
    assert matcher((rule,))(path) is means


def test_without_rules_nothing_is_meant() -> None:
    assert not matcher(())(b"a")


def test_any_of_several_rules_is_enough() -> None:
    means = matcher(("a", "b/", "*.md"))
    assert [means(path) for path in (b"a", b"b/c", b"x.md", b"c")] == [True, True, True, False]


def test_a_hostile_path_costs_little_time() -> None:
    means = matcher(("**/a*a*a*a*b/**/**/*a*a*a*c",))
    begun = time.process_time()
    assert not means(b"/".join([b"a" * 200] * 400))
    assert time.process_time() - begun < 2
