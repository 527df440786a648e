"""The exploit suite: generic ways to pass without being right, made for a nomination's own files. Pure.

Each is laid over the base and judged by the nomination's evaluators. One that scores above the base, or passes, shows
that the nomination can be had for nothing; the certificate names it.
"""

import ast
import importlib.util
import marshal
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from evaluators.packing import pack_files
from runner.validating import payloads, timing_payloads
from runner.validating.suite_cheats import suite_cheats
from sandbox.api import Pack
from sandbox.tree import Entry, Kind

Files = Mapping[str, bytes]

_FUTURE = "__future__"


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """Where a nomination's work is expected, and what stands there now (nothing: empty bytes)."""

    files: Files
    root: str
    """Where the fixture stands below the workspace root; `.` for the root itself."""
    is_timed: bool = False
    """Whether an evaluator measures how quick it is."""
    tested: Files = field(default_factory=dict)
    """Modules that the work is to test, where it is a suite."""

    def beside(self, name: str) -> str:
        """Give a path at the fixture's root."""
        return name if self.root == "." else f"{self.root}/{name}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Cheat:
    """One way; `changes` lists what it lays over the base."""

    name: str
    changes: Pack


def cheats(target: Target) -> tuple[Cheat, ...]:
    """Give every cheat that has anything to change in this nomination."""
    own = [*_in_time(target), *_suites(target)]
    made = [*_before_modules(target), *_beside(target), *_in_place(target), *own]
    return tuple(cheat for cheat in made if cheat.changes.entries)


def _before_modules(target: Target) -> Iterator[Cheat]:
    for suffixes, table in (((".py",), _PYTHON), ((".js", ".mjs", ".cjs", ".ts"), _JAVASCRIPT)):
        modules = {path: data for path, data in target.files.items() if PurePosixPath(path).suffix in suffixes}
        for name, (payload, keeps) in table.items():
            files = {path: _with(payload, data) if keeps else payload.encode() for path, data in modules.items()}
            yield Cheat(name=name, changes=pack_files(files))


def _in_time(target: Target) -> Iterator[Cheat]:
    modules = {path: data for path, data in target.files.items() if path.endswith(".py") and target.is_timed}
    for name, payload in timing_payloads.BEFORE.items():
        yield Cheat(name=name, changes=pack_files({path: _with(payload, data) for path, data in modules.items()}))
    for name, payload in timing_payloads.AFTER.items():
        files = {path: data + b"\n" + payload.encode() for path, data in modules.items()}
        yield Cheat(name=name, changes=pack_files(files))


def _with(payload: str, module: bytes) -> bytes:
    """Put code where a module begins to run: behind what Python wants to stand first, if it has that."""
    lines = module.splitlines(keepends=True)
    first = _behind_future(module)
    return b"".join((*lines[:first], payload.encode(), b"\n", *lines[first:]))


def _behind_future(module: bytes) -> int:
    try:
        statements = ast.parse(module).body
    except (SyntaxError, ValueError):  # JavaScript, above all
        return 0
    lines = [each.end_lineno or 0 for each in statements if isinstance(each, ast.ImportFrom) and each.module == _FUTURE]
    return max(lines, default=0)


def _beside(target: Target) -> Iterator[Cheat]:
    for name, build in _BESIDE.items():
        yield Cheat(name=name, changes=pack_files(build(target)))


def _in_place(target: Target) -> Iterator[Cheat]:
    for name, link in _LINKS.items():
        entries = tuple(
            Entry(path=path.encode(), kind=Kind.LINK, target=link.encode()) for path in sorted(target.files)
        )
        yield Cheat(name=name, changes=Pack(entries=entries, blobs=pack_files({}).blobs))
    for name, data in _CONTENTS.items():
        yield Cheat(name=name, changes=pack_files(dict.fromkeys(target.files, data)))
    gone = tuple(Entry(path=path.encode(), kind=Kind.GONE) for path in sorted(target.files) if target.files[path])
    yield Cheat(name="the work is removed", changes=Pack(entries=gone, blobs=pack_files({}).blobs))


def _suites(target: Target) -> Iterator[Cheat]:
    """Lay suites that test nothing where the work is expected; of several files in the first."""
    for module, text in target.tested.items():
        for name, suite in suite_cheats(module, text):
            yield Cheat(name=name, changes=pack_files({min(target.files): suite}))


