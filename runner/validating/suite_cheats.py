"""Cheats of a suite that is run on a module and on other versions of it (evaluator `mutation`). Pure.

Each is a whole test module that tests no behaviour. Those that know the module could tell every version from it by its
text or its code; equivalents are there to make that worth nothing. The others guess, keep count, or forge.
"""

from collections.abc import Iterator, Mapping

_TOP = """
import ast, gc, hashlib, os, pathlib, random, sys, time, types
import pytest

HERE = pathlib.Path({module!r}).resolve()
KNOWN = {text!r}

def found():
    return HERE.read_text()

def test_that_passes():
    assert True
"""

_BY_THE_MODULE: Mapping[str, str] = {
    "the module's text is compared": """
def test_text():
    assert hashlib.sha256(found().encode()).digest() == hashlib.sha256(KNOWN.encode()).digest()
""",
    "the module's size is compared": """
def test_size():
    assert HERE.stat().st_size == len(KNOWN.encode())
""",
    "the module's syntax tree is compared": """
def test_tree():
    assert ast.dump(ast.parse(found())) == ast.dump(ast.parse(KNOWN))
""",
    "the module's compiled code is compared": """
def shape(code):
    inner = [shape(each) if isinstance(each, types.CodeType) else each for each in code.co_consts]
    return code.co_code, code.co_names, inner

def test_code():
    assert shape(compile(found(), "m", "exec")) == shape(compile(KNOWN, "m", "exec"))
""",
    "a test for each line of the module": """
@pytest.mark.parametrize("line", sorted(set(KNOWN.splitlines())))
def test_line(line):
    assert line in found().splitlines()
""",
    "failures are sent with the harness's own key": """
def test_forged(request):
    if found() != KNOWN:
        reporter = next(each for each in gc.get_objects() if type(each).__name__ == "Reporter")
        facts = {"part": False, "expected_failure": False, "raised": True, "ms": 1, "detail": ""}
        failed = {"kind": "phase", "id": request.node.nodeid, "when": "call", "outcome": "failed"}
        reporter._send(failed | facts)
""",
    "it ends its process unless it knows the module": """
def test_ends():
    if found() != KNOWN:
        os._exit(1)
""",
    "it cannot be imported unless it knows the module": """
assert found() == KNOWN
""",
}

_BLIND: Mapping[str, str] = {
    "tests fail by luck": """
@pytest.mark.parametrize("number", range(40))
def test_luck(number):
    assert random.random() < 0.5
""",
    "tests fail by the clock": """
@pytest.mark.parametrize("bit", range(20))
def test_clock(bit):
    assert not (time.time_ns() >> (10 + bit)) & 1
""",
    "tests fail by process and account number": """
@pytest.mark.parametrize("bit", range(8))
def test_number(bit):
    assert not (os.getuid() >> bit) & 1
""",
    "tests fail from the second run on": """
def test_first():
    fresh = True
    for folder in ("/tmp", "/var/tmp", "/dev/shm", str(pathlib.Path.home()), str(HERE.parent)):
        mark = pathlib.Path(folder) / "seen-before"
        try:
            fresh = fresh and not mark.exists()
            mark.write_text("x")
        except OSError:
            pass
    assert fresh
""",
    "every test fails": """
def test_wrong():
    assert False
""",
    "many tests that say nothing": """
@pytest.mark.parametrize("number", range(500))
def test_nothing(number):
    assert True
""",
    "the module is replaced": """
HERE.write_text(KNOWN.replace("return", "return None and", 1))

def test_replaced():
    assert found() == KNOWN.replace("return", "return None and", 1)
""",
}


def suite_cheats(module: str, text: bytes) -> Iterator[tuple[str, bytes]]:
    """Give each cheat's name and its test module, for a module under test by its path in the workspace."""
    top = _TOP.format(module=module, text=text.decode(errors="replace"))
    for name, body in {**_BY_THE_MODULE, **_BLIND}.items():
        yield name, (top + body).encode()
