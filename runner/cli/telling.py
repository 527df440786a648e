"""What commands say while they work: to standard error, so that results stay alone on standard output."""

import click


def tell(line: str) -> None:
    """Say how far something has come."""
    click.echo(line, err=True)
