"""`runner doctor`."""

import json
from pathlib import Path

import click

from runner.doctor import examine, json_lines, report
from runner.errors import HostError
from runner.settings import host_settings
from sandbox.doctor import is_fit


@click.command()
@click.option("--json", "as_json", is_flag=True, help="JSON lines.")
@click.pass_obj
def doctor(config: Path | None, as_json: bool) -> int:  # noqa: FBT001 - click passes flags by name
    """Say line by line what this host can hold; nothing is run in a unit, and nobody is contacted."""
    settings = host_settings(config)
    checks = examine(settings)
    if as_json:
        for line in json_lines(checks):
            click.echo(json.dumps(line))
    else:
        click.echo(report(checks), nl=False)
    return 0 if is_fit(checks) else HostError.exit_code
