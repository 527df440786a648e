"""Bradley-Terry: known answers (facts 1.5 and 1.6), invariances, and what cannot be rated."""

import hashlib
import math
import random
import sys
from collections.abc import Sequence
from itertools import combinations, pairwise, permutations

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from runner.judging.draws import resample
from runner.judging.graph import circles, islands
from runner.judging.newton import NotSettledError, bootstrap, bread, clustered, games, strengths
from runner.judging.ratings import FALLS_APART, ONE_TASK, ONE_WAY, StatsMissingError, rate
from runner.judging.scales import ELO, Comparison, Method, Scale

SEED = hashlib.sha256(b"release root").digest()
METHOD = Method(seed=SEED, draws=200)

Table = Sequence[Sequence[float]]


def fit(wins: Table, ridge: float = 0.0) -> list[float]:
    logits: list[float] = strengths(np.array([wins], dtype=float), ridge)[0].tolist()
    return logits


def close(found: Sequence[float], expected: Sequence[float], within: float = 1e-8) -> bool:
    return len(found) == len(expected) and all(abs(a - b) < within for a, b in zip(found, expected, strict=True))


def test_two_models_with_seven_wins_to_three() -> None:
    wins = np.array([[0.0, 7], [3, 0]])
    theta = strengths(wins[None], 0)[0]
    covariance = bread(wins, theta, 0)
    error = math.sqrt(covariance[0, 0] + covariance[1, 1] - 2 * covariance[0, 1])
    assert close([theta[0] - theta[1], error], [0.8472978604, 0.6900655593])
    assert abs((theta[0] - theta[1]) * ELO - 147.1907) < 1e-4


def test_three_models() -> None:
    wins = np.array([[0.0, 7, 9], [3, 0, 6], [1, 4, 0]])
    theta = strengths(wins[None], 0)[0]
    covariance = bread(wins, theta, 0)
    errors = [
        math.sqrt(covariance[i, i] + covariance[j, j] - 2 * covariance[i, j]) for i, j in combinations(range(3), 2)
    ]
    assert close(theta.tolist(), [0.9436058499, -0.1601606972, -0.7834451527])
    assert close((1000 + theta * ELO).tolist(), [1163.9211, 972.1772, 863.9016], 1e-4)
    assert close(errors, [0.6097526633, 0.6582991859, 0.5742376531])


WINS = np.array([[0.0, 6, 8], [2, 0, 5], [1, 2, 0]])
TIES = np.array([[0.0, 4, 3], [4, 0, 5], [3, 5, 0]])


def test_a_tie_is_half_a_win_for_each() -> None:
    halved = (WINS + TIES / 2).tolist()
    assert close(fit(halved), [0.6717958242, -0.0614922927, -0.6103035315])


def test_ties_that_are_dropped_stretch_the_scale() -> None:
    assert close(fit(WINS.tolist()), [1.0555171, -0.0604866, -0.9950305], 1e-7)


CLUSTERED = {
    0: (1, 1, 1), 1: (1, 0.5, 0), 2: (0, 1, 1), 3: (0.5, 1, 0.5), 4: (1, 1, 1), 5: (0, 0, 1),
}  # fmt: skip
"""By task, the first one's share in the pairs (0, 1), (0, 2), (1, 2)."""


def test_tasks_are_clusters() -> None:
    rows = [
        (*pair, share, task)
        for task, shares in CLUSTERED.items()
        for pair, share in zip(combinations(range(3), 2), shares, strict=True)
    ]
    given = games(rows, size=3, tasks=6)
    wins = given.wins(np.ones((1, 18)))
    theta = strengths(wins, 0)[0]
    assert wins[0].tolist() == [[0, 3.5, 4.5], [2.5, 0, 4.5], [1.5, 1.5, 0]]
    assert close(theta.tolist(), [0.4891574008, 0.2457207729, -0.7348781737])
    assert close(
        [_gap_error(bread(wins[0], theta, 0)), _gap_error(clustered(given, theta, 0))], [0.7640804351, 0.8268737704]
    )


def _gap_error(covariance: npt.NDArray[np.float64]) -> float:
    return math.sqrt(covariance[0, 0] + covariance[2, 2] - 2 * covariance[0, 2])


