"""Why and how a unit ended, decided from what the manager and the control group said. Pure."""

from dataclasses import dataclass
from enum import StrEnum


class Cause(StrEnum):
    """Why a unit ended."""

    EXIT = "exit"
    SIGNAL = "signal"
    TIMEOUT = "timeout"
    OOM = "oom"
    OUTPUT_LIMIT = "output_limit"
    KILLED = "killed"
    """By us, before its time: the user asked, a budget ran out."""
    MANAGER = "manager"
    """systemd or the launcher failed, or nobody knows: a fault, never the candidate's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """What a unit used. None is unknown, never zero."""

    wall_ms: int
    """From the go to the end of the main program."""
    cpu_ms: int | None = None
    memory_peak_bytes: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Termination:
    """The end of a unit. `status` is the exit status (EXIT) or the signal's number (SIGNAL), else None."""

    cause: Cause
    status: int | None
    usage: Usage
    detail: str = ""

    @property
    def succeeded(self) -> bool:
        """Whether the program ended by itself with status 0."""
        return self.cause is Cause.EXIT and self.status == 0

    @property
    def is_fault(self) -> bool:
        """Whether the end says nothing about the program, because we failed."""
        return self.cause is Cause.MANAGER


class Stop(StrEnum):
    """Why the keeper or the runner ended a unit itself."""

    TIMEOUT = "timeout"
    OUTPUT_LIMIT = "output_limit"
    OOM = "oom"
    KILLED = "killed"


@dataclass(frozen=True, slots=True, kw_only=True)
class UnitFacts:
    """What was read of an ended unit, before it was collected. None: could not be read."""

    load_state: str
    active_state: str
    sub_state: str
    result: str
    main_code: int
    """si_code of the main process: 1 exited, 2 killed, 3 dumped; 0 is 'never known'."""
    main_status: int
    stop: Stop | None
    wall_ms: int
    went: bool
    """Whether the go was given: before it, nothing that ended was the program."""
    cpu_ms: int | None = None
    memory_peak_bytes: int | None = None
    memory_limit_bytes: int | None = None
    oom_kills: int | None = None
