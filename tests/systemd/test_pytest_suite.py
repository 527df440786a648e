"""The hidden suite in real units: forgeries end as they must, and the walls around them hold."""

import shutil
from compileall import compile_dir
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from py_compile import PycInvalidationMode

import pytest

from evaluators.model import Bench, Submission, Verdict, VerdictCause
from evaluators.packing import pack_files
from evaluators.public_tests import PublicTests, run_public_tests
from evaluators.pytest_suite import build_pytest_suite
from runner.validating.rates import flakes
from runner.validating.surroundings import LOCALES, locales_mount, variables
from sandbox.api import Pack
from sandbox.client import KeeperSandbox
from sandbox.spec import MIB, Limits, Mount
from sandbox.termination import Cause
from sandbox.tree import Entry, Kind, read_folder
from tests.forgeries import FORGERIES, RIGHT, WRONG, Forgery
from tests.unit.evaluators.judging import PACKAGES, Court, hidden_folder, spec_of

pytestmark = pytest.mark.systemd

NEEDED = ("pytest", "_pytest", "pluggy", "iniconfig", "packaging", "pygments")
LIMITS = Limits(wall=timedelta(seconds=20), memory_bytes=512 * MIB, disk_bytes=64 * MIB, disk_inodes=5000)


def folder_pack(folder: Path) -> Pack:
    entries = read_folder(folder)
    places = {entry.sha256: folder / entry.path.decode() for entry in entries if entry.kind is Kind.FILE}
    return Pack(entries=entries, blobs=lambda digest: places[digest].read_bytes())