def test_the_order_of_showing_is_left_out() -> None:
    assert close(fit([[0, 24, 30], [16, 0, 26], [10, 14, 0]]), [0.4993666, 0.0716099, -0.5709764], 1e-7)


WINNER = [[0.0, 5, 5], [0, 0, 3], [0, 2, 0]]


def test_a_winner_of_everything_is_held_by_the_ridge() -> None:
    assert close(fit(WINNER, 0.1), [2.4633595451, -1.0458391711, -1.4175203740])
    for ridge, first in ((0.001, 5.071), (0.01, 3.737), (0.1, 2.463), (1, 1.282)):
        theta = strengths(np.array([WINNER]), ridge)[0]
        assert abs(theta[0] - first) < 1e-3
    errors = [
        math.sqrt(bread(np.array(WINNER), strengths(np.array([WINNER]), each)[0], each)[0, 0]) for each in (0.1, 1)
    ]
    assert close(errors, [2.2, 0.76], 0.05)


def test_a_winner_of_everything_has_no_rating_without_a_ridge() -> None:
    with pytest.raises(NotSettledError):
        fit(WINNER)


def compared(table: Table, names: str = "abcdefgh", tasks: int = 1) -> list[Comparison]:
    """Spread a table of whole wins over tasks."""
    found = []
    for i, row in enumerate(table):
        for j, wins in enumerate(row):
            for number in range(int(wins)):
                task = f"task-{(number + i + j) % tasks}"
                found.append(Comparison(task=task, first=names[i], second=names[j], share=1))
    return found


def points(scale: Scale) -> dict[str, float]:
    return {rating.name: rating.points for rating in scale.ratings}


def test_a_winner_of_everything_is_marked_and_has_no_interval() -> None:
    (scale,) = rate(compared(WINNER, tasks=3), METHOD)
    assert scale.groups == (("a",), ("b", "c"))
    assert scale.no_interval == ONE_WAY
    assert [rating.interval for rating in scale.ratings] == [None] * 3
    assert [gap.interval is None for gap in scale.gaps] == [True, False]
    assert scale.ratings[0].weaker > scale.ratings[0].points > scale.ratings[0].stronger


def test_what_nothing_joins_gets_no_common_scale() -> None:
    cycle = [[0, 3, 1], [1, 0, 3], [3, 1, 0]]
    scales = rate([*compared(cycle, "abc", 2), *compared([[0, 2], [1, 0]], "xy", 2)], METHOD)
    assert [{rating.name for rating in scale.ratings} for scale in scales] == [{"a", "b", "c"}, {"x", "y"}]
    for scale in scales:
        assert abs(sum(points(scale).values())) < 1e-9


def test_one_task_gives_no_interval() -> None:
    (scale,) = rate(compared([[0, 2], [1, 0]]), METHOD)
    assert scale.no_interval == ONE_TASK
    assert scale.ratings[0].interval is None
    assert scale.gaps[0].error is None


def test_samples_that_fall_apart_give_no_interval() -> None:
    rows = [
        Comparison(task="1", first="a", second="b", share=0.5),
        Comparison(task="2", first="b", second="c", share=0.5),
    ]
    (scale,) = rate(rows, METHOD)
    assert scale.no_interval == FALLS_APART
    assert 0 < scale.draws < 200


def test_nothing_compared_is_no_scale() -> None:
    assert rate([], METHOD) == ()


def simulated(seed: int, size: int = 6, tasks: int = 12) -> list[Comparison]:
    dice = random.Random(seed)  # noqa: S311 - no secret is made of it
    strength = {f"model-{number}": dice.gauss(0, 0.7) for number in range(size)}
    return [
        Comparison(task=f"task-{task}", first=one, second=other, share=_share(strength[one] - strength[other], dice))
        for task in range(tasks)
        for one, other in combinations(strength, 2)
    ]


def _share(logit: float, dice: random.Random) -> float:
    chance = 1 / (1 + math.exp(-logit))
    return dice.choices((1, 0.5, 0), (0.8 * chance, 0.2, 0.8 * (1 - chance)))[0]


def test_order_and_sides_of_comparisons_change_not_a_bit() -> None:
    rows = simulated(3)
    turned = [
        Comparison(task=each.task, first=each.second, second=each.first, share=1 - each.share)
        for each in reversed(rows)
    ]
    assert rate(rows, METHOD) == rate(turned, METHOD)


