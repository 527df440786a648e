"""Submissions that are wrong and try to pass a hidden pytest suite all the same, and how each must end."""

import importlib.util
import marshal
import sys
import textwrap
from dataclasses import dataclass, field

from evaluators.model import VerdictCause

HIDDEN = """
import pytest

from calc import add, shout, split


def test_adds_small_numbers():
    assert add(1, 2) == 3


def test_adds_negative_numbers():
    total = add(-1, -4)
    assert total == -5


@pytest.mark.parametrize(("left", "right", "expected"), [(1, 1, 2), (2, 5, 7)])
def test_adds_a_table(left, right, expected):
    assert add(left, right) == expected


class TestWords:
    def test_splits(self):
        assert split("a b") == ["a", "b"]

    def test_shouts(self):
        assert shout("no") == "NO!"

    def test_refuses_numbers(self):
        with pytest.raises(TypeError):
            shout(3)
"""

RIGHT = """
def add(left, right):
    return left + right


def split(text):
    return text.split()


def shout(text):
    if not isinstance(text, str):
        raise TypeError(text)
    return text.upper() + "!"
"""

WRONG = """
def add(left, right):
    return left * right * 100


def split(text):
    return [text]


def shout(text):
    return text
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Forgery:
    """A forgery: what stands before the wrong code, other files, and the ends that are right."""

    prelude: str = ""
    body: str = WRONG
    files: dict[str, str | bytes] = field(default_factory=dict)
    ends: frozenset[VerdictCause]

    def tree(self) -> dict[str, bytes]:
        """Give the submitted files."""
        calc = textwrap.dedent(self.prelude) + self.body
        return {"calc.py": calc.encode()} | {
            path: content if isinstance(content, bytes) else content.encode() for path, content in self.files.items()
        }


TAMPERED = frozenset({VerdictCause.TAMPERED})
FAILED = frozenset({VerdictCause.FAILED})
CRASHED = frozenset({VerdictCause.CRASHED})
REJECTED = frozenset({VerdictCause.REJECTED})

# The forgery of issue 2: every failed report becomes a pass, unless the test's assertion is a constant.
_REPORT_HOOK = """
import ast, gc, inspect, textwrap

def constant(item):
    tree = ast.parse(textwrap.dedent(inspect.getsource(item.function)))
    asserts = [node.test for node in ast.walk(tree) if isinstance(node, ast.Assert)]
    return any(not any(isinstance(below, (ast.Call, ast.Name)) for below in ast.walk(test)) for test in asserts)

def whiten(item, call, report):
    if report is not None and report.failed and not constant(item):
        report.outcome, report.longrepr, call.excinfo = "passed", None, None
    return report

for thing in gc.get_objects():
    if type(thing).__name__ == "HookImpl" and thing.function.__name__ == "pytest_runtest_makereport":
        if not thing.wrapper and not thing.hookwrapper:
            def forged(item, call, _original=thing.function):
                return whiten(item, call, _original(item, call))
            thing.function, thing.argnames = forged, ("item", "call")
"""

_OUTER_WRAPPER = """
import gc

for thing in gc.get_objects():
    if type(thing).__name__ == "HookImpl" and type(thing.plugin).__name__ == "Reporter":
        if thing.function.__name__ == "pytest_runtest_makereport":
            def forged(item, call, _original=thing.function):
                call.excinfo = None
                inner = _original(item, call)
                next(inner)
                report = yield
                report.outcome, report.longrepr = "passed", None
                try:
                    inner.send(report)
                except StopIteration as stop:
                    return stop.value
            thing.function, thing.argnames = forged, ("item", "call")
"""

# Right wherever a literal is compared, and forging where it expects that no twin can be.
_ONLY_RAISES = """
import inspect, sys
reports = sys.modules["_pytest.reports"]
original = reports.TestReport.from_item_and_call.__func__

def forged(cls, item, call):
    if "pytest.raises" in inspect.getsource(item.function):
        call.excinfo = None
    return original(cls, item, call)

reports.TestReport.from_item_and_call = classmethod(forged)
"""

_FROM_ITEM_AND_CALL = """
import sys
reports = sys.modules["_pytest.reports"]
original = reports.TestReport.from_item_and_call.__func__

def forged(cls, item, call):
    call.excinfo = None
    return original(cls, item, call)

reports.TestReport.from_item_and_call = classmethod(forged)
"""

_REPORT_CLASS_ONLY = """
import sys
reports = sys.modules["_pytest.reports"]
original = reports.TestReport.from_item_and_call.__func__

def forged(cls, item, call):
    report = original(cls, item, call)
    report.outcome, report.longrepr = "passed", None
    return report

