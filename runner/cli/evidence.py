"""`runner verify`."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import click

from runner.cli.keys import host_keys
from runner.cli.published import Elsewhere, verify_path
from runner.documents.manifest import Manifest
from runner.errors import DocumentError, VerificationError
from runner.freezer import Frozen, load_frozen
from runner.freezing import find_records
from runner.inputs import Inputs
from runner.manifests import RELEASES
from runner.reference_system.verify import verify_reference_release
from runner.sealed import find_evidence
from runner.settings import Settings, host_settings
from runner.signing.log_check import check_log
from runner.signing.trust import own_pins, read_trust
from runner.verification.kinds import UNSIGNED, ReleaseKind, release_kind
from runner.verification.model import Finding
from runner.verification.rebuilding import Rebuilder
from runner.verification.rejudging import Rejudged, rejudge
from runner.verify import committed_schemas, verify_release
from sandbox.git import scratch_repository


@click.command()
@click.argument("path", required=False, type=click.Path(path_type=Path))
@click.option(
    "--key",
    "keys",
    multiple=True,
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="A key from elsewhere: its PEM, what 'runner keys show --json' prints, or a rotation.",
)
@click.option(
    "--roots",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="Certificates of time-stamping authorities that are believed. For PATH.",
)
@click.option("--no-rebuild", is_flag=True, help="Do not put base and patch together again (needs no fixtures).")
@click.option(
    "--checkpoint", type=click.Path(path_type=Path), help="Also: that the log of releases only grew since this one."
)
@click.option("--json", "as_json", is_flag=True, help="JSON lines.")
@click.pass_obj
def verify(  # noqa: PLR0913 - one parameter an option
    config: Path | None,
    *,
    path: Path | None,
    keys: tuple[Path, ...],
    roots: Path | None,
    no_rebuild: bool,
    checkpoint: Path | None,
    as_json: bool,
) -> int:
    """Check a release's evidence, or a published release (PATH): every byte, every bond, every derived word."""
    settings, given = host_settings(config), Elsewhere(keys=keys, roots=roots)
    found = (
        _stored(settings, given, rebuild=not no_rebuild)
        if path is None
        else _named(path, config, given, rebuild=not no_rebuild)
    )
    findings = (*found.findings, *_log_findings(settings, checkpoint, keys))
    for finding in findings:
        click.echo(
            json.dumps({"file": finding.file, "found": finding.found, "expected": finding.expected})
            if as_json
            else str(finding)
        )
    if not as_json:
        for each in found.notes:
            click.echo(f"note: {each}", err=True)
        said = f"{len(findings)} findings" if findings else f"all {found.what} is what it says it is"
        click.echo(f"verified {found.counted}: {said}")
    return VerificationError.exit_code if findings else 0


@dataclass(frozen=True, slots=True, kw_only=True)
class _Verified:
    """What is told of a verification, whatever was verified."""

    findings: tuple[Finding, ...]
    notes: tuple[str, ...]
    counted: str
    what: str


def _stored(settings: Settings, given: Elsewhere, *, rebuild: bool) -> _Verified:
    inputs, manifest, store = find_evidence(settings)
    _check_records(inputs, manifest)
    trust = read_trust(given.keys, own_pins(host_keys(settings.config)))
    with _at_hand(settings, wanted=rebuild) as frozen:
        applied = None if frozen is None else _rebuilder(frozen)
        report = verify_release(store, manifest, schemas=committed_schemas(), rebuild=applied, trust=trust)
        judged = Rejudged() if frozen is None else rejudge(settings, frozen, store)
    return _Verified(
        findings=(*report.findings, *judged.findings),
        notes=(*report.unfinished, *report.unchecked, *judged.unchecked),
        counted=f"{report.folders} sealed folders, {report.files} files",
        what="evidence",
    )


def _named(path: Path, config: Path | None, given: Elsewhere, *, rebuild: bool) -> _Verified:
    """Verify what lies in a folder by the rules of whoever published it."""
    match release_kind(path):
        case ReleaseKind.OURS:
            return _published(path, config, given, rebuild=rebuild)
        case ReleaseKind.REFERENCE:
            return _foreign(path, given.keys)


def _foreign(path: Path, keys: tuple[Path, ...]) -> _Verified:
    report = verify_reference_release(path.resolve())
    unsigned = Finding(file=str(path), found=UNSIGNED, expected=f"signatures by {', '.join(map(str, keys))}")
    return _Verified(
        findings=(*report.findings, *((unsigned,) if keys else ())),
        notes=(*report.missing, *report.unchecked),
        counted=f"{report.release} of the reference system, {report.attempts} attempts, {report.files} files, unsigned",
        what="of it that can be derived again",
    )


def _published(path: Path, config: Path | None, given: Elsewhere, *, rebuild: bool) -> _Verified:
    report = verify_path(path, config, given, rebuild=rebuild)
    return _Verified(
        findings=report.findings,
        notes=report.unchecked,
        counted=f"the published release {report.release}, {report.attempts} attempts, {report.files} files",
        what="of it",
    )


def _log_findings(settings: Settings, checkpoint: Path | None, keys: tuple[Path, ...]) -> tuple[Finding, ...]:
    """Hold the log of releases against a checkpoint that was kept elsewhere, if one is given."""
    if checkpoint is None:
        return ()
    trust = read_trust(keys, own_pins(host_keys(settings.config)))
    return tuple(check_log(settings.checkout / RELEASES, checkpoint, trust))


def _check_records(inputs: Inputs, manifest: Manifest) -> None:
    """Hold the records of the controls against the manifest that names them."""
    try:
        find_records(inputs.places.store, manifest)
    except DocumentError as error:
        raise VerificationError(str(error)) from error


@contextmanager
def _at_hand(settings: Settings, *, wanted: bool) -> Iterator[Frozen | None]:
    """Give the frozen release with a repository that is thrown away: verifying writes nothing."""
    if not wanted:
        yield None
        return
    with scratch_repository() as scratch:
        yield load_frozen(settings, scratch=scratch)


def _rebuilder(frozen: Frozen) -> Rebuilder:
    """Give what puts base and patch together."""
    # All bases now: helpers of this process find them in the repository, and are told what they are.
    bases = {each.id: frozen.base(each.id) for each in frozen.manifest.nominations}
    return Rebuilder(frozen.workbench.repository, bases.__getitem__)
