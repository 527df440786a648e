"""`runner validate`."""

import json
from collections.abc import Iterator
from pathlib import Path

import click

from runner.cli.names import NOMINATION
from runner.cli.privilege import need_keeper
from runner.cli.telling import tell
from runner.documents.certificate import Certificate
from runner.settings import host_settings
from runner.validating.judging import problems
from runner.validating.validating import Validated, validate_release
from runner.validating.validation import ROUNDS


@click.command()
@click.option(
    "--nomination", "nominations", multiple=True, type=NOMINATION, metavar="ID[,ID...]", help="Nominations to prove."
)
@click.option("--repeats", type=click.IntRange(1, 1000), default=ROUNDS, show_default=True, help="Rounds of controls.")
@click.option("--stale", is_flag=True, help="Only nominations whose certificate does not prove them.")
@click.option("--json", "as_json", is_flag=True, help="JSON lines.")
@click.pass_obj
def validate(config: Path | None, *, nominations: tuple[str, ...], repeats: int, stale: bool, as_json: bool) -> int:
    """Prove the release's nominations: their controls, mutants of their solutions, and the exploit suite.

    Each gets a certificate in its `records/`, which `freeze` asks for. Take --repeats 20 for a release. It ends with 0
    if every nomination is proven, and with 1 if not; the certificate says why.
    """
    settings = host_settings(config)
    need_keeper()
    broken = 0
    for validated in validate_release(settings, nominations, repeats, tell, only_stale=stale):
        broken += not show(validated, as_json=as_json)
    return 1 if broken else 0


def show(validated: Validated, *, as_json: bool) -> bool:
    """Print what came of one nomination, and say whether it is proven."""
    why = tuple(problems(validated.certificate))
    for line in [json.dumps(_facts(validated, why))] if as_json else _lines(validated, why):
        click.echo(line)
    return not why


def _lines(validated: Validated, why: tuple[str, ...]) -> Iterator[str]:
    certificate = validated.certificate
    yield f"{certificate.nomination}: {'not proven' if why else 'proven'}"
    yield from (f"  problem: {each}" for each in why)
    yield f"  {certificate.gradings} gradings of {len(certificate.controls)} controls in {certificate.repeats} rounds"
    yield from (f"  round: {' '.join(map('='.join, each.items()))}" for each in certificate.surroundings[:3])
    yield f"  flakes: {certificate.flakes}; with 95% at most {certificate.flake_bound} of all gradings"
    yield f"  mutants of the solution: {certificate.killed} of {certificate.mutants} killed"
    yield from (f"  survivor: {each}" for each in certificate.survivors)
    yield f"  exploit suite: {_score(certificate)}"
    yield f"  {validated.path}"


def _score(certificate: Certificate) -> str:
    scored = ", ".join(each.name for each in certificate.scored)
    return f"{len(certificate.scored)} of {len(certificate.exploits)} scored{f': {scored}' if scored else ''}"


def _facts(validated: Validated, why: tuple[str, ...]) -> dict[str, object]:
    certificate = validated.certificate
    return {
        "nomination": certificate.nomination,
        "proven": not why,
        "problems": list(why),
        "repeats": certificate.repeats,
        "gradings": certificate.gradings,
        "flakes": certificate.flakes,
        "flake_bound": certificate.flake_bound,
        "mutants": certificate.mutants,
        "killed": certificate.killed,
        "survivors": list(certificate.survivors),
        "exploits": len(certificate.exploits),
        "scored": [each.name for each in certificate.scored],
        "certificate": str(validated.path),
    }
