"""`runner list`."""

import json
import sys
from pathlib import Path

import click
from rich.console import Console
from rich.table import Table
from rich.text import Text

from runner.cli.names import RELEASE
from runner.cli.telling import hint, tell
from runner.judging.letters import shown
from runner.listed import KINDS, Listing, list_things
from runner.reports.table import aligned
from runner.settings import Settings, host_settings

_NEXT = {"releases": "; make one: runner freeze", "attempts": "; the release plans none"}
"""What to do where a list is empty."""


@click.command("list")
@click.argument("what", type=click.Choice(KINDS), default="candidates", metavar=f"[{'|'.join(KINDS)}]")
@click.option("--release", type=RELEASE, metavar="ID", help="For attempts: of this release, not the configured one.")
@click.option("--json", "as_json", is_flag=True, help="JSON lines; they tell more than the table.")
@click.pass_obj
def list_(config: Path | None, *, what: str, release: str | None, as_json: bool) -> None:
    """List what there is: candidates (the default), nominations, releases, roles, judges, routes or attempts.

    Nothing is run and nobody is asked. Attempts are told by their seals alone; 'runner verify' looks at every byte.
    """
    if release is not None and what != "attempts":
        raise click.UsageError("--release says whose attempts to list")
    settings = host_settings(config)
    listing = list_things(settings, what, release)
    if as_json:
        for row in listing.rows:
            click.echo(json.dumps(row))
        return
    _print(listing, settings)
    if not listing.rows:
        tell(f"no {what} are there{_NEXT.get(what, '')}")
    elif what == "attempts":
        hint("show ATTEMPT")


def _print(listing: Listing, settings: Settings) -> None:
    """Print a table; long cells are folded on a terminal, never cut."""
    head, *rows = (tuple(shown(cell)[0] for cell in row) for row in listing.table())
    if not (sys.stdout.isatty() and settings.colour):
        click.echo(aligned((head, *rows)), nl=False)
        return
    table = Table(box=None, pad_edge=False)
    for name in head:
        table.add_column(name, overflow="fold")
    for row in rows:
        table.add_row(*map(Text, row))
    Console().print(table)
