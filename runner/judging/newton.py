"""Bradley-Terry by Newton's method, many fits at once. The one module that imports numpy; `ratings` loads it late.

Model: P(i beats j) = 1 / (1 + exp(θj - θi)); a tie is half a win for each. What is maximised:
    Σ Wij log P(i beats j) - (λ/2) Σ θi²        W: wins, N = W + Wᵀ: games, λ: the ridge
    gradient gi = Σj Wij - Σj Nij Pij - λθi     Hessian H = diag(Σj vij) - v + λI, with v = N·P·(1 - P)

Source: R. Bradley, M. Terry, Rank analysis of incomplete block designs, Biometrika 39 (1952).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from runner.judging.draws import resample
from runner.judging.scales import ELO, LEVEL, MOST_LOST, STRONGER, WEAKER, Estimate, Interval, Method

Numbers = npt.NDArray[np.float64]
Indices = npt.NDArray[np.int64]

_LONGEST_STEP = 2.0
"""Logits. Longer steps than this overshoot where one side wins nearly everything."""
_SMALL_ENOUGH = 1e-10
_STEPS = 50
_WIDEST = 35.0
"""Logits. Beyond it a double cannot tell a chance from 1, and a maximum that does not exist looks like one."""
_CELLS_AT_ONCE = 250_000
"""Entries of the matrices that are solved together: what stays in a cache is solved fastest."""


class NotSettledError(ArithmeticError):
    """Newton's steps did not become small: the maximum does not exist, or lies beyond all doubles."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Games:
    """Comparisons as arrays, all of one length: who, against whom, the first one's share of the win, in which task."""

    size: int
    """How many take part; they are numbered from 0."""
    tasks: int
    """How many tasks there are; numbered from 0."""
    first: Indices
    second: Indices
    share: Numbers
    """From 0 (lost) over 0.5 (tie) to 1 (won)."""
    task: Indices

    def wins(self, weights: Numbers) -> Numbers:
        """Give wins as (B, size, size), from a weight a game as (B, games)."""
        cells = self.size * self.size
        batch = len(weights)
        start = np.arange(batch)[:, None] * cells
        ahead, behind = self.first * self.size + self.second, self.second * self.size + self.first
        won = np.bincount((start + ahead).ravel(), (weights * self.share).ravel(), batch * cells)
        won += np.bincount((start + behind).ravel(), (weights * (1 - self.share)).ravel(), batch * cells)
        found: Numbers = won.astype(np.float64, copy=False).reshape(batch, self.size, self.size)
        return found


def games(rows: Sequence[tuple[int, int, float, int]], *, size: int, tasks: int) -> Games:
    """Make arrays of rows of (first, second, share, task)."""
    table = np.array(rows, dtype=np.float64).reshape(len(rows), 4)
    whole = table.astype(np.int64)
    return Games(size=size, tasks=tasks, first=whole[:, 0], second=whole[:, 1], share=table[:, 2], task=whole[:, 3])


def strengths(wins: Numbers, ridge: float, start: Numbers | None = None) -> Numbers:
    """Fit each of a batch of win tables, all of them until the last has settled.

    Args:
        wins: (B, K, K), half wins allowed; the diagonal is 0.
        ridge: λ; 0 only where every table is strongly connected.
        start: (K,) where Newton begins; zeros if none.

    Returns:
        (B, K) logits; each row sums to 0.

    Raises:
        NotSettledError: there is no maximum.
    """
    batch, size, _ = wins.shape
    theta = np.tile(np.zeros(size) if start is None else start, (batch, 1))
    played = wins + wins.transpose(0, 2, 1)
    won = wins.sum(axis=2)
    here = np.arange(size)
    for _ in range(_STEPS):
        spread = np.exp(theta)
        chance = spread[:, :, None] / (spread[:, :, None] + spread[:, None, :])
        expected = played * chance
        slope = won - expected.sum(axis=2) - ridge * theta
        bend = -expected * chance.transpose(0, 2, 1)
        bend[:, here, here] = ridge  # a diagonal of no games holds nothing yet
        bend[:, here, here] -= bend.sum(axis=2) - ridge
        # Ratings have no zero of their own: this term fixes their sum, and changes no difference.
        bend += 1 / size
        step = _solved(bend, slope)
        longest = np.abs(step).max(axis=1, keepdims=True)
        theta += step * np.minimum(1, _LONGEST_STEP / np.maximum(longest, _SMALL_ENOUGH))
        theta -= theta.mean(axis=1, keepdims=True)
        if longest.max() < _SMALL_ENOUGH and (ridge > 0 or np.ptp(theta, axis=1).max() < _WIDEST):
            return theta
    raise NotSettledError(f"no maximum after {_STEPS} steps with a ridge of {ridge}")


def _solved(bend: Numbers, slope: Numbers) -> Numbers:
    try:
        step: Numbers = np.linalg.solve(bend, slope[:, :, None])[:, :, 0].astype(np.float64, copy=False)
    except np.linalg.LinAlgError as error:
        raise NotSettledError("not everybody is compared with everybody, over others") from error
    return step


