"""Questions of a timed unit, and what its answers come to: a time with an answer, or why there is none. Pure."""

from dataclasses import dataclass
from enum import StrEnum

from evaluators.errors import EvaluatorError
from evaluators.interview import Interview, Reply
from evaluators.model import VerdictCause
from evaluators.split_frames import Frame, write_frame
from sandbox.termination import Cause

_NOTHING: Frame = {"dict": []}
_HELLO: Frame = {"ask": "call", "module": "math", "path": ["isqrt"], "args": [49], "named": _NOTHING}
OPENING = 3
"""Two questions that our own program answers, the second of which shows what a question costs by itself; the import."""


class Clock(StrEnum):
    """Which of the two times counts. Both are taken outside of the unit."""

    PROCESSOR = "processor"
    """What the whole unit used: the same beside other work, on one core or on several. Waiting is free."""
    WALL = "wall"
    """What passed: for what waits or shares its work out; a busy machine disturbs it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Oracle:
    """Arguments and the right answer, both as they are written on the wire."""

    args: object
    expected: object


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What an author's plan told."""

    oracle: tuple[Oracle, ...]
    inputs: tuple[object, ...]
    """Of the warm-up, then of each pair."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """Why there is no time, or none that counts."""

    cause: VerdictCause
    detail: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One timed call in a process of its own."""

    ns: int
    import_ns: int
    transport_ns: int
    value: object


def opening(function: str) -> tuple[bytes, ...]:
    """Give the questions before the first call."""
    module, _, path = function.partition(":")
    wanted = {"module": module, "path": path.split("."), "args": [], "named": _NOTHING, "read": True, "kept": True}
    return (write_frame(_HELLO), write_frame(_HELLO), write_frame({"ask": "call", **wanted}))


def call(args: object, *, after: bool = False) -> bytes:
    """Give the question of one call; `after` asks for the arguments as they are afterwards too."""
    whole = {"ask": "call", "object": 1, "path": [], "args": args, "named": _NOTHING, "after": after}
    return write_frame(whole)


def timed(found: Interview, clock: Clock) -> Call | Failure:
    """Read an interview of the opening and one call.

    Raises:
        EvaluatorError: the machine does not tell what a unit uses.
    """
    failure = imported(found)
    if failure is not None:
        return failure
    if len(found.replies) <= OPENING:
        return broken(found)
    reply = found.replies[OPENING]
    said = told(reply.frame)
    if said is not None:
        return said
    hello, load, taken = (_ns(each, clock) for each in found.replies[1 : OPENING + 1])
    return Call(ns=taken, import_ns=load, transport_ns=hello, value=reply.frame["value"])


def _ns(reply: Reply, clock: Clock) -> int:
    if clock is Clock.WALL:
        return max(1, reply.wall_ns)
    if reply.used_us is None:
        raise EvaluatorError("nobody knows what a unit has used of the processor here; time with clock 'wall'")
    return max(1, reply.used_us * 1000)


def imported(found: Interview) -> Failure | None:
    """Say why what is called could not be imported; None where it could."""
    if len(found.replies) < OPENING:
        return broken(found)
    frame = found.replies[OPENING - 1].frame
    if frame.get("object") == 1:
        return None
    return told(frame) or Failure(cause=VerdictCause.REJECTED, detail="its import gave something else")


def told(frame: Frame) -> Failure | None:
    """Say why an answer holds no value; None where it does."""
    if "value" in frame:
        return None
    match frame:
        case {"raised": {"type": str(kind), "said": str(said)}}:
            return Failure(cause=VerdictCause.FAILED, detail=f"it raised {kind}: {said}")
        case {"unplain": str(what)}:
            return Failure(cause=VerdictCause.FAILED, detail=f"it gave {what}")
    return Failure(cause=VerdictCause.FAILED, detail="it gave no value")


def broken(found: Interview) -> Failure:
    """Say why an interview broke off."""
    if found.forged is not None:
        return Failure(cause=VerdictCause.TAMPERED, detail=found.trouble)
    if found.late:
        return Failure(cause=VerdictCause.FAILED, detail=found.trouble)
    is_late = found.end is not None and found.end.cause is Cause.TIMEOUT
    return Failure(cause=VerdictCause.TIMEOUT if is_late else VerdictCause.CRASHED, detail=found.trouble)
