"""Freezing a release: its inputs, its controls in the clean room, its manifest; and loading it again."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from runner.config import ReleaseConfig
from runner.documents.manifest import Manifest
from runner.durable import settle_name
from runner.freezing import Stage, find_records, keep_records, with_controls
from runner.inputs import Inputs, load_inputs
from runner.manifests import RELEASES, NotFrozenError, load_manifest, manifest_path
from runner.preparing import Workbench, open_workbench, prepare
from runner.release import PreparedNomination, PreparedRelease, check_inputs, freeze, write_manifest
from runner.settings import Settings
from runner.staging import Stages
from runner.validating.certificates import keep_certificates, with_certificates
from runner.validating.rechecking import LOT
from sandbox.capture import Base
from sandbox.client import open_sandbox
from sandbox.patch import Repository
from sandbox.room import AccountRange


@dataclass(frozen=True, slots=True, kw_only=True)
class Frozen:
    """A frozen release whose inputs are at hand and are the frozen ones."""

    inputs: Inputs
    manifest: Manifest
    path: Path
    prepared: PreparedRelease
    workbench: Workbench
    fresh: bool = False
    """Whether it was frozen just now."""

    def base(self, nomination: str) -> Base:
        """Give the frozen base of a nomination, for putting base and patch together again."""
        fixture = next(each.fixture for each in self.prepared.nominations if each.nomination.id == nomination)
        commit = self.workbench.repository.ingest(fixture.entries, fixture.contents.get)
        return Base(digest=fixture.digest, commit=commit, listings=fixture.contents)


def load_frozen(settings: Settings, *, offline: bool = False, scratch: Path | None = None) -> Frozen:
    """Load a frozen release and hold its inputs against its manifest; with `scratch`, bases are put there.

    Raises:
        NotFrozenError: it was never frozen.
        DriftError, FixtureError: an input is not the frozen one.
    """
    inputs = load_inputs(settings)
    path = manifest_path(settings.checkout / RELEASES, inputs.config.release)
    if not path.exists():
        raise NotFrozenError(release=inputs.config.release)
    manifest = load_manifest(path)
    workbench = open_workbench(inputs.places, settings, offline=offline)
    if scratch is not None:
        workbench = replace(workbench, repository=Repository(scratch))
    records = find_records(inputs.places.store, manifest)
    prepared = prepare(inputs, settings, workbench, records, manifest)
    check_inputs(manifest, prepared, str(path))
    return Frozen(inputs=inputs, manifest=manifest, path=path, prepared=prepared, workbench=workbench)


def freeze_release(
    settings: Settings, *, controls: bool, tell: Callable[[str], None], unproven_too: bool = False
) -> Frozen:
    """Freeze a release, with its controls run in the clean room unless told not to.

    Freezing it again changes nothing, and runs nothing. A nomination without a certificate that proves it is refused
    unless `unproven_too`.

    Raises:
        DocumentErrors: inputs are broken, or a control did not end as it must.
        DriftError: the release's id is used, and an input differs.
        SandboxError, EvaluatorError: a fault.
    """
    inputs = load_inputs(settings)
    path = manifest_path(settings.checkout / RELEASES, inputs.config.release)
    if path.exists():
        settle_name(path.parent)  # Whoever froze it may have been killed before its name was sure to last.
        return load_frozen(settings)
    workbench = open_workbench(inputs.places, settings)
    prepared = with_certificates(prepare(inputs, settings, workbench, {}), unproven_too=unproven_too)
    if controls:
        prepared = _controlled(inputs, prepared, workbench, tell)
        keep_records(inputs.places.store, prepared)
    keep_certificates(inputs.places.store, prepared)
    manifest = freeze(prepared)
    path = write_manifest(settings.checkout / RELEASES, manifest)
    return Frozen(inputs=inputs, manifest=manifest, path=path, prepared=prepared, workbench=workbench, fresh=True)


def _controlled(
    inputs: Inputs, prepared: PreparedRelease, workbench: Workbench, tell: Callable[[str], None]
) -> PreparedRelease:
    with open_sandbox(inputs.places.state, accounts_of(inputs.config)) as sandbox:
        stages = Stages(sandbox=sandbox, workbench=workbench, limits=inputs.config.limits)
        return with_controls(prepared, workbench, _Telling(stages=stages, tell=tell))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Telling:
    """A room for controls that says whose turn it is."""

    stages: Stages
    tell: Callable[[str], None]

    def stage(self, prepared: PreparedNomination) -> Stage:
        """Set a nomination up for its controls."""
        more = "" if prepared.certificate is None else f"; {LOT} cheats of its certificate"
        what = f"base, solution, the repairs it must refuse or accept{more}"
        self.tell(f"controls of {prepared.nomination.id}: {what}")
        return self.stages.stage(prepared)


def accounts_of(config: ReleaseConfig) -> AccountRange:
    """Give the range of accounts that a configuration grants."""
    accounts = config.clean_room.accounts
    return AccountRange(first=accounts.first, last=accounts.last)