def test_names_do_not_matter() -> None:
    rows = simulated(4)
    new = {f"model-{number}": name for number, name in enumerate(("zoe", "ann", "kim", "bob", "una", "eve"))}
    renamed = [
        Comparison(task=each.task, first=new[each.first], second=new[each.second], share=each.share) for each in rows
    ]
    (scale,), (other,) = rate(rows, METHOD), rate(renamed, METHOD)
    for name, value in points(scale).items():
        assert abs(points(other)[new[name]] - value) < 1e-7
    assert [new[rating.name] for rating in scale.ratings] == [rating.name for rating in other.ratings]


def test_all_wins_turned_round_turn_the_ratings_round() -> None:
    rows = simulated(5)
    turned = [Comparison(task=each.task, first=each.second, second=each.first, share=each.share) for each in rows]
    there, back = points(rate(rows, METHOD)[0]), points(rate(turned, METHOD)[0])
    for name, value in there.items():
        assert abs(back[name] + value) < 1e-7


def test_an_interval_holds_its_rating_and_shrinks_with_tasks() -> None:
    widths = []
    for tasks in (8, 80):
        (scale,) = rate(simulated(6, tasks=tasks), METHOD)
        for rating in scale.ratings:
            assert rating.interval is not None
            assert rating.interval.low < rating.points < rating.interval.high
        widths.append(sum(r.interval.high - r.interval.low for r in scale.ratings if r.interval))
    assert widths[1] < widths[0] / 2


def test_a_batch_is_its_single_fits() -> None:
    rows = simulated(7)
    (scale,) = rate(rows, METHOD)
    names = sorted(rating.name for rating in scale.ratings)
    given = games(
        [(names.index(e.first), names.index(e.second), e.share, int(e.task.removeprefix("task-"))) for e in rows],
        size=6,
        tasks=12,
    )
    theta = np.array([points(scale)[name] / ELO for name in names])
    together = bootstrap(given, theta, ridge=0.1, seed=SEED, draws=150)
    for draw in (0, 1, 99, 149):
        drawn = resample(SEED, draw, 12)
        weights = np.array([[float(drawn.count(task)) for task in given.task]])
        alone = strengths(given.wins(weights), 0.1)[0]
        assert np.abs(together[draw] - alone).max() < 1e-9


def test_an_interval_is_from_the_fifth_to_the_ninety_fifth_percentile_of_samples() -> None:
    rows = simulated(8, size=2, tasks=9)
    (scale,) = rate(rows, Method(seed=SEED, draws=201))
    given = games([(0, 1, each.share, int(each.task.removeprefix("task-"))) for each in rows], size=2, tasks=9)
    theta = np.array([points(scale)[name] / ELO for name in ("model-0", "model-1")])
    samples = sorted((bootstrap(given, theta, ridge=0.1, seed=SEED, draws=201)[:, 0] * ELO).tolist())
    interval = next(rating.interval for rating in scale.ratings if rating.name == "model-0")
    assert interval is not None
    assert close([interval.low, interval.high], [samples[10], samples[190]], 1e-6)


def test_a_fit_finds_back_from_a_start_that_is_far_off() -> None:
    even = np.array([[[0.0, 5], [5, 0]]])
    assert np.abs(strengths(even, 0.1, np.array([20.0, -20.0]))).max() < 1e-9


