"""The command line: each command translates, calls, prints. Errors become one line and an exit code."""

import sys

import click

from evaluators.errors import EvaluatorError
from runner.cli.app import app
from runner.errors import RunnerError
from sandbox.errors import BusyError, HostUnfitError, KeeperError, SandboxError, WallsError

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
    except (RunnerError, SandboxError, EvaluatorError, OSError) as error:
        _say(_sentence(error))
        sys.exit(_code(error))


def _code(error: RunnerError | SandboxError | EvaluatorError | OSError) -> int:
    """Give the exit code of what went wrong."""
    match error:
        case RunnerError():
            return error.exit_code
        case BusyError() | HostUnfitError() | WallsError():
            return _UNFIT
        case _:
            return _FAULT


def _sentence(error: RunnerError | SandboxError | EvaluatorError | OSError) -> str:
    """Say what went wrong and what mends it."""
    match error:
        case KeeperError():
            return f"{error}; what was sealed is kept, and 'runner pilot --resume' goes on from there"
        case WallsError():
            return f"a wall is missing, and nothing was run behind it: {error}; run: runner doctor"
        case PermissionError():
            place = error.filename or "this machine"
            return f"{place}: this account may not look there; run it as root, or as who ran the pilot"
        case OSError():
            what = f"{error.filename or 'this machine'}: {error.strerror or error}"
            return f"{what}; what was sealed is kept; mend it and run again (a pilot with --resume)"
        case _:
            return str(error)


def _say(text: str) -> None:
    for line in text.splitlines():
        click.echo(f"runner: {line}", err=True)
