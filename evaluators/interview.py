"""One fresh unit, asked one thing after another, with the runner's own clocks around each answer.

What runs in the unit can neither see nor reach these clocks: the kernel's raw one, and what the unit's control group
has used. They start before a question's first byte is in the pipe, and stop when the whole answer is out of it. What
was not asked for is forged.
"""

import os
import select
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta

from evaluators.errors import EvaluatorError
from evaluators.split_frames import Frame, FrameError, Frames
from sandbox.api import LauncherReport, Running, Sandbox
from sandbox.spec import UnitSpec
from sandbox.termination import Cause, Stop, Termination

_CHUNK = 1 << 16
_READ, _WRITE = select.POLLIN | select.POLLHUP | select.POLLERR, select.POLLOUT
_LONGEST_WAIT_MS = 86_400_000
_TICK_SECONDS = 0.012
"""Longer than a tick of any kernel."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """An answer, and the time from the question to its last byte."""

    frame: Frame
    wall_ns: int
    used_us: int | None
    """Processor time of the whole unit since the answer before; None where nobody knows, as of the first answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Interview:
    """What a unit answered, in order; fewer answers than questions where it broke off."""

    replies: tuple[Reply, ...]
    forged: str | None = None
    """What it sent without being asked."""
    late: bool = False
    """It was cut off, for the answer was not there in time."""
    end: Termination | None = None
    """How it ended, where it did so by itself."""
    report: LauncherReport
    log: bytes

    @property
    def trouble(self) -> str:
        """Say why it broke off."""
        if self.forged is not None:
            return f"it sent {self.forged}"
        if self.late or self.end is None:
            return "its answer did not come in time"
        how = self.end.cause.value if self.end.status is None else f"{self.end.cause.value} {self.end.status}"
        return f"its unit ended by {how}"


@dataclass(slots=True, kw_only=True)
class _Table:
    """The runner's side of an interview, while it lasts."""

    running: Running
    cap: int
    frames: Frames = field(default_factory=Frames)
    log: bytearray = field(default_factory=bytearray)
    forged: str | None = None
    late: bool = False
    ended: bool = False
    silent: set[int] = field(default_factory=set)
    used: int | None = None

    def ask(self, question: bytes, within: timedelta | None, *, is_last: bool) -> Reply | None:
        """Ask, and wait for the answer; None where there is none."""
        early, _ = self._listen(0)
        if early is not None or not self.frames.is_empty:
            self._forge("an answer to no question")
        if self._is_over():
            return None
        rest, began = memoryview(question), clock_ns()
        until = None if within is None else began + within // timedelta(microseconds=1) * 1000
        while True:
            rest = self._say(rest)
            frame, at = self._listen(_wait_ms(until), is_full=bool(rest))
            if frame is not None:
                return Reply(frame=frame, wall_ns=at - began, used_us=self._used_since(is_last=is_last))
            if self._is_over():
                return None
            if until is not None and clock_ns() > until:
                self.late = True
                return None

    def _used_since(self, *, is_last: bool) -> int | None:
        """Tell what was used since the last answer: between an answer and the next question nothing is free.

        The kernel counts a running thread at its ticks. Who goes on running after the last answer, so that what it
        used before is not seen yet, is given time to be counted; who has nothing more to do uses nothing meanwhile.
        """
        if is_last:
            time.sleep(_TICK_SECONDS)
        before, self.used = self.used, self.running.used_us()
        return None if before is None or self.used is None else self.used - before

    def _is_over(self) -> bool:
        return self.ended or self.forged is not None

    def _forge(self, what: str) -> None:
        self.forged = self.forged or what

    def _say(self, rest: memoryview) -> memoryview:
        try:
            return rest[os.write(self.running.stdin, rest) :] if rest else rest
        except BlockingIOError:
            return rest
        except BrokenPipeError:
            return rest[:0]

    def _listen(self, wait_ms: int, *, is_full: bool = False) -> tuple[Frame | None, int]:
        """Take what is there, or comes in time: a frame and when its last byte was read."""
        running, poll = self.running, select.poll()
        for descriptor in {running.stdout, running.stderr, running.handle} - self.silent:
            poll.register(descriptor, _READ)
        if is_full:
            poll.register(running.stdin, _WRITE)
        ready = {descriptor for descriptor, _ in poll.poll(wait_ms)}
        if running.stderr in ready:
            data = self._read(running.stderr)
            self.log += data[: max(0, self.cap - len(self.log))]
        if running.stdout in ready:
            data, at = self._read(running.stdout), clock_ns()
            return self._framed(data), at
        if running.handle in ready:
            self.ended = True
        return None, 0

    def _read(self, descriptor: int) -> bytes:
        try:
            data = os.read(descriptor, _CHUNK)
        except BlockingIOError:
            return b""
        if not data:
            self.silent.add(descriptor)
        return data

    def _framed(self, data: bytes) -> Frame | None:
        try:
            frames = list(self.frames.take(data))
        except FrameError as error:
            self._forge(str(error))
            return None
        if len(frames) > 1:
            self._forge("an answer to no question")
        return frames[0] if len(frames) == 1 else None


def interview(
    sandbox: Sandbox, spec: UnitSpec, questions: Sequence[bytes], *, within: timedelta | None = None
) -> Interview:
    """Start a unit, ask it everything in order, and end it. The first question is one that no submitted code answers.

    `within` bounds each answer; the unit's own wall time bounds all of them.

    Raises:
        EvaluatorError: it did not even answer the first question.
        UnitStartError, WallsError, KeeperError: it never came to its program.
    """
    with sandbox.start(spec) as running:
        for descriptor in (running.stdin, running.stdout, running.stderr):
            os.set_blocking(descriptor, False)
        table = _Table(running=running, cap=spec.limits.output_bytes)
        running.go()
        replies: list[Reply] = []
        for number, question in enumerate(questions, start=1):
            # Our own program is slow to start on a busy machine, and nothing of it is measured.
            reply = table.ask(question, within if replies else None, is_last=number == len(questions))
            if reply is None:
                break
            replies.append(reply)
        return _told(table, tuple(replies))


def _told(table: _Table, replies: tuple[Reply, ...]) -> Interview:
    running = table.running
    if not table.ended:
        running.stop(Stop.KILLED)
    end = running.termination() if table.ended else None
    if end is not None and (end.is_fault or end.cause is Cause.KILLED):
        raise EvaluatorError(f"a unit that is timed ended by {end.cause}: {end.detail}")
    if not replies:
        raise EvaluatorError(f"a unit that is timed did not start: {bytes(table.log[-1000:]).decode(errors='replace')}")
    return Interview(
        replies=replies,
        forged=table.forged,
        late=table.late,
        end=end,
        report=running.report,
        log=bytes(table.log),
    )


def clock_ns() -> int:
    """Give the time that no program can set, slew or see changed."""
    return time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW)


def _wait_ms(until: int | None) -> int:
    return _LONGEST_WAIT_MS if until is None else max(0, (until - clock_ns()) // 1_000_000 + 1)
