"""A bench with the programs of `evaluators/tools.txt`, taken from this environment."""

import shutil
import sys
from dataclasses import replace
from pathlib import Path

from evaluators.model import Bench, Submission
from evaluators.packing import pack_files
from sandbox.spec import Mount
from sandbox.tree import Entry, Kind
from tests.fakes import PlainSandbox
from tests.unit.evaluators.judging import plain_bench

RUFF = Path(sys.executable).with_name("ruff")


def tooled_bench(folder: Path, wall_seconds: float = 60.0) -> Bench:
    sandbox = PlainSandbox(folder / "sandbox")
    sandbox.folder.mkdir()
    tools = folder / "tools"
    (tools / "bin").mkdir(parents=True)
    shutil.copy(RUFF, tools / "bin/ruff")
    mount = Mount(object=sandbox.adopt(tools), target="/opt/tools")
    return replace(plain_bench(sandbox, wall_seconds), tools=(mount,))


def changed(before: dict[str, str], after: dict[str, str | None]) -> Submission:
    """Give the change that makes some files others; None takes one away."""
    laid = pack_files(
        {path: text.encode("utf-8", "surrogateescape") for path, text in after.items() if text is not None}
    )
    gone = tuple(Entry(path=path.encode(), kind=Kind.GONE) for path, text in after.items() if text is None)
    return Submission(
        base=(),
        change=replace(laid, entries=(*gone, *laid.entries)),
        tree_digest="0" * 64,
        below=pack_files({path: text.encode() for path, text in before.items()}),
    )
