"""A store of many attempts, as they would be: real folders, each document another one; nothing was run for it."""

import hashlib
import json
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields, replace
from pathlib import Path

from runner.canonical import canonical, sha256
from runner.documents import journal
from runner.documents.evidence import Submission, Tree
from runner.documents.facts import Phases, Spent
from runner.documents.journal import State
from runner.documents.ledger import LedgerLine, Tokens
from runner.documents.manifest import Manifest, PlannedAttempt
from runner.documents.seal import Trial
from runner.documents.telemetry import Telemetry
from runner.documents.writing import change, spent
from runner.host_proofs import keep_copies
from runner.reports.aggregate import planned
from runner.schedule import Cell
from runner.store import Store, store_for
from runner.working import cores, in_order
from sandbox.capture import Base
from sandbox.contents import MemoryContents, digest_of
from sandbox.tree import Entry, Kind, apply_change, snapshot
from tests.unit.runner.evidence_maker import (
    ORIGIN,
    PROOFS,
    WELL,
    Run,
    a_manifest,
    begin,
    grade,
    submission_files,
)

CANDIDATES = 10
_ASKED = 6
"""Requests of an attempt."""
_UNITS = ("candidate", "inspection", "tests")
_CALLS = 40
_PRINTED = 6_000


def _base() -> Base:
    """Make the base of all attempts: a source file among others."""
    contents = MemoryContents()
    files = {SOURCE: OLD} | {b"src/other_%d.py" % number: b"x = %d\n" % number for number in range(100)}
    entries = tuple(
        Entry(path=path, kind=Kind.FILE, sha256=contents.put(data), size=len(data)) for path, data in files.items()
    )
    return Base(digest=snapshot(entries, contents), commit="0" * 40, listings=contents)


_NAME = "slugs.py"
SOURCE = _NAME.encode()
_HEAD = b"# Slugs.\ndef slug(text):\n"
OLD = _HEAD + b"    return text\n"
BASE = _base()


