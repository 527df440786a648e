"""A small release of its own in a checkout of its own, and the real command line on it."""

import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from tests.unit.runner.written import written

RUNNER = Path(sys.executable).with_name("runner")
"""The command as it is installed beside this Python."""

SLEEP = "61.25"
"""Seconds that the candidate `sleeper` sleeps; tests find its program by them."""

BUSY_SECONDS = 120
"""How long a test waits for a clean room that another run on this machine holds."""

LONGEST_SECONDS = 400
"""How long one command may take on a machine that is busy with other things."""

PROMPT = "Mend clamp in clamp.py so that it never gives more than its upper bound.\n"

LOCK = """\
pytest==9.2.0 --hash=sha256:07acdcf88ec174f907dc01af70bf52d49b014bbab03faeeade31c96b18c2e588
iniconfig==2.3.1 --hash=sha256:9121e2c1fdb355232495be3194c8dfe87ccc2d5dee45947b78e68f499790d7a7
packaging==26.4 --hash=sha256:81383611a09c1bc0b08b76e0fd5829d7c6824c65b27a6aee339da133f4233ea2
pluggy==1.7.0 --hash=sha256:7dd7b0d8832ba3cb632c306926ded123429211b83641b35dc5c41ad2d34f9bec
pygments==2.21.0 --hash=sha256:2363c69b61c4a97c838da3b130dcd6468f4848992b21a82f2a63ec34377137d9
"""

NOMINATION = {
    "nomination.toml": """\
schema = "cleanroom/nomination/1"
id = "clamp"
version = "1"
title = "Clamp"
class = "code-fix"
tier = "easy"
mode = "agentic"
target_files = ["clamp.py"]
allowed_changes = ["clamp.py"]

[source]
name = "ours"
licence = "MIT"

[fixture]
kind = "folder"

[toolchain]
requirements = "requirements.txt"

[loop]
run = true

[public_tests]
command = ["{python}", "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_public.py"]

[[evaluators]]
id = "hidden"
kind = "pytest"
""",
    "prompt.md": PROMPT,
    "requirements.txt": LOCK,
    "fixture/clamp.py": "def clamp(value, low, high):\n    return max(low, value)\n",
    "public/test_public.py": "from clamp import clamp\n\n\ndef test_high():\n    assert clamp(9, 2, 3) == 3\n",
    "private/test_hidden.py": """\
from clamp import clamp


def test_low():
    assert clamp(-5, 2, 3) == 2


def test_high():
    assert clamp(50, 2, 30) == 30


def test_mid():
    assert clamp(7, 2, 30) == 7
""",
    "solution/fix.patch": """\
diff --git a/clamp.py b/clamp.py
--- a/clamp.py
+++ b/clamp.py
@@ -1,2 +1,2 @@
 def clamp(value, low, high):
-    return max(low, value)
+    return min(high, max(low, value))
""",
}

RIGHT = "def clamp(value, low, high):\n    return min(high, max(low, value))\n"

RECORDED = """\
diff --git a/clamp.py b/clamp.py
index 0000000..1111111 100644
--- a/clamp.py
+++ b/clamp.py
@@ -1,2 +1,4 @@
 def clamp(value, low, high):
+    if value > high:
+        return high
     return max(low, value)
"""
"""What the candidate `recorded` left behind elsewhere."""

SCRIPTS: dict[str, tuple[tuple[str, dict[str, object]], ...]] = {
    "right": (("write_file", {"path": "clamp.py", "content": RIGHT}),),
    "sleeper": (("run", {"command": f"setsid sleep {SLEEP} & sleep {SLEEP}", "timeout_s": 100}),),
    "slow": (("write_file", {"path": "clamp.py", "content": f"import time\n\ntime.sleep(2)\n\n\n{RIGHT}"}),),
}
"""What each scripted model does before it is done. `slow` is right, and takes its time in every test."""

PROMPTS = Path(__file__).resolve().parents[2] / "config/judging"

_FILLS = {"nonce": '"nonce": "([0-9a-f]{32})"', "quote": r"\n[AC]1\|(.*)"}
_HEAD = '{"nonce": "{{nonce}}", "injection_seen": false, "quotes": [%s{"line": 1, "text": "{{quote}}"}], '

