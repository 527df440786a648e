"""Judging on real units: judges alone are asked, what was sealed stays as it is, and what they say is verified."""

import errno
import json
from pathlib import Path

import pytest

from tests.flow.bench import Bench, Said, copied, listing

pytestmark = pytest.mark.systemd


@pytest.fixture(scope="module")
def judged(piloted: Bench, benches: Path) -> tuple[Bench, dict[str, tuple[int, bytes]], Said]:
    """A piloted release that was judged; its evidence from before, and what the command said."""
    bench = copied(piloted, benches / "judged")
    before = listing(bench.store)
    return bench, before, bench.run("judge")


def _documents(bench: Bench, name: str) -> list[dict[str, object]]:
    return [json.loads(path.read_bytes()) for path in sorted(bench.store.rglob(name))]


def test_everything_that_was_sealed_is_untouched(judged: tuple[Bench, dict[str, tuple[int, bytes]], Said]) -> None:
    bench, before, said = judged
    assert said.code == 0, said.err
    after = listing(bench.store)
    assert {path: after.get(path) for path in before} == before
    added = {path for path in after if path not in before}
    assert all(path.startswith("judging/") or "/judges/" in path for path in added)
    assert added


def test_points_and_verdicts_are_kept_and_a_garbled_answer_is_asked_for_again(
    judged: tuple[Bench, dict[str, tuple[int, bytes]], Said],
) -> None:
    bench, _, _ = judged
    verdicts = _documents(bench, "verdict.json")
    points = [each for each in verdicts if each["schema"] == "cleanroom/rubric-verdict/1"]
    assert [each["scores"][0]["points"] for each in points] == [7] * 6  # type: ignore[index] - JSON
    pairs = [each["item"] for each in verdicts if each["item"]["kind"] == "pairwise"]  # type: ignore[index] - JSON
    assert sorted((each["shown_a"], each["repeat"]) for each in pairs)[::2]  # type: ignore[index] - JSON
    assert {each["shown_a"] for each in pairs} == {"first", "second"}  # type: ignore[index] - JSON
    none = [each for each in _documents(bench, "unscored.json") if each["item"]["kind"] == "rubric"]  # type: ignore[index] - JSON
    assert {each["why"] for each in none} == {"unparsable"}
    assert sorted(each["asked"]["number"] for each in none) == [1, 1, 1, 2, 2, 2]  # type: ignore[index] - JSON
    assert b"seven of ten" not in b"".join(path.read_bytes() for path in bench.store.rglob("unscored.json"))
    assert any(b"seven of ten" in path.read_bytes() for path in bench.store.rglob("answer.txt"))


def test_a_judge_that_looks_around_reads_the_tree_and_writes_nothing(
    judged: tuple[Bench, dict[str, tuple[int, bytes]], Said],
) -> None:
    bench, _, _ = judged
    files = sorted(bench.store.rglob("judges/looker/*/verdict.json"))
    asked = [json.loads(path.read_bytes())["asked"] for path in files]
    assert len(asked) == 3
    records = {path.parent.name: json.loads(path.read_bytes()) for path in bench.store.glob("judging/workspaces/*/*")}
    assert {each["workspace_sha256"] for each in asked} == set(records)
    for path in files:
        launcher = json.loads(path.with_name("launcher.json").read_bytes())["units"]["judge"]
        assert launcher["writing"]["/work"] == errno.EROFS
        assert len(path.with_name("ledger.jsonl").read_bytes().splitlines()) == 2
    others = [each for each in _documents(bench, "verdict.json") if each["asked"]["judge"] != "looker"]  # type: ignore[index] - JSON
    assert {each["asked"]["workspace_sha256"] for each in others} == {None}  # type: ignore[index] - JSON


def test_it_verifies_and_asks_nothing_twice(judged: tuple[Bench, dict[str, tuple[int, bytes]], Said]) -> None:
    bench, _, _ = judged
    verified = bench.run("verify")
    assert verified.code == 0, verified.out
    assert "judging" not in verified.err
    before = listing(bench.store)
    refused = bench.run("judge")
    assert (refused.code, "--resume" in refused.err) == (2, True)
    again = bench.run("judge", "--resume")
    assert again.code == 0, again.err
    assert again.out.startswith("nothing was left to ask")
    assert listing(bench.store) == before
    summary = json.loads((bench.tables / "judging.json").read_bytes())
    assert summary["scripted"] is True
    batches = {each["judge"]: each["batch"] for each in summary["judges"]}
    assert batches == {"even": "lost", "garbled": "lost", "looker": "lost"}
    assert any("lost batch" in note for note in summary["notes"])
    assert "solution" not in json.dumps(summary["candidates"])


def test_a_changed_byte_is_found(judged: tuple[Bench, dict[str, tuple[int, bytes]], Said], benches: Path) -> None:
    bench = copied(judged[0], benches / "judged-flipped", runnable=False)
    file = next(bench.store.glob("right/clamp/attempt-1/try-1/judges/even/*/verdict.json"))
    file.chmod(0o644)
    file.write_bytes(file.read_bytes().replace(b'"points":7', b'"points":9'))
    said = bench.run("verify", "--no-rebuild")
    assert said.code == 3
    assert "verdict.json" in said.out


def test_a_dry_run_shows_calls_and_one_whole_question_and_writes_nothing(frozen: Bench, piloted: Bench) -> None:
    before = listing(piloted.store)
    said = piloted.run("judge", "--dry-run", "--judge", "even", "--nomination", "clamp")
    assert said.code == 0, said.err
    assert "even (scripted/even): " in said.out
    assert "Mend clamp in clamp.py" in said.out
    assert "The word " in said.out
    assert listing(piloted.store) == before
    looks = piloted.run("judge", "--dry-run", "--judge", "looker")
    assert "looker looks around by agent native: /usr/bin/python3" in looks.out
    assert "at most 16 calls, no ceiling of USD, no ceiling of tokens, 80 requests" in looks.out
    (shown,) = (line for line in looks.out.splitlines() if line.startswith("  BindReadOnlyPaths="))
    assert "'/work'" in shown
    nothing = frozen.run("judge", "--dry-run")
    assert nothing.code == 2
    assert "runner pilot" in nothing.err
