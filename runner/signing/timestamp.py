"""RFC 3161 tokens: an authority's word for when something was there. Asked by a command, read and checked by openssl.

Nothing is sent anywhere unless the operator names a command that does (`--timestamp-with`).
"""

import re
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from runner.canonical import sha256
from runner.signing.command import PATIENCE, run_command
from runner.signing.errors import SignatureError, SigningError
from runner.signing.layout import TIMESTAMP

_OPENSSL = "/usr/bin/openssl"
_ENVIRONMENT = {"PATH": "/usr/bin:/bin", "LC_ALL": "C"}
_TIME = re.compile(r"^Time stamp: (\w{3} +\d+ \d\d:\d\d:\d\d)(?:\.\d+)? (\d{4}) GMT$", re.MULTILINE)
_IMPRINT = re.compile(r"^Hash Algorithm: sha256\nMessage data:\n((?: {4}[0-9a-f]{4} - .*\n)+)", re.MULTILINE)
_BYTES = re.compile(r"^ {4}[0-9a-f]{4} - ((?:[0-9a-f]{2}[ -]){16})", re.MULTILINE)
_SECONDS = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Stamper:
    """Has bytes stamped by a command: the request (DER) on its standard input, the response on its standard output."""

    command: str
    """Split as a shell splits words; no shell runs it."""
    patience: float = PATIENCE

    def __call__(self, data: bytes) -> bytes:
        """Give the token over data.

        Raises:
            SigningError: the command fails, takes too long, or gives no token over these bytes.
        """
        with _folder(data) as folder:
            asked = _openssl(folder, "-query", "-data", "data", "-sha256", "-cert", "-out", "query")
            if asked.returncode:
                raise self._failed(_last(asked), "a request that openssl makes", "install openssl")
            token = run_command(self.command, (folder / "query").read_bytes(), self.patience)
            (folder / "token").write_bytes(token)
            told = _openssl(folder, "-reply", "-in", "token", "-text").stdout.decode("utf-8", "replace")
        if "\nStatus: Granted" not in told or _imprint(told) != sha256(data):
            mend = "ask the authority by hand, and look at what it answers"
            raise self._failed("no token over these bytes", "one", mend)
        return token

    def _failed(self, found: str, expected: str, mend: str) -> SigningError:
        return SigningError(command=self.command, found=found, expected=expected, mend=mend)


def check_token(token: bytes, data: bytes, roots: Path, file: str = TIMESTAMP) -> int:
    """Give when data was stamped, in milliseconds since 1970, UTC, by an authority that certificates vouch for.

    `roots` is a file of certificates (PEM) that came from outside of what is verified.

    Raises:
        SignatureError: the token is over other bytes, of another authority, or broken.
    """
    with _folder(data) as folder:
        (folder / "token").write_bytes(token)
        checked = _openssl(folder, "-verify", "-data", "data", "-in", "token", "-CAfile", str(roots.resolve()))
        if checked.returncode:
            expected = f"a token over the bytes beside it, by an authority of {roots}"
            raise SignatureError(file=file, found=_last(checked), expected=expected)
        told = _openssl(folder, "-reply", "-in", "token", "-text").stdout.decode("utf-8", "replace")
    found = _TIME.search(told)
    if found is None:
        raise SignatureError(file=file, found="a token without a time", expected="one with a time")
    made = datetime.strptime(f"{found[1]} {found[2]}", "%b %d %H:%M:%S %Y").replace(tzinfo=UTC)
    return int(made.timestamp()) * 1000


def _imprint(told: str) -> str:
    """Give the SHA-256 that a token is over, as openssl prints it."""
    found = _IMPRINT.search(told)
    rows = () if found is None else _BYTES.findall(found[1])
    return "".join(row.replace(" ", "").replace("-", "") for row in rows)


@contextmanager
def _folder(data: bytes) -> Iterator[Path]:
    """Give a folder, for a moment, with data in a file: openssl reads files."""
    with tempfile.TemporaryDirectory(prefix="cleanroom-timestamp-") as name:
        folder = Path(name)
        (folder / "data").write_bytes(data)
        yield folder


def _openssl(folder: Path, *argv: str) -> subprocess.CompletedProcess[bytes]:
    try:
        return subprocess.run(
            (_OPENSSL, "ts", *argv),
            cwd=folder,
            env=_ENVIRONMENT,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        found, mend = str(error), "install it: apt-get install openssl"
        raise SigningError(command=_OPENSSL, found=found, expected="openssl", mend=mend) from error


def _last(done: subprocess.CompletedProcess[bytes]) -> str:
    """Give what openssl says went wrong: the reason of its last error line."""
    lines = done.stderr.decode("utf-8", "replace").strip().splitlines()
    words = next((line.split(":") for line in reversed(lines) if ":error:" in line), [])
    return words[5] if len(words) > 5 else f"status {done.returncode}"  # noqa: PLR2004 - where its reason stands
