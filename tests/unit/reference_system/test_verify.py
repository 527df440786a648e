"""Laws of reading the reference system's releases: whole ones have no finding, each kind of damage has its own."""

import json
import os
import random
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from runner.canonical import canonical
from runner.reference_system.verify import (
    NO_MANIFEST,
    UNSIGNED,
    ReferenceReport,
    is_reference_release,
    verify_reference_release,
)
from tests.unit.reference_system.maker import (
    CANDIDATES,
    DIFF,
    SOURCE,
    Table,
    a_legacy_release,
    a_release,
    a_review,
    a_run,
    attempt,
    bound_again,
    put,
    rewritten,
    write,
)
from tests.unit.runner.evidence_maker import a_manifest as our_manifest


def named(report: ReferenceReport) -> str:
    return "\n".join(str(each) for each in report.findings)


def test_a_release_that_nobody_touched_has_no_findings(tmp_path: Path) -> None:
    root = a_release(tmp_path)
    assert is_reference_release(root)
    report = verify_reference_release(root)
    assert report.findings == ()
    assert (report.release, report.attempts, report.missing) == ("r1", 8, ())
    assert report.files == len([each for each in root.rglob("*.*") if each.is_file()]) - 1


def test_it_says_that_its_hashes_prove_no_origin_and_what_else_was_not_checked(tmp_path: Path) -> None:
    said = verify_reference_release(a_release(tmp_path)).unchecked
    assert UNSIGNED in said
    assert "nothing of it is signed" in UNSIGNED
    for word in ("fixtures", "judges' answers", "not applied", "aggregate.md", "judge_average_by_id"):
        assert any(word in each for each in said), word


def of(candidate: str, *names: str) -> Callable[[Path], Path]:
    return lambda root: attempt(root, candidate).joinpath(*names)


GOOD, UNTESTED, BROKEN, ABSENT = (of(name) for name in ("good", "untested", "broken", "absent"))


def edit(name: str, change: Callable[[Table], object], place: Callable[[Path], Path] = GOOD) -> Callable[[Path], None]:
    """Change an artifact, its own hash made again."""
    return lambda root: rewritten(place(root) / name, change)


def unhashed(name: str, change: Callable[[bytes], bytes]) -> Callable[[Path], None]:
    """Change a file and no hash."""
    return lambda root: _change(GOOD(root) / name, change)


def _change(path: Path, change: Callable[[bytes], bytes]) -> None:
    path.write_bytes(change(path.read_bytes()))


def rebound(name: str, key: str, change: Callable[[Table], object]) -> Callable[[Path], None]:
    """Change evidence, and make its hash and the one in run.json again."""

    def harm(root: Path) -> None:
        rewritten(GOOD(root) / name, change)
        bound_again(GOOD(root), [(key, name)])

    return harm


def plan(change: Callable[[Table], object]) -> Callable[[Path], None]:
    return lambda root: rewritten(root / "manifest.json", change)


def table(change: Callable[[Table], object]) -> Callable[[Path], None]:
    return lambda root: rewritten(root / "aggregate.json", change)


def copied(root: Path) -> None:
    shutil.copytree(root / "good" / "ledger", root / "good" / "retry", dirs_exist_ok=True)


def again(root: Path) -> None:
    shutil.copytree(GOOD(root), GOOD(root).with_name("attempt-2"))


def linked(root: Path) -> None:
    path = GOOD(root) / "candidate.diff"
    path.rename(root.parent / "elsewhere")
    path.symlink_to(root.parent / "elsewhere")


def piped(root: Path) -> None:
    (GOOD(root) / "run.json").unlink()
    os.mkfifo(GOOD(root) / "run.json")


def wider(root: Path) -> None:
    """Change more than what the run lists."""
    _change(GOOD(root) / "candidate.diff", lambda data: data + data.replace(b"reconcile", b"cheating"))
    bound_again(GOOD(root), [("candidate_diff", "candidate.diff")])


