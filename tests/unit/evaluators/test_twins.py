import ast
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluators.errors import EvaluatorError
from evaluators.literals import variants
from evaluators.twins import AUTHOR, Sources, Twin, disguise, find_twins, pick, twinned


def dice(seed: int) -> random.Random:
    return random.Random(seed)  # noqa: S311 - a test repeats itself, and guards nothing


def expression(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body


def sources(text: str, twins: str | None = None) -> Sources:
    return Sources(modules={"test_it.py": text}, authored={} if twins is None else {"test_it.py": twins})


@pytest.mark.parametrize(
    ("literal", "forms"),
    [
        ("3", ["4", "2"]),
        ("-3", ["-2", "-4"]),
        ("0.5", ["1.5", "-0.5"]),
        ("True", ["False"]),
        ("'ab'", ["'abb'", "'a'"]),
        ("'a!'", ["'a!s'", "'a'"]),
        ("''", ["' '", "'0'"]),
        ("b'ab'", ["b'abb'", "b'a'"]),
        ("[1, 2]", ["[1, 3]", "[1, 1]", "[1, 2, 3]", "[1]"]),
        ("(x, 'a')", ["(x, 'aa')", "(x, '')", "(x, 'a', 'aa')", "(x,)"]),
        ("{1}", ["{2}", "{0}", "{1, 2}"]),
        ("{'k': 1, 'l': x}", ["{'k': 2, 'l': x}", "{'k': 0, 'l': x}"]),
        ("[[1]]", ["[[2]]", "[[0]]", "[[1], [2]]"]),
        ("pytest.approx(2.5)", ["pytest.approx(3.5)", "pytest.approx(1.5)"]),
        ("None", []),
        ("x", []),
        ("[]", []),
        ("[x]", []),
        ("f'{x}'", []),
        ("1e300", []),
    ],
)
def test_a_literal_is_changed_both_ways(literal: str, forms: list[str]) -> None:
    assert [ast.unparse(form) for form in variants(expression(literal))] == forms


@given(st.recursive(st.integers() | st.text() | st.booleans() | st.binary(), st.lists, max_leaves=8))
def test_a_changed_literal_is_another_value(value: object) -> None:
    for form in variants(expression(repr(value))):
        assert ast.literal_eval(ast.unparse(form)) != value


def test_changing_leaves_the_literal_alone() -> None:
    literal = expression("[1, (2, 'x'), {'k': 3}]")
    before = ast.dump(literal)
    variants(literal)
    assert ast.dump(literal) == before


@pytest.mark.parametrize(
    "condition",
    ["f() == 3", "3 == f()", "f() is True", "'a' in f()", "x and f() == [1]", "f() == pytest.approx(1.5)"],
)
def test_an_assert_that_compares_with_a_literal_has_twins(condition: str) -> None:
    assert find_twins(sources(f"def test_it():\n    assert {condition}\n"))


@pytest.mark.parametrize(
    ("condition", "opposite"),
    [
        ("f()", "not f()"),
        ("f() != 3", "f() == 3"),
        ("f() > 3", "f() <= 3"),
        ("f() == g()", "f() != g()"),
        ("f() is None", "f() is not None"),
        ("not f() == 3", "f() == 3"),
        ("f() == 3 or g()", "not (f() == 3 or g())"),
    ],
)
def test_other_asserts_have_an_opposite_that_does_not_count_as_a_twin(condition: str, opposite: str) -> None:
    text = f"def test_it():\n    x()\n    assert {condition}\n"
    (twin,) = find_twins(sources(text))
    assert twinned([twin]) == frozenset()
    assert f"assert {opposite}\n" in disguise(sources(text), [twin], dice(1)).modules["test_it.py"]


@pytest.mark.parametrize("expecting", ["pytest.raises(KeyError)", "self.assertRaises(KeyError)"])
def test_an_expected_exception_becomes_another(expecting: str) -> None:
    text = f"def test_it():\n    with {expecting}:\n        f()\n"
    twins = find_twins(sources(text))
    assert [twin.site for twin in twins] == [0, 0]
    made = [disguise(sources(text), [twin], dice(1)).modules["test_it.py"] for twin in twins]
    assert ["TypeError" in made[0], "IndexError" in made[1]] == [True, True]
    assert find_twins(sources(text.replace("KeyError", "OurError"))) == ()


def test_unittest_assertions_and_tables_have_twins() -> None:
    text = (
        "class TestIt(unittest.TestCase):\n    def test_a(self):\n        self.assertEqual(f(), 3)\n"
        "@pytest.mark.parametrize('a, b', [(1, 2), pytest.param(2, 3, id='x')])\n"
        "def test_b(a, b):\n    assert f(a) == b\n"
    )
    assert twinned(find_twins(sources(text))) == {
        ("test_it.py", ("TestIt",), "test_a"),
        ("test_it.py", (), "test_b"),
    }
    table = [twin for twin in find_twins(sources(text)) if twin.test == "test_b"]
    made = disguise(sources(text), table[:1], dice(1))
    assert "[(1, 3), pytest.param(2, 4, id='x')]" in made.modules["test_it.py"]


def test_a_test_has_at_most_six_twins_and_one_is_picked() -> None:
    asserts = "".join(f"    assert f({number}) == {number}\n" for number in range(20))
    twins = find_twins(sources(f"def test_it():\n{asserts}"))
    assert len(twins) == 6
    assert {variant.variant for variant in twins} == {0, 1}
    assert len(pick(twins, dice(1))) == 1


SUITE = """
import pytest
LIMIT = 3

def test_one():
    assert f(1) == 10

def test_two():
    assert f(2) == 20

NUMBERS = [1]

@pytest.mark.parametrize("n", NUMBERS)
def test_three(n):
    assert f(n) == 30

class TestMore:
    def setup_method(self):
        pass
    def test_one(self):
        assert f(4) == "abc"
"""


def test_the_disguise_keeps_no_name_and_translates_back() -> None:
    made = disguise(sources(SUITE), find_twins(sources(SUITE)), dice(5))
    text = made.modules["test_it.py"]
    assert not any(name in text for name in ("test_one", "test_two", "test_three"))
    names = [node.name for node in ast.walk(ast.parse(text)) if isinstance(node, ast.FunctionDef)]
    tests = [name for name in names if name.startswith("test")]
    assert len(tests) == len(made.tests) + 1 + len(made.twins)  # test_one stands in two scopes
    for name, test in made.tests.items():
        assert made.original(f"test_it.py::TestMore::{name}[a::b[]") == (
            f"test_it.py::TestMore::{test}[a::b[]",
            None,
        )
    for name, twin in made.twins.items():
        assert made.original(f"test_it.py::{name}") == (f"test_it.py::{twin.test}", twin)
    assert made.readable(f"in {next(iter(made.tests))}") == f"in {next(iter(made.tests.values()))}"


def test_twins_stay_where_their_names_are_defined() -> None:
    for seed in range(20):
        made = disguise(sources(SUITE), find_twins(sources(SUITE)), dice(seed))
        lines = made.modules["test_it.py"].splitlines()
        numbers = lines.index("NUMBERS = [1]")
        assert all(at > numbers for at, line in enumerate(lines) if line.startswith("@pytest"))


def test_tests_keep_their_order_and_twins_come_before_and_after() -> None:
    orders = set()
    for seed in range(40):
        made = disguise(sources(SUITE), find_twins(sources(SUITE))[:1], dice(seed))
        body = ast.parse(made.modules["test_it.py"]).body
        names = [node.name for node in body if isinstance(node, ast.FunctionDef)]
        real = [made.tests[name] for name in names if name in made.tests]
        assert real == ["test_one", "test_two", "test_three"]
        orders.add(next(at for at, name in enumerate(names) if name in made.twins))
    assert orders == {0, 1, 2}


def test_names_of_tests_and_twins_look_alike() -> None:
    made = disguise(sources(SUITE), find_twins(sources(SUITE)), dice(7))
    for name in [*made.tests, *made.twins]:
        test, one, other = name.split("_")
        assert (test, len(one), len(other)) == ("test", 6, 6)
    assert not set(made.tests) & set(made.twins)


def test_a_method_has_the_same_name_in_every_class_so_that_overriding_works() -> None:
    text = (
        "class Base:\n    def test_x(self):\n        assert f() == 1\n"
        "class TestSub(Base):\n    def test_x(self):\n        assert f() == 2\n"
    )
    made = disguise(sources(text), (), dice(1))
    assert len(made.tests) == 1
    assert made.modules["test_it.py"].count(next(iter(made.tests))) == 2


@pytest.mark.parametrize("decorator", ["pytest.fixture", "pytest.fixture(scope='module')", "fixture", "property"])
def test_what_only_looks_like_a_test_keeps_its_name(decorator: str) -> None:
    text = f"@{decorator}\ndef test_client():\n    assert f() == 3\n\ndef test_a(test_client):\n    assert g() == 4\n"
    twins = find_twins(sources(text))
    assert {twin.test for twin in twins} == {"test_a"}
    made = disguise(sources(text), twins, dice(1)).modules["test_it.py"]
    assert made.count("def test_client():") == 1
    assert made.count("(test_client):") == 1 + len(twins)


def test_authors_twins_take_the_place_of_their_test() -> None:
    text = "def test_x():\n    with pytest.raises(ValueError):\n        f()\n"
    twins = "import pytest\ndef test_x():\n    with pytest.raises(KeyError):\n        f()\n"
    found = find_twins(sources(text, twins))
    assert found[0] == Twin(file="test_it.py", scope=(), test="test_x", site=AUTHOR, variant=0)
    made = disguise(sources(text, twins), found[:1], dice(1))
    assert "pytest.raises(KeyError)" in made.modules["test_it.py"]
    assert made.modules["test_it.py"].count("def test_") == 2


def test_an_authors_twin_without_its_test_is_refused() -> None:
    with pytest.raises(EvaluatorError, match="no test of the same name"):
        find_twins(sources("def test_x(): pass\n", "def test_y(): pass\n"))


@pytest.mark.parametrize("text", ["def test_x(:\n", "def test_x(): pass\ndef test_x(): pass\n", "\0"])
def test_modules_that_cannot_be_disguised_are_refused(text: str) -> None:
    with pytest.raises(EvaluatorError):
        find_twins(sources(text))
