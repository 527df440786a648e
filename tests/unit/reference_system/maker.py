"""Makes releases as the reference system publishes them, with a writer of its own for what JavaScript writes."""

import copy
import hashlib
import json
import math
from collections.abc import Callable, Iterable
from decimal import Decimal
from pathlib import Path
from typing import Any

Table = dict[str, Any]
RELEASE = "r1"
CRITERIA = ["correctness", "scope"]
SOURCE = "fixtures/ledger/src/reconcile.js"
DIFF = f"""\
diff --git a/{SOURCE} b/{SOURCE}
index 5472bcd..ac41e33 100644
--- a/{SOURCE}
+++ b/{SOURCE}
@@ -1,2 +1,2 @@
---- a/not-a-header
+--- a/not-a-header either
 const one = 1;
"""
START = "2026-08-28T18:16:19.606Z"
USAGE = {"source": "opencode_step_finish", "reported_cost_usd": 1e-7, "steps": 8, "tokens": {"input": 1, "total": 2}}


def stringify(value: Any, line: str = "\n") -> str:  # noqa: ANN401 - JSON
    """Write JSON.stringify(value, null, 2), by the letter of ECMA-262."""
    if isinstance(value, bool) or value is None:
        return {True: "true", False: "false", None: "null"}[value]
    if isinstance(value, int | float):
        return a_number(float(value))
    if isinstance(value, str):
        return '"' + "".join(map(a_letter, value)) + '"'
    inner = f"{line}  "
    if isinstance(value, list):
        return "[" + ",".join(inner + stringify(each, inner) for each in value) + line + "]" if value else "[]"
    keys = [key for key in value if not is_index(key)]
    keys = sorted((key for key in value if is_index(key)), key=int) + keys
    members = (f"{inner}{stringify(key)}: {stringify(value[key], inner)}" for key in keys)
    return "{" + ",".join(members) + line + "}" if value else "{}"


def is_index(key: str) -> bool:
    return key.isascii() and key.isdecimal() and str(int(key)) == key and int(key) < 2**32 - 1


