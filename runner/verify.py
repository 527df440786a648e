"""Verifying a release's evidence from the files alone: every byte, every bond, every derived word."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from runner.canonical import sha256
from runner.documents.certificate import Certificate
from runner.documents.controls import ControlsRecord
from runner.documents.manifest import FrozenNomination, Manifest
from runner.errors import UsageError
from runner.freezing import CONTROLS, RECORD
from runner.judging.archive import JUDGING
from runner.manifests import MANIFEST_BYTES
from runner.parsing import read_file
from runner.proof import PROOFS
from runner.reports.aggregate import planned
from runner.schemas import documents, schema_of
from runner.settings import own_checkout
from runner.signing.trust import Trust
from runner.store import Store
from runner.validating.certificates import CERTIFICATES, KEPT_AS
from runner.verification.attempts import AttemptVerifier, Planned
from runner.verification.folders import Reader
from runner.verification.journal import Excerpt, take_apart
from runner.verification.journal_signatures import check_signatures
from runner.verification.judging import check_judging
from runner.verification.model import Finding, Rebuild, Scope, differ
from runner.verification.proofs import read_proofs
from runner.verification.validating import Schemas
from runner.working import cores, in_order, is_much

SCHEMAS = Path("schemas")

NOT_REBUILT = "base + patch were not put together, nor a judging planned, again: the frozen bases were not at hand"


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifyReport:
    """What was found, what was looked at, and what was not."""

    findings: tuple[Finding, ...]
    """Empty: all evidence is what it says it is."""
    folders: int
    """Sealed folders whose every byte was hashed again."""
    files: int
    unfinished: tuple[str, ...]
    """Attempts of the plan without an end, and why."""
    unchecked: tuple[str, ...]
    """What was not looked at, in words."""


@dataclass(slots=True, kw_only=True)
class _Surroundings:
    """What lies beside the attempts of a release."""

    store: Store
    scope: Scope
    reader: Reader
    findings: list[Finding] = field(default_factory=list)
    files: int = 0

    def nomination(self, nomination: FrozenNomination) -> None:
        """Hold a nomination's records against the digests that the manifest froze."""
        top = self.store.root / self.store.release
        if nomination.validation is not None:
            what = f"the record of the controls of {nomination.id}"
            file = top / CONTROLS / nomination.validation / RECORD
            self._record(ControlsRecord, file, nomination.validation, nomination, what)
        if nomination.certificate is not None:
            file = top / CERTIFICATES / nomination.certificate / KEPT_AS
            self._record(Certificate, file, nomination.certificate, nomination, f"the certificate of {nomination.id}")

    def _record(
        self,
        model: type[ControlsRecord | Certificate],
        file: Path,
        digest: str,
        nomination: FrozenNomination,
        what: str,
    ) -> None:
        try:
            data = read_file(file, MANIFEST_BYTES)
        except UsageError as error:
            self.findings.append(Finding(file=str(file), found=str(error), expected=what))
            return
        self.files += 1
        self.findings += differ(file, "sha256", sha256(data), digest)
        record, findings = self.reader.one(model, data, file)
        self.findings += findings
        if isinstance(record, ControlsRecord | Certificate):
            self.findings += differ(file, "fixture_sha256", record.fixture_sha256, nomination.fixture_sha256)
            self.findings += differ(file, "nomination", record.nomination, nomination.id)

    def strangers(self) -> None:
        """Find evidence of attempts that nobody planned."""
        cells = planned(self.scope.manifest)
        wanted = {self.store.attempt_folder(cell) for cell in cells}
        above = {parent for each in wanted for parent in each.parents}
        for folder in self._folders():
            if folder not in wanted and folder not in above:
                found = Finding(file=str(folder), found="evidence", expected="only attempts of the plan")
                self.findings.append(found)

    def _folders(self) -> Iterator[Path]:
        """List the folders of candidates, nominations and attempts; nothing below a stranger."""
        top = self.store.root / self.store.release
        records = {top / CONTROLS, top / CERTIFICATES, top / PROOFS, top / JUDGING}
        level = [top]
        for _ in range(3):
            below = (folder for each in level if each.is_dir() for folder in sorted(each.iterdir()))
            level = [folder for folder in below if folder.is_dir() and folder not in records]
            yield from level


def verify_release(
    store: Store,
    manifest: Manifest,
    *,
    schemas: Schemas | None = None,
    rebuild: Rebuild | None = None,
    workers: int | None = None,
    trust: Trust | None = None,
) -> VerifyReport:
    """Verify all evidence of a release.

    `schemas` defaults to what the models say, `workers` to the cores of this machine where there is much to do. With
    more than one worker, `rebuild` must pickle. The report is the same with any number. `trust` is whose signatures
    count in the journal.
    """
    scope = Scope(manifest=manifest, schemas=model_schemas() if schemas is None else schemas, rebuild=rebuild)
    top = store.root / store.release
    proven = read_proofs(top / PROOFS, scope.schemas)
    beside = _Surroundings(store=store, scope=scope, reader=Reader(scope.schemas))
    beside.strangers()
    for nomination in manifest.nominations:
        beside.nomination(nomination)
    if workers is None:
        workers = cores() if is_much([top]) else 1
    cells = planned(manifest)
    journal = take_apart(store, cells)
    unsigned, unlooked = check_signatures(store.journal, trust)
    jobs = [Planned(cell=cell, told=journal.excerpts.get(cell, Excerpt())) for cell in cells]
    checked = tuple(in_order(AttemptVerifier(store, scope, proven, journal.last), jobs, workers))
    judging = check_judging(store, manifest, beside.reader)
    return VerifyReport(
        findings=(
            *proven.findings,
            *beside.findings,
            *(found for each in checked for found in each.findings),
            *journal.report.findings,
            *judging.findings,
            *unsigned,
        ),
        folders=sum(each.folders for each in checked),
        files=len(proven.known) + beside.files + judging.files + sum(each.files for each in checked),
        unfinished=(*(why for each in checked for why in each.unfinished), *judging.unfinished),
        unchecked=(
            *(why for each in checked for why in each.unchecked),
            *journal.report.unchecked,
            *judging.unchecked,
            *unlooked,
            *(() if rebuild is not None else (NOT_REBUILT,)),
        ),
    )


def read_schemas(folder: Path) -> dict[str, Mapping[str, object]]:
    """Read the committed schemas, by name."""
    return {path.stem: json.loads(path.read_bytes()) for path in sorted(folder.glob("*.json"))}


def committed_schemas() -> Schemas:
    """Read the schemas of the checkout that this code runs from."""
    return read_schemas(own_checkout() / SCHEMAS)


def model_schemas() -> dict[str, Mapping[str, object]]:
    """Give the schemas that the models say."""
    return {model.SCHEMA_NAME: schema_of(model) for model in documents()}