DAMAGE: dict[str, tuple[Callable[[Path], None], str]] = {
    "flipped byte of a diff": (unhashed("candidate.diff", lambda data: data.replace(b"one", b"ons")), "found sha256 "),
    "flipped byte of a run": (
        unhashed("run.json", lambda data: data.replace(b"vendor/good", b"vendor/gone")),
        "run.json: found artifact_hash ",
    ),
    "number of a run": (unhashed("run.json", lambda data: data.replace(b"9000,", b"9001,")), "found artifact_hash "),
    "duplicate key": (
        unhashed("run.json", lambda data: data.replace(b"{", b'{\n  "outcome": "completed",', 1)),
        "run.json: found the key 'outcome' stands twice",
    ),
    "broken JSON": (unhashed("run.json", lambda data: data[:-5]), "run.json: found broken JSON at line"),
    "no UTF-8": (unhashed("run.json", lambda data: data.replace("ó".encode(), b"\xff")), "that is no UTF-8"),
    "no table": (unhashed("run.json", lambda _: b"[]\n"), "found JSON of another kind; expected a JSON table"),
    "another type": (edit("run.json", lambda run: run.update(changed_files="all")), "run.json: changed_files: found"),
    "missing member": (edit("run.json", lambda run: run.pop("agent")), "run.json: agent: found nothing"),
    "no hash": (unhashed("run.json", lambda data: data.replace(b'"artifact_hash"', b'"hash"')), "no artifact_hash"),
    "hash of another": (
        lambda root: _change(GOOD(root) / "judges/judge.json", lambda data: data.replace(b'"judge.json"', b'"x.json"')),
        "judge.json: found the artifact_hash of x.json; expected its own",
    ),
    "later version": (edit("run.json", lambda run: run.update(schema_version=2)), "found schema_version 2; expected 1"),
    "file gone": (lambda root: (GOOD(root) / "test-result.json").unlink(), "test-result.json: found nothing; expected"),
    "run gone": (lambda root: (GOOD(root) / "run.json").unlink(), "expected the run of good/ledger/attempt-1"),
    "evidence nobody names": (
        edit("run.json", lambda run: run["artifacts"].pop("objective_evaluator")),
        "found no hash of objective-evaluator.json, which is there",
    ),
    "diff nobody names": (
        edit("run.json", lambda run: run["artifacts"].pop("candidate_diff")),
        "found no hash of candidate.diff; expected the change, also where it is empty",
    ),
    "link": (linked, "candidate.diff: found Too many levels of symbolic links"),
    "pipe": (piped, "run.json: found not a regular file"),
    "diff of more": (wider, "candidate.diff: found a change of fixtures/ledger/src/cheating.js"),
    "hidden forbidden change": (
        edit("run.json", lambda run: run["changed_files"].append("package.json")),
        "found forbidden_changes []; expected ['package.json'], as follows",
    ),
    "outcome of a failure": (
        edit("run.json", lambda run: run.update(outcome="completed"), BROKEN),
        "found outcome 'completed'; expected 'agent_failure', as follows",
    ),
    "outcome of failed tests": (
        edit("run.json", lambda run: run.update(outcome="completed"), UNTESTED),
        "found outcome 'completed'; expected 'tests_failed', as follows",
    ),
    "release": (edit("run.json", lambda run: run.update(release="r2")), "found release 'r2'; expected 'r1'"),
    "run of another": (copied, "found run_id 'r1:good:ledger'; expected 'r1:good:retry'"),
    "candidate": (
        edit("run.json", lambda run: run["candidate"].update(model="vendor/best")),
        "found candidate.model 'vendor/best'; expected 'vendor/good'",
    ),
    "duration": (edit("run.json", lambda run: run["agent"].update(duration_ms=10)), "found agent.duration_ms 10;"),
    "cost": (
        edit("run.json", lambda run: run["benchmark_metrics"].update(cost_usd=0)),
        "found benchmark_metrics.cost_usd 0; expected 1e-07",
    ),
    "tests' record": (
        rebound("test-result.json", "test_result", lambda tests: tests.update(status=1)),
        "test-result.json: found status 1; expected 0",
    ),
    "verdict": (
        rebound("objective-evaluator.json", "objective_evaluator", lambda each: each.update(passed=False)),
        "objective-evaluator.json: found passed False; expected True",
    ),
    "other evaluator": (
        rebound(
            "objective-evaluator.json", "objective_evaluator", lambda each: each["evaluator"].update(sha256="0" * 64)
        ),
        "found evaluator.sha256 '0000",
    ),
    "judge of a failure": (
        edit("judges/judge.json", lambda judge: judge.update(status="completed"), BROKEN),
        "found a judge that was asked about agent_failure; expected skipped",
    ),
    "score beyond the scale": (
        edit("judges/judge.json", lambda judge: judge["scores"].update(scope=11)),
        "found having valid scores False; expected True",
    ),
    "failed judge with a score": (
        edit("judges/judge.json", lambda judge: judge["execution"].update(status=1)),
        "found having failed False; expected True",
    ),
    "judge of another": (edit("judges/judge.json", lambda judge: judge.update(candidate="x")), "found candidate 'x'"),
    "judge nobody planned": (
        lambda root: shutil.copy(GOOD(root) / "judges/judge.json", GOOD(root) / "judges/friend.json"),
        "friend.json: found a judge that the release does not have",
    ),
    "review's mean": (edit("manual-reviews/somebody.json", lambda each: each.update(average=9)), "found average 9;"),
    "review's evidence": (
        edit("manual-reviews/somebody.json", lambda each: each["evidence"].update(objective_evaluator_passed=False)),
        "found evidence.objective_evaluator_passed False; expected True",
    ),
    "probe": (
        lambda root: rewritten(root / "absent/preflight.json", lambda probe: probe.update(status="available")),
        "found the probe's status 'available'; expected 'unavailable'",
    ),
    "run without a candidate": (
        lambda root: rewritten(root / "good/preflight.json", lambda probe: probe.update(status="unavailable")),
        "found a run of a candidate that was unavailable",
    ),
    "evidence of nothing": (
        lambda root: write(ABSENT(root) / "candidate.diff", DIFF.encode()) and None,
        "absent/ledger/attempts/attempt-1/candidate.diff: found evidence of a run that was none",
    ),
    "plan": (
        lambda root: _change(root / "manifest.json", lambda data: data.replace(b"npm", b"true")),
        "found spec_hash ",
    ),
    "plan of another": (plan(lambda value: value.update(release="r2")), "manifest.json: found release 'r2'"),
    "later plan": (plan(lambda value: value.update(schema_version=4)), "manifest.json: found schema_version 4"),
    "plan that leads out": (
        plan(lambda value: value["candidates"][0].update(id="../good")),
        "expected ids that are folders' names, each once",
    ),
    "candidate nobody planned": (
        lambda root: shutil.copytree(root / "good", root / "friend"),
        "friend: found a candidate that nobody planned",
    ),
    "nomination nobody planned": (
        lambda root: shutil.copytree(root / "good/ledger", root / "good/easy"),
        "good/easy: found a nomination that nobody planned",
    ),
    "attempt nobody planned": (again, "attempt-2: found another attempt; expected none"),
    "two layouts": (
        lambda root: shutil.copytree(GOOD(root), root / "good/ledger", dirs_exist_ok=True),
        "found attempt 1 twice; expected one layout",
    ),
    "folder of no number": (
        lambda root: (GOOD(root).with_name("attempt-one")).mkdir(),
        "attempt-one: found something unknown",
    ),
    "mean in the table": (
        table(lambda value: value["candidates"][0].update(overall_average=9.9)),
        "aggregate.json: found candidates[good].overall_average 9.9; expected 8.75",
    ),
    "cell of the table": (
        table(lambda value: value["candidates"][1]["nominations"][0].update(outcome="completed")),
        "found candidates[untested].nominations[ledger].outcome 'completed'; expected 'tests_failed'",
    ),
    "verdict in the table": (
        table(lambda value: value["candidates"][0]["tasks"][1]["objective_evaluator"].update(passed=True)),
        "found candidates[good].tasks[retry].objective_evaluator",
    ),
    "sum in the table": (
        table(lambda value: value["candidates"][0].update(cost_usd=0)),
        "found candidates[good].cost_usd 0; expected 2e-07",
    ),
    "order of the table": (
        table(lambda value: value["candidates"].reverse()),
        "found order of candidates ['absent', 'broken', 'untested', 'good']",
    ),
    "row left out": (
        table(lambda value: value["candidates"].pop()),
        "found candidates ['broken', 'good', 'untested']; expected ['absent',",
    ),
    "cell left out": (
        table(lambda value: value["candidates"][0]["nominations"].pop()),
        "found candidates[good].nominations: other rows; expected one for each of 2 nominations",
    ),
    "outcome beside the table": (
        table(lambda value: value["reproducibility"]["outcomes"]["broken"].update(overall="completed")),
        "found reproducibility.outcomes[broken].overall 'completed'",
    ),
}


