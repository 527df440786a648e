"""Looking into a run that was really made, and giving its disk back: nothing sealed is touched."""

import json
from pathlib import Path
from secrets import token_hex

from tests.flow.bench import Bench, copied, listing

LOOSE = "b" * 64


def test_an_attempt_is_shown_with_what_its_model_said_and_its_walls(piloted: Bench) -> None:
    said = piloted.run("show", "right/clamp/attempt-1")
    assert said.code == 0, said.err
    for line in (
        "outcome     completed: it came to its end, and the public tests passed",
        "  3. the model calls write_file  (request 1)",
        "  |         return min(high, max(low, value))",
        "  | +    return min(high, max(low, value))",
        "hidden check hidden passed (in_process), score 1: 3 of 3 cases passed",
        "  sockets it may open: AF_INET, AF_INET6, AF_UNIX; interfaces: lo",
    ):
        assert f"{line}\n" in said.out, line
    both = piloted.run("show", "right/clamp/attempt-1", "nop/clamp/attempt-1", "--json")
    shown = json.loads(both.out)
    assert shown["parting"]["says"] == "the first calls write_file, the second makes no further call"
    assert {row["what"] for row in shown["cases"]} == {
        "public tests",
        "hidden check hidden",
        "hidden: test_hidden.py::test_high",
    }


def test_what_nothing_needs_goes_and_all_evidence_stays(piloted: Bench, benches: Path) -> None:
    bench = copied(piloted, benches / f"pruned-{token_hex(3)}")
    state = bench.checkout / ".cleanroom"
    (state / "toolchains" / LOOSE / "tree").mkdir(parents=True)
    (state / "objects" / LOOSE).mkdir()
    before = listing(bench.store)
    asked = bench.run("prune")
    assert asked.code == 2, asked.out
    assert "nobody can be asked here" in asked.err
    assert (state / "toolchains" / LOOSE).is_dir()
    said = bench.run("prune", "--yes", "--json")
    assert said.code == 0, said.err
    gone = [json.loads(line)["place"] for line in said.out.splitlines()]
    assert {str(state / "toolchains" / LOOSE), str(state / "objects" / LOOSE)} <= set(gone)
    assert not any(Path(each).exists() for each in gone)
    assert listing(bench.store) == before
    assert bench.run("verify").code == 0
    # Stored trees of harnesses went as well: they come back when a unit needs them.
    again = bench.run("pilot", "--candidate", "recorded")
    assert again.code == 0, again.err