def bread(wins: Numbers, theta: Numbers, ridge: float) -> Numbers:
    """Give the inverse of the Hessian, (K, K): the covariance if every game were independent of all others."""
    spread = np.exp(theta)
    chance = spread[:, None] / (spread[:, None] + spread[None, :])
    weight = (wins + wins.T) * chance * chance.T
    bend: Numbers = np.diag(weight.sum(axis=1)) - weight + ridge * np.eye(len(theta))
    inverse: Numbers = np.linalg.pinv(bend).astype(np.float64, copy=False)
    return inverse


def clustered(given: Games, theta: Numbers, ridge: float) -> Numbers:
    """Give the covariance of ratings with tasks as clusters, (K, K), times T/(T-1).

    Source: K.-Y. Liang, S. Zeger, Longitudinal data analysis using generalized linear models, Biometrika 73 (1986).
    """
    spread = np.exp(theta)
    chance = spread[given.first] / (spread[given.first] + spread[given.second])
    surprise = given.share - chance
    scores = np.zeros((given.tasks, given.size))
    np.add.at(scores, (given.task, given.first), surprise)
    np.add.at(scores, (given.task, given.second), -surprise)
    sides = bread(given.wins(np.ones((1, len(given.share))))[0], theta, ridge)
    covariance: Numbers = sides @ (scores.T @ scores) @ sides * given.tasks / (given.tasks - 1)
    return covariance


def bootstrap(given: Games, theta: Numbers, *, ridge: float, seed: bytes, draws: int) -> Numbers:
    """Fit samples of whole tasks, drawn with replacement; begin at the ratings of all of them.

    Returns:
        (D, K) logits, D at most `draws`: samples in which somebody is compared with nobody say nothing, and are left
        out.
    """
    at_once = max(1, _CELLS_AT_ONCE // given.size**2)
    bounds = [*range(0, draws, at_once), draws]
    fits = [np.zeros((0, given.size))]
    for low, high in pairwise(bounds):
        drawn = np.array([resample(seed, draw, given.tasks) for draw in range(low, high)])
        counts = np.zeros((high - low, given.tasks))
        np.add.at(counts, (np.arange(high - low)[:, None], drawn), 1)
        wins = given.wins(counts[:, given.task])
        whole = wins[_joined(wins)]
        if len(whole):
            fits.append(strengths(whole, ridge, theta))
    return np.concatenate(fits)


def _joined(wins: Numbers) -> npt.NDArray[np.bool_]:
    """Say of each table whether its games join everybody: as many steps from the first one as the graph is wide."""
    near = ((wins + wins.transpose(0, 2, 1)) > 0).astype(np.float64)
    reached = np.zeros((len(wins), wins.shape[1]))
    reached[:, 0] = 1
    before = 0.0
    while reached.sum() > before:
        before = reached.sum()
        reached = np.minimum(reached + (reached[:, None, :] @ near)[:, 0, :], 1)
    joined: npt.NDArray[np.bool_] = reached.min(axis=1) > 0
    return joined


def estimate(rows: Sequence[tuple[int, int, float, int]], sizes: tuple[int, int], method: Method) -> Estimate:
    """Fit comparisons and their samples, and tell it in plain numbers.

    Args:
        rows: (first, second, share, task) each.
        sizes: how many take part, and how many tasks there are; all of the first are joined by comparisons.
        method: ridge, seed and draws.
    """
    size, tasks = sizes
    given = games(rows, size=size, tasks=tasks)
    wins = given.wins(np.ones((1, len(rows))))
    theta, weaker, stronger = (strengths(wins, method.ridge * by)[0] for by in (1, WEAKER, STRONGER))
    order = np.lexsort((np.arange(size), -theta.round(9)))
    errors = samples = None
    if tasks > 1:
        errors = _gap_errors(clustered(given, theta, method.ridge), order)
        samples = bootstrap(given, theta, ridge=method.ridge, seed=method.seed, draws=method.draws)
    draws = 0 if samples is None else len(samples)
    if draws < method.draws * (1 - MOST_LOST):
        samples = None
    return Estimate(
        points=_points(theta),
        weaker=_points(weaker),
        stronger=_points(stronger),
        order=tuple(order.tolist()),
        intervals=None if samples is None else _intervals(samples),
        gaps=_points(theta[order[:-1]] - theta[order[1:]]),
        gap_errors=None if errors is None else _points(errors),
        gap_intervals=None if samples is None else _intervals(samples[:, order[:-1]] - samples[:, order[1:]]),
        draws=draws,
    )


def _gap_errors(covariance: Numbers, order: Indices) -> Numbers:
    above, below = order[:-1], order[1:]
    variance = covariance[above, above] + covariance[below, below] - 2 * covariance[above, below]
    return np.sqrt(np.maximum(variance, 0))


def _intervals(samples: Numbers) -> tuple[Interval, ...]:
    """Give percentile intervals of the columns."""
    tail = (1 - LEVEL) / 2
    low, high = np.quantile(samples * ELO, (tail, 1 - tail), axis=0)
    return tuple(Interval(low=each[0], high=each[1]) for each in zip(low.tolist(), high.tolist(), strict=True))


def _points(logits: Numbers) -> tuple[float, ...]:
    return tuple((logits * ELO).tolist())
