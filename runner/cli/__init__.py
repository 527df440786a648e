"""The command line: each command translates, calls, prints. Errors become one line and an exit code."""

import sys

import click

from runner.cli.app import app
from runner.errors import RunnerError
from sandbox.errors import BusyError, HostUnfitError, KeeperError, SandboxError

_FAULT, _USAGE, _UNFIT, _STOPPED = 1, 2, 4, 130


def main() -> None:
    """Run one command and leave with its exit code (contracts 6)."""
    try:
        sys.exit(app(standalone_mode=False) or 0)
    except click.exceptions.Exit as ended:
        sys.exit(ended.exit_code)
    except click.ClickException as error:
        error.show()
        sys.exit(_USAGE)
    except (click.Abort, KeyboardInterrupt):
        _say("stopped; what was sealed is kept, and 'runner pilot --resume' goes on from there")
        sys.exit(_STOPPED)
    except RunnerError as error:
        _say(str(error))
        sys.exit(error.exit_code)
    except (BusyError, HostUnfitError) as error:
        _say(str(error))
        sys.exit(_UNFIT)
    except KeeperError as error:
        _say(f"{error}; what was sealed is kept, and 'runner pilot --resume' goes on from there")
        sys.exit(_FAULT)
    except SandboxError as error:
        _say(str(error))
        sys.exit(_FAULT)


def _say(text: str) -> None:
    for line in text.splitlines():
        click.echo(f"runner: {line}", err=True)
