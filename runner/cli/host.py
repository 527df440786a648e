"""`runner host`: what concerns this machine alone."""

import click

from runner.cli.privilege import need_root
from runner.errors import HostError
from sandbox.room import clear as clear_room


@click.group()
def host() -> None:
    """Look after this machine's clean room."""


@host.command()
def clear() -> None:
    """Take a mark of an unclean room away, once nothing of it is left."""
    need_root("host clear")
    left = clear_room()
    if left:
        raise HostError(f"still there: {'; '.join(left)}; end these processes and run it again")
    click.echo("no mark was there" if left is None else "the clean room is usable again")
