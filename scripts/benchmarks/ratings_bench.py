"""Ratings: 50 models, 5,000 comparisons of 200 tasks, 1,000 samples of tasks; against choix and evalica.

Both are loaded from the package index into an environment of their own, which is thrown away.
"""

import hashlib
import json
import math
import random
import subprocess
import sys
import time
import venv
from itertools import combinations
from pathlib import Path
from tempfile import TemporaryDirectory

from figures import Figure, Measured

from runner.judging.draws import resample
from runner.judging.newton import games, np, strengths
from runner.judging.ratings import rate
from runner.judging.scales import ELO, Comparison, Method

_MODELS, _TASKS, _PAIRS, _DRAWS, _ROUNDS = 50, 200, 25, 1000, 5
_MOST_MS = 1000
_RIVALS = ("choix==0.4.1", "evalica==0.4.2")
_SEED = hashlib.sha256(b"ratings bench").digest()
_NO_RIDGE = 1e-9


def figures() -> list[Figure]:
    """Measure ours whole (fits, errors, samples, intervals), and the bare fits of the others."""
    rows = _comparisons()
    method = Method(seed=_SEED, draws=_DRAWS)
    ours = Measured(name="newton", seconds=tuple(_timed(rows, method) for _ in range(_ROUNDS)))
    rivals = _rivals(rows)
    named = {
        each.name: each.points / ELO for each in rate(rows, Method(seed=_SEED, ridge=_NO_RIDGE, draws=1))[0].ratings
    }
    for name, told in rivals.items():
        apart = max(abs(logit - named[f"{number:02}"]) for number, logit in enumerate(told["logits"]))
        print(f"bench: ratings: {name} and ours without a ridge differ by at most {apart:.1e} logits")
    one = Measured(name="newton", seconds=tuple(_one_fit(rows) for _ in range(_ROUNDS)))
    return [
        Figure(what="ratings: whole, 1,000 samples", ours=ours, most_ms=_MOST_MS),
        *(
            Figure(
                what="ratings: 1,000 samples alone by the other",
                ours=ours,
                theirs=Measured(name=name, seconds=(told["samples"],)),
                least=1,
            )
            for name, told in rivals.items()
        ),
        *(
            Figure(what="ratings: one fit", ours=one, theirs=Measured(name=name, seconds=(told["fit"],)))
            for name, told in rivals.items()
        ),
    ]


def _comparisons() -> list[Comparison]:
    dice = random.Random(1)  # noqa: S311 - no secret is made of it
    strength = [dice.gauss(0, 1) for _ in range(_MODELS)]
    pairs = list(combinations(range(_MODELS), 2))
    return [
        Comparison(task=f"{task:03}", first=f"{i:02}", second=f"{j:02}", share=_share(strength[i] - strength[j], dice))
        for task in range(_TASKS)
        for i, j in dice.sample(pairs, _PAIRS)
    ]


def _share(logit: float, dice: random.Random) -> float:
    chance = 1 / (1 + math.exp(-logit))
    return dice.choices((1.0, 0.5, 0.0), (0.9 * chance, 0.1, 0.9 * (1 - chance)))[0]


def _timed(rows: list[Comparison], method: Method) -> float:
    started = time.perf_counter()
    rate(rows, method)
    return time.perf_counter() - started


def _numbered(rows: list[Comparison]) -> list[tuple[int, int, float, int]]:
    return [(int(each.first), int(each.second), each.share, int(each.task)) for each in rows]


def _one_fit(rows: list[Comparison]) -> float:
    given = games(_numbered(rows), size=_MODELS, tasks=_TASKS)
    started = time.perf_counter()
    strengths(given.wins(np.ones((1, len(rows)))), 0.1)
    return time.perf_counter() - started


def _rivals(rows: list[Comparison]) -> dict[str, dict[str, object]]:
    """Run the others in an environment of their own."""
    question = {
        "size": _MODELS,
        "tasks": _TASKS,
        "rows": _numbered(rows),
        "draws": [resample(_SEED, draw, _TASKS) for draw in range(_DRAWS)],
    }
    with TemporaryDirectory(prefix="cleanroom-bench-") as folder:
        print(f"bench: ratings: loading {' and '.join(_RIVALS)} into an environment that is thrown away", flush=True)
        venv.create(folder, with_pip=True, symlinks=True)
        python = Path(folder) / "bin/python"
        numpy = f"numpy=={np.__version__}"
        install = (python, "-m", "pip", "install", "-qq", "--disable-pip-version-check", numpy, *_RIVALS)
        subprocess.run(install, check=True)
        program = Path(__file__).with_name("rival_ratings.py")
        done = subprocess.run(
            (python, "-I", program), input=json.dumps(question), stdout=subprocess.PIPE, text=True, check=True
        )
    answer: dict[str, dict[str, object]] = json.loads(done.stdout)
    return answer


if __name__ == "__main__":
    sys.exit("run scripts/bench ratings")
