"""A launcher's report as the runner reads it: what is late, cut short or garbled is a fault."""

import os
import time
from collections.abc import Iterator
from contextlib import suppress

import pytest

from sandbox.client import read_report
from sandbox.errors import UnitStartError, WallsError


@pytest.fixture
def pipes() -> Iterator[tuple[int, int, int, int]]:
    """Give a unit's output and error: both ends of each, reading first."""
    descriptors = (*os.pipe(), *os.pipe())
    yield descriptors
    for descriptor in descriptors:
        with suppress(OSError):
            os.close(descriptor)


Pipes = tuple[int, int, int, int]


def report(body: bytes, size: int | None = None) -> bytes:
    return (len(body) if size is None else size).to_bytes(4, "big") + body


def test_a_report_is_read_and_the_programs_own_output_is_left(pipes: Pipes) -> None:
    out, unit_out, err, _ = pipes
    os.write(unit_out, report(b'{"version":1}') + b"hello")
    assert read_report(out, err).seen == {"version": 1}
    assert os.read(out, 100) == b"hello"


@pytest.mark.parametrize(
    ("said", "error"),
    [
        pytest.param(b"", UnitStartError, id="nothing"),
        pytest.param(b"\0\0", UnitStartError, id="half-a-length"),
        pytest.param(report(b"", 0), UnitStartError, id="empty"),
        pytest.param(report(b"", 64 * 1024 + 1), UnitStartError, id="too-large"),
        pytest.param(report(b"", (1 << 32) - 1), UnitStartError, id="far-too-large"),
        pytest.param(report(b'{"version":1', 100), WallsError, id="cut-short"),
        pytest.param(report(b"{]"), WallsError, id="no-json"),
        pytest.param(report(b"\xff\xfe\xff"), WallsError, id="no-text"),
        pytest.param(report(b"[1]"), WallsError, id="no-object"),
        pytest.param(report(b"[" * 60_000), WallsError, id="nested-without-end"),
    ],
)
def test_what_is_no_report_is_a_fault(pipes: Pipes, said: bytes, error: type[Exception]) -> None:
    out, unit_out, err, _ = pipes
    os.write(unit_out, said)
    os.close(unit_out)
    with pytest.raises(error):
        read_report(out, err)


def test_a_launcher_that_dies_is_quoted(pipes: Pipes) -> None:
    out, unit_out, err, unit_err = pipes
    os.write(unit_err, b"launcher: no such thing\n")
    os.close(unit_out)
    with pytest.raises(UnitStartError, match="no such thing"):
        read_report(out, err)


def test_silence_is_a_fault_in_bounded_time(pipes: Pipes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sandbox.client.REPORT_SECONDS", 0.3)
    out, unit_out, err, _ = pipes
    os.write(unit_out, report(b"{}", 50))
    began = time.monotonic()
    with pytest.raises(WallsError):
        read_report(out, err)
    assert time.monotonic() - began < 3
