"""Laws of the plan: balanced, in both orders, drawn by lot from the release's key, and nobody's own family."""

from collections import Counter
from itertools import pairwise

import pytest

from runner.documents.facts import AgentFailure, Blame, Facts, FailureCause, Phase, Violation, VoidFact
from runner.documents.judging import Cell, Choice, ControlItem, ControlKind, Item, PairItem, RubricItem, Skipped
from runner.judges import Bar, Judging
from runner.judging.caching import cache_key, settings_digest
from runner.judging.families import contestants, who_answers
from runner.judging.lots import coin, lot, shuffled
from runner.judging.pairing import (
    circulant,
    drawn,
    in_stream,
    item_name,
    pair_items,
    passes,
    rubric_items,
    share,
)
from runner.roster import Agent, Candidate, Judge, Route

KEY = b"release-1"


def cells(count: int) -> list[Cell]:
    return [
        Cell(candidate=f"c{number}", nomination="n", attempt=1, try_=1, submission_sha256=f"{number:064x}")
        for number in range(count)
    ]


@pytest.mark.parametrize(("count", "degree"), [(2, 1), (3, 1), (5, 2), (7, 3), (8, 2), (50, 5), (4, 9)])
def test_every_submission_has_as_many_partners_as_every_other(count: int, degree: int) -> None:
    pairs = circulant(cells(count), degree)
    partners = Counter(cell.candidate for pair in pairs for cell in pair)
    assert set(partners.values()) == {min(2 * degree, count - 1)}
    assert len({frozenset(cell.candidate for cell in pair) for pair in pairs}) == len(pairs)


@pytest.mark.parametrize("count", [0, 1])
def test_who_is_alone_is_compared_with_nobody(count: int) -> None:
    assert circulant(cells(count), 2) == ()


def test_pairs_that_are_drawn_are_different_ones_and_the_same_for_the_same_key() -> None:
    pairs = drawn(cells(9), 10, KEY)
    assert len(set(pairs)) == 10
    assert pairs == drawn(cells(9), 10, KEY)
    assert pairs != drawn(cells(9), 10, b"release-2")
    assert len(drawn(cells(4), 100, KEY)) == 6


def test_each_pair_is_asked_in_both_orders_and_a_tenth_once_more() -> None:
    items = pair_items("n", circulant(cells(10), 3), "j", KEY, 10)
    planned = [item for item in items if item.repeat == 0]
    again = [item for item in items if item.repeat == 1]
    orders = Counter((item.first, item.second, item.shown_a) for item in planned)
    assert set(orders.values()) == {1}
    assert len(planned) == 60
    assert len(again) == 6
    assert all(item.model_copy(update={"repeat": 0}) in planned for item in again)
    assert again != [item for item in pair_items("n", circulant(cells(10), 3), "k", KEY, 10) if item.repeat]


def test_names_of_askings_differ_and_so_does_their_order_by_judge_and_key() -> None:
    items: list[Item] = [*pair_items("n", circulant(cells(6), 2), "j", KEY, 50)]
    items += rubric_items(cells(6), ("scope", "clarity"), "one", 2)
    items += [
        ControlItem(control=kind, nomination="n", cell=None, shown_a="first", expected=Choice.TIE, number=number)
        for kind in ControlKind
        for number in (1, 2)
    ]
    names = [item_name(item) for item in items]
    assert len(set(names)) == len(names)
    orders = [
        [item_name(each) for each in in_stream(items, judge, key)]
        for judge, key in (("j", KEY), ("k", KEY), ("j", b"x"))
    ]
    assert all(sorted(order) == sorted(names) for order in orders)
    assert len({tuple(order) for order in orders}) == 3


def test_controls_stand_anywhere_in_the_stream() -> None:
    items: list[Item] = [*pair_items("n", circulant(cells(20), 5), "j", KEY, 10)]
    control = ControlItem(
        control=ControlKind.PADDED, nomination="n", cell=None, shown_a="first", expected=Choice.TIE, number=1
    )
    items += [control.model_copy(update={"number": number}) for number in range(1, 13)]
    places = [at for at, item in enumerate(in_stream(items, "j", KEY)) if isinstance(item, ControlItem)]
    assert max(after - before for before, after in pairwise([0, *places, len(items)])) < len(items) / 2


def test_criteria_come_one_by_one_or_take_turns() -> None:
    one = list(rubric_items(cells(1), ("a", "b", "c"), "one", 2))
    assert [item.criteria for item in one] == [("a",), ("b",), ("c",)] * 2
    together = list(rubric_items(cells(3), ("a", "b", "c"), "all", 1))
    assert [item.criteria for item in together] == [("a", "b", "c"), ("b", "c", "a"), ("c", "a", "b")]


def test_a_lot_is_an_hmac_and_a_coin_is_fair() -> None:
    # RFC 4231 fixes HMAC-SHA256; this is OpenSSL's answer for our input.
    assert lot(b"key", "use", "a", "b").hex() == LOT
    heads = sum(coin(KEY, "side", str(number)) for number in range(1000))
    assert 440 < heads < 560
    assert shuffled(KEY, "x", "abc", str) == shuffled(KEY, "x", "cba", str)


LOT = "ea83d9308e91f3c68b7aa01f2feb4e0e8de012d5f864f6673ad2a6f142c750c9"


@pytest.mark.parametrize(("count", "percent", "part"), [(0, 5, 0), (1, 5, 1), (20, 5, 1), (21, 5, 2), (60, 10, 6)])
def test_a_share_is_rounded_up(count: int, percent: int, part: int) -> None:
    assert share(count, percent) == part


DONE = Facts(captured=True, tests_passed=True)
BARS = ("submitted", "tests_passed", "solved")


