"""`runner aggregate`."""

import sys
import time
from pathlib import Path

import click
from rich.console import Console

from runner.cli.telling import hint
from runner.documents.aggregate import Aggregate
from runner.reports.expected import differences, load_expected
from runner.reports.markdown import notes
from runner.reports.remembering import gather_table, kept
from runner.reports.table import plain
from runner.reports.terminal import coloured
from runner.sealed import find_evidence
from runner.settings import Settings, host_settings


@click.command()
@click.option(
    "--expect", type=click.Path(path_type=Path), help="Leave with 1 unless the table is the one this file expects."
)
@click.option("--fresh", is_flag=True, help="Read every byte, also of attempts whose documents are as they were.")
@click.option("--json", "as_json", is_flag=True, help="JSON lines.")
@click.pass_obj
def aggregate(config: Path | None, *, expect: Path | None, fresh: bool, as_json: bool) -> int:
    """Write aggregate.json and aggregate.md from sealed evidence, and print the table."""
    settings = host_settings(config)
    inputs, manifest, store = find_evidence(settings)
    folder = inputs.places.tables / manifest.release
    found = gather_table(store, manifest, folder, clock=time.time_ns, fresh=fresh)
    gathered = found.aggregate
    if line := kept(found):
        click.echo(line, err=True)
    if as_json:
        for row in gathered.attempts:
            click.echo(row.model_dump_json(by_alias=True))
    else:
        _print(gathered, settings)
        click.echo(f"written: {folder}/aggregate.json and aggregate.md")
        click.echo(f"evidence: {store.root / store.release}")
        hint("report", "show ATTEMPT")
    return 0 if expect is None else _compare(gathered, expect)


def _print(gathered: Aggregate, settings: Settings) -> None:
    if sys.stdout.isatty() and settings.colour:
        Console().print(coloured(gathered.attempts))
    else:
        click.echo(plain(gathered.attempts), nl=False)
    for note in notes(gathered):
        click.echo(note)


def _compare(gathered: Aggregate, expect: Path) -> int:
    contrasts = differences(load_expected(expect), gathered.attempts)
    for each in contrasts:
        click.echo(f"not as expected: {each}", err=True)
    click.echo(f"the table is {'not ' if contrasts else ''}the one that {expect.name} expects", err=True)
    return 1 if contrasts else 0
