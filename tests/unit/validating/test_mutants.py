"""Laws of mutants: changed lines alone, one change each, never the same program, never a docstring."""

import ast

from hypothesis import given
from hypothesis import strategies as st

from runner.validating.mutants import mutants

SOURCE = b'''\
LIMIT = 10


def clamp(value, low):
    """Hold it."""
    if value < low and not low:
        return low + 1
    for step in range(3):
        value += step
        value -= 1
    return "done"
'''
EVERY = range(1, 20)


def test_each_operator_finds_its_place() -> None:
    told = {(each.line, each.what) for each in mutants("m.py", SOURCE, EVERY, 100)}
    assert {
        (6, "Lt becomes LtE"),
        (6, "and becomes or"),
        (6, "the condition is turned round"),
        (7, "Add becomes Sub"),
        (7, "the constant 1 is another"),
        (7, "None is returned"),
        (8, "the last statement of its body is left out"),
        (11, "the constant 'done' is another"),
        (1, "the constant 10 is another"),
    } <= told
    assert not any(line == 5 for line, _ in told)


def test_only_changed_lines_are_mutated() -> None:
    assert {each.line for each in mutants("m.py", SOURCE, {7}, 100)} == {7}
    assert mutants("m.py", SOURCE, set(), 100) == ()


@given(st.integers(1, 30))
def test_at_most_so_many_are_made_and_each_is_another_program(most: int) -> None:
    found = mutants("m.py", SOURCE, EVERY, most)
    assert 0 < len(found) <= most
    plain = ast.dump(ast.parse(SOURCE))
    dumps = [ast.dump(ast.parse(each.source)) for each in found]
    assert plain not in dumps


def test_what_does_not_parse_has_none() -> None:
    assert mutants("m.py", b"def broken(:\n", EVERY, 10) == ()
    assert mutants("m.py", b"\0", EVERY, 10) == ()
