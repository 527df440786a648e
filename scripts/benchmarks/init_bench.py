"""A nomination of a real package's fix, in one command: read, proposed, tried and proven. Minutes."""

import json
import os
import shutil
import sys
import time
from pathlib import Path
from secrets import token_hex

from figures import Figure, Measured

from tests.flow.bench import RUNNER, entered
from tests.flow.histories import PARSE, TASK, package_repository

_STATES = Path("/var/lib/cleanroom")
_FEWEST = 8
"""Cases of the fix's tests that the base fails."""


def figures() -> list[Figure]:
    """Make the repository of two releases, and a proven nomination of it; stop where it is not proven."""
    folder = _STATES / f"bench-{token_hex(4)}"
    try:
        repository = package_repository(folder / "parse", PARSE, folder / "downloads")
        (folder / "task.md").write_text(TASK, encoding="utf-8")
        entered([str(RUNNER), "init", str(folder / "bench")])
        argv = [str(RUNNER), "--config", str(folder / "bench/config/bench.json"), "init", "nomination"]
        argv += ["--from-git", str(repository), "HEAD", "--prompt", str(folder / "task.md"), "--json"]
        started = time.perf_counter()
        said = entered(argv, seconds=7200)
        seconds = time.perf_counter() - started
        if said.code != 0:
            raise RuntimeError(f"not proven: {said.out}{said.err}")
        proof, proposal = map(json.loads, said.out.splitlines())
        if proof["scored"] or proof["flakes"] or len(proposal["fail_to_pass"]) < _FEWEST:
            raise RuntimeError(f"proven, and yet: {said.out}")
        _released(folder / "bench/config/bench.json", proposal["nomination"])
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    told = f"{proof['gradings']} gradings, {proof['killed']} of {proof['mutants']} mutants, {proof['exploits']} cheats"
    sys.stderr.write(f"init: load {os.getloadavg()[0]:.1f}; {told}\n")
    what = "init: a nomination of a package's fix, proven in one command"
    return [Figure(what=what, ours=Measured(name="init nomination", seconds=(seconds,)))]


def _released(config: Path, nomination: str) -> None:
    """Freeze the bench with the new nomination beside its own, certificates asked for, and run its controls."""
    fields = json.loads(config.read_bytes())
    fields["nominations"].append(nomination)
    config.write_text(json.dumps(fields), encoding="utf-8")
    for words, wanted in ((("freeze",), "controls ran"), (("pilot",), "4 tries, 0 further gradings, 0 void")):
        said = entered([str(RUNNER), "--config", str(config), *words], seconds=1800)
        if said.code != 0 or wanted not in said.out:
            raise RuntimeError(f"runner {words[0]} in the new bench: {said.out}{said.err}")
    table = entered([str(RUNNER), "--config", str(config), "aggregate"]).out
    ends = [line.split()[:4] for line in table.splitlines()[1:5]]
    if [each[3] for each in ends] != ["passed", "passed", "failed", "failed"]:
        raise RuntimeError(f"the table of the new bench: {table}")