def a_letter(letter: str) -> str:
    short = {'"': '\\"', "\\": "\\\\", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
    if letter in short:
        return short[letter]
    return f"\\u{ord(letter):04x}" if letter < " " or "\ud800" <= letter <= "\udfff" else letter


def a_number(value: float) -> str:
    """Number::toString, by its cases."""
    if not math.isfinite(value) or value == 0:
        return "0" if value == 0 else "null"
    if value < 0:
        return "-" + a_number(-value)
    _, given, exponent = Decimal(repr(value)).as_tuple()
    assert isinstance(exponent, int)
    text = "".join(map(str, given)).lstrip("0")
    digits = text.rstrip("0")
    count, point = len(digits), exponent + len(text)
    if count <= point <= 21:
        return digits + "0" * (point - count)
    if 0 < point <= 21:
        return f"{digits[:point]}.{digits[point:]}"
    if -6 < point <= 0:
        return "0." + "0" * -point + digits
    mantissa = digits if count == 1 else f"{digits[0]}.{digits[1:]}"
    return f"{mantissa}e{'+' if point > 0 else '-'}{abs(point - 1)}"


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def file_of(value: Table) -> bytes:
    return f"{stringify(value)}\n".encode()


def hashed(value: Table, name: str) -> Table:
    """Give an artifact with its own hash."""
    bare = {key: each for key, each in value.items() if key != "artifact_hash"}
    return {**bare, "artifact_hash": {"path": name, "sha256": sha256(file_of(bare))}}


def write(path: Path, value: Table | bytes) -> bytes:
    path.parent.mkdir(parents=True, exist_ok=True)
    data = value if isinstance(value, bytes) else file_of(value)
    path.write_bytes(data)
    return data


def later(ms: int) -> str:
    seconds, rest = divmod(19_606 + ms, 1000)
    return f"2026-08-28T18:16:{seconds:02d}.{rest:03d}Z"


def times(begin: int, end: int) -> Table:
    return {"started_at": later(begin), "completed_at": later(end), "duration_ms": end - begin}


def execution(status: int, begin: int, end: int) -> Table:
    return {"status": status, "signal": None, "timed_out": False, "output_limited": False, **times(begin, end)}


CANDIDATES: list[Table] = [
    {
        "id": "good",
        "agent": "opencode",
        "model": "vendor/good",
        "label": "Góod \U0001f600",
        "reasoning_variant": "high",
    },
    {"id": "untested", "agent": "codex", "model": "vendor/untested", "options": {"10": 1, "9": -0.0, "a": 1.0}},
    {"id": "broken", "agent": "opencode", "model": "vendor/broken"},
    {"id": "absent", "agent": "opencode", "model": "vendor/absent"},
]
JUDGES: list[Table] = [{"id": "judge", "agent": "opencode", "provider": "vendor", "model": "vendor/judge"}]
NOMINATIONS = ("ledger", "retry")
EVALUATOR = {"id": "hidden-v1", "sha256": "e" * 64}


def a_manifest() -> Table:
    nominations = [
        {
            "id": name,
            "fixture": "fixtures/ledger",
            "prompt": "prompts/ledger.md",
            "test_command": ["npm", "test"],
            "allowed_changes": ["fixtures/ledger/src"],
            "frozen_inputs": {"fixture_tree": {"algorithm": "sha256-tree-v1", "sha256": "f" * 64, "files": 4}},
            "objective_evaluator": {**EVALUATOR, "source_sha256": "d" * 64},
        }
        for name in NOMINATIONS
    ]
    return frozen(
        {
            "schema_version": 3,
            "release": RELEASE,
            "nominations": nominations,
            "candidates": CANDIDATES,
            "judges": JUDGES,
            "criteria": CRITERIA,
            "retry_policy": {"canonical_attempt": 1, "allow_retries": False},
            "judge_prompt": {"version": 3, "template_hash": "b" * 64},
            "config_sha256": "c" * 64,
        }
    )


def frozen(manifest: Table) -> Table:
    bare = {key: each for key, each in manifest.items() if key != "spec_hash"}
    return {**bare, "spec_hash": sha256(file_of(bare))}


def a_run(candidate: Table, nomination: str, *, agent: int, tests: int) -> Table:
    return {
        "schema_version": 1,
        "release": RELEASE,
        "nomination": nomination,
        "run_id": f"{RELEASE}:{candidate['id']}:{nomination}",
        "attempt": 1,
        "candidate": candidate,
        **times(0, 9000),
        "benchmark_metrics": {
            "duration_ms": 9000,
            "model_duration_ms": 8000,
            "public_tests_duration_ms": 500,
            "cost_usd": 1e-7,
            "cost_source": "opencode_step_finish",
            "includes_preflight": False,
        },
        "agent": {**execution(agent, 0, 8000), "usage": USAGE},
        "tests": {key: each for key, each in execution(tests, 8500, 9000).items() if key != "signal"},
        "outcome": "agent_failure" if agent else "tests_failed" if tests else "completed",
        "changed_files": [SOURCE],
        "forbidden_changes": [],
        "notes": ["never \u2028 estimated"],
        "artifacts": {"public_dir": "elsewhere"},
    }


def an_absence(candidate: Table, nomination: str) -> Table:
    run = a_run(candidate, nomination, agent=0, tests=0)
    nothing = dict.fromkeys(("model_duration_ms", "public_tests_duration_ms", "cost_usd", "cost_source"))
    return {
        **run,
        **times(0, 0),
        "candidate": {**candidate, "reasoning_variant": "provider_default"},
        "benchmark_metrics": {"duration_ms": 0, **nothing},
        "agent": None,
        "tests": None,
        "outcome": "unavailable",
        "availability": {"reason": "process_failure", "preflight": "model_preflight", **times(1, 5)},
        "changed_files": [],
    }


def a_judge(run: Table, status: str) -> Table:
    scores: Table | None = {"correctness": 9, "scope": 8.5} if status == "completed" else None
    identity = {key: run[key] for key in ("nomination", "run_id", "attempt")}
    judge = {"id": "judge", "agent": "opencode", "model": "vendor/judge", "reasoning_variant": "provider_default"}
    if status == "skipped":
        return {"schema_version": 1, "judge": judge, "status": status, "reason": run["outcome"],
                "candidate": run["candidate"]["id"], **identity}  # fmt: skip
    return {
        "schema_version": 1,
        "judge": judge,
        "status": status,
        "response": "half an emoji \ud83d, and a whole one \U0001f600",
        "scores": scores,
        "confidence": "high",
        "execution": execution(0, 9000, 10_000),
        "judge_prompt_version": 3,
        "candidate": run["candidate"]["id"],
        **identity,
    }


def a_review(run: Table, *, passed: bool) -> Table:
    return {
        "schema_version": 1,
        "kind": "manual_code_review",
        "release": RELEASE,
        "candidate": run["candidate"]["id"],
        "nomination": run["nomination"],
        "attempt": 1,
        "reviewer": {"id": "somebody", "type": "human"},
        "scores": {"correctness": 9, "scope": 8},
        "average": 8.5,
        "evidence": {"public_tests_passed": True, "objective_evaluator_passed": passed, "forbidden_changes": 0},
    }


def put(folder: Path, run: Table, *, passed: bool, judged: str = "completed") -> None:
    """Write a run with all its evidence."""
    files: dict[str, bytes] = {"candidate_diff": write(folder / "candidate.diff", DIFF.encode())}
    tests = {"schema_version": 1, **run["tests"], "stdout_sha256": "1" * 64, "stderr_sha256": "2" * 64}
    files["test_result"] = write(folder / "test-result.json", hashed(tests, "test-result.json"))
    verdict = {
        "schema_version": 1,
        "evaluator": EVALUATOR,
        "status": "completed",
        "passed": passed,
        **times(8100, 8400),
        "execution": execution(0 if passed else 1, 8100, 8400),
    }
    name = "objective-evaluator.json"
    files["objective_evaluator"] = write(folder / name, hashed(verdict, name))
    paths = {"candidate_diff": "candidate.diff", "test_result": "test-result.json", "objective_evaluator": name}
    named = {key: {"path": paths[key], "sha256": sha256(data)} for key, data in files.items()}
    whole = {**run, "artifacts": {**run["artifacts"], **named}}
    write(folder / "run.json", hashed(whole, "run.json"))
    write(folder / "judges" / "judge.json", hashed(a_judge(run, judged), "judge.json"))
    if judged == "completed":
        write(folder / "manual-reviews" / "somebody.json", a_review(run, passed=passed))


def attempt(root: Path, candidate: str, nomination: str = "ledger") -> Path:
    return root / candidate / nomination / "attempts" / "attempt-1"


def a_release(parent: Path) -> Path:
    """Write a release: good solves one of two, untested fails its tests, broken fails, absent was not there."""
    root = parent / RELEASE
    write(root / "manifest.json", a_manifest())
    for entry in CANDIDATES:
        is_there = entry["id"] != "absent"
        probe = {
            "schema_version": 1,
            "candidate": entry,
            "status": "available" if is_there else "unavailable",
            "reason": None if is_there else "process_failure",
            **times(1, 5),
        }
        write(root / entry["id"] / "preflight.json", hashed(probe, "preflight.json"))
        for nomination in NOMINATIONS:
            folder = attempt(root, entry["id"], nomination)
            if not is_there:
                write(folder / "run.json", hashed(an_absence(entry, nomination), "run.json"))
                continue
            broken = entry["id"] == "broken"
            run = a_run(entry, nomination, agent=int(broken), tests=int(entry["id"] == "untested"))
            judged = "skipped" if broken else "invalid_output" if entry["id"] == "untested" else "completed"
            put(folder, run, passed=entry["id"] == "good" and nomination == "ledger", judged=judged)
    write(root / "aggregate.json", an_aggregate())
    write(root / "aggregate.md", b"| a table |\n")
    return root


def a_row(candidate: str, nomination: str) -> Table:
    absent, judged = candidate == "absent", candidate in {"good", "untested"}
    usage = {"agent_duration_ms": None, "test_duration_ms": None, "duration_ms": 0, "cost_usd": None}
    if not absent:
        usage = {"agent_duration_ms": 8000, "test_duration_ms": 500, "duration_ms": 9000, "cost_usd": 1e-7}
    outcome = {"good": "completed", "untested": "tests_failed", "broken": "agent_failure", "absent": "unavailable"}
    spent = [{"id": "judge", "status": "completed", "duration_ms": 1000}] if judged else []
    verdict = {"id": "hidden-v1", "status": "completed", "passed": candidate == "good" and nomination == "ledger"}
    return {
        "nomination": nomination,
        "attempt": 1,
        "outcome": outcome[candidate],
        **usage,
        "judge_count": int(candidate == "good"),
        "judge_scores": {},
        "judge_invocation_count": len(spent),
        "judge_durations": spent,
        "judge_duration_ms": 1000 if judged else 0,
        "objective_evaluator": None if absent else verdict,
    }


def a_standing(entry: Table) -> Table:
    name = entry["id"]
    rows = [a_row(name, nomination) for nomination in NOMINATIONS]
    absent, judged = name == "absent", name in {"good", "untested"}
    return {
        "candidate": entry,
        "task_count": 2,
        "nominations": rows,
        "tasks": copy.deepcopy(rows),
        "outcome": rows[0]["outcome"],
        "agent_duration_ms": None if absent else 16_000,
        "test_duration_ms": None if absent else 1000,
        "duration_ms": 0 if absent else 18_000,
        "cost_usd": None if absent else 2e-7,
        "judge_count": 2 if name == "good" else 0,
        "judge_average_by_id": {},
        "judge_duration_by_id": {"judge": 2000 if judged else None},
        "judge_duration_ms": 2000 if judged else 0,
        "judge_average": {"correctness": 9, "scope": 8.5} if name == "good" else {},
        "objective_pass_count": None if absent else int(name == "good"),
        "objective_total": None if absent else 2,
        "objective_pass_rate": None if absent else 0.5 if name == "good" else 0,
        "overall_average": 8.75 if name == "good" else None,
    }


def an_aggregate() -> Table:
    return {
        "schema_version": 2,
        "release": RELEASE,
        "criteria": CRITERIA,
        "candidates": [a_standing(entry) for entry in CANDIDATES],
        "generated_at": later(20_000),
        "reproducibility": {
            "runner_version": "unknown",
            "config_hash": "c" * 64,
            "outcomes": {entry["id"]: {"overall": a_row(entry["id"], "ledger")["outcome"]} for entry in CANDIDATES},
        },
    }


def a_legacy_release(parent: Path) -> Path:
    """Write a release as the first ones were: no manifest, no `attempts/`, `task`, no hashes, no outcomes."""
    root = parent / "pilot-r0"
    folder = root / "good" / "ledger"
    run = {
        "schema_version": 1,
        "release": "pilot-r0",
        "task": "ledger",
        "candidate": CANDIDATES[0],
        "agent": {"status": 0, "signal": None, "timed_out": False},
        "tests": {"status": 0, "timed_out": False},
        "changed_files": [SOURCE],
        "artifacts": {"public_dir": "elsewhere"},
        "completed_at": later(0),
    }
    write(folder / "run.json", run)
    write(folder / "candidate.diff", DIFF.encode())
    write(folder / "test-result.json", {"status": 0, "timed_out": False, "stdout": "ok 1\n", "stderr": ""})
    judge = {"schema_version": 1, "judge": {"id": "judge", "agent": "opencode"}, "status": "completed",
             "scores": {"correctness": 9}, "execution": {"status": 0, "timed_out": False},
             "candidate": "good", "task": "ledger"}  # fmt: skip
    write(folder / "judges" / "judge.json", judge)
    write(root / "aggregate.json", {"schema_version": 2, "release": "pilot-r0", "criteria": [], "candidates": []})
    return root


def rewritten(path: Path, change: Callable[[Table], object]) -> None:
    """Change an artifact, as somebody would who makes its own hash again."""
    value = json.loads(path.read_bytes())
    change(value)
    if "spec_hash" in value:
        value = frozen(value)
    elif "artifact_hash" in value:
        value = hashed(value, path.name)
    write(path, value)


def bound_again(folder: Path, names: Iterable[tuple[str, str]]) -> None:
    """Name files beside a run as they are now, as somebody would who makes all hashes again."""

    def bind(run: Table) -> None:
        for key, name in names:
            run["artifacts"][key] = {"path": name, "sha256": sha256((folder / name).read_bytes())}

    rewritten(folder / "run.json", bind)