@pytest.fixture(scope="module")
def bench(sandbox: KeeperSandbox, tmp_path_factory: pytest.TempPathFactory) -> Bench:
    folder = tmp_path_factory.mktemp("toolchain")
    for name in NEEDED:
        shutil.copytree(PACKAGES / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(PACKAGES / "py.py", folder)
    compile_dir(folder, quiet=2, invalidation_mode=PycInvalidationMode.UNCHECKED_HASH)
    toolchain = Mount(object=sandbox.store(folder_pack(folder)), target="/opt/toolchain")
    return Bench(sandbox=sandbox, toolchain=(toolchain,), python_path=("/opt/toolchain",), root=".", limits=LIMITS)


@pytest.fixture(scope="module")
def court(bench: Bench, tmp_path_factory: pytest.TempPathFactory) -> Court:
    spec = spec_of(hidden_folder(tmp_path_factory.mktemp("court")))
    base = bench.sandbox.store(pack_files({"calc.py": WRONG.encode()}))
    court = Court(suite=build_pytest_suite(spec), bench=bench, base=base)
    frozen = court.suite.calibrate(court.submission({"calc.py": RIGHT.encode()}), bench)
    return replace(court, suite=build_pytest_suite(spec, frozen))


WALLED = (
    "report hook found by gc",
    "harness's own wrapper replaced",
    "records sent with the harness's key",
    "records without the key",
    "expected values read from the caller",
    "os._exit in a test",
    "descriptors closed",
    "killed by itself",
    "child goes on",
    "conftest",
    "configuration files",
    "modules that shadow",
)
"""Those for which the unit could matter; all of them run without walls in tests/unit/evaluators."""


@pytest.mark.parametrize("forgery", [FORGERIES[name] for name in WALLED], ids=WALLED)
def test_a_forgery_ends_as_it_must(court: Court, forgery: Forgery) -> None:
    verdict = court.judge(forgery.tree())
    assert verdict.cause in forgery.ends, (verdict.detail, verdict.private_log[-3000:].decode())
    assert verdict.score != 1


def test_a_right_submission_passes_and_an_honest_wrong_one_fails(court: Court) -> None:
    assert court.judge({"calc.py": RIGHT.encode()}).passed
    assert court.judge({"calc.py": WRONG.encode()}).cause is VerdictCause.FAILED


FOLLOWS = """
import locale

from calc import add


def test_sum():
    assert add(1, 2) == 3


def test_large():
    assert add(5, 7) == 12


def test_written():
    locale.setlocale(locale.LC_ALL, "")
    assert locale.str(add(1, 2) / 2) == "1.5"
"""


def test_a_suite_that_follows_the_locale_changes_its_verdict_from_round_to_round(bench: Bench, tmp_path: Path) -> None:
    spec = spec_of(hidden_folder(tmp_path, {"test_calc.py": FOLLOWS}))
    right = {"calc.py": b"def add(left, right):\n    return left + right\n"}
    submission = Submission(base=(bench.sandbox.store(pack_files({})),), change=pack_files(right), tree_digest="0" * 64)
    suite = build_pytest_suite(spec, build_pytest_suite(spec).calibrate(submission, bench))
    german = {"de_DE.ISO-8859-1": LOCALES["de_DE.ISO-8859-1"]}
    here = replace(bench, toolchain=(*bench.toolchain, locales_mount(bench.sandbox, german)))
    first, other = (suite.judge(submission, replace(here, surroundings=variables(number))) for number in (0, 2))
    assert first.passed
    assert [case.id for case in other.cases if not case.passed] == ["test_calc.py::test_written"]
    assert flakes({"solution": {"hidden": first}}, {"solution": {"hidden": other}}) == 1


def limited(court: Court, tree: dict[str, bytes], **changed: object) -> Verdict:
    bench = replace(court.bench, limits=replace(LIMITS, **changed))  # type: ignore[arg-type]  # fields of `Limits`
    return court.suite.judge(court.submission(tree), bench)


def body(statement: str) -> dict[str, bytes]:
    return {"calc.py": f"import os\ndef add(*a):\n    {statement}\nsplit = shout = add\n".encode()}


def test_time_and_memory_are_the_submissions_own_to_use_up(court: Court) -> None:
    hung = limited(court, body("while True: pass"), wall=timedelta(seconds=8))
    assert (hung.cause, hung.score) == (VerdictCause.TIMEOUT, 0)
    full = limited(court, body("x = bytearray(1 << 30)"), memory_bytes=256 * MIB)
    assert full.cause in {VerdictCause.CRASHED, VerdictCause.FAILED}
    assert not full.passed
    child = limited(court, body("os.fork() or os.setsid() or os.execv('/bin/sleep', ['sleep', '9'])"))
    assert not child.passed


def test_output_is_bounded(court: Court) -> None:
    flood = body("[os.write(2, b'x' * 65536) for _ in range(4096)]")
    wide = {"calc.py": flood["calc.py"] + b"[os.write(2, b'x' * 65536) for _ in range(4096)]\n"}
    verdict = limited(court, wide)
    assert verdict.cause is VerdictCause.CRASHED, verdict.detail
    assert "output" in verdict.detail, verdict.detail


PEEK = """
import os, pathlib
seen = []
for place in ("/opt/private", "/opt/harness/..", "/work", "/home/agent", "/run", "/var/lib", "/root", "/home"):
    try:
        seen.append((place, sorted(os.listdir(place))))
    except OSError as error:
        seen.append((place, error.strerror))
import socket
for family, address in ((socket.AF_INET, ("192.0.2.1", 80)), (socket.AF_UNIX, "/run/dbus/system_bus_socket")):
    try:
        socket.socket(family).connect(address)
        seen.append(("connected", str(address)))
    except OSError as error:
        seen.append((str(address), error.strerror))
raise RuntimeError("SEEN " + repr(seen))
"""


def test_submitted_code_sees_neither_plain_tests_nor_home_nor_network(court: Court) -> None:
    log = court.judge({"calc.py": (PEEK + RIGHT).encode()}).private_log.decode()
    line = next(line for line in log.splitlines() if "SEEN [" in line)
    assert "test_adds" not in line
    assert "connected" not in line
    assert "('/home/agent', [])" in line or "('/home/agent', 'No such file or directory')" in line
    assert "('/work', ['calc.py'])" in line


def test_public_tests_run_with_the_nominations_own_files(court: Court) -> None:
    test = b"from calc import add\ndef test_add():\n    assert add(1, 2) == 3\n"
    tests = PublicTests(
        command=("{python}", "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests"),
        files=pack_files({"tests/test_public.py": test}),
    )
    right = court.submission({"calc.py": RIGHT.encode(), "tests/test_public.py": b"1/0"})
    assert run_public_tests(tests, right, court.bench).passed
    wrong = run_public_tests(tests, court.submission({}), court.bench)
    assert (wrong.passed, wrong.termination.cause, wrong.termination.status) == (False, Cause.EXIT, 1)
    linked = Submission(
        base=right.base,
        change=Pack(
            entries=(Entry(path=b"tests", kind=Kind.LINK, target=b"/opt/toolchain"), *right.change.entries[:1]),
            blobs=right.change.blobs,
        ),
        tree_digest="0" * 64,
    )
    assert run_public_tests(tests, linked, court.bench).passed