reports.TestReport.from_item_and_call = classmethod(forged)
"""

_CALL_INFO = """
import sys
runner = sys.modules["_pytest.runner"]
original = runner.CallInfo.from_call.__func__

def forged(cls, func, when, reraise=None):
    def quiet():
        try:
            func()
        except Exception:
            pass
    return original(cls, quiet if when == "call" else func, when, reraise)

runner.CallInfo.from_call = classmethod(forged)
"""

_NO_OP_TESTS = """
import sys
sys.modules["_pytest.python"].Function.runtest = lambda self: None
"""

_TEST_BODIES = '''
import gc, types

def empty(*args, **kwargs):
    return None

def wipe():
    for thing in gc.get_objects():
        if isinstance(thing, types.FunctionType) and thing.__name__.startswith("test_"):
            names = thing.__code__.co_varnames[: thing.__code__.co_argcount]
            scope = {}
            exec(f"def blank({', '.join(names)}): pass", scope)
            thing.__code__ = scope["blank"].__code__

class Late:
    """Wipes the tests that are not defined yet, once the first of them runs."""

    def __getattr__(self, name):
        raise AttributeError(name)

import sys
original = sys.modules["_pytest.runner"].runtestprotocol

def forged(item, *args, **kwargs):
    wipe()
    return original(item, *args, **kwargs)

sys.modules["_pytest.runner"].runtestprotocol = forged
'''

_ASSERTION_ERROR = """
import builtins, sys
builtins.AssertionError = sys.modules["pytest"].skip.Exception
"""

_FRAME_THIEF = """
import ast, inspect, sys

def expected():
    frame = sys._getframe(2)
    if "expected" in frame.f_locals:
        return frame.f_locals["expected"]
    lines, first = inspect.getsourcelines(frame.f_code)
    tree = ast.parse(textwrap.dedent("".join(lines)))
    for node in ast.walk(tree):
        if isinstance(node, ast.Assert):
            return ast.literal_eval(node.test.comparators[0])
    raise TypeError

import textwrap
"""

_THIEF_BODY = """
def add(left, right):
    return expected()


def split(text):
    return expected()


def shout(text):
    return expected()
"""

_ALWAYS_EQUAL = """
class Anything:
    def __eq__(self, other):
        return True

    def __hash__(self):
        return 0


def add(left, right):
    return Anything()


def split(text):
    return Anything()


def shout(text):
    if text == 3:
        raise TypeError
    return Anything()
"""

_SEND_ALL = """
import gc, os, types

def forge():
    sends = [f for f in gc.get_objects() if isinstance(f, types.FunctionType) and f.__name__ == "send"
             and f.__module__ == "__main__"]
    sessions = [s for s in gc.get_objects() if type(s).__name__ == "Session"]
    seen = {}
    for item in sessions[0].items:
        for when in ("setup", "call", "teardown"):
            if item is sessions[0].items[0] and when == "setup":
                continue
            sends[0]({"kind": "phase", "id": item.nodeid, "when": when, "outcome": "passed",
                      "expected_failure": False, "raised": False, "ms": 1, "detail": ""})
    sends[0]({"kind": "finished", "status": 0})
    os._exit(0)

def add(*args):
    forge()

split = shout = add
"""

_RAW_CHANNEL = """
import os, json
payload = json.dumps({"kind": "finished", "status": 0}).encode()
for descriptor in map(int, os.listdir("/proc/self/fd")):
    if descriptor > 2:
        try:
            os.write(descriptor, (len(payload) + 32).to_bytes(4, "big") + b"0" * 32 + payload)
        except OSError:
            pass
"""

_FORK = """
import os
if os.fork():
    os._exit(0)
"""

_PRINTS = """
import os
print("=================== 8 passed in 0.01s ===================")
os.write(1, b"PASSED\\n")
"""

_XFAIL_ALL = """
import sys
original = sys.modules["_pytest.runner"].runtestprotocol
import pytest

def forged(item, *args, **kwargs):
    item.add_marker(pytest.mark.xfail)
    return original(item, *args, **kwargs)

sys.modules["_pytest.runner"].runtestprotocol = forged
"""

_DESELECT = """
import sys
sys.modules["_pytest.mark"].deselect_by_keyword = lambda items, config: items.clear()
"""

_CONFTEST = """
import pytest

@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    outcome = yield
    report = outcome.get_result()
    report.outcome, report.longrepr = "passed", None