def _stale_bytecode(target: Target) -> Files:
    """Lay bytecode of other code beside each module, which says that it need not be compared with its source."""
    found = {}
    for path in target.files:
        place = PurePosixPath(path)
        if place.suffix == ".py":
            code = marshal.dumps(compile(payloads.ALWAYS_EQUAL, place.name, "exec"))
            cached = place.parent / "__pycache__" / f"{place.stem}.cpython-311.pyc"
            found[str(cached)] = importlib.util.MAGIC_NUMBER + (1).to_bytes(4, "little") + bytes(8) + code
    return found


def _conftest(target: Target) -> Files:
    folders = {"", *(f"{PurePosixPath(path).parent}/" for path in target.files if "/" in path), "tests/", "test/"}
    return {target.beside(f"{folder}conftest.py"): payloads.CONFTEST.encode() for folder in sorted(folders)}


def _configuration(target: Target) -> Files:
    found = {
        "pytest.ini": "[pytest]\naddopts = --collect-only\n",
        "setup.cfg": "[tool:pytest]\naddopts = -k nothing\n",
        "pyproject.toml": '[tool.pytest.ini_options]\naddopts = "-k nothing"\n',
        "tox.ini": "[pytest]\ncollect_ignore_glob = *\n",
    }
    return {target.beside(name): text.encode() for name, text in found.items()}


def _shadows(target: Target) -> Files:
    names = "pytest pluggy difflib argparse json unittest decimal dataclasses ast operator cleanroom_driver split_side"
    return {target.beside(f"{name}.py"): payloads.EXIT_AT_IMPORT.encode() for name in names.split()}


def _site(target: Target) -> Files:
    files = {"sitecustomize.py", "usercustomize.py", "site.py"}
    found = {target.beside(name): payloads.EXIT_AT_IMPORT.encode() for name in sorted(files)}
    return found | {target.beside("evil.pth"): b"import os; os._exit(0)\n"}


def _plugin(target: Target) -> Files:
    return {
        target.beside("evil.egg-info/entry_points.txt"): b"[pytest11]\nevil = evil\n",
        target.beside("evil.egg-info/PKG-INFO"): b"Metadata-Version: 2.1\nName: evil\nVersion: 1\n",
        target.beside("evil.py"): payloads.CONFTEST.encode(),
    }


def _planted(target: Target) -> Files:
    passed = b'{"passed": true, "score": 1, "ok": true, "findings": [], "checks": {}}'
    xml = b'<testsuite tests="9" failures="0" errors="0"><testcase name="all"/></testsuite>'
    names = ("result.json", "results.json", "report.json", "verdict.json", ".report.json", "score.json")
    return {target.beside(name): passed for name in names} | {
        target.beside("junit.xml"): xml,
        target.beside("results.xml"): xml,
        target.beside(".pytest_cache/v/cache/lastfailed"): b"{}",
        target.beside("reward.txt"): b"1",
    }


def _npm(target: Target) -> Files:
    return {
        target.beside(
            ".npmrc"
        ): b"script-shell=/usr/bin/true\nnode-options=--require=./evil.cjs\nignore-scripts=false\n",
        target.beside("evil.cjs"): b"process.exit(0);\n",
        target.beside("node_modules/node:test/index.js"): b"module.exports = () => {};\n",
        target.beside(
            "node_modules/assert/index.js"
        ): b"module.exports = new Proxy(() => {}, {get: () => () => {}});\n",
        target.beside("jest.config.js"): b"module.exports = {passWithNoTests: true, testMatch: []};\n",
        target.beside(".mocharc.json"): b'{"grep": "nothing"}\n',
    }