def minorised(wins: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Fit by minorisation (Hunter 2004): slow, and nothing like Newton."""
    played = wins + wins.transpose(0, 2, 1)
    strength = np.ones(wins.shape[:2])
    for _ in range(20_000):
        pairs = played / (strength[:, :, None] + strength[:, None, :])
        better = wins.sum(axis=2) / pairs.sum(axis=2)
        better /= np.exp(np.log(better).mean(axis=1, keepdims=True))
        if np.abs(better / strength - 1).max() < 1e-13:
            break
        strength = better
    return np.log(strength)


@pytest.mark.parametrize("size", [2, 3, 5, 8])
def test_newton_is_minorisation_on_graphs_with_a_maximum(size: int) -> None:
    dice = np.random.default_rng(size)
    tables = []
    while len(tables) < 50:
        wins = dice.integers(0, 4, (size, size)) / 2
        np.fill_diagonal(wins, 0)
        edges = {str(i): [str(j) for j in range(size) if wins[i, j] > 0] for i in range(size)}
        if len(circles(edges)) == 1:
            tables.append(wins)
    batch = np.array(tables)
    assert np.abs(strengths(batch, 0) - minorised(batch)).max() < 1e-9


def test_draws_are_the_same_on_every_machine() -> None:
    assert SEED.hex().startswith("2fec9e38")
    assert resample(SEED, 0, 8) == (6, 0, 0, 1, 0, 3, 6, 4)
    assert resample(SEED, 1, 8) == (7, 2, 7, 3, 4, 5, 5, 7)
    assert resample(SEED, 999, 5) == (4, 1, 3, 3, 1)


@pytest.mark.parametrize(("seed", "size"), [(b"short", 3), (SEED, 0)])
def test_draws_of_nothing_are_refused(seed: bytes, size: int) -> None:
    with pytest.raises(ValueError, match="expected 32 bytes"):
        resample(seed, 0, size)


@st.composite
def graphs(draw: st.DrawFn) -> dict[str, list[str]]:
    names = "abcdef"[: draw(st.integers(1, 6))]
    return {name: draw(st.lists(st.sampled_from(names), max_size=4)) for name in names}


@given(graphs())
@settings(max_examples=200, deadline=None)
def test_circles_are_those_who_reach_each_other(edges: dict[str, list[str]]) -> None:
    reach = {name: _reach(name, edges) for name in edges}
    found = circles(edges)
    assert sorted(name for part in found for name in part) == sorted(edges)
    place = {name: at for at, part in enumerate(found) for name in part}
    for one, other in permutations(edges, 2):
        assert (place[one] == place[other]) == (other in reach[one] and one in reach[other])
        if other in reach[one]:
            assert place[one] <= place[other]


@given(graphs())
@settings(max_examples=100, deadline=None)
def test_islands_are_joined_by_nothing(edges: dict[str, list[str]]) -> None:
    both = {name: [*below, *(up for up in edges if name in edges[up])] for name, below in edges.items()}
    place = {name: at for at, part in enumerate(islands(edges)) for name in part}
    for one in edges:
        for other in edges:
            assert (place[one] == place[other]) == (other in _reach(one, both))


def _reach(start: str, edges: dict[str, list[str]]) -> set[str]:
    seen, waiting = {start}, [start]
    while waiting:
        fresh = [name for name in edges[waiting.pop()] if name not in seen]
        seen |= set(fresh)
        waiting += fresh
    return seen


def test_a_long_chain_of_wins_is_no_error() -> None:
    edges = {str(at): [str(at + 1)] for at in range(5000)} | {"5000": []}
    assert len(circles(edges)) == 5001
    assert len(islands(edges)) == 1


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4), st.sampled_from([0, 0.25, 0.5, 1])), min_size=1))
@settings(max_examples=60, deadline=None)
def test_whatever_was_compared_has_finite_ratings_that_sum_to_nothing(rows: list[tuple[int, int, float]]) -> None:
    rows = [row for row in rows if row[0] != row[1]]
    assume(rows)
    compared = [
        Comparison(task=str(at % 3), first=f"m{one}", second=f"m{other}", share=share)
        for at, (one, other, share) in enumerate(rows)
    ]
    for scale in rate(compared, Method(seed=SEED, draws=5)):
        values = list(points(scale).values())
        assert all(math.isfinite(value) for value in values)
        assert abs(sum(values)) < 1e-6
        assert all(above > below - 1e-6 for above, below in pairwise(values))


@pytest.mark.parametrize(
    ("first", "second", "share"),
    [pytest.param("a", "a", 1, id="itself"), pytest.param("a", "b", 1.5, id="more than a win")],
)
def test_what_is_no_comparison_is_refused(first: str, second: str, share: float) -> None:
    with pytest.raises(ValueError, match="two different sides"):
        Comparison(task="t", first=first, second=second, share=share)


def test_without_numpy_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "numpy", None)
    monkeypatch.delitem(sys.modules, "runner.judging.newton")
    with pytest.raises(StatsMissingError, match=r"extra 'stats'.*cleanroom-runner\[stats\]"):
        rate(compared([[0, 2], [1, 0]]), METHOD)
