"""`runner prune`."""

import json
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import click

from runner.cli.names import RELEASE
from runner.cli.privilege import need_root
from runner.cli.published import Elsewhere, verify_path
from runner.cli.telling import tell
from runner.config import load_config
from runner.errors import UsageError
from runner.inputs import Places, find_places
from runner.manifests import MANIFEST, RELEASES, load_manifest
from runner.pruning.finding import RETURNS, Ground, Item, What, find_items
from runner.pruning.needed import read_needed
from runner.pruning.removing import quiet, remove
from runner.pruning.superseded import evidence_item
from runner.settings import Settings, host_settings

_MIB = 1 << 20
_MANY = 20
"""Things of a kind that are named one by one."""


@click.command()
@click.option("--all", "everything", is_flag=True, help="Also what is needed and comes back at the next run.")
@click.option("--evidence", type=RELEASE, metavar="RELEASE", help="Also sealed evidence of this superseded release.")
@click.option("--dry-run", is_flag=True, help="Say what may go; remove nothing, ask nothing.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.option("--json", "as_json", is_flag=True, help="JSON lines, one a thing.")
@click.pass_obj
def prune(
    config: Path | None, *, everything: bool, evidence: str | None, dry_run: bool, yes: bool, as_json: bool
) -> int:
    """Give disk back: say what may go and what it frees, ask, and remove it.

    What goes can be made again: toolchains, downloads, stored trees, programs of agents and tables that nothing of this
    checkout needs. Sealed evidence stays, unless --evidence names a release that a frozen one supersedes and whose
    publication verifies.
    """
    if not dry_run:
        need_root("prune")
    settings = host_settings(config)
    found = _found(settings, everything=everything, evidence=evidence)
    if dry_run or not found:
        _print(found, as_json=as_json, removed=False)
        return 0
    if not yes:
        _print(found, as_json=False, removed=False)
        _ask(found)
    with quiet(_places(settings).state):
        # Looked at again: a run may have come to need something meanwhile.
        agreed = {each.place for each in found}
        still = [each for each in _found(settings, everything=everything, evidence=evidence) if each.place in agreed]
        gone = tuple(_told(still))
    if as_json or yes:
        _print(gone, as_json=as_json, removed=True)
    elif gone:
        click.echo(f"removed {_counted(gone)}")
    return 0


def _told(items: list[Item]) -> Iterator[Item]:
    for number, each in enumerate(remove(items), 1):
        tell(f"[{number}/{len(items)}] removed {each.place}")
        yield each


def _places(settings: Settings) -> Places:
    return find_places(load_config(settings.config), settings)


def _found(settings: Settings, *, everything: bool, evidence: str | None) -> tuple[Item, ...]:
    places = _places(settings)
    manifests = tuple(load_manifest(each) for each in sorted((settings.checkout / RELEASES).glob(f"*/{MANIFEST}")))
    needed = read_needed(settings, places.state, manifests)
    ground = Ground(state=places.state, store=places.store, everything=everything)
    found = find_items(ground, needed)
    if evidence is None:
        return found
    configured = load_config(settings.config).release
    named = evidence_item(places, manifests, evidence, configured, lambda folder: _findings(folder, settings))
    return (*found, named)


def _findings(folder: Path, settings: Settings) -> Iterable[object]:
    return verify_path(folder, settings.config, Elsewhere(), rebuild=False).findings


def _ask(found: tuple[Item, ...]) -> None:
    """Go on if whoever sits there agrees.

    Raises:
        UsageError: nobody sits there, or they do not agree.
    """
    if not sys.stdin.isatty():
        raise UsageError("nothing was removed, for nobody can be asked here; say --yes, or --dry-run to look alone")
    if not click.confirm(f"Remove {_counted(found)}?", err=True):
        raise UsageError("nothing was removed")


def _counted(items: tuple[Item, ...]) -> str:
    things = f"{len(items)} thing" if len(items) == 1 else f"{len(items)} things"
    return f"{things}, {_size(sum(each.frees for each in items))}"


def _size(frees: int) -> str:
    return f"{frees / _MIB:.1f} MiB"


def _print(items: tuple[Item, ...], *, as_json: bool, removed: bool) -> None:
    for line in _json(items, removed=removed) if as_json else _lines(items, removed=removed):
        click.echo(line)


def _lines(items: tuple[Item, ...], *, removed: bool) -> Iterator[str]:
    for what in What:
        those = tuple(each for each in items if each.what is what)
        if those:
            yield f"{what}: {_counted(those)}; {RETURNS[what]}"
            yield from (f"  {_size(each.frees):>12}  {each.place} ({each.why})" for each in those[:_MANY])
            yield from (f"  and {len(those) - _MANY} more" for _ in those[_MANY : _MANY + 1])
    yield f"{'removed' if removed else 'in all'}: {_counted(items)}" if items else "nothing may go"


def _json(items: tuple[Item, ...], *, removed: bool) -> Iterator[str]:
    for each in items:
        told = {"what": each.what.value, "place": str(each.place), "why": each.why, "frees": each.frees}
        yield json.dumps({**told, "returns": RETURNS[each.what], "removed": removed})
