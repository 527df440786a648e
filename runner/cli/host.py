"""`runner host`: what concerns this machine alone."""

import json
from dataclasses import asdict
from pathlib import Path

import click

from runner.cli.privilege import need_root
from runner.config import load_config
from runner.errors import HostError
from runner.freezer import accounts_of
from runner.inputs import find_places
from runner.settings import DEFAULT_STATE, host_settings
from sandbox.clearing import Cleared
from sandbox.clearing import clear as clear_room
from sandbox.host import machine_runs_systemd
from sandbox.inventory import Scope, looked_at


@click.group()
def host() -> None:
    """Look after this machine's clean room."""


@host.command()
@click.option("--json", "as_json", is_flag=True, help="JSON lines.")
@click.pass_obj
def clear(config: Path | None, *, as_json: bool) -> None:
    """Remove what killed runs left on this machine, and the mark of an unclean room once nothing stays.

    It takes the host's lock, so no run is disturbed, and ends with 4 if something stays that only an operator can end.
    """
    need_root("host clear")
    settings = host_settings(config)
    loaded = load_config(settings.config)
    state = find_places(loaded, settings).state
    scope = Scope(accounts=accounts_of(loaded), states=tuple(dict.fromkeys((state, DEFAULT_STATE))))
    cleared = clear_room(scope)
    click.echo(_json(cleared) if as_json else _said(cleared, scope), nl=False)
    if cleared.left:
        named = "; ".join(map(str, cleared.left))
        raise HostError(f"still there: {named}; end these processes, or reboot, and run 'runner host clear' again")


def _said(cleared: Cleared, scope: Scope) -> str:
    lines = [f"removed: {thing}" for thing in cleared.removed]
    if not cleared.left:
        mark = "the clean room is usable again" if cleared.marked else "no mark of an unclean room was there"
        lines.append(f"{mark if lines or cleared.marked else f'nothing was left, and {mark}'}")
    return "\n".join((*lines, f"looked at: {looked_at(scope, own_systemd=machine_runs_systemd())}", ""))


def _json(cleared: Cleared) -> str:
    """Give a line for each thing, and one for the mark."""
    things = [("removed", thing) for thing in cleared.removed] + [("left", thing) for thing in cleared.left]
    lines: list[dict[str, object]] = [{"what": what, **asdict(thing)} for what, thing in things]
    lines.append({"what": "mark", "was_there": cleared.marked, "is_there": cleared.marked and bool(cleared.left)})
    return "".join(json.dumps(line) + "\n" for line in lines)
