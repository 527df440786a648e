"""Who is told from the leader."""

from fractions import Fraction

from runner.statistics.pairs import Test
from runner.statistics.rates import Tried
from runner.statistics.separation import beside_leader


def _tries(rates: str, of: int = 1) -> dict[str, Tried]:
    return {f"task-{at}": Tried(solved=int(each), of=of) for at, each in enumerate(rates)}


def test_one_attempt_each_is_tested_by_mcnemar_and_several_by_changing_signs() -> None:
    (once,) = beside_leader(_tries("1111"), [_tries("0111")])
    (often,) = beside_leader(_tries("3333", of=3), [_tries("2333", of=3)])
    assert (once.test, often.test) == (Test.MCNEMAR, Test.SIGN_FLIP)
    assert (once.gap, often.gap) == (Fraction(1, 4), Fraction(1, 12))


def test_a_few_nominations_tell_nobody_apart() -> None:
    (found,) = beside_leader(_tries("111"), [_tries("000")])
    assert found.chance == Fraction(1, 8)
    assert not found.is_separated


def test_many_that_all_point_one_way_do() -> None:
    (found,) = beside_leader(_tries("1" * 12), [_tries("0" * 8 + "1" * 4)])
    assert found.is_separated


def test_chances_are_corrected_for_all_comparisons_together() -> None:
    near = [_tries("0" * 5 + "1" * 7)] * 3
    (alone,) = beside_leader(_tries("1" * 12), near[:1])
    assert alone.is_separated
    assert not any(each.is_separated for each in beside_leader(_tries("1" * 12), near))


def test_only_shared_nominations_are_compared_and_without_any_nobody_is_told_apart() -> None:
    found = beside_leader({"a": Tried(solved=1, of=1)}, [{"b": Tried(solved=0, of=1)}, {"a": Tried(solved=0, of=1)}])
    assert [each.shared for each in found] == [0, 1]
    assert found[0].chance is None
    assert not found[0].is_separated