@pytest.mark.parametrize("harm", DAMAGE)
def test_each_kind_of_damage_has_its_own_message(tmp_path: Path, harm: str) -> None:
    root = a_release(tmp_path)
    damage, said = DAMAGE[harm]
    damage(root)
    assert said in named(verify_reference_release(root))


def test_no_two_kinds_of_damage_are_told_alike() -> None:
    assert len({said for _, said in DAMAGE.values()}) == len(DAMAGE)


def test_a_planned_attempt_without_artifacts_is_told_and_is_no_finding_where_the_table_says_so(tmp_path: Path) -> None:
    root = a_release(tmp_path)
    shutil.rmtree(root / "absent" / "retry")
    report = verify_reference_release(root)
    assert report.missing == ("absent/retry/attempt-1: missing_artifacts",)
    assert "candidates[absent].outcome 'unavailable'; expected 'missing_artifacts'" in named(report)
    (root / "aggregate.json").unlink()
    report = verify_reference_release(root)
    assert report.findings == ()
    assert "aggregate.json: not there" in report.unchecked


def test_a_table_that_is_older_than_its_attempts_is_explained(tmp_path: Path) -> None:
    root = a_release(tmp_path)
    rewritten(root / "aggregate.json", lambda value: value.update(generated_at="2026-08-28T00:00:00.000Z"))
    rewritten(root / "aggregate.json", lambda value: value["reproducibility"].update(config_hash="0" * 64))
    said = "\n".join(verify_reference_release(root).unchecked)
    assert "before 8 of the attempts ended" in said
    assert "a configuration other than the frozen one" in said


