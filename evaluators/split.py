"""Two units in a conversation: a trusted driver asks, submitted code answers, and the runner carries the frames.

The sides share no account, no folder and no process. Inputs go one way and plain data comes back; what is expected
stays with the driver. One question is out at a time. An answer that nobody asked for is forged. The end of either
side ends the other.
"""

import os
import select
import selectors
from collections.abc import Callable
from dataclasses import dataclass, field

from evaluators.errors import EvaluatorError
from evaluators.split_frames import LONGEST, Frame, FrameError, Frames, write_frame
from sandbox.api import LauncherReport, Running, Sandbox
from sandbox.spec import UnitSpec
from sandbox.termination import Cause, Stop, Termination

_CHUNK = 1 << 16
_MOST_TOLD = LONGEST
"""Bytes of all that a driver reports; what it reports may be as long as what it was answered."""
_FACTS = frozenset({"read"})
"""Questions that the runner answers itself, from what was captured."""

Answer = Callable[[Frame], Frame]


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """A unit to be started, and the frame it is given first."""

    spec: UnitSpec
    task: Frame


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """What came of one."""

    told: tuple[Frame, ...]
    """What the driver reported, in order."""
    forged: str | None
    """What the submitted side sent that it was not asked for."""
    driver: Termination
    submitted: Termination | None
    """None where the driver was through before it had ended by itself."""
    asked: int
    driver_report: LauncherReport
    submitted_report: LauncherReport
    driver_log: bytes
    submitted_log: bytes


@dataclass(slots=True, kw_only=True)
class _End:
    """One end of the conversation, while it lasts."""

    running: Running
    cap: int
    frames: Frames = field(default_factory=Frames)
    waiting: bytearray = field(default_factory=bytearray)
    log: bytearray = field(default_factory=bytearray)
    ended: bool = False

    def note(self, data: bytes) -> None:
        self.log += data[: max(0, self.cap - len(self.log))]


@dataclass(slots=True, kw_only=True)
class _Talk:
    driver: _End
    submitted: _End
    answer: Answer
    selector: selectors.BaseSelector
    told: list[Frame] = field(default_factory=list)
    told_bytes: int = 0
    forged: str | None = None
    asked: int = 0
    outstanding: object = None

    def carry(self) -> None:
        """Move frames until the driver has ended."""
        while not self.driver.ended:
            for key, _ in self.selector.select():
                # A side that has just ended was read to its end: what was ready of it is served already.
                if key.fd in self.selector.get_map():
                    serve, end = key.data
                    serve(end)
            self._wake()

    def open(self) -> None:
        """Listen to both sides."""
        for end in (self.driver, self.submitted):
            running = end.running
            for descriptor in (running.stdin, running.stdout, running.stderr):
                os.set_blocking(descriptor, False)
            self.selector.register(running.stdout, selectors.EVENT_READ, (self._output, end))
            self.selector.register(running.stderr, selectors.EVENT_READ, (self._log, end))
            self.selector.register(running.handle, selectors.EVENT_READ, (self._handle, end))
        self._wake()

    def _wake(self) -> None:
        """Listen for room in a side's input while there is something for it."""
        for end in (self.driver, self.submitted):
            known = end.running.stdin in self.selector.get_map()
            if end.waiting and not known and not end.ended:
                self.selector.register(end.running.stdin, selectors.EVENT_WRITE, (self._input, end))
            elif not end.waiting and known:
                self.selector.unregister(end.running.stdin)

    def _input(self, end: _End) -> None:
        try:
            del end.waiting[: os.write(end.running.stdin, end.waiting[:_CHUNK])]
        except BlockingIOError:
            return
        except BrokenPipeError:
            end.waiting.clear()

    def _log(self, end: _End) -> None:
        data = _read(end.running.stderr)
        if data == b"":
            self.selector.unregister(end.running.stderr)
        end.note(data or b"")

    def _output(self, end: _End) -> None:
        data = _read(end.running.stdout)
        if data == b"":
            self.selector.unregister(end.running.stdout)
        if data and (end is self.driver or self.forged is None):
            self._take(end, data)

    def _take(self, end: _End, data: bytes) -> None:
        try:
            for frame in end.frames.take(data):
                if end is self.driver:
                    self._from_driver(frame)
                elif self.forged is None:
                    self._from_submitted(frame)
        except FrameError as error:
            if end is self.driver:
                raise EvaluatorError(f"the driver sent {error}") from error
            self._forge(str(error))

    def _from_driver(self, frame: Frame) -> None:
        question = frame.get("ask")
        if question is None:
            self._report(frame)
        elif self.outstanding is not None:
            raise EvaluatorError("the driver asked before it was answered")
        elif question in _FACTS:
            self.driver.waiting += write_frame({**self.answer(frame), "number": frame.get("number")})
        elif self.submitted.ended:
            self._gone()
        else:
            self.outstanding, self.asked = frame.get("number"), self.asked + 1
            self.submitted.waiting += write_frame({key: value for key, value in frame.items() if key != "number"})

    def _report(self, frame: Frame) -> None:
        self.told_bytes += len(write_frame(frame))
        if self.told_bytes > _MOST_TOLD:
            self.driver.running.stop(Stop.OUTPUT_LIMIT)
            return
        self.told.append(frame)

    def _from_submitted(self, frame: Frame) -> None:
        if self.outstanding is None:
            self._forge("an answer to no question")
            return
        self.driver.waiting += write_frame({**frame, "number": self.outstanding})
        self.outstanding = None

    def _forge(self, what: str) -> None:
        self.forged = self.forged or what
        self.submitted.running.stop(Stop.OUTPUT_LIMIT)

    def _gone(self) -> None:
        self.outstanding = None
        self.driver.waiting += write_frame({"gone": self.forged or "its process is no more"})

    def _handle(self, end: _End) -> None:
        end.ended = True
        self.selector.unregister(end.running.handle)
        for stream, take in ((end.running.stdout, self._output), (end.running.stderr, self._log)):
            while stream in self.selector.get_map() and select.select([stream], [], [], 0)[0]:
                take(end)
        if end is self.submitted and self.outstanding is not None:
            self._gone()


