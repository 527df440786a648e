"""`runner doctor`."""

import json
import sys
from collections.abc import Iterable
from pathlib import Path

import click

from runner.cli.privilege import need_keeper
from runner.doctor import Paint, examine, json_line, report, route_report, unpainted
from runner.errors import HostError, RunnerError
from runner.route_probe import try_route
from runner.settings import Settings, host_settings
from sandbox.check import State
from sandbox.doctor import is_fit

_COLOURS = {
    State.OK: "green",
    State.WARNING: "yellow",
    State.UNKNOWN: "magenta",
    State.UNFIT: "red",
    State.FAILED: "red",
}


@click.command()
@click.option("--route", metavar="ID", help="Send one `hi` through this route instead, and say what it can do.")
@click.option("--model", metavar="NAME", help="With --route: ask this model, not the first that the route is used for.")
@click.option("--json", "as_json", is_flag=True, help="JSON lines.")
@click.pass_obj
def doctor(config: Path | None, *, route: str | None, model: str | None, as_json: bool) -> int:
    """Say line by line what this host can hold; no unit is started, and nobody is contacted."""
    settings = host_settings(config)
    if route is not None:
        return _doctor_route(settings, route, model, as_json=as_json)
    if model is not None:
        raise click.UsageError("--model says which model to ask through --route")
    checks = examine(settings)
    _print((json_line(check) for check in checks), report(checks, _paint(settings)), as_json=as_json)
    return 0 if is_fit(checks) else HostError.exit_code


def _doctor_route(settings: Settings, route: str, model: str | None, *, as_json: bool) -> int:
    need_keeper()
    found = try_route(settings, route, model)
    lines = ({**json_line(each.check), "reason": each.reason} for each in found)
    _print(lines, route_report(tuple(each.check for each in found), _paint(settings)), as_json=as_json)
    return 0 if all(each.check.ok for each in found) else RunnerError.exit_code


def _paint(settings: Settings) -> Paint:
    """Give colours where a terminal wants them."""
    if not (sys.stdout.isatty() and settings.colour):
        return unpainted
    return lambda state, word: click.style(word, fg=_COLOURS[state])


def _print(lines: Iterable[dict[str, object]], text: str, *, as_json: bool) -> None:
    click.echo("".join(json.dumps(line) + "\n" for line in lines) if as_json else text, nl=False)