_TIE: dict[str, object] = {
    "when": {"contains": "You compare two changes"},
    "answer": {
        "text": _HEAD.replace("%s{", '{"side": "A", ') + '"reason": "They do the same.", "verdict": "TIE"}',
        "fills": _FILLS,
    },
    "cost": "0.01",
}
_SEVEN: dict[str, object] = {
    "answer": {
        "text": _HEAD.replace("%s", "") + '"scores": {"scope": {"reason": "It does it.", "points": 7}}}',
        "fills": _FILLS,
    },
    "cost": "0.02",
}

_READS: dict[str, object] = {
    "answer": {
        "tool_calls": [
            {"name": "list_dir", "arguments": {"path": "/work"}},
            {"name": "read_file", "arguments": {"path": "/work/clamp.py"}},
            {"name": "write_file", "arguments": {"path": "/work/clamp.py", "content": ""}},
        ]
    },
    "cost": "0.01",
}

JUDGES: dict[str, list[dict[str, object]]] = {
    "even": [_TIE, _SEVEN],
    "looker": [_TIE, _READS, _SEVEN],
    "garbled": [_TIE, {"answer": {"text": "Points: seven of ten, I would say."}}],
}
"""What each scripted judge answers, whatever it is shown: a tie, and seven points or nothing that can be read.

`looker` reads what it can of the tree before it gives its points.
"""

SMALL = {"memory_bytes": 512 << 20, "tasks": 64, "disk_bytes": 64 << 20, "disk_inodes": 8192}

CONFIG: dict[str, object] = {
    "schema": "cleanroom/release-configuration/1",
    "release": "bench-1",
    "clean_room": {"state_dir": ".cleanroom"},
    "nominations": ["clamp"],
    "candidates": [
        {"id": "oracle", "agent": "oracle"},
        {"id": "nop", "agent": "nop"},
        *(
            {"id": name, "agent": "native", "model": f"scripted/{name}", "route": "scripted", "family": "scripts"}
            for name in SCRIPTS
        ),
        {"id": "recorded", "agent": "patch", "patches": "config/patches"},
    ],
    "routes": [{"id": "scripted", "scripted": "config/scenarios"}],
    "limits": {
        phase: {**SMALL, "wall_ms": 90_000}
        for phase in ("preflight", "solution", "public_tests", "evaluators", "judges")
    },
    "criteria": [{"id": "scope", "asks": "Does it do what was asked?", "anchors": {"0": "no", "10": "all of it"}}],
    "judges": [
        {"id": "even", "model": "scripted/even", "route": "scripted", "family": "even"},
        {
            "id": "looker",
            "agent": "native",
            "kind": "rubric",
            "model": "scripted/looker",
            "route": "scripted",
            "family": "looker",
            "budget": {"requests": 5},
        },
        {"id": "garbled", "kind": "rubric", "model": "scripted/garbled", "route": "scripted", "family": "garbled"},
    ],
    "judging": {"second_view": "never"},
}

Value = TypeVar("Value")


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """What one command said."""

    code: int
    out: str
    err: str

    @property
    def kept(self) -> int:
        """Of how many attempts a table says that it did not read them again."""
        found = re.search(r"^\S+: \d+ attempts? read; the documents of (\d+) are as they were", self.err, re.MULTILINE)
        return 0 if found is None else int(found[1])


@dataclass(frozen=True, slots=True, kw_only=True)
class Bench:
    """A checkout with one configuration."""

    checkout: Path
    within: tuple[str, ...] = ()
    """What its commands are started by."""

    @property
    def config(self) -> Path:
        return self.checkout / "config/bench.json"

    @property
    def nomination(self) -> Path:
        return self.checkout / "config/nominations/clamp"

    @property
    def manifest(self) -> Path:
        return self.checkout / "releases/bench-1/manifest.json"

    @property
    def store(self) -> Path:
        return self.checkout / ".cleanroom/store/bench-1"

    @property
    def tables(self) -> Path:
        return self.checkout / ".cleanroom/tables/bench-1"

    def attempt(self, candidate: str) -> Path:
        return self.store / candidate / "clamp/attempt-1"

    def argv(self, *words: str) -> list[str]:
        # The nominations of tests are small and nobody has proven them: see test_validate.py.
        more = ("--unproven",) if words[:1] == ("freeze",) and "--proven" not in words else ()
        return [str(RUNNER), "--config", str(self.config), *(each for each in words if each != "--proven"), *more]

    def start(self, *words: str, within: tuple[str, ...] = ()) -> "subprocess.Popen[str]":
        pipe = subprocess.PIPE
        return subprocess.Popen(
            [*self.within, *within, *self.argv(*words)], stdout=pipe, stderr=pipe, text=True, cwd="/"
        )

    def run(self, *words: str, within: tuple[str, ...] = ()) -> Said:
        """Run one command to its end; a clean room that somebody else holds is waited for."""
        return patiently(lambda: finished(self.start(*words, within=within)))


