"""`runner gold-size`."""

import json
from collections.abc import Iterator
from pathlib import Path

import click

from runner.cli.names import NOMINATION
from runner.gold_size import SolutionSize, solution_sizes
from runner.reports.table import aligned
from runner.settings import host_settings

HEAD = ("nomination", "files", "added", "removed", "lines", "no text")


@click.command("gold-size")
@click.option(
    "--nomination", "nominations", multiple=True, type=NOMINATION, metavar="ID[,ID...]", help="Nominations to measure."
)
@click.option("--json", "as_json", is_flag=True, help="JSON lines.")
@click.pass_obj
def gold_size(config: Path | None, *, nominations: tuple[str, ...], as_json: bool) -> int:
    """Say how large each nomination's reference solution is, in lines added and removed.

    Counted from the two trees. Norms hold the size of a submission against it; nothing is written.
    """
    sizes = tuple(solution_sizes(host_settings(config), nominations))
    if as_json:
        for each in sizes:
            click.echo(json.dumps(_facts(each)))
    else:
        click.echo(aligned((HEAD, *map(tuple, map(_cells, sizes)))), nl=False)
    return 0


def _facts(size: SolutionSize) -> dict[str, object]:
    return {
        "nomination": size.nomination,
        "files": size.files,
        "added": size.added,
        "removed": size.removed,
        "lines": size.lines,
        "no_text": size.no_text,
    }


def _cells(size: SolutionSize) -> Iterator[str]:
    numbers = (size.files, size.added, size.removed, size.lines, size.no_text)
    yield from (size.nomination, *map(str, numbers))
