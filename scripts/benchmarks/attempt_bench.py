"""A whole oracle attempt, from its beginning to the next one's, less what its own programs took."""

import json
from itertools import pairwise
from pathlib import Path

from figures import Figure, Measured
from rooms import state_folder

from tests.flow.bench import CONFIG, Bench, write_bench

_ATTEMPTS = 6
_RELEASE = CONFIG | {"attempts": _ATTEMPTS, "candidates": [{"id": "oracle", "agent": "oracle"}]}


def figures() -> list[Figure]:
    """Freeze and run a small release, and read the times from its evidence."""
    with state_folder() as folder:
        bench = write_bench(folder / "checkout", _RELEASE)
        for command in ("freeze", "pilot"):
            said = bench.run(command)
            if said.code:
                raise RuntimeError(f"runner {command} ended with {said.code}: {said.err}")
        submissions = [_document(bench, number, "submission/submission.json") for number in range(1, _ATTEMPTS + 1)]
        gradings = [_document(bench, number, "gradings/grading-1/grading.json") for number in range(1, _ATTEMPTS + 1)]
    programs = [_programs(one) + _programs(other) for one, other in zip(submissions, gradings, strict=True)]
    starts = [int(str(each["started_ms"])) for each in submissions]
    whole = [after - before for before, after in pairwise(starts)]
    beyond = tuple((took - own) / 1000 for took, own in zip(whole, programs, strict=False))
    return [
        Figure(
            what="attempt: oracle, whole", ours=Measured(name="runner", seconds=tuple(each / 1000 for each in whole))
        ),
        Figure(what="attempt: beyond its programs", ours=Measured(name="runner", seconds=beyond)),
    ]


def _document(bench: Bench, attempt: int, name: str) -> dict[str, object]:
    file = Path(bench.attempt("oracle")).with_name(f"attempt-{attempt}") / "try-1" / name
    document: dict[str, object] = json.loads(file.read_bytes())
    return document


def _programs(document: dict[str, object]) -> int:
    """Add up the wall time of a document's units, in milliseconds."""
    phases = document["phases"]
    spent = phases.values() if isinstance(phases, dict) else ()
    return sum(each["wall_ms"] for each in spent if each is not None)
