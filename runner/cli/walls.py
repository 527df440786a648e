"""`runner verify-sandbox` and `runner verify-objective-sandbox`."""

import json
import sys
from pathlib import Path

import click
from rich.console import Console

from runner.canonical import canonical, sha256
from runner.cli.privilege import need_root
from runner.clock import now_ms
from runner.config import load_config
from runner.documents.proof import ProofSet, SandboxProof
from runner.errors import VerificationError
from runner.freezer import accounts_of
from runner.host_proofs import Prover, host_now, proof_file
from runner.inputs import find_places
from runner.proof import written
from runner.reports.walls import coloured, plain, summary
from runner.settings import Settings, host_settings
from sandbox.attacks import Proof
from sandbox.client import open_sandbox


@click.command("verify-sandbox")
@click.option("--json", "as_json", is_flag=True, help="JSON lines.")
@click.pass_obj
def verify_sandbox(config: Path | None, as_json: bool) -> int:  # noqa: FBT001 - click passes flags by name
    """Try the walls around candidates, the gateway, inspections and judges, from inside real units."""
    return _verify(host_settings(config), ProofSet.SANDBOX, as_json=as_json)


@click.command("verify-objective-sandbox")
@click.option("--json", "as_json", is_flag=True, help="JSON lines.")
@click.pass_obj
def verify_objective_sandbox(config: Path | None, as_json: bool) -> int:  # noqa: FBT001 - as above
    """Try the walls around tests, evaluators and what is submitted to them, from inside real units."""
    return _verify(host_settings(config), ProofSet.OBJECTIVE, as_json=as_json)


def _verify(settings: Settings, which: ProofSet, *, as_json: bool) -> int:
    need_root(f"verify-{which}")
    config = load_config(settings.config)
    state = find_places(config, settings).state
    with open_sandbox(state, accounts_of(config)) as sandbox:
        prover = Prover(sandbox=sandbox, host=host_now(sandbox.facts()), state=state, clock=now_ms)
        return show(prover, which, settings, as_json=as_json)


def show(prover: Prover, which: ProofSet, settings: Settings, *, as_json: bool) -> int:
    """Try a set of walls, keep and print what came of it, and give the exit code.

    Raises:
        SandboxError: a fault.
    """
    proof = prover.make(which, _tell if as_json else _count)
    file = proof_file(prover.state, which)
    if as_json:
        click.echo(json.dumps(_end(proof, file)))
    else:
        _print(proof, settings)
        click.echo(f"kept: {file}")
    return VerificationError.exit_code if proof.broken else 0


def _tell(proof: Proof) -> None:
    click.echo(written(proof).model_dump_json())


def _count(proof: Proof) -> None:
    """Show a person at a terminal that something goes on."""
    if sys.stderr.isatty():
        click.echo(f"\r\x1b[Ktrying {proof.role}: {proof.attack}\r", err=True, nl=False)


def _end(proof: SandboxProof, file: Path) -> dict[str, object]:
    return {
        "set": proof.set.value,
        "counts": proof.counts.model_dump(),
        "host": proof.host.model_dump(),
        "sha256": sha256(canonical(proof)),
        "file": str(file),
    }


def _print(proof: SandboxProof, settings: Settings) -> None:
    if sys.stderr.isatty():
        click.echo("\r\x1b[K", err=True, nl=False)
    if sys.stdout.isatty() and settings.colour:
        Console().print(coloured(proof.proofs))
    else:
        click.echo(plain(proof.proofs), nl=False)
    click.echo(summary(proof))
