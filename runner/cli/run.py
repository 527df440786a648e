"""`runner pilot`."""

import json
from dataclasses import asdict
from pathlib import Path

import click

from runner.cli.privilege import need_keeper
from runner.dry_run import Rehearsal, rehearsal_text, rehearse
from runner.freezer import load_frozen
from runner.inputs import load_inputs
from runner.pilot import Done, Wanted, run_pilot
from runner.settings import host_settings


@click.command()
@click.option("--candidate", "candidates", multiple=True, metavar="ID[,ID...]", help="Ids or models to run.")
@click.option("--nomination", "nominations", multiple=True, metavar="ID[,ID...]", help="Nominations to run.")
@click.option("--task", "tasks", multiple=True, hidden=True)
@click.option("--attempt", type=click.IntRange(1, 9999), help="Run this attempt number alone.")
@click.option("--resume", is_flag=True, help="Go on where an earlier run ended.")
@click.option("--retry-unavailable", is_flag=True, help="Ask unavailable candidates again, if the release allows it.")
@click.option("--dry-run", is_flag=True, help="Show what would be run; needs neither root nor systemd.")
@click.option("--json", "as_json", is_flag=True, help="JSON lines.")
@click.pass_obj
def pilot(  # noqa: PLR0913 - one parameter an option
    config: Path | None,
    *,
    candidates: tuple[str, ...],
    nominations: tuple[str, ...],
    tasks: tuple[str, ...],
    attempt: int | None,
    resume: bool,
    retry_unavailable: bool,
    dry_run: bool,
    as_json: bool,
) -> int:
    """Run the planned attempts of a frozen release, one after another."""
    if tasks:
        click.echo("runner: --task is called --nomination now", err=True)
    wanted = Wanted(
        candidates=candidates,
        nominations=(*nominations, *tasks),
        attempt=attempt,
        resume=resume,
        retry_unavailable=retry_unavailable,
    )
    settings = host_settings(config)
    if dry_run:
        shown = rehearse(load_inputs(settings), settings, wanted)
        click.echo(_json(shown) if as_json else rehearsal_text(shown), nl=False)
        return 0
    need_keeper()
    frozen = load_frozen(settings)
    done = run_pilot(settings, frozen, wanted, lambda line: click.echo(line, err=True))
    click.echo(json.dumps(asdict(done)) if as_json else _said(done))
    return 1 if done.voids or done.exhausted is not None else 0


def _json(shown: Rehearsal) -> str:
    return "".join(json.dumps(line) + "\n" for line in shown.lines())


def _said(done: Done) -> str:
    if done.is_idle and done.exhausted is None:
        return "nothing was left to do"
    tries = "1 try" if done.tries == 1 else f"{done.tries} tries"
    gradings = "1 further grading" if done.gradings == 1 else f"{done.gradings} further gradings"
    stopped = "" if done.exhausted is None else f"; stopped, for the release's budget is used up: {done.exhausted}"
    return f"{tries}, {gradings}, {done.voids} void{stopped}"
