"""The machine that a time was taken on, as far as a time depends on it."""

import os
from pathlib import Path

from evaluators.speed_values import Machine
from sandbox.api import HostFacts

_PROCESSORS = Path("/proc/cpuinfo")
_NAMES = ("model name", "Hardware", "CPU implementer")
"""What the kernel calls a processor, by architecture."""
_LONGEST = 100


def processor_of(text: str) -> str:
    """Give the processor's name in a text of /proc/cpuinfo. Pure."""
    found = dict(line.split(":", 1) for line in reversed(text.splitlines()) if ":" in line)
    known = {name.strip(): value.strip() for name, value in found.items()}
    return next((known[name][:_LONGEST] for name in _NAMES if known.get(name)), "unknown")


def load_now() -> str:
    """Give how many programs wanted a processor in the last minute, as a decimal text."""
    return f"{os.getloadavg()[0]:.2f}"


def machine(facts: HostFacts, load_before: str) -> Machine:
    """Describe this machine after a measurement that began under `load_before`."""
    return Machine(
        processor=processor_of(_PROCESSORS.read_text(encoding="utf-8", errors="replace")),
        cores=os.cpu_count() or 1,
        kernel=facts.kernel,
        load=(load_before, load_now()),
    )