@pytest.mark.parametrize(
    ("facts", "solved", "reached"),
    [
        pytest.param(DONE, True, BARS, id="solved"),
        pytest.param(DONE, False, BARS[:2], id="tests-passed"),
        pytest.param(DONE.model_copy(update={"tests_passed": False}), False, BARS[:1], id="tests-failed"),
        pytest.param(DONE.model_copy(update={"tests_passed": None}), False, BARS[:1], id="tests-not-run"),
        pytest.param(Facts(), False, (), id="nothing"),
        pytest.param(DONE.model_copy(update={"violations": (Violation(rule="denied"),)}), False, (), id="violation"),
        pytest.param(
            DONE.model_copy(update={"failure": AgentFailure(cause=FailureCause.TIMEOUT)}), False, (), id="failure"
        ),
        pytest.param(
            DONE.model_copy(update={"void": VoidFact(blame=Blame.HOST, phase=Phase.EVALUATORS, reason="r")}),
            False,
            (),
            id="void",
        ),
    ],
)
def test_each_bar_is_reached_by_what_came_as_far(facts: Facts, solved: bool, reached: tuple[str, ...]) -> None:  # noqa: FBT001
    bars: tuple[Bar, ...] = ("submitted", "tests_passed", "solved")
    assert tuple(bar for bar in bars if passes(bar, facts, solved=solved)) == reached


def judge(name: str, family: str | None, model: str = "x/judge") -> Judge:
    return Judge(id=name, model=model, route="r", family=family)


def candidate(name: str, family: str | None, model: str = "x/candidate") -> Candidate:
    return Candidate(id=name, agent=Agent.NATIVE, model=model, route="r", family=family)


CANDIDATES = {
    "c0": candidate("c0", "Red"),
    "c1": candidate("c1", "Blue"),
    "c2": candidate("c2", None),
    "oracle": Candidate(id="oracle", agent=Agent.ORACLE),
}
JUDGES = {
    "red": judge("red", "red"),
    "green": judge("green", "green"),
    "nobodys": judge("nobodys", None),
    "twin": judge("twin", "grey", model="vendor/candidate:free"),
}


def item(first: str, second: str) -> PairItem:
    one, other = (
        Cell(candidate=name, nomination="n", attempt=1, try_=1, submission_sha256="0" * 64) for name in (first, second)
    )
    return PairItem(nomination="n", first=one, second=other, shown_a="first")


def answers(name: str, pair: Item, judging: Judging) -> str | None:
    found = who_answers(JUDGES[name], pair, judging, JUDGES, CANDIDATES)
    return None if isinstance(found, Skipped) else found.id


@pytest.mark.parametrize(
    ("name", "pair", "judging", "who"),
    [
        pytest.param("green", ("c0", "c1"), Judging(), "green", id="another-family"),
        pytest.param("red", ("c0", "c1"), Judging(), None, id="own-family-first"),
        pytest.param("red", ("c1", "c0"), Judging(), None, id="own-family-second"),
        pytest.param("red", ("c0", "c1"), Judging(own_family=True), "red", id="allowed"),
        pytest.param("red", ("c0", "c1"), Judging(fallback="green"), "green", id="fallback"),
        pytest.param("red", ("c0", "c1"), Judging(fallback="red"), None, id="itself"),
        pytest.param("green", ("c0", "c2"), Judging(), None, id="candidate-of-no-family"),
        pytest.param("nobodys", ("c0", "c1"), Judging(), None, id="judge-of-no-family"),
        pytest.param("nobodys", ("c0", "c1"), Judging(fallback="red"), None, id="fallback-of-the-family"),
        pytest.param("twin", ("c0", "c1"), Judging(), None, id="same-model-by-another-name"),
        pytest.param("red", ("oracle", "c1"), Judging(), "red", id="control"),
    ],
)
def test_no_judge_sees_its_own_family(name: str, pair: tuple[str, str], judging: Judging, who: str | None) -> None:
    assert answers(name, item(*pair), judging) == who


def test_it_holds_for_points_and_for_controls_too() -> None:
    cell = item("c0", "c1").first
    control = ControlItem(
        control=ControlKind.PADDED, nomination="n", cell=cell, shown_a="first", expected=Choice.TIE, number=1
    )
    for each in (RubricItem(cell=cell, criteria=("scope",)), control):
        assert contestants(each) == ("c0",)
        assert answers("red", each, Judging()) is None
    assert answers("red", control.model_copy(update={"cell": None}), Judging()) == "red"


def test_an_answer_is_used_again_only_for_the_very_same_call() -> None:
    calls = [
        cache_key("j", "1" * 64, "2" * 64, "3" * 64, 0),
        cache_key("k", "1" * 64, "2" * 64, "3" * 64, 0),
        cache_key("j", "2" * 64, "1" * 64, "3" * 64, 0),
        cache_key("j", "1" * 64, "2" * 64, "4" * 64, 0),
        cache_key("j", "1" * 64, "2" * 64, "3" * 64, 1),
    ]
    assert len(set(calls)) == len(calls)
    assert calls[0] == cache_key("j", "1" * 64, "2" * 64, "3" * 64, 0)


def test_all_settings_of_a_judge_its_route_and_the_release_are_in_the_digest() -> None:
    route = Route(id="r", base_url="https://models.example/v1")
    digests = {
        settings_digest(JUDGES["red"], route, Judging()),
        settings_digest(JUDGES["green"], route, Judging()),
        settings_digest(JUDGES["red"], route.model_copy(update={"extra_body": {"temperature": 0}}), Judging()),
        settings_digest(JUDGES["red"], route, Judging(show_solution="projected")),
    }
    assert len(digests) == 4
