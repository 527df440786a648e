"""What `scripts/runtimes` runs: install pinned programs, a line each."""

import argparse
import sys
from pathlib import Path

from runner.bundles.install import folder_of, install
from runner.bundles.pins import load_pins, this_platform
from runner.errors import RunnerError
from runner.npm import registry_of
from runner.settings import DEFAULT_STATE, host_settings

_PINS = Path(__file__).parents[2] / "config/runtimes.json"


def main() -> int:
    """Install what was asked for, or all that is pinned."""
    pins = {pin.agent: pin for pin in load_pins(_PINS)}
    parser = argparse.ArgumentParser(prog="scripts/runtimes", description="Install the pinned programs of agents.")
    parser.add_argument("agents", nargs="*", metavar="AGENT", choices=[*pins, []], help=", ".join(pins))
    parser.add_argument("--into", type=Path, default=DEFAULT_STATE / "runtimes", metavar="FOLDER")
    given = parser.parse_args()
    registry = registry_of(host_settings().environ)
    for agent in given.agents or pins:
        pin = pins[agent]
        made = install(pin, this_platform(), given.into.absolute(), registry)
        where = folder_of(given.into.absolute(), pin)
        said = "installed in" if made else "is there:"
        sys.stdout.write(f"runtimes: {agent} {pin.version} {said} {where}\n")
        sys.stdout.flush()
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except RunnerError as error:
        sys.stderr.write(f"runtimes: {error}\n")
        sys.exit(error.exit_code)