def test_the_attempt_that_counts_is_the_one_of_the_table(tmp_path: Path) -> None:
    root = a_release(tmp_path)
    rewritten(
        root / "manifest.json", lambda plan: plan.update(retry_policy={"canonical_attempt": 1, "allow_retries": True})
    )
    second = attempt(root, "good").with_name("attempt-2")
    put(second, {**a_run(CANDIDATES[0], "ledger", agent=1, tests=0), "attempt": 2}, passed=False, judged="skipped")
    report = verify_reference_release(root)
    assert report.findings == ()
    assert report.attempts == 9


def test_a_release_of_the_first_days_is_read_and_what_it_lacks_is_told(tmp_path: Path) -> None:
    root = a_legacy_release(tmp_path)
    assert is_reference_release(root)
    report = verify_reference_release(root)
    assert report.findings == ()
    assert report.attempts == 1
    assert NO_MANIFEST in report.unchecked
    assert any("3 artifacts have no hash" in each for each in report.unchecked)


@pytest.mark.parametrize(
    ("name", "change", "said"),
    [
        ("run.json", lambda run: run.update(task="other"), "found nomination 'other'; expected 'ledger'"),
        ("run.json", lambda run: run.update(release="r9"), "found release 'r9'; expected 'pilot-r0'"),
        (
            "run.json",
            lambda run: run.update(outcome="tests_failed"),
            "found outcome 'tests_failed'; expected 'completed'",
        ),
        ("run.json", lambda run: run.update(changed_files=[]), f"found a change of {SOURCE}"),
        ("judges/judge.json", lambda judge: judge.update(task="other"), "judge.json: found nomination 'other'"),
        ("test-result.json", lambda tests: tests.update(status=2), "found status 2; expected 0"),
    ],
)
def test_also_there_files_may_not_contradict_each_other(
    tmp_path: Path, name: str, change: Callable[[Table], object], said: str
) -> None:
    root = a_legacy_release(tmp_path)
    rewritten(root / "good/ledger" / name, change)
    assert said in named(verify_reference_release(root))


