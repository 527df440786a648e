"""`runner snapshot`."""

import json
from pathlib import Path

import click

from runner.cli.names import NOMINATION
from runner.config import load_config
from runner.errors import UsageError, VerificationError
from runner.history.regenerating import Regenerated, regenerate, snapshot_ids
from runner.inputs import find_places
from runner.members import named
from runner.settings import host_settings

_MOST = 10


@click.command()
@click.argument("nominations", nargs=-1, metavar="[NOMINATION]...", type=NOMINATION)
@click.option("--from-git", "repository", type=click.Path(path_type=Path), help="The repository that has the commits.")
@click.option("--check", is_flag=True, help="Change nothing; say whether the fixtures are what history gives.")
@click.option("--json", "as_json", is_flag=True, help="JSON lines.")
@click.pass_obj
def snapshot(
    config: Path | None, *, nominations: tuple[str, ...], repository: Path | None, check: bool, as_json: bool
) -> int:
    """Make the fixtures of nominations that have a [snapshot] again, from their repository's history.

    Without names: of all in the configuration. The repository is read as data, and what is wanted of it is kept in our
    own clone in the state, so that --from-git is needed once on a host. With --check it ends with 3 where a fixture is
    another.
    """
    settings = host_settings(config)
    loaded = load_config(settings.config)
    places = find_places(loaded, settings)
    ids = nominations or snapshot_ids(places, loaded.nomination_ids)
    if not ids:
        raise UsageError("no nomination of the configuration has a [snapshot]; name one")
    wrong = 0
    for each in regenerate(places, ids, repository, write=not check):
        wrong += bool(each.differences)
        click.echo(json.dumps(_facts(each)) if as_json else _line(each, check=check))
    return VerificationError.exit_code if wrong and check else 0


def _line(made: Regenerated, *, check: bool) -> str:
    what = "as history gives it"
    if made.differences:
        shown = ", ".join(made.differences[:_MOST])
        more = f" and {len(made.differences) - _MOST} more" if len(made.differences) > _MOST else ""
        what = f"{'another than history gives' if check else 'made again'}: {shown}{more}"
    left = "".join(f"\n  left out, for it speaks to agents or is a cache: {named(path)}" for path in made.orders)
    return f"{made.nomination}: {what}\n  {made.files} files, tree {made.digest}{left}"


def _facts(made: Regenerated) -> dict[str, object]:
    return {
        "nomination": made.nomination,
        "tree": made.digest,
        "files": made.files,
        "differences": list(made.differences),
        "left_out": [named(path) for path in made.orders],
    }
