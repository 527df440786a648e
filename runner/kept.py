"""Which files a sealed folder holds, and which of them are which documents."""

from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache, lru_cache

from runner.documents.capture import Capture
from runner.documents.evidence import (
    Grading,
    Host,
    Policy,
    PublicTests,
    Ruling,
    Submission,
    Tree,
    UnitEnd,
    Void,
    Walls,
)
from runner.documents.ledger import LedgerLine
from runner.documents.model import Document
from runner.documents.norms import Norms
from runner.documents.seal import SealKind
from runner.documents.telemetry import Preflight, Telemetry

EXCHANGES = "exchanges"
"""Folder of a submission or void: what was asked and given, a recording a run of the agent; private."""

STREAMS = "streams"
"""Folder of a submission: what the agent printed."""

LOGS = "logs"
"""Folder of a grading: what units printed, each file named by its digest; private."""

FIRST = "shots/1"
"""Folder of a single-shot attempt's first shot: its public tests; and where a second followed, all of it."""

NORMS = "norms.json"
"""How a submission is made, in a grading of a release that asks."""

TOLD = "told.txt"
"""What a single-shot candidate was told at first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """What is known of a file: its document (None: plain bytes), and whether the folder must have it."""

    model: type[Document] | None = None
    required: bool = True
    lines: bool = False
    """One document a line."""


_SUBMISSION = {
    "submission.json": Kept(model=Submission),
    "candidate.diff": Kept(),
    "tree.json": Kept(model=Tree),
    "capture.json": Kept(model=Capture),
    "termination.json": Kept(model=UnitEnd),
    "telemetry.json": Kept(model=Telemetry),
    "preflight.json": Kept(model=Preflight),
    "ledger.jsonl": Kept(model=LedgerLine, lines=True),
    "preflight.jsonl": Kept(model=LedgerLine, required=False, lines=True),
    "launcher.json": Kept(model=Walls),
    "host.json": Kept(model=Host),
    f"{STREAMS}/stdout": Kept(),
    f"{STREAMS}/stderr": Kept(),
    f"{EXCHANGES}/*.gz": Kept(required=False),
}
_WHOLE_TRY = frozenset({"preflight.json", "preflight.jsonl", "launcher.json", "host.json"})
"""Files that the shots of an attempt have in common."""

_SUBMISSION |= {TOLD: Kept(required=False)} | {
    f"{FIRST}/{name}": Kept(model=kept.model, lines=kept.lines, required=False)
    for name, kept in {
        **_SUBMISSION,
        "public-tests.json": Kept(model=PublicTests),
        f"{LOGS}/*": Kept(),
    }.items()
    if name not in _WHOLE_TRY
}
_GRADING = {
    "grading.json": Kept(model=Grading),
    "policy.json": Kept(model=Policy),
    "public-tests.json": Kept(model=PublicTests, required=False),
    "evaluators/*.json": Kept(model=Ruling, required=False),
    "launcher.json": Kept(model=Walls, required=False),
    "host.json": Kept(model=Host, required=False),
    NORMS: Kept(model=Norms, required=False),
    f"{LOGS}/*": Kept(required=False),
    f"{FIRST}/policy.json": Kept(model=Policy, required=False),
    f"{FIRST}/evaluators/*.json": Kept(model=Ruling, required=False),
}
_VOID = {"void.json": Kept(model=Void)} | {
    name: Kept(model=kept.model, lines=kept.lines, required=False)
    for name, kept in _SUBMISSION.items()
    if name not in {"submission.json", "candidate.diff", "tree.json"}
}
"""Partial evidence: whatever there was when the try ended."""

KEPT: Mapping[SealKind, Mapping[str, Kept]] = {
    SealKind.SUBMISSION: _SUBMISSION,
    SealKind.GRADING: _GRADING,
    SealKind.VOID: _VOID,
}


@cache
def required(kind: SealKind) -> tuple[str, ...]:
    """List the files that every folder of this kind has."""
    return tuple(name for name, kept in KEPT[kind].items() if kept.required)


@lru_cache(maxsize=1 << 10)
def kept_as(kind: SealKind, path: str) -> Kept | None:
    """Say what a file of such a folder is; None where nothing of that name belongs there."""
    depth = path.count("/")
    known = KEPT[kind].items()
    return next((kept for name, kept in known if fnmatchcase(path, name) and name.count("/") == depth), None)
