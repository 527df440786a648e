"""The tool that runs a command."""

import contextlib
import os
import select
import signal
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

from .files import ToolError
from .text import Ends

LINGER_S = 0.5
ARGUMENTS = 4096


@dataclass(frozen=True)
class Shell:
    """Runs commands in the workspace, each in a process group that does not outlive its call."""

    root: Path
    limit: int
    longest_s: int

    def run(self, command: str | list[str], timeout_s: int | None = None) -> str:
        """Run a command line by `sh -c`, or an argument list as it is."""
        argv = ["/bin/sh", "-c", command] if isinstance(command, str) else command
        if not argv or not argv[-1].strip() or len(argv) > ARGUMENTS:
            raise ToolError("command must not be empty")
        seconds = self.longest_s if timeout_s is None else timeout_s
        if not 1 <= seconds <= self.longest_s:
            raise ToolError(f"timeout_s must be between 1 and {self.longest_s}")
        process = subprocess.Popen(
            argv,
            cwd=self.root,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            output, in_time = self._pump(process, time.monotonic() + seconds)
        finally:
            self._end(process)
        how = f"exit status {process.returncode}" if in_time else f"killed after {seconds} s"
        return f"[{how}]\n{output}"

    def _pump(self, process: "subprocess.Popen[bytes]", deadline: float) -> tuple[str, bool]:
        ends = Ends(self.limit)
        pipe = process.stdout
        while pipe is not None and (left := deadline - time.monotonic()) > 0:
            if select.select([pipe], [], [], min(left, 0.1))[0]:
                data = os.read(pipe.fileno(), 1 << 16)
                if not data:
                    break
                ends.add(data)
            elif process.poll() is not None:
                # What it left in the background may hold the pipe for ever.
                break
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(max(0.0, deadline - time.monotonic()))
        return ends.text(), process.poll() is not None

    @staticmethod
    def _end(process: "subprocess.Popen[bytes]") -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        if process.stdout is not None:
            process.stdout.close()
