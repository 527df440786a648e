"""`runner lint` and `runner freeze`."""

import json
from pathlib import Path

import click

from runner.cli.keys import host_keys
from runner.cli.privilege import need_keeper
from runner.cli.telling import hint, tell
from runner.errors import UsageError
from runner.finding import Finding, Severity
from runner.freezer import freeze_release
from runner.inputs import load_inputs
from runner.lint import lint as find_problems
from runner.lint import usual_aids
from runner.manifests import RELEASES, manifest_digest
from runner.reports.aggregate import unproven_of
from runner.settings import Settings, host_settings
from runner.signing.release_log import frozen_entry, log_release
from runner.validating.validating import prove_release


@click.command()
@click.option("--json", "as_json", is_flag=True, help="JSON lines.")
@click.pass_obj
def lint(config: Path | None, as_json: bool) -> int:  # noqa: FBT001 - click passes flags by name
    """Check a release configuration and its nominations; nothing is run."""
    findings = _findings(host_settings(config))
    for each in findings:
        click.echo(json.dumps(_row(each)) if as_json else str(each))
    wrong = sum(each.severity is Severity.ERROR for each in findings)
    if not as_json:
        click.echo(f"{wrong} errors, {len(findings) - wrong} warnings", err=True)
    if not wrong:
        hint("validate --stale", "freeze")
    return UsageError.exit_code if wrong else 0


@click.command()
@click.option("--no-controls", is_flag=True, help="Do not run the controls; every later document says so.")
@click.option("--unproven", is_flag=True, help="Take nominations without a certificate; every later document says so.")
@click.option("--prove", is_flag=True, help="Prove every nomination here first, whatever its certificate says.")
@click.option("--json", "as_json", is_flag=True, help="JSON lines.")
@click.pass_obj
def freeze(config: Path | None, *, no_controls: bool, unproven: bool, prove: bool, as_json: bool) -> int:
    """Write the release's manifest, after its nominations' controls have ended as they must."""
    if prove and (no_controls or unproven):
        raise click.UsageError("--prove goes with neither --no-controls nor --unproven")
    settings = host_settings(config)
    if _has_errors(settings):
        return UsageError.exit_code
    if not no_controls:
        need_keeper()
    if prove:
        prove_release(settings, tell)
    frozen = freeze_release(settings, controls=not no_controls, tell=tell, unproven_too=unproven)
    digest = manifest_digest(frozen.manifest)
    entry = frozen_entry(frozen.manifest.release, digest)
    logged = log_release(settings.checkout / RELEASES, host_keys(config), entry, tell)
    if as_json:
        told = {"release": frozen.manifest.release, "manifest": str(frozen.path), "sha256": digest, "new": frozen.fresh}
        click.echo(json.dumps(told | {"checkpoint": logged.note.decode()}))
    else:
        what = "frozen" if frozen.fresh else "frozen already, and unchanged"
        click.echo(f"release {frozen.manifest.release}: {what}")
        click.echo(f"  {frozen.path}  sha256 {digest}")
        click.echo(f"  {len(frozen.manifest.planned)} planned attempts; controls {frozen.manifest.controls}")
        if names := unproven_of(frozen.manifest):
            click.echo(f"  unproven: {', '.join(names)}")
        for line in logged.lines():
            click.echo(line)
    hint("pilot --dry-run", "pilot")
    return 0


def _has_errors(settings: Settings) -> bool:
    """Tell every error that lint finds."""
    broken = [each for each in _findings(settings) if each.severity is Severity.ERROR]
    for each in broken:
        click.echo(str(each), err=True)
    return bool(broken)


def _findings(settings: Settings) -> tuple[Finding, ...]:
    inputs = load_inputs(settings)
    return find_problems(inputs, settings, usual_aids(inputs, settings))


def _row(found: Finding) -> dict[str, str]:
    return {
        "severity": found.severity.value,
        "file": found.file,
        "field": found.field,
        "message": found.message,
        "mend": found.mend,
    }
