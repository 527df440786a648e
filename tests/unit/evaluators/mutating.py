"""A small module under test, its versions, and suites for it, over a sandbox without walls."""

import hashlib
from dataclasses import dataclass, replace
from pathlib import Path

from evaluators.model import Bench, EvaluatorSpec, Submission, Verdict
from evaluators.mutation import Mutation, build_mutation
from evaluators.packing import pack_files
from sandbox.spec import ObjectId
from tests.fakes import PlainSandbox
from tests.unit.evaluators.judging import plain_bench

MODULE = '''"""Prices."""

FREE = 5


def fee(count):
    """Give what so many cost."""
    if count < 0:
        raise ValueError("less than nothing")
    if count > FREE and count != 0:
        return (count - FREE) * 2
    return 0
'''
VERSIONS = """
[[mutant]]
id = "negative counts are taken"
find = "count < 0"
replace = "count < -9"

[[mutant]]
id = "paid twice"
find = ") * 2"
replace = ") * 4"

[[mutant]]
id = "the process ends"
find = "    return 0"
replace = "    return 0 if count else __import__('os')._exit(3)"

[[equivalent]]
id = "longer"
find = "(count - FREE) * 2"
replace = "2 * count - 2 * FREE"

[[equivalent]]
id = "asked from the other side"
find = "count < 0"
replace = "0 > count"

[[equivalent]]
id = "nothing is computed"
find = "    return 0"
replace = "    return max(0, -count)"

[[equivalent]]
id = "a remark"
find = "FREE = 5"
replace = "FREE = 5  # for everybody"
"""
FEW = """
[[mutant]]
id = "paid twice"
find = ") * 2"
replace = ") * 4"

[[equivalent]]
id = "longer"
find = "(count - FREE) * 2"
replace = "2 * count - 2 * FREE"
"""
ENDLESS = """
[[mutant]]
id = "endless"
find = "    return 0"
replace = "    while True: pass"

[[equivalent]]
id = "nothing is computed"
find = "    return 0"
replace = "    return max(0, -count)"
"""
GOOD = """
import pytest
from price import fee

def test_negative():
    with pytest.raises(ValueError):
        fee(-1)

@pytest.mark.parametrize(("count", "wanted"), [(6, 2), (7, 4)])
def test_paid(count, wanted):
    assert fee(count) == wanted
"""


@dataclass(frozen=True, kw_only=True)
class Mill:
    """What a test needs to have suites judged."""

    evaluator: Mutation
    bench: Bench
    base: ObjectId

    def submission(self, files: dict[str, str]) -> Submission:
        tree = {path: text.encode() for path, text in files.items()}
        below = pack_files({"price.py": MODULE.encode()})
        return Submission(base=(self.base,), change=pack_files(tree), tree_digest="0" * 64, below=below)

    def judge(self, suite: str, others: dict[str, str] | None = None) -> Verdict:
        return self.evaluator.judge(self.submission({"tests/test_price.py": suite} | (others or {})), self.bench)


def versions_spec(folder: Path, versions: str = VERSIONS, **options: object) -> EvaluatorSpec:
    private = folder / "private"
    private.mkdir(exist_ok=True)
    (private / "price.py").write_text(MODULE)
    (private / "versions.toml").write_text(versions)
    known: dict[str, object] = {
        "module": "price.py",
        "source": "price.py",
        "sha256": hashlib.sha256(MODULE.encode()).hexdigest(),
        "versions": "versions.toml",
        "tests": ["tests/test_price.py"],
        "pass_threshold": "0.6",
        "wall_s": 5,
    }
    return EvaluatorSpec(id="hidden", kind="mutation", options=known | options, folder=private)


def open_mill(folder: Path, versions: str = VERSIONS, **options: object) -> Mill:
    sandbox = PlainSandbox(folder / "sandbox")
    sandbox.folder.mkdir()
    base = sandbox.store(pack_files({"price.py": MODULE.encode()}))
    bench = replace(plain_bench(sandbox), units_at_once=3)
    return Mill(evaluator=build_mutation(versions_spec(folder, versions, **options)), bench=bench, base=base)