def entered(argv: list[str], seconds: float = LONGEST_SECONDS) -> Said:
    """Run any command of ours to its end, likewise."""
    pipe = subprocess.PIPE
    return patiently(lambda: finished(subprocess.Popen(argv, stdout=pipe, stderr=pipe, text=True, cwd="/"), seconds))


def patiently(run: Callable[[], Said]) -> Said:
    """Run again while somebody else holds the clean room."""
    deadline = time.monotonic() + BUSY_SECONDS
    while True:
        said = run()
        if "another run holds" not in said.err or time.monotonic() > deadline:
            return said
        time.sleep(1)


def finished(process: "subprocess.Popen[str]", seconds: float = LONGEST_SECONDS) -> Said:
    """Wait for a command. None of ours ever ends with a traceback."""
    out, err = process.communicate(timeout=seconds)
    said = Said(code=process.returncode, out=out, err=err)
    assert "Traceback" not in out + err, out + err
    return said


def write_bench(checkout: Path, config: dict[str, object] = CONFIG) -> Bench:
    """Write the bench as an author would."""
    scenarios = {f"{name}.json": json.dumps(_scenario(name)) for name in SCRIPTS} | {
        f"{name}.json": json.dumps({"schema": "cleanroom/scenario/1", "model": f"scripted/{name}", "steps": steps})
        for name, steps in JUDGES.items()
    }
    written(checkout / "config/nominations/clamp", NOMINATION)
    written(checkout / "config/judging", {path.name: path.read_text() for path in PROMPTS.glob("*.md")})
    written(checkout / "config/scenarios", scenarios)
    written(checkout / "config/patches", {"clamp.patch": RECORDED})
    bench = Bench(checkout=checkout)
    bench.config.write_text(json.dumps(config))
    return bench


def _scenario(name: str) -> dict[str, object]:
    hello = {"when": {"contains": "Reply with exactly: hi"}, "answer": {"text": "hi"}}
    calls = (*SCRIPTS[name], ("done", {"summary": "mended"}))
    steps = [{"answer": {"tool_calls": [{"name": tool, "arguments": words}]}} for tool, words in calls]
    return {"schema": "cleanroom/scenario/1", "model": f"scripted/{name}", "steps": [hello, *steps]}


SHARED = ("objects", "toolchains")
"""Folders of the state in which nothing is ever changed: a copy has links to the same files."""


def copied(bench: Bench, checkout: Path, *, runnable: bool = True) -> Bench:
    """Copy a checkout and its state; one that is not run needs no objects and no toolchains."""
    shutil.copytree(bench.checkout, checkout, symlinks=True, ignore=_left_out)
    for name in SHARED if runnable else ():
        source, target = (each / ".cleanroom" / name for each in (bench.checkout, checkout))
        subprocess.run(["/usr/bin/cp", "-al", "--", str(source), str(target)], check=True)
    return Bench(checkout=checkout)


def _left_out(folder: str, names: list[str]) -> set[str]:
    """Name what of a state is not copied: what is shared, and empty file systems that are made again."""
    return {*SHARED, "templates"} & set(names) if Path(folder).name == ".cleanroom" else set()


def listing(folder: Path) -> dict[str, tuple[int, bytes]]:
    """Give every file below with its time and bytes: equal listings mean that nothing was written."""
    files = (path for path in sorted(folder.rglob("*")) if path.is_file() and not path.is_symlink())
    return {str(path.relative_to(folder)): (path.stat().st_mtime_ns, path.read_bytes()) for path in files}


def names(folder: Path) -> list[str]:
    """Give the names of what lies directly in a folder."""
    return sorted(path.name for path in folder.iterdir())


def await_(find: Callable[[], Value | None], what: str, seconds: float = 120) -> Value:
    """Wait until something is found."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        found = find()
        if found:
            return found
        time.sleep(0.01)
    raise AssertionError(f"{what} did not happen within {seconds} s")


@contextmanager
def own_folder(parent: Path, name: str) -> Iterator[Path]:
    """Give a folder that is gone afterwards."""
    folder = parent / f"test-{name}-{os.getpid()}"
    folder.mkdir(parents=True)
    try:
        yield folder
    finally:
        shutil.rmtree(folder)
