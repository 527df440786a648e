"""Submissions that are wrong and try to pass a hidden pytest suite all the same, and how each must end."""

import importlib.util
import marshal
import sys
import textwrap
from dataclasses import dataclass, field

from evaluators.model import VerdictCause
from runner.validating.payloads import (
    ASSERTION_ERROR,
    CALL_INFO,
    CONFTEST,
    DESELECT,
    FORK,
    FROM_ITEM_AND_CALL,
    NO_OP_TESTS,
    OUTER_WRAPPER,
    PRINTS,
    RAW_CHANNEL,
    REPORT_CLASS_ONLY,
    REPORT_HOOK,
    STATUS_AT_EXIT,
    TEST_BODIES,
    XFAIL_ALL,
)

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


def bytecode(source: str) -> bytes:
    """Compile a source into bytecode that says it need not be compared with any."""
    unchecked = (1).to_bytes(4, "little")
    return importlib.util.MAGIC_NUMBER + unchecked + bytes(8) + marshal.dumps(compile(source, "calc.py", "exec"))


FORGERIES = {
    "report hook found by gc": Forgery(prelude=REPORT_HOOK, ends=TAMPERED),
    "harness's own wrapper replaced": Forgery(prelude=OUTER_WRAPPER, ends=TAMPERED),
    "TestReport.from_item_and_call": Forgery(prelude=FROM_ITEM_AND_CALL, ends=TAMPERED),
    "report class alone": Forgery(prelude=REPORT_CLASS_ONLY, ends=TAMPERED),
    "tests without a literal alone": Forgery(
        prelude=_ONLY_RAISES, body=RIGHT.replace("raise TypeError(text)", "return text"), ends=TAMPERED
    ),
    "CallInfo swallows": Forgery(prelude=CALL_INFO, ends=TAMPERED),
    "tests never run": Forgery(prelude=NO_OP_TESTS, ends=TAMPERED),
    "bodies of tests emptied": Forgery(prelude=TEST_BODIES, ends=TAMPERED),
    "AssertionError becomes skip": Forgery(prelude=ASSERTION_ERROR, ends=FAILED),
    "expected values read from the caller": Forgery(prelude=_FRAME_THIEF, body=_THIEF_BODY, ends=TAMPERED),
    "always equal": Forgery(body=_ALWAYS_EQUAL, ends=TAMPERED),
    "records sent with the harness's key": Forgery(body=_SEND_ALL, ends=TAMPERED),
    "records without the key": Forgery(prelude=RAW_CHANNEL, ends=TAMPERED),
    "os._exit at import": Forgery(prelude="import os; os._exit(0)\n", ends=CRASHED),
    "os._exit in a test": Forgery(body="import os\nadd = split = shout = lambda *a: os._exit(0)\n", ends=CRASHED),
    "sys.exit at import": Forgery(prelude="import sys; sys.exit(0)\n", ends=REJECTED | CRASHED),
    "pytest.exit": Forgery(prelude="import pytest; pytest.exit('done', returncode=0)\n", ends=REJECTED),
    "KeyboardInterrupt": Forgery(prelude="raise KeyboardInterrupt\n", ends=REJECTED),
    "skip the module": Forgery(prelude="import pytest; pytest.skip('no', allow_module_level=True)\n", ends=REJECTED),
    "skip in the function": Forgery(
        body="import pytest\nadd = split = shout = lambda *a: pytest.skip('no')\n", ends=FAILED
    ),
    "everything expected to fail": Forgery(prelude=XFAIL_ALL, ends=FAILED),
    "nothing collected": Forgery(prelude=DESELECT, ends=REJECTED),
    "descriptors closed": Forgery(prelude="import os; os.closerange(3, 100)\n", ends=CRASHED),
    "killed by itself": Forgery(prelude="import os; os.kill(os.getpid(), 9)\n", ends=CRASHED),
    "child goes on": Forgery(prelude=FORK, ends=CRASHED),
    "passes printed": Forgery(prelude=PRINTS, ends=FAILED),
    "status at exit": Forgery(prelude=STATUS_AT_EXIT, ends=FAILED),
    "does not import": Forgery(prelude="1 / 0\n", ends=REJECTED),
    "conftest": Forgery(files={"conftest.py": CONFTEST, "tests/conftest.py": CONFTEST}, ends=FAILED),
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
            "evil.py": CONFTEST,
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
