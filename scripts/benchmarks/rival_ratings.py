"""Run by `ratings_bench` in a throw-away environment with choix and evalica: the same fits by them, as JSON.

Standard input: {"size", "tasks", "rows": [[first, second, share, task], ...], "draws": [[task, ...], ...]}.
"""

import json
import sys
import time

import choix
import evalica
import numpy as np
import pandas as pd


def main() -> None:
    """Time one fit and all of the samples, by each of the two."""
    given = json.load(sys.stdin)
    rows = np.array(given["rows"])
    first, second, share = rows[:, 0].astype(int), rows[:, 1].astype(int), rows[:, 2]
    task, size = rows[:, 3].astype(int), given["size"]
    choices = {1.0: evalica.Winner.X, 0.5: evalica.Winner.Draw, 0.0: evalica.Winner.Y}
    names = [str(number) for number in range(size)]
    xs, ys = [names[each] for each in first], [names[each] for each in second]
    winners, index = [choices[each] for each in share], pd.Index(names)
    ones = np.ones(len(rows))
    samples = [np.bincount(draw, minlength=given["tasks"])[task].astype(float) for draw in given["draws"]]

    def by_choix(weights: np.ndarray) -> np.ndarray:
        wins = np.zeros((size, size))
        np.add.at(wins, (first, second), weights * share)
        np.add.at(wins, (second, first), weights * (1 - share))
        return choix.ilsr_pairwise_dense(wins, alpha=0.0)

    def by_evalica(weights: np.ndarray) -> np.ndarray:
        found = evalica.bradley_terry(xs, ys, winners, index=index, weights=weights.tolist())
        return np.log(found.scores[names].to_numpy(dtype=float))

    told = {}
    for name, fit in {"choix": by_choix, "evalica": by_evalica}.items():
        scores = fit(ones)
        started = time.perf_counter()
        fit(ones)
        middle = time.perf_counter()
        for weights in samples:
            fit(weights)
        ended = time.perf_counter()
        told[name] = {"fit": middle - started, "samples": ended - middle, "logits": (scores - scores.mean()).tolist()}
    json.dump(told, sys.stdout)


if __name__ == "__main__":
    main()
