"""Runs beside the units, in the service manager's namespaces: times `systemd-run` from there. Stdlib only.

Its first line of output is the path of an empty network namespace. Then, for each JSON list of arguments on
standard input, a line of JSON: seconds, exit status, bytes of the launcher's report, last words.
"""

import json
import subprocess
import sys
import time
from pathlib import Path

_SETTLE_SECONDS = 0.02


def main() -> None:
    """Answer until the input ends."""
    keeper = subprocess.Popen(["/usr/bin/unshare", "--net", "/usr/bin/sleep", "infinity"])
    namespace = Path(f"/proc/{keeper.pid}/ns/net")
    while namespace.readlink() == Path("/proc/self/ns/net").readlink():
        time.sleep(0.005)
    try:
        tell(str(namespace))
        for line in sys.stdin:
            argv, slice_ = json.loads(line)
            found = timed(argv)
            subprocess.run(["/usr/bin/systemctl", "stop", slice_], check=False, stderr=subprocess.DEVNULL)
            time.sleep(_SETTLE_SECONDS)
            tell(found)
    finally:
        keeper.kill()
        keeper.wait()


def timed(argv: list[str]) -> list[object]:
    """Run one unit to its end: read the launcher's report, give the go, read the rest."""
    pipe = subprocess.PIPE
    began = time.perf_counter()
    with subprocess.Popen(argv, stdin=pipe, stdout=pipe, stderr=pipe, bufsize=0) as process:
        if process.stdin is None or process.stdout is None or process.stderr is None:
            raise OSError
        size = int.from_bytes(process.stdout.read(4) or b"", "big")
        report = 0
        while report < size and (more := process.stdout.read(size - report)):
            report += len(more)
        if report:
            process.stdin.write(b"G")
        process.stdin.close()
        process.stdout.read()
        words = process.stderr.read() or b""
        status = process.wait()
    return [time.perf_counter() - began, status, report, words.decode(errors="replace")[-500:]]


def tell(value: object) -> None:
    """Write a line."""
    sys.stdout.write(json.dumps(value) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