def converse(sandbox: Sandbox, driver: Side, submitted: Side, answer: Answer) -> Conversation:
    """Start both sides, and carry what they say until the driver has ended. `answer` answers the runner's questions.

    Raises:
        UnitStartError, WallsError: one never came to its program.
        EvaluatorError: the driver does not keep to the protocol, or its unit failed by itself.
        KeeperError: the keeper died.
    """
    with sandbox.start(submitted.spec) as below, sandbox.start(driver.spec) as above:
        with selectors.DefaultSelector() as selector:
            talk = _Talk(driver=_end(above, driver), submitted=_end(below, submitted), answer=answer, selector=selector)
            talk.open()
            below.go()
            above.go()
            talk.carry()
        return _ended(talk)


def _end(running: Running, side: Side) -> _End:
    return _End(running=running, cap=side.spec.limits.output_bytes, waiting=bytearray(write_frame(side.task)))


def _ended(talk: _Talk) -> Conversation:
    end = talk.driver.running.termination()
    if end.is_fault or end.cause is Cause.KILLED:
        raise EvaluatorError(f"the driver's unit ended by {end.cause}: {end.detail}")
    submitted = talk.submitted.running.termination() if talk.submitted.ended else None
    if submitted is not None and submitted.is_fault:
        raise EvaluatorError(f"the submitted side's unit ended by {submitted.cause}: {submitted.detail}")
    return Conversation(
        told=tuple(talk.told),
        forged=talk.forged,
        driver=end,
        submitted=submitted,
        asked=talk.asked,
        driver_report=talk.driver.running.report,
        submitted_report=talk.submitted.running.report,
        driver_log=bytes(talk.driver.log),
        submitted_log=bytes(talk.submitted.log),
    )


def _read(descriptor: int) -> bytes | None:
    """Read what is there; None where that is nothing yet, and no bytes at the end."""
    try:
        return os.read(descriptor, _CHUNK)
    except BlockingIOError:
        return None
