"""What the pinned ruff finds in a submission and did not find in the base; run in a unit without network.

Only the changed Python files of both sides are there, under numbers: no settings, and no names above them.
"""

import base64
import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta

from evaluators.errors import EvaluatorError
from evaluators.model import Bench
from evaluators.norm_counts import MOST_TOLD, place
from evaluators.norm_scale import FULL_FINDINGS, Norm, NormId
from evaluators.packing import pack_files
from evaluators.preset_files import preset_files
from evaluators.presets.ruff import PROGRAM
from evaluators.two_trees import FileChange
from sandbox import unit
from sandbox.spec import MIB, PYTHON, Mount, Role, UnitSpec
from sandbox.termination import Cause

HARNESS_TARGET = "/opt/harness"

_SYNTAX = frozenset({"invalid-syntax", "syntax"})
_WALL = timedelta(minutes=1)
_MOST = 4 * MIB
"""Of all files of both sides together."""
_THROUGH = frozenset({Cause.TIMEOUT, Cause.OOM, Cause.SIGNAL, Cause.OUTPUT_LIMIT})

Finding = tuple[str, str, str, int]
"""Path, rule, message, line."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Looked:
    """What ruff said of each side; a side that it did not come through is None."""

    base: tuple[Finding, ...] | None
    submission: tuple[Finding, ...] | None
    broke: bool = False
    """The unit was ended by what it was looking at, and not by us."""
    log: bytes = b""
    """What it printed."""


def lint(changes: Sequence[FileChange], bench: Bench) -> tuple[Norm, bytes]:
    """Measure the lint norm; the bytes are what ruff said of both sides, nothing where it was not asked.

    Raises:
        EvaluatorError, SandboxError: a fault.
    """
    python = [each for each in changes if each.is_python]
    unasked = _unasked(changes, python, bench)
    if unasked is not None:
        return unasked, b""
    looked = look(python, bench)
    return delta(looked), looked.log


def _unasked(changes: Iterable[FileChange], python: Sequence[FileChange], bench: Bench) -> Norm | None:
    if not python:
        other = next((each.path for each in changes if each.is_code), None)
        if other is None:
            return Norm(id=NormId.LINT, counts={"base": 0, "submission": 0, "new": 0})
        suffix = other[other.rindex(b".") :].decode("ascii", "replace")
        return Norm(id=NormId.LINT, reason=f"no linter is pinned for {suffix}")
    if not bench.tools:
        return Norm(id=NormId.LINT, reason="the pinned ruff is not at hand")
    if sum(len(each.before or b"") + len(each.after or b"") for each in python) > _MOST:
        return Norm(id=NormId.LINT, reason=f"the changed Python is larger than {_MOST} bytes")
    return None


def look(python: Iterable[FileChange], bench: Bench) -> Looked:
    """Let ruff look at both sides of some files.

    Raises:
        EvaluatorError, SandboxError: a fault.
    """
    files = tuple(python)
    task = {
        "program": PROGRAM,
        "base": {_name(each): _packed(each.before) for each in files if each.before is not None},
        "submission": {_name(each): _packed(each.after) for each in files if each.after is not None},
    }
    spec = UnitSpec(
        role=Role.DRIVER,
        argv=(PYTHON, "-I", "-S", "-B", HARNESS_TARGET),
        limits=replace(bench.limits, wall=min(_WALL, bench.limits.wall)),
        working_directory="/tmp",  # noqa: S108 - the unit's own
        mounts=(Mount(object=bench.sandbox.store(pack_files(harness())), target=HARNESS_TARGET), *bench.tools),
    )
    result = unit.run(bench.sandbox, spec, stdin=json.dumps(task).encode())
    if result.termination.is_fault or result.termination.cause is Cause.KILLED:
        raise EvaluatorError(f"ruff's unit ended by {result.termination.cause}: {result.termination.detail}")
    broke = result.termination.cause in _THROUGH
    return replace(read(result.stdout), broke=broke, log=result.stdout)


def harness() -> dict[str, bytes]:
    """Give the program that runs ruff in the unit."""
    start = b"from presets.comparing import main\n\nraise SystemExit(main())\n"
    return {"__main__.py": start, **preset_files()}


def read(told: bytes) -> Looked:
    """Read what the harness told; whatever is not in its form is no answer. Pure."""
    sides: dict[str, tuple[Finding, ...]] = {}
    for line in told.splitlines():
        try:
            answer = json.loads(line)
        except ValueError:
            continue
        match answer:
            case {"side": str(side), "found": list(found)}:
                sides[side] = tuple((str(a), str(b), str(c), int(d)) for a, b, c, d in found)
    return Looked(base=sides.get("base"), submission=sides.get("submission"))


def delta(looked: Looked) -> Norm:
    """Give the norm of what was found. Pure.

    Findings are the same wherever they stand in their file. What a file of the base was that ruff could not read is
    not known, so that it counts nothing; a file that can no longer be read counts in full.
    """
    if looked.base is None:
        return Norm(id=NormId.LINT, reason="ruff came to no answer on the base")
    if looked.submission is None and not looked.broke:
        return Norm(id=NormId.LINT, reason="ruff came to no answer on the submission")
    unread = {path for path, rule, _, _ in looked.base if rule in _SYNTAX}
    base = [each for each in looked.base if each[0] not in unread]
    if looked.submission is None:
        # It came through the base, and was then ended by what it was looking at.
        return Norm(id=NormId.LINT, counts={"base": len(base), "submission": 0, "new": FULL_FINDINGS})
    found = [each for each in looked.submission if each[0] not in unread]
    if unread and not base and not found:
        return Norm(id=NormId.LINT, reason="ruff cannot read the base's files")
    left = Counter(each[:3] for each in base)
    new: list[Finding] = []
    for each in found:
        if left[each[:3]]:
            left[each[:3]] -= 1
        else:
            new.append(each)
    broken = any(rule in _SYNTAX for _, rule, _, _ in new)
    return Norm(
        id=NormId.LINT,
        counts=_counts(base, found, max(len(new), FULL_FINDINGS) if broken else len(new)),
        found=tuple(
            place(path.encode("utf-8", "surrogateescape"), line, f"{rule} {said}")
            for path, rule, said, line in new[:MOST_TOLD]
        ),
    )


def _counts(base: Sequence[Finding], found: Sequence[Finding], new: int) -> Mapping[str, int]:
    return {"base": len(base), "submission": len(found), "new": new}


def _name(change: FileChange) -> str:
    return change.path.decode("utf-8", "surrogateescape")


def _packed(content: bytes) -> str:
    return base64.b64encode(content).decode("ascii")