def test_early_runs_name_tests_by_the_hash_within_and_later_ones_may_not(tmp_path: Path) -> None:
    """As the first releases with a manifest do, whose attempts still lie above `attempts/`."""
    root = a_release(tmp_path)
    folder = root / "good/ledger"
    for each in sorted(GOOD(root).iterdir()):
        each.rename(folder / each.name)
    shutil.rmtree(folder / "attempts")
    within = json.loads((folder / "test-result.json").read_bytes())["artifact_hash"]["sha256"]
    rewritten(folder / "run.json", lambda run: run["artifacts"]["test_result"].update(sha256=within))
    assert verify_reference_release(root).findings == ()
    rewritten(folder / "run.json", lambda run: run["artifacts"]["test_result"].update(sha256="0" * 64))
    assert "test-result.json: found sha256 " in named(verify_reference_release(root))
    later = a_release(tmp_path / "later")
    rewritten(GOOD(later) / "run.json", lambda run: run["artifacts"]["test_result"].update(sha256=within))
    assert "test-result.json: found sha256 " in named(verify_reference_release(later))


def test_what_is_not_known_is_told_by_name(tmp_path: Path) -> None:
    root = a_release(tmp_path)
    write(root / "expert-review.json", {"kind": "expert_review"})
    report = verify_reference_release(root)
    assert report.findings == ()
    assert "expert-review.json: not known here" in report.unchecked


def test_only_its_own_releases_are_taken_for_one(tmp_path: Path) -> None:
    assert not is_reference_release(tmp_path)
    ours = tmp_path / "ours"
    write(ours / "manifest.json", canonical(our_manifest()))
    assert not is_reference_release(ours)
    root = a_release(tmp_path)
    (root / "manifest.json").unlink()
    (root / "aggregate.json").write_bytes(b"{")
    assert is_reference_release(root)
    assert "aggregate.json: found broken JSON" in named(verify_reference_release(root))


ODD = (b"", b"{}", b"null", b"[1e400]", b'{"schema_version":1}', b"\xff", b'{"candidate":7,"schema_version":1}')


@pytest.mark.parametrize("seed", range(20))
def test_whatever_was_done_to_a_release_is_told_without_a_traceback(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)  # noqa: S311 - only picks what to damage
    root = (a_release if seed % 4 else a_legacy_release)(tmp_path)
    path = chance.choice([each for each in sorted(root.rglob("*")) if each.name != "aggregate.md"])
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink()
    make = chance.choice(("nothing", "folder", "link", "pipe", "file"))
    if make == "folder":
        path.mkdir()
    elif make == "link":
        path.symlink_to(chance.choice(("/etc", "nowhere", "..")))
    elif make == "pipe":
        os.mkfifo(path)
    elif make == "file":
        path.write_bytes(chance.choice(ODD))
    report = verify_reference_release(root)
    assert report.findings or report.missing or report.unchecked
    assert all(len(str(each)) < 3000 for each in report.findings)


def test_a_review_of_a_run_that_is_not_there_is_no_run(tmp_path: Path) -> None:
    root = a_release(tmp_path)
    review = a_review(a_run(CANDIDATES[3], "ledger", agent=0, tests=0), passed=False)
    write(ABSENT(root) / "manual-reviews/somebody.json", review)
    assert "found evidence.public_tests_passed True; expected None" in named(verify_reference_release(root))