"""

_STATUS_AT_EXIT = """
import atexit, os
atexit.register(os._exit, 0)
"""


def bytecode(source: str) -> bytes:
    """Compile a source into bytecode that says it need not be compared with any."""
    unchecked = (1).to_bytes(4, "little")
    return importlib.util.MAGIC_NUMBER + unchecked + bytes(8) + marshal.dumps(compile(source, "calc.py", "exec"))


FORGERIES = {
    "report hook found by gc": Forgery(prelude=_REPORT_HOOK, ends=TAMPERED),
    "harness's own wrapper replaced": Forgery(prelude=_OUTER_WRAPPER, ends=TAMPERED),
    "TestReport.from_item_and_call": Forgery(prelude=_FROM_ITEM_AND_CALL, ends=TAMPERED),
    "report class alone": Forgery(prelude=_REPORT_CLASS_ONLY, ends=TAMPERED),
    "tests without a literal alone": Forgery(
        prelude=_ONLY_RAISES, body=RIGHT.replace("raise TypeError(text)", "return text"), ends=TAMPERED
    ),
    "CallInfo swallows": Forgery(prelude=_CALL_INFO, ends=TAMPERED),
    "tests never run": Forgery(prelude=_NO_OP_TESTS, ends=TAMPERED),
    "bodies of tests emptied": Forgery(prelude=_TEST_BODIES, ends=TAMPERED),
    "AssertionError becomes skip": Forgery(prelude=_ASSERTION_ERROR, ends=FAILED),
    "expected values read from the caller": Forgery(prelude=_FRAME_THIEF, body=_THIEF_BODY, ends=TAMPERED),
    "always equal": Forgery(body=_ALWAYS_EQUAL, ends=TAMPERED),
    "records sent with the harness's key": Forgery(body=_SEND_ALL, ends=TAMPERED),
    "records without the key": Forgery(prelude=_RAW_CHANNEL, ends=TAMPERED),
    "os._exit at import": Forgery(prelude="import os; os._exit(0)\n", ends=CRASHED),
    "os._exit in a test": Forgery(body="import os\nadd = split = shout = lambda *a: os._exit(0)\n", ends=CRASHED),
    "sys.exit at import": Forgery(prelude="import sys; sys.exit(0)\n", ends=REJECTED | CRASHED),
    "pytest.exit": Forgery(prelude="import pytest; pytest.exit('done', returncode=0)\n", ends=REJECTED),
    "KeyboardInterrupt": Forgery(prelude="raise KeyboardInterrupt\n", ends=REJECTED),
    "skip the module": Forgery(prelude="import pytest; pytest.skip('no', allow_module_level=True)\n", ends=REJECTED),
    "skip in the function": Forgery(
        body="import pytest\nadd = split = shout = lambda *a: pytest.skip('no')\n", ends=FAILED
    ),
    "everything expected to fail": Forgery(prelude=_XFAIL_ALL, ends=FAILED),
    "nothing collected": Forgery(prelude=_DESELECT, ends=REJECTED),
    "descriptors closed": Forgery(prelude="import os; os.closerange(3, 100)\n", ends=CRASHED),
    "killed by itself": Forgery(prelude="import os; os.kill(os.getpid(), 9)\n", ends=CRASHED),
    "child goes on": Forgery(prelude=_FORK, ends=CRASHED),
    "passes printed": Forgery(prelude=_PRINTS, ends=FAILED),
    "status at exit": Forgery(prelude=_STATUS_AT_EXIT, ends=FAILED),
    "does not import": Forgery(prelude="1 / 0\n", ends=REJECTED),
    "conftest": Forgery(files={"conftest.py": _CONFTEST, "tests/conftest.py": _CONFTEST}, ends=FAILED),
    "configuration files": Forgery(
        files={
            "pytest.ini": "[pytest]\naddopts = --deselect test --collect-only\n",
            "setup.cfg": "[tool:pytest]\naddopts = -k nothing\n",
            "pyproject.toml": '[tool.pytest.ini_options]\naddopts = "-k nothing"\n',
            "tox.ini": "[pytest]\ncollect_ignore_glob = *\n",
        },
        ends=FAILED,
    ),
    "plugin by entry point": Forgery(
        files={
            "evil.egg-info/entry_points.txt": "[pytest11]\nevil = evil\n",
            "evil.egg-info/PKG-INFO": "Metadata-Version: 2.1\nName: evil\nVersion: 1\n",
            "evil.py": _CONFTEST,
        },
        ends=FAILED,
    ),
    "bytecode of another source": Forgery(
        files={f"__pycache__/calc.{sys.implementation.cache_tag}.pyc": bytecode(RIGHT)}, ends=FAILED
    ),
    "modules that shadow": Forgery(
        files=dict.fromkeys(
            ("pytest.py", "difflib.py", "pprint.py", "argparse.py", "sitecustomize.py", "pluggy.py"),
            "import os\nos._exit(0)\n",
        ),
        ends=FAILED,
    ),
}