class Untold(Store):
    """A store whose journal is written afterwards: one process writes that, and many make this."""

    def note(self, trial: Trial, reached: State, sealed: str | None = None, *, recovered: bool = False) -> None:
        """Write nothing down."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Maker:
    """Makes one attempt of a store; `bulk` is what its agent printed beyond the usual."""

    store: Untold
    bulk: int = 0

    def __call__(self, cell: Cell) -> tuple[Trial, str, str]:
        """Begin, submit and grade an attempt; give it, and the digests of both sealed folders."""
        # What is made here may be lost; without this the disk is what is measured.
        os.fsync = _forget  # type: ignore[assignment]
        trial = begin(self.store, cell)
        run = _run(trial)
        new, patch = _change(trial)
        entry = Entry(path=SOURCE, kind=Kind.FILE, sha256=digest_of(new), size=len(new))
        made = _submission(trial, run, apply_change(BASE.digest, (entry,), MemoryContents(BASE.listings)), patch)
        tree = Tree(base_sha256=BASE.digest, tree_sha256=made.tree_sha256, changes=(change(entry),))
        files = {**submission_files(made, run), "launcher.json": _walls(trial)}
        files |= {"tree.json": canonical(tree), "candidate.diff": patch}
        files["streams/stdout"] = _printed(trial) + os.urandom(self.bulk)
        digest = self.store.seal_submission(trial, files)
        return trial, digest, grade(self.store, made, digest, run)


def plan_of(attempts: int, nominations: int = 1) -> Manifest:
    """Give a manifest with so many planned attempts, shared out among candidates and nominations."""
    each = attempts // CANDIDATES // nominations
    names = [f"candidate-{number}" for number in range(CANDIDATES)]
    bare = a_manifest(*names)
    (one,) = bare.nominations
    tasks = [one.id, *(f"{one.id}-{number}" for number in range(2, nominations + 1))]
    return bare.model_copy(
        update={
            "attempts": each,
            "nominations": tuple(one.model_copy(update={"id": task, "fixture_sha256": BASE.digest}) for task in tasks),
            "planned": tuple(
                PlannedAttempt(candidate=name, nomination=task, attempt=number)
                for name in names
                for task in tasks
                for number in range(1, each + 1)
            ),
        }
    )


def make_store(root: Path, attempts: int, *, bulk: int = 0, nominations: int = 1) -> tuple[Store, Manifest]:
    """Make a store of so many attempts, each solved or not."""
    manifest = plan_of(attempts, nominations)
    store = store_for(root, manifest)
    maker = Maker(store=Untold(**{each.name: getattr(store, each.name) for each in fields(store)}), bulk=bulk)
    cells = planned(manifest)
    keep_copies(root / manifest.release, PROOFS)
    made = tuple(in_order(maker, cells, cores()))
    store.journal.write_bytes(b"".join(_journal(made)))
    return store, manifest


def _journal(made: Iterable[tuple[Trial, str, str]]) -> Iterator[bytes]:
    previous = None
    for trial, submission, grading in made:
        sealed = {State.CAPTURED: submission, State.GRADED: grading, State.SEALED: grading}
        for state in State:
            if state is not State.VOID:
                line = canonical(
                    journal.Entry(
                        at_ms=1_000,
                        run="0" * 16,
                        trial=trial,
                        state=state,
                        sealed_sha256=sealed.get(state),
                        previous=previous,
                        recovered=False,
                    )
                )
                previous = sha256(line)
                yield line + b"\n"


def _forget(_descriptor: int) -> None:
    return None


def _seed(trial: Trial, *words: object) -> str:
    return sha256(json.dumps([trial.candidate, trial.attempt, *words]).encode())


def _some(trial: Trial, word: str, below: int) -> int:
    return int(_seed(trial, word)[:8], 16) % below


def _run(trial: Trial) -> Run:
    usage = replace(WELL.usage, wall_ms=1_000 + _some(trial, "wall", 9_000), cpu_ms=_some(trial, "cpu", 900))
    told = Telemetry(agent="native", turns=_ASKED, final_message=f"I mended {_some(trial, 'message', 99_999)} of it.")
    return Run(
        termination=replace(WELL, usage=usage),
        ledger=tuple(_line(trial, number) for number in range(1, _ASKED + 1)),
        telemetry=told,
        hidden=_some(trial, "hidden", 3) > 0,
        cost=f"0.{_some(trial, 'cost', 9_000) + 1_000}",
    )


def _line(trial: Trial, number: int) -> LedgerLine:
    return LedgerLine(
        sequence=number,
        operation="chat",
        started_ms=number * 1_000 + _some(trial, f"started-{number}", 900),
        first_byte_ms=100,
        duration_ms=200 + _some(trial, f"duration-{number}", 900),
        model_asked=trial.candidate,
        model_answered=trial.candidate,
        provider_answered=None,
        stream=True,
        status_upstream=200,
        status_given=200,
        complete=True,
        finish_reason="tool_calls",
        failure=None,
        refusal=None,
        tokens=Tokens(input=500 + number, cached=0, output=_some(trial, f"output-{number}", 900), reasoning=0),
        cost=f"0.0{_some(trial, f'cost-{number}', 900) + 100}",
        retries=0,
        wait_ms=0,
        amended=("stream_options",),
        request_bytes=3_000,
        request_sha256=_seed(trial, "asked", number),
        response_bytes=2_000,
        response_sha256=_seed(trial, "given", number),
    )


def _change(trial: Trial) -> tuple[bytes, bytes]:
    """Give what an attempt makes of the one source file, and the patch in the form of our own."""
    line = f"    return text  # {_seed(trial, 'source')}\n".encode()
    new = _HEAD + line
    names = (hashlib.sha1(b"blob %d\0%s" % (len(each), each), usedforsecurity=False).hexdigest() for each in (OLD, new))
    old = b"".join(b" " + each for each in _HEAD.splitlines(keepends=True))
    head = f"diff --git a/{_NAME} b/{_NAME}\nindex {next(names)}..{next(names)} 100644\n--- a/{_NAME}\n+++ b/{_NAME}\n"
    return new, head.encode() + b"@@ -1,3 +1,3 @@\n" + old + b"-    return text\n+" + line


def _submission(trial: Trial, run: Run, tree: str, patch: bytes) -> Submission:
    return Submission(
        trial=trial,
        origin=ORIGIN,
        base_sha256=BASE.digest,
        tree_sha256=tree,
        patch_sha256=sha256(patch),
        failure=None,
        void=None,
        started_ms=1_000,
        ended_ms=1_000 + _some(trial, "ended", 99_999),
        phases=Phases(preflight=Spent(wall_ms=10, cost_usd="0.01"), solution=spent(run.termination, cost_usd=run.cost)),
    )


def _walls(trial: Trial) -> bytes:
    """Write what launchers tell: long, and never twice the same."""
    units = {
        name: {
            "calls": {f"call_{number}": _some(trial, f"{name}-{number}", 40) for number in range(_CALLS)},
            "cgroup": "\n".join(f"{number}:job-{_seed(trial, name)[:16]}.service" for number in range(12)),
            "mounts": [f"/opt/{_seed(trial, name, number)} ro,nosuid,nodev 0 0" for number in range(_CALLS)],
        }
        for name in _UNITS
    }
    document = {"schema": "cleanroom/launcher/1", "units": units}
    return json.dumps(document, sort_keys=True, separators=(",", ":")).encode()


def _printed(trial: Trial) -> bytes:
    return (_seed(trial, "printed") + "\n").encode() * (_PRINTED // 65)
