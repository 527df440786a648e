"""The pins of `config/runtimes.json`. Pure, but for reading that file."""

import platform
from collections.abc import Mapping
from pathlib import Path

from runner.documents.runtimes import PlatformPin, RuntimeName, RuntimePin, RuntimePins
from runner.errors import DocumentError
from runner.parsing import file_name, parse_json, read_file, validate

NEEDS: Mapping[RuntimeName, tuple[str, ...]] = {
    "opencode": ("bin/opencode",),
    "codex": (
        "bin/codex",
        "bin/codex-code-mode-host",
        "codex-path/rg",
        "codex-resources/bwrap",
        "codex-package.json",
    ),
    "claude": ("claude",),
}
"""Files without which a program is not whole; the first is what is run. All but JSON files must be executable."""

_MACHINES = {"x86_64": "linux-x64", "aarch64": "linux-arm64"}


def load_pins(file: Path) -> tuple[RuntimePin, ...]:
    """Read the pins.

    Raises:
        DocumentError, DocumentErrors: the file is not what it should be, or names an agent twice.
    """
    name = file_name(file)
    pins = validate(RuntimePins, parse_json(read_file(file), name), name).runtimes
    agents = [pin.agent for pin in pins]
    twice = next((agent for agent in agents if agents.count(agent) > 1), None)
    if twice is not None:
        raise DocumentError(
            file=name, field="runtimes", found=f"{twice} twice", expected="each agent once", mend="keep one of the two"
        )
    return pins


def this_platform() -> str:
    """Name this machine's platform as the pins do."""
    machine = platform.machine()
    return _MACHINES.get(machine, f"linux-{machine}")


def platform_pin(pin: RuntimePin, wanted: str) -> PlatformPin:
    """Choose the package file of a platform.

    Raises:
        DocumentError: there is none.
    """
    for each in pin.platforms:
        if each.platform == wanted:
            return each
    raise DocumentError(
        file="config/runtimes.json",
        field=f"runtimes: {pin.agent}: platforms",
        found=", ".join(each.platform for each in pin.platforms),
        expected=wanted,
        mend="run this agent on another machine, or pin its package for this one",
    )
