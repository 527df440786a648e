"""Why and how a unit ended, decided from what the manager and the control group said. Pure."""

from dataclasses import dataclass
from enum import StrEnum
from signal import NSIG, SIGHUP, SIGINT, SIGKILL, SIGPIPE, SIGTERM, strsignal


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


_Decision = tuple[Cause, int | None, str]

_NEAR_BYTES = 1 << 20
_ENDED = frozenset({"exited", "failed", "dead"})
_STOPPING = frozenset({"stop", "stop-sigterm", "stop-sigkill", "stop-post", "final-sigterm", "final-sigkill"})
"""systemd is still ending what a failed main process left behind; how that one ended is settled."""
_CLEAN_SIGNALS = frozenset({SIGHUP, SIGINT, SIGPIPE, SIGTERM})
"""systemd calls a service that dies of one of these a success. Nobody else does."""


def termination(facts: UnitFacts) -> Termination:
    """Decide why and how a unit ended.

    What we did wins over what the manager saw of it; what nobody knows is the manager's failure. A status of
    200 or above is systemd's own only before the go, where every end is a fault. After the go it is the
    program's: the launcher had seen that the program can be executed, and a program must not turn its failure
    into a fault by ending with 203.
    """
    cause, status, detail = _decide(facts)
    usage = Usage(wall_ms=facts.wall_ms, cpu_ms=facts.cpu_ms, memory_peak_bytes=facts.memory_peak_bytes)
    return Termination(cause=cause, status=status, usage=usage, detail=detail)


def _decide(facts: UnitFacts) -> _Decision:
    if not facts.went:
        return _before_the_go(facts)
    if facts.stop is not None:
        return Cause(facts.stop.value), None, ""
    if facts.load_state != "loaded" or facts.main_code == 0 or not _has_settled(facts):
        return Cause.MANAGER, None, f"nobody knows how it ended: {_told(facts)}"
    return _by_result(facts)


def _has_settled(facts: UnitFacts) -> bool:
    """Tell whether what was said of the main process is final: a success that is being stopped is not."""
    return facts.sub_state in _ENDED or (facts.sub_state in _STOPPING and facts.result != "success")


def _before_the_go(facts: UnitFacts) -> _Decision:
    if facts.stop is Stop.KILLED:
        return Cause.KILLED, None, "before its program started"
    return Cause.MANAGER, None, f"it ended before its program started: {_told(facts)}"


def _by_result(facts: UnitFacts) -> _Decision:
    match facts.result, facts.main_code:
        case "timeout", _:
            return Cause.TIMEOUT, None, "ended by systemd's own clock"
        case "oom-kill", _:
            return Cause.OOM, None, "killed by the kernel"
        case "success" | "exit-code", 1:
            return _exited(facts)
        case ("success" | "signal", 2) | ("core-dump", 3):
            return _signalled(facts)
        case _:
            return Cause.MANAGER, None, f"systemd gave it up: {_told(facts)}"


def _exited(facts: UnitFacts) -> _Decision:
    if (facts.result == "success") != (facts.main_status == 0):
        return Cause.MANAGER, None, f"what systemd tells contradicts itself: {_told(facts)}"
    lost = f"the kernel killed {facts.oom_kills} of its processes for memory" if facts.oom_kills else ""
    return Cause.EXIT, facts.main_status, lost


def _signalled(facts: UnitFacts) -> _Decision:
    number = facts.main_status
    is_signal = 0 < number < NSIG
    if not is_signal or (facts.result == "success" and number not in _CLEAN_SIGNALS):
        return Cause.MANAGER, None, f"what systemd tells contradicts itself: {_told(facts)}"
    if number == SIGKILL and _was_out_of_memory(facts):
        return Cause.OOM, None, "killed by the kernel"
    return Cause.SIGNAL, number, strsignal(number) or ""


def _was_out_of_memory(facts: UnitFacts) -> bool:
    """Tell whether a SIGKILL that was not ours came for memory; with control groups v1 systemd cannot."""
    if facts.oom_kills:
        return True
    peak, limit = facts.memory_peak_bytes, facts.memory_limit_bytes
    return peak is not None and limit is not None and peak >= limit - _NEAR_BYTES


def _told(facts: UnitFacts) -> str:
    state = f"{facts.load_state}, {facts.active_state} ({facts.sub_state})"
    return f"{state}, result {facts.result}, code {facts.main_code}, status {facts.main_status}"
