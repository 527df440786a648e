"""`runner judge`."""

import json
from pathlib import Path

import click

from runner.canonical import canonical
from runner.cli.names import CANDIDATE, NOMINATION
from runner.cli.privilege import need_keeper
from runner.cli.telling import tell
from runner.freezer import load_frozen
from runner.judging.opening import Wanted, open_hearing
from runner.judging.phase import Done, hold
from runner.judging.ratings import StatsMissingError
from runner.judging.rehearsal import rehearse_judging
from runner.judging.tables import write_summary
from runner.sealed import find_evidence
from runner.settings import Settings, host_settings
from sandbox.git import scratch_repository


@click.command()
@click.option("--resume", is_flag=True, help="Go on where an earlier run ended; nothing is asked twice.")
@click.option("--judge", "judges", multiple=True, metavar="ID[,ID...]", help="Ids or models of judges to ask.")
@click.option(
    "--candidate", "candidates", multiple=True, type=CANDIDATE, metavar="ID[,ID...]", help="Ask about their work alone."
)
@click.option(
    "--nomination", "nominations", multiple=True, type=NOMINATION, metavar="ID[,ID...]", help="Ask about these alone."
)
@click.option("--pairs", type=click.IntRange(1, 100_000), help="Compare so many pairs of each nomination, by lot.")
@click.option("--dry-run", is_flag=True, help="Show calls, ceilings and one whole question; nobody is asked.")
@click.option("--summary", "only_summary", is_flag=True, help="Ask nobody; sum up again what was said.")
@click.option("--json", "as_json", is_flag=True, help="JSON lines.")
@click.pass_obj
def judge(  # noqa: PLR0913 - one parameter an option
    config: Path | None,
    *,
    resume: bool,
    judges: tuple[str, ...],
    candidates: tuple[str, ...],
    nominations: tuple[str, ...],
    pairs: int | None,
    dry_run: bool,
    only_summary: bool,
    as_json: bool,
) -> int:
    """Let judges look at sealed submissions, without names, and keep what they say beside them.

    Judges see the task, the change and whether the public tests pass; never a result of the hidden checks, and they
    change none. It ends with 0 if every asking has an end, whatever was said, and with 1 if a judge gave no answer.
    """
    settings = host_settings(config)
    wanted = Wanted(judges=judges, candidates=candidates, nominations=nominations, pairs=pairs, resume=resume)
    if only_summary:
        _summed(settings, as_json=as_json)
        return 0
    if dry_run:
        with scratch_repository() as scratch:
            hearing = open_hearing(settings, load_frozen(settings, scratch=scratch), wanted)
            shown = rehearse_judging(hearing)
        click.echo(json.dumps(shown.facts()) if as_json else shown.text(), nl=as_json)
        return 0
    need_keeper()
    hearing = open_hearing(settings, load_frozen(settings), wanted)
    done = hold(settings, hearing, wanted, tell)
    click.echo(json.dumps(_facts(done)) if as_json else _said(done))
    try:
        _summed(settings, as_json=as_json)
    except StatsMissingError as error:
        click.echo(f"no summary: {error}", err=True)
    return 0 if done.is_whole else 1


def _summed(settings: Settings, *, as_json: bool) -> None:
    inputs, manifest, store = find_evidence(settings)
    summary, folder = write_summary(store, manifest, inputs.places.tables)
    if as_json:
        click.echo(canonical(summary).decode())
        return
    for note in summary.notes:
        click.echo(note)
    click.echo(f"written: {folder}/judging.json and judging.md")


def _facts(done: Done) -> dict[str, object]:
    return {
        "askings": done.askings,
        "calls": done.calls,
        "verdicts": done.verdicts,
        "unscored": {why.value: count for why, count in sorted(done.unscored.items())},
        "left": done.left,
        "skipped": done.skipped,
    }


def _said(done: Done) -> str:
    if done.is_idle:
        return "nothing was left to ask"
    none = sum(done.unscored.values())
    left = f"; {done.left} left, for their judge gave no answer: run again with --resume" if done.left else ""
    skipped = f", {done.skipped} skipped: of a judge's own family" if done.skipped else ""
    return f"{done.calls} calls, {done.verdicts} verdicts, {none} without a verdict{skipped}{left}"
