"""A whole release through the real command line: what each command says, writes, and leaves alone."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from tests.flow.bench import RUNNER, Bench, Said, copied, listing

pytestmark = pytest.mark.systemd

NOBODY = ("/usr/bin/setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--no-new-privs")
"""How a command is run by an account that may nothing."""


def test_the_table_says_what_each_candidate_came_to(piloted: Bench) -> None:
    said = piloted.run("aggregate")
    assert said.code == 0
    rows = [line.split("  ") for line in said.out.splitlines()[1:7]]
    assert [[word.strip() for word in row if word.strip()] for row in rows] == [
        ["oracle", "clamp", "completed", "passed (in_process)", "public tests passed, hidden checks passed (hidden)"],
        ["nop", "clamp", "tests_failed", "failed (in_process)", "public tests failed, hidden check hidden failed"],
        ["right", "clamp", "completed", "passed (in_process)", "public tests passed, hidden checks passed (hidden)"],
        ["sleeper", "clamp", "missing_artifacts", "none", "the evidence lacks a try: it was never run"],
        ["slow", "clamp", "missing_artifacts", "none", "the evidence lacks a try: it was never run"],
        ["recorded", "clamp", "missing_artifacts", "none", "the evidence lacks a try: it was never run"],
    ]
    assert (piloted.tables / "aggregate.json").is_file()


def test_what_each_launcher_saw_is_sealed(piloted: Bench) -> None:
    tried = piloted.attempt("right") / "try-1"
    units = json.loads((tried / "submission/launcher.json").read_bytes())["units"]
    assert sorted(units) == ["inspection", "preflight-1", "solution"]
    units |= json.loads((tried / "gradings/grading-1/launcher.json").read_bytes())["units"]
    assert {"public-tests", "evaluators/hidden"} < set(units)
    assert all("NoNewPrivs:\t1" in seen["status"] for seen in units.values())


def test_a_submission_made_elsewhere_is_judged_like_any_other(bench: Bench) -> None:
    said = bench.run("pilot", "--candidate", "recorded")
    assert (said.code, said.out) == (0, "1 try, 0 further gradings, 0 void\n")
    patch = (bench.attempt("recorded") / "try-1/submission/candidate.diff").read_text()
    assert "+    if value > high:\n+        return high\n" in patch
    row = next(line for line in bench.run("aggregate").out.splitlines() if line.startswith("recorded"))
    assert row.split()[2:4] == ["completed", "passed"]


def test_a_pilot_leaves_the_table_of_what_it_sealed(bench: Bench) -> None:
    assert bench.run("pilot", "--candidate", "recorded").code == 0
    made = (bench.tables / "aggregate.json").read_bytes()
    assert bench.run("aggregate").kept >= len(("oracle", "nop", "right", "sleeper", "slow")), (
        "all but the last seconds'"
    )
    assert bench.run("aggregate", "--fresh").code == 0
    assert (bench.tables / "aggregate.json").read_bytes() == made


def test_all_evidence_is_what_it_says_it_is(piloted: Bench) -> None:
    said = piloted.run("verify")
    assert said.code == 0
    assert said.out.startswith("verified 6 sealed folders")


def test_a_second_pilot_wants_resume_and_then_changes_no_file(piloted: Bench) -> None:
    before = listing(piloted.store)
    said = piloted.run("pilot", "--candidate", "oracle,nop,right")
    assert said.code == 2
    assert "run again with --resume" in said.err
    said = piloted.run("pilot", "--candidate", "oracle,nop,right", "--resume")
    assert (said.code, said.out) == (0, "nothing was left to do\n")
    assert listing(piloted.store) == before


def test_freezing_again_gives_the_same_bytes_and_runs_nothing(piloted: Bench) -> None:
    before = listing(piloted.checkout)
    said = piloted.run("freeze")
    assert said.code == 0
    assert "frozen already, and unchanged" in said.out
    assert listing(piloted.checkout) == before


def test_a_freeze_is_logged_once_and_a_kept_checkpoint_proves_what_came_after(bench: Bench) -> None:
    log = bench.checkout / "releases/log"
    before = (log / "entries.jsonl").read_bytes(), (log / "checkpoint").read_bytes()
    assert before[0].count(b"\n") == 1
    said = bench.run("freeze", "--json")
    assert (said.code, json.loads(said.out)["checkpoint"].encode()) == (0, before[1])
    assert f'"sha256":"{json.loads(said.out)["sha256"]}"'.encode() in before[0]
    kept = bench.checkout / "kept"
    kept.write_bytes(before[1])
    assert bench.run("verify", "--no-rebuild", "--checkpoint", str(kept)).code == 0
    (log / "entries.jsonl").write_bytes(before[0].replace(b"freeze", b"publish"))
    said = bench.run("verify", "--no-rebuild", "--checkpoint", str(kept))
    assert said.code == 3
    assert "entries.jsonl: found other entries; expected the 1 that " in said.out


def test_a_frozen_release_has_its_log_key_for_its_owner_alone(tried: tuple[Bench, dict[str, Said]]) -> None:
    bench, said = tried
    keys = bench.checkout / ".cleanroom/keys"
    assert {path.name[:4]: path.stat().st_mode & 0o777 for path in (keys, *keys.glob("*.pem"))} == {
        "keys": 0o700,
        "log-": 0o600,
    }
    assert "made a log key, " in said["freeze"].err
    assert f"scp {bench.checkout}/releases/log/checkpoint USER@HOST:cleanroom-1.checkpoint" in said["freeze"].out


@pytest.mark.parametrize(
    ("words", "told"),
    [
        pytest.param(
            ("--candidate", "oracel"), "no candidate is called 'oracel'; did you mean oracle?", id="candidate"
        ),
        pytest.param(("--candidate", "scripted/rihgt"), "did you mean scripted/right", id="model"),
        pytest.param(
            ("--nomination", "clmap"), "no nomination is called 'clmap'; did you mean clamp?", id="nomination"
        ),
        pytest.param(("--task", "clmap"), "--task is called --nomination now", id="alias"),
        pytest.param(("--attempt", "2"), "nothing of this selection is planned", id="attempt"),
        pytest.param(("--attempt", "0"), "--attempt", id="no-attempt"),
        pytest.param(("--candidate", ""), "no candidate is called ''", id="blank"),
    ],
)
def test_a_selector_of_nothing_is_told_with_what_is_near(frozen: Bench, words: tuple[str, str], told: str) -> None:
    said = frozen.run("pilot", *words, "--dry-run")
    assert said.code == 2
    assert told in said.err


def test_a_real_run_of_nothing_begins_nothing(frozen: Bench) -> None:
    said = frozen.run("pilot", "--candidate", "oracle,noop")
    assert said.code == 2
    assert "did you mean nop?" in said.err
    assert not list(frozen.store.glob("*/clamp"))


def test_selectors_pick_by_id_and_model_in_the_order_given(frozen: Bench) -> None:
    words = ("--candidate", "scripted/right,nop", "--candidate", "oracle", "--task", "clamp", "--attempt", "1")
    said = frozen.run("pilot", "--dry-run", *words)
    assert said.code == 0
    matrix = [line.split()[0] for line in said.out.splitlines() if line.endswith("attempt 1")]
    assert matrix == ["right", "nop", "oracle"]


def test_a_dry_run_by_an_account_that_may_nothing_writes_nothing(frozen: Bench) -> None:
    before = listing(frozen.checkout)
    said = frozen.run("pilot", "--dry-run", within=NOBODY)
    assert said.code == 0, said.err
    assert "MemoryMax" in said.out
    assert listing(frozen.checkout) == before


def test_a_dry_run_without_any_argument_shows_the_shipped_release() -> None:
    done = subprocess.run([*NOBODY, str(RUNNER), "pilot", "--dry-run"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "pilot-1" in done.stdout


@pytest.mark.parametrize("words", [("lint",), ("verify",), ("aggregate",)])
def test_without_root_what_only_reads_works_on_readable_files(piloted: Bench, words: tuple[str, ...]) -> None:
    (piloted.checkout / ".cleanroom/store").chmod(0o755)
    given = [piloted.tables.parent, *piloted.tables.parent.rglob("*")]
    for path in given:
        os.chown(path, 65534, 65534)
    said = piloted.run(*words, within=NOBODY)
    assert said.code == 0, said.err


@pytest.mark.parametrize("words", [("pilot",), ("freeze",)])
def test_without_root_what_starts_units_names_the_sudo_rule(frozen: Bench, words: tuple[str, ...]) -> None:
    said = frozen.run(*words, within=NOBODY)
    assert said.code == 4
    assert "let root run 'scripts/host install" in said.err


@pytest.mark.parametrize(
    ("file", "old", "new", "field", "command"),
    [
        pytest.param("prompt.md", "never gives", "gives never", "prompt", "freeze", id="prompt"),
        pytest.param("fixture/clamp.py", "max(low, value)", "max(value, low)", "fixture", "pilot", id="fixture"),
        pytest.param("private/test_hidden.py", "(7, 2, 30)", "(8 - 1, 2, 30)", "evaluators", "freeze", id="evaluator"),
        pytest.param("../../bench.json", '"wall_ms": 90000', '"wall_ms": 90001', "limits", "pilot", id="limits"),
    ],
)
def test_a_changed_input_under_a_used_id_is_refused_by_name(
    bench: Bench, file: str, old: str, new: str, field: str, command: str
) -> None:
    changed = bench.nomination / file
    text = changed.read_text()
    assert old in text
    changed.write_text(text.replace(old, new))
    before = bench.manifest.read_bytes()
    said = bench.run(command)
    assert said.code == 2
    assert field in said.err
    assert bench.manifest.read_bytes() == before
    assert not bench.attempt("oracle").exists()


def test_a_manifest_that_was_touched_is_refused_and_its_evidence_is_found(piloted: Bench, benches: Path) -> None:
    bench = copied(piloted, benches / "touched", runnable=False)
    data = bench.manifest.read_bytes()
    bench.manifest.chmod(0o644)
    bench.manifest.write_bytes(data.replace(b'"wall_ms":90000', b'"wall_ms":90001', 1))
    said = bench.run("freeze")
    assert said.code == 2
    assert str(bench.manifest) in said.err
    said = bench.run("verify", "--no-rebuild")
    assert said.code == 3
    assert str(bench.attempt("oracle") / "try-1") in said.out


def test_what_was_never_frozen_is_told(benches: Path, frozen: Bench) -> None:
    text = frozen.config.read_text().replace("bench-1", "bench-2")
    config = frozen.config.with_name("other.json")
    config.write_text(text)
    try:
        for words in ("pilot", "aggregate"):
            argv = [str(RUNNER), "--config", str(config), words]
            done = subprocess.run(argv, capture_output=True, text=True, check=False, cwd=benches)
            assert done.returncode == 2
            assert "release bench-2 is not frozen; run: runner freeze" in done.stderr
    finally:
        config.unlink()
