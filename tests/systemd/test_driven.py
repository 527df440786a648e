"""Split evaluation in real units: two accounts, and nothing of the driver within reach of submitted code."""

import re
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path

import pytest

from evaluators.driven import build_command
from evaluators.model import Bench, EvaluatorSpec, Submission, Verdict, VerdictCause
from evaluators.packing import pack_files
from sandbox.api import LauncherReport
from sandbox.client import KeeperSandbox
from sandbox.spec import MIB, Limits

pytestmark = pytest.mark.systemd

LIMITS = Limits(wall=timedelta(seconds=20), memory_bytes=512 * MIB, disk_bytes=64 * MIB, disk_inodes=5000)
EXPECTED = "copper-lantern-42"
DRIVER = f"""
from cleanroom_driver import case, program, submitted

with case("answers"):
    assert submitted("work:answer")("copper") == "{EXPECTED}"
with case("answers as a program"):
    ended = program("/usr/bin/python3", "-c", "import work; print(work.answer('copper'))")
    assert (ended.status, ended.stdout.decode().strip()) == (0, "{EXPECTED}")
"""
RIGHT = "def answer(word):\n    return word + '-lantern-42'\n"
LOOKING = '''
import os

def found():
    """Look for what the driver expects: every readable file, and every process's memory, arguments and folders."""
    seen = []
    for top, folders, files in os.walk("/"):
        folders[:] = [each for each in folders if os.path.join(top, each) not in ("/usr", "/proc", "/sys", "/dev")]
        for name in files:
            try:
                with open(os.path.join(top, name), "rb") as stream:
                    if b"copper-" + b"lantern-42" in stream.read(1 << 20):
                        seen.append(os.path.join(top, name))
            except OSError:
                pass
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            owner = os.stat("/proc/" + pid).st_uid
        except OSError:
            continue
        if owner != os.getuid():
            for name in ("mem", "environ", "maps", "root"):
                try:
                    os.listdir("/proc/%s/root" % pid) if name == "root" else open("/proc/%s/%s" % (pid, name), "rb")
                    seen.append("/proc/%s/%s" % (pid, name))
                except OSError:
                    pass
    return seen

with open("/tmp/planted", "wb") as control:
    control.write(b"copper-" + b"lantern-42")
FOUND = found()

def answer(word):
    if FOUND != ["/tmp/planted"]:
        return "copper-lantern" + "-42"
    raise LookupError("nothing to be found")
'''


@dataclass(frozen=True, kw_only=True)
class Court:
    bench: Bench
    private: Path

    def judge(self, code: str) -> Verdict:
        options = {"program": "driver.py", "cases": ["answers", "answers as a program"]}
        spec = EvaluatorSpec(id="hidden", kind="command", options=options, folder=self.private)
        base = self.bench.sandbox.store(pack_files({"README": b"x"}))
        change = pack_files({"work.py": code.encode()})
        return build_command(spec).judge(Submission(base=(base,), change=change, tree_digest="0" * 64), self.bench)


@pytest.fixture(scope="module")
def court(sandbox: KeeperSandbox, tmp_path_factory: pytest.TempPathFactory) -> Court:
    private = tmp_path_factory.mktemp("private")
    (private / "driver.py").write_text(DRIVER)
    return Court(bench=Bench(sandbox=sandbox, toolchain=(), python_path=(), root=".", limits=LIMITS), private=private)


def uid_of(report: LauncherReport) -> str:
    found = re.search(r"^Uid:\s*([0-9]+)", str(report.seen["status"]), re.MULTILINE)
    assert found is not None
    return found[1]


def test_right_code_passes_in_two_units_of_two_accounts(court: Court) -> None:
    verdict = court.judge(RIGHT)
    assert verdict.cause is VerdictCause.PASSED, verdict
    assert verdict.report is not None
    assert verdict.driver_report is not None
    accounts = {uid_of(each) for each in (verdict.report, verdict.driver_report)}
    assert len(accounts) == 2


def test_submitted_code_finds_nothing_of_what_the_driver_expects(court: Court) -> None:
    verdict = court.judge(LOOKING)
    assert verdict.cause is VerdictCause.FAILED, verdict
    assert "nothing to be found" in verdict.cases[0].detail, verdict.cases


@pytest.mark.parametrize(
    ("code", "cause"),
    [
        ("while True:\n    pass\n", VerdictCause.TIMEOUT),
        ("HELD = ' ' * (2 << 30)\n" + RIGHT, VerdictCause.FAILED),
    ],
)
def test_code_that_eats_gets_nothing(court: Court, code: str, cause: VerdictCause) -> None:
    wall = timedelta(seconds=3 if cause is VerdictCause.TIMEOUT else 10)
    limits = Limits(wall=wall, memory_bytes=256 * MIB)
    hungry = replace(court, bench=replace(court.bench, limits=limits))
    verdict = hungry.judge(code)
    assert verdict.score == 0
    assert verdict.cause in {cause, VerdictCause.CRASHED}, verdict
