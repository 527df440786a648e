"""Run one unit to its end: the go, its streams pumped with a cap, and how it ended."""

import os
import select
import selectors
from collections.abc import Callable
from dataclasses import dataclass, field

from sandbox.api import LauncherReport, Running, Sandbox
from sandbox.spec import UnitSpec
from sandbox.termination import Stop, Termination

_CHUNK = 1 << 16


@dataclass(frozen=True, slots=True, kw_only=True)
class UnitResult:
    """What a unit did. The streams hold at most the spec's `output_bytes` each."""

    termination: Termination
    report: LauncherReport
    stdout: bytes
    stderr: bytes


@dataclass(slots=True, kw_only=True)
class _Sink:
    cap: int
    tell: Callable[[bytes], None] | None = None
    seen: int = 0
    kept: bytearray = field(default_factory=bytearray)

    def take(self, data: bytes) -> bool:
        """Take what fits; tell whether the cap still holds."""
        data, fits = data[: self.cap - self.seen], self.seen + len(data) <= self.cap
        self.seen += len(data)
        if self.tell is None:
            self.kept += data
        elif data:
            self.tell(data)
        return fits


def run(
    sandbox: Sandbox, spec: UnitSpec, *, stdin: bytes = b"", on_stdout: Callable[[bytes], None] | None = None
) -> UnitResult:
    """Run a unit: its standard input is `stdin` and then ends; `on_stdout` takes its output as it comes.

    Raises:
        UnitStartError, WallsError: it never came to its program.
        KeeperError: the keeper died; nothing is known of the unit but that it is gone with it.
    """
    with sandbox.start(spec) as running:
        return conduct(running, spec, stdin=stdin, on_stdout=on_stdout)


def conduct(
    running: Running, spec: UnitSpec, *, stdin: bytes = b"", on_stdout: Callable[[bytes], None] | None = None
) -> UnitResult:
    """Let a started unit of this spec go, and move its streams until it has ended. See `run`."""
    running.go()
    out = _Sink(cap=spec.limits.output_bytes, tell=on_stdout)
    err = _Sink(cap=spec.limits.output_bytes)
    _pump(running, stdin, out, err)
    return UnitResult(
        termination=running.termination(),
        report=running.report,
        stdout=bytes(out.kept),
        stderr=bytes(err.kept),
    )


def _pump(running: Running, stdin: bytes, out: _Sink, err: _Sink) -> None:
    """Move bytes until the unit has ended and both streams are empty."""
    rest = memoryview(stdin)
    with selectors.DefaultSelector() as selector:
        for descriptor, sink in ((running.stdout, out), (running.stderr, err)):
            os.set_blocking(descriptor, False)
            selector.register(descriptor, selectors.EVENT_READ, sink)
        selector.register(running.handle, selectors.EVENT_READ)
        os.set_blocking(running.stdin, False)
        selector.register(running.stdin, selectors.EVENT_WRITE)
        while running.handle in selector.get_map():
            for key, _ in selector.select():
                if key.fd == running.stdin:
                    rest = _feed(selector, running, rest)
                elif key.fd == running.handle:
                    selector.unregister(running.handle)
                elif not _drain(selector, key.fd, key.data):
                    running.stop(Stop.OUTPUT_LIMIT)
        _empty(selector, {running.stdout: out, running.stderr: err})


def _empty(selector: selectors.BaseSelector, sinks: dict[int, _Sink]) -> None:
    """Read what an ended unit had still written. No process of it is left: what is there now is all."""
    for descriptor, sink in sinks.items():
        while descriptor in selector.get_map() and select.select([descriptor], [], [], 0)[0]:
            _drain(selector, descriptor, sink)


def _feed(selector: selectors.BaseSelector, running: Running, rest: memoryview) -> memoryview:
    try:
        rest = rest[os.write(running.stdin, rest[:_CHUNK]) :] if rest else rest
    except BlockingIOError:
        return rest
    except BrokenPipeError:
        rest = rest[:0]
    if not rest:
        selector.unregister(running.stdin)
        running.close_stdin()
    return rest


def _drain(selector: selectors.BaseSelector, descriptor: int, sink: _Sink) -> bool:
    """Read what is there; tell whether the stream's cap still holds."""
    try:
        data = os.read(descriptor, _CHUNK)
    except BlockingIOError:
        return True
    if not data:
        selector.unregister(descriptor)
        return True
    return sink.take(data)