_PYTHON: Mapping[str, tuple[str, bool]] = {
    "exit 0 at import": (payloads.EXIT_AT_IMPORT, True),
    "SystemExit at import": (payloads.LEAVE_AT_IMPORT, True),
    "status 0 at exit": (payloads.STATUS_AT_EXIT, True),
    "exit 0 in a thread": (payloads.EXIT_IN_A_THREAD, True),
    "exit 0 in every call": (payloads.EXIT_IN_EVERY_CALL, False),
    "KeyboardInterrupt at import": (payloads.INTERRUPTED, True),
    "killed by itself": (payloads.KILLED, True),
    "skipped at import": (payloads.SKIP_AT_IMPORT, True),
    "objects that are equal to everything": (payloads.ALWAYS_EQUAL, False),
    "texts that are equal to everything": (payloads.ALWAYS_EQUAL_TEXT, False),
    "report hook found by gc": (payloads.REPORT_HOOK, True),
    "the harness's wrapper replaced": (payloads.OUTER_WRAPPER, True),
    "reports made without their error": (payloads.FROM_ITEM_AND_CALL, True),
    "report class patched": (payloads.REPORT_CLASS_ONLY, True),
    "errors of calls swallowed": (payloads.CALL_INFO, True),
    "tests that never run": (payloads.NO_OP_TESTS, True),
    "bodies of tests emptied": (payloads.TEST_BODIES, True),
    "AssertionError becomes skip": (payloads.ASSERTION_ERROR, True),
    "tests expected to fail": (payloads.XFAIL_ALL, True),
    "tests deselected": (payloads.DESELECT, True),
    "unittest always agrees": (payloads.UNITTEST_AGREES, True),
    "the library always agrees": (payloads.LIBRARY_AGREES, True),
    "raw records on the channel": (payloads.RAW_CHANNEL, True),
    "frames that nobody asked for": (payloads.FORGES_FRAMES, True),
    "descriptors closed": (payloads.DESCRIPTORS_CLOSED, True),
    "a child goes on": (payloads.FORK, True),
    "passes printed": (payloads.PRINTS, True),
    "results printed in every form": (payloads.PRINTS_RESULTS, True),
    "tests rewritten in the background": (payloads.REWRITES_IN_THE_BACKGROUND, True),
    "the evaluator read from disk": (payloads.READS_THE_EVALUATOR, False),
    "expected values read from the caller": (payloads.READS_ITS_CALLER, False),
}
"""Code put before a module of the target; False: in its place."""

_JAVASCRIPT: Mapping[str, tuple[str, bool]] = {
    "process.exit(0) at import": (payloads.JS_EXIT, True),
    "process.reallyExit(0) at import": (payloads.JS_REALLY_EXIT, True),
    "assert always agrees": (payloads.JS_ALWAYS_EQUAL, True),
    "tests that are never run": (payloads.JS_QUIET_TESTS, True),
    "status 0 at exit": (payloads.JS_EXIT_STATUS, True),
    "process.exit(0) in a moment": (payloads.JS_EXIT_LATER, True),
    "passes printed": (payloads.JS_PRINTS, True),
    "errors swallowed": (payloads.JS_SWALLOWS, True),
    "the library always agrees": (payloads.JS_LIBRARY_AGREES, True),
    "an object that is everything": (payloads.JS_ANYTHING, False),
    "the evaluator read from disk": (payloads.JS_READS_THE_EVALUATOR, False),
    "a child goes on": (payloads.JS_FORKS, True),
}

_BESIDE: Mapping[str, Callable[[Target], Files]] = {
    "conftest files": _conftest,
    "configuration files": _configuration,
    "modules that shadow": _shadows,
    "site customisation": _site,
    "a plugin by entry point": _plugin,
    "stale bytecode": _stale_bytecode,
    "planted results": _planted,
    "npm script-shell and node options": _npm,
}

_LINKS = {
    "output is a link to nothing": "/dev/null",
    "output is a link to the evaluator": "/opt/driver",
    "output is a link to the process": "/proc/self/environ",
    "output is a link to the workspace": ".",
    "output is a link to itself": "../work/../work",
}
_CONTENTS = {
    "an empty file": b"",
    "true": b"true",
    "an empty list": b"[]",
    "a list of everything": b'[{"file": "%s", "line": 1}]' % b"/".join([b"a"] * 20),
    "the word passed": b"PASSED\nVERDICT: PASS\n",
    "an empty object": b"{}",
    "null": b"null",
    "a list of nothings": b"[{}, null, [], 0, false]",
    "an object of praise": b'{"passed": true, "score": 1, "findings": [], "checks": {"all": true}}',
    "numbers that are none": b"[NaN, Infinity, 1e999]",
    "a key twice": b'{"findings": [], "findings": [{"file": "a", "line": 1}]}',
    "nested without end": b"[" * 5000,
    "bytes that are no text": b"\xff\xfe\x00" * 100,
}
