"""From prepared inputs to a frozen release: controls in the clean room, records in the private store."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

from evaluators.model import Bench, Submission
from runner.artifacts import keep_folder, make_private
from runner.canonical import canonical, sha256
from runner.controls import Grade, calibrate, read_record, run_controls, trials
from runner.documents.controls import ControlsRecord
from runner.documents.manifest import Manifest
from runner.errors import DocumentError, DocumentErrors
from runner.manifests import MANIFEST_BYTES
from runner.parsing import read_file
from runner.preparing import Workbench, build_evaluators
from runner.release import PreparedNomination, PreparedRelease
from runner.validating.certificates import read_certificate
from runner.validating.rechecking import contradicted, retried
from sandbox.spec import ObjectId

CONTROLS = "controls"
RECORD = "record.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """One nomination set up in the clean room."""

    base: tuple[ObjectId, ...]
    """Stored layers of the fixture, first on top."""
    bench: Bench
    grade: Grade


class ControlRoom(Protocol):
    """The clean room, as far as controls need it."""

    def stage(self, prepared: PreparedNomination) -> Stage:
        """Store a nomination's fixture and toolchain, and say how submissions are graded there.

        Raises:
            SandboxError: a fault.
        """


def with_controls(prepared: PreparedRelease, workbench: Workbench, room: ControlRoom) -> PreparedRelease:
    """Run each nomination's controls and give the release with their records.

    Raises:
        DocumentErrors: with every control, of all nominations, that did not end as it must.
        SandboxError, EvaluatorError: a fault.
    """
    done: list[PreparedNomination] = []
    problems: list[DocumentError] = []
    for nomination in prepared.nominations:
        try:
            done.append(_controlled(nomination, workbench, room.stage(nomination)))
        except DocumentErrors as several:
            problems += several.errors
    if problems:
        raise DocumentErrors(errors=tuple(problems))
    return replace(prepared, nominations=tuple(done))


def keep_records(store: Path, prepared: PreparedRelease) -> None:
    """Put the records of a release's controls into the private store, before its manifest names them.

    Raises:
        StorageError: the disk failed.
    """
    for nomination in prepared.nominations:
        if nomination.controls is None:
            continue
        make_private(store)
        data = canonical(nomination.controls)
        keep_folder(store / prepared.config.release / CONTROLS, sha256(data), {RECORD: data})


def find_records(store: Path, manifest: Manifest) -> Mapping[str, ControlsRecord]:
    """Read the records that a manifest names, by nomination; none where its controls did not run.

    Raises:
        ControlError: one is not the frozen one.
        DocumentError: one is missing.
    """
    records: dict[str, ControlsRecord] = {}
    for nomination in manifest.nominations:
        if nomination.validation is not None:
            path = store / manifest.release / CONTROLS / nomination.validation / RECORD
            data = read_file(path, MANIFEST_BYTES)
            records[nomination.id] = read_record(data, str(path), nomination.validation)
    return records


def _controlled(prepared: PreparedNomination, workbench: Workbench, stage: Stage) -> PreparedNomination:
    nomination = prepared.nomination
    solution = Submission(
        base=stage.base,
        change=prepared.solution.change,
        tree_digest=prepared.solution.digest,
        final_message=prepared.solution.message,
        below=prepared.fixture.pack,
    )
    calibrated = calibrate(nomination, solution, stage.bench)
    known = trials(nomination, prepared.fixture, prepared.solution, workbench.repository)
    record = run_controls(nomination, known, stage.base, calibrated, stage.grade)
    if prepared.certificate is not None and (certificate := read_certificate(nomination)) is not None:
        problems = [
            *contradicted(nomination, certificate, record),
            *retried(prepared, record, calibrated.evaluators, stage.base, stage.bench),
        ]
        if problems:
            raise DocumentErrors(errors=tuple(problems))
    return replace(prepared, evaluators=build_evaluators(nomination, record), controls=record)
