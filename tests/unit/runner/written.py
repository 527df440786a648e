"""Configurations and nominations as people write them, for tests to spoil."""

import json
from collections.abc import Mapping
from pathlib import Path

from runner.config import ReleaseConfig, parse_config

FILE = "release.json"
SCHEMA = "cleanroom/release-configuration/1"


def config_fields() -> dict[str, object]:
    """Give a configuration that uses most fields."""
    return {
        "schema": SCHEMA,
        "release": "pilot-1",
        "models_test": ".",
        "results_dir": "results",
        "require_nomination_selection": False,
        "retry_policy": {"canonical_attempt": 1, "void_tries": 2, "void_blames": ["provider"]},
        "nominations": [
            "wordcount",
            {
                "id": "old-style",
                "fixture": "fixtures/old",
                "prompt": "prompts/old.md",
                "test_command": ["python3", "-m", "unittest"],
                "allowed_changes": ["fixtures/old/src"],
            },
        ],
        "candidates": [
            {"id": "oracle", "agent": "oracle"},
            {
                "id": "right",
                "agent": "native",
                "model": "vendor/right:free",
                "route": "script",
                "family": "vendor",
                "role": "candidate",
                "status": "active",
                "self_hosted": False,
                "label": "Right",
                "provider": "vendor",
                "subscription": "none",
                "reasoning_variant": "provider_default",
                "network": "gateway",
                "budget": {"usd": "0.50", "requests": 40, "tokens": 100000},
                "metadata": {"context": 8192, "quantisation": "none"},
                "nominations": ["wordcount"],
            },
            {
                "id": "gone",
                "agent": "codex",
                "model": "vendor/gone",
                "route": "real",
                "status": "retired",
                "retired": {"reason": "no longer served", "date": "2026-11-01"},
            },
            {"id": "recorded", "agent": "patch", "patches": "config/patches"},
        ],
        "judges": [
            {"id": "judge-1", "agent": "native", "model": "other/judge", "route": "real", "family": "other"},
            {"id": "judge-2", "model": "third/judge", "route": "real", "family": "third", "kind": "pairwise"},
        ],
        "criteria": [
            "correctness",
            {"id": "clarity", "asks": "How clear is it?", "anchors": {"0": "not at all", "10": "as clear as can be"}},
        ],
        "clean_room": {
            "accounts": {"first": 1900000000, "last": 1900999999},
            "state_dir": ".cleanroom",
            "login_files": {"codex": "/root/codex-login.json"},
        },
        "attempts": 2,
        "limits": {"solution": {"wall_ms": 3000, "memory_bytes": 268435456}, "preflight": {"wall_ms": 5000}},
        "routes": [
            {"id": "script", "scripted": "config/scenarios"},
            {
                "id": "real",
                "base_url": "https://models.example/api/v1",
                "credential": "EXAMPLE_API_KEY",
                "headers": {"X-Title": "bench"},
                "extra_body": {"reasoning": {"effort": "high"}},
                "amendments": ["include_usage"],
            },
        ],
        "judging": {
            "repeats": 1,
            "fallback": "judge-2",
            "degree": 3,
            "show_solution": "projected",
            "bounds": {"null_patch": 5},
            "ceilings": {"lines": 500},
        },
        "analysis": {"seed": 7, "primary_metric": "solved_rate"},
    }


def parsed(fields: Mapping[str, object]) -> ReleaseConfig:
    """Parse fields as if they had been read from `FILE`."""
    return parse_config(json.dumps(fields).encode(), FILE)


NOMINATION = """\
schema = "cleanroom/nomination/1"
id = "wordcount"
version = "1"
title = "Count words"
class = "code-fix"
tier = "easy"
mode = "agentic"
target_files = ["wordcount.py"]
allowed_changes = ["wordcount.py"]

[source]
name = "written by us"
licence = "MIT"

[toolchain]
requirements = "requirements.txt"

[public_tests]
command = ["{python}", "-m", "pytest", "-q", "tests"]

[[evaluators]]
id = "hidden"
kind = "pytest"
"""

PATCH = """\
diff --git a/wordcount.py b/wordcount.py
index 1111111111111111111111111111111111111111..2222222222222222222222222222222222222222 100644
--- a/wordcount.py
+++ b/wordcount.py
@@ -1 +1 @@
-def count(text): return text.count(" ")
+def count(text): return len(text.split())
"""

HIDDEN = """\
from wordcount import count


def test_hidden_two():
    assert count("a b") == 2


def test_hidden_blank():
    assert count("  ") == 0
"""

PUBLIC = """\
from wordcount import count


def test_two():
    assert count("a b") == 2
"""


def nomination_files() -> dict[str, str]:
    """Give a nomination's folder: path -> text."""
    return {
        "nomination.toml": NOMINATION,
        "prompt.md": "`count` in wordcount.py counts blanks. Make it count words.\n",
        "requirements.txt": f"pytest==9.0.0 --hash=sha256:{'a' * 64}\n",
        "fixture/wordcount.py": 'def count(text): return text.count(" ")\n',
        "public/tests/test_public.py": PUBLIC,
        "private/test_hidden.py": HIDDEN,
        "solution/solution.patch": PATCH,
        "wrong/one.patch": PATCH,
    }


def written(folder: Path, files: Mapping[str, str]) -> Path:
    """Write files below a folder and give it."""
    for path, text in files.items():
        place = folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)
    return folder
