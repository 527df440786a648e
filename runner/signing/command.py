"""Keys held elsewhere: a command of the operator's signs (`--sign-with`)."""

import shlex
import subprocess
from dataclasses import dataclass

from runner.signing.encoding import unb64
from runner.signing.errors import SigningError
from runner.signing.signer import SIGNATURE_BYTES, PublicKey

PATIENCE = 300
"""Seconds that a command may take: somebody may have to touch a device."""

_MEND = "run it by hand on a small file, and look at what it writes"


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandSigner:
    """Signs by a command: the bytes on its standard input, the signature, raw or in base64, on its standard output.

    What it gives is checked against the public key that was registered.
    """

    command: str
    """Split as a shell splits words; no shell runs it."""
    key: PublicKey
    patience: float = PATIENCE

    @property
    def keyid(self) -> str:
        """Name of its key."""
        return self.key.keyid

    @property
    def public(self) -> bytes:
        """The key that checks its signatures, 32 bytes."""
        return self.key.raw

    def sign(self, data: bytes) -> bytes:
        """Give the signature over data.

        Raises:
            SigningError: it cannot be run, fails, takes too long, or gives no signature of this key.
        """
        said = self._run(data)
        signature = said if len(said) == SIGNATURE_BYTES else self._decoded(said)
        if not self.key.made(signature, data):
            mend = "have it sign with that key, or register its own: runner keys rotate"
            raise self._failed("a signature of another key", f"one of key {self.keyid}", mend)
        return signature

    def _run(self, data: bytes) -> bytes:
        try:
            argv = shlex.split(self.command)
            done = subprocess.run(argv, input=data, capture_output=True, timeout=self.patience, check=False)
        except (ValueError, IndexError) as error:
            raise self._failed("no command", "a program and its arguments", "mend --sign-with") from error
        except OSError as error:
            raise self._failed(error.strerror or str(error), "a program", "mend --sign-with") from error
        except subprocess.TimeoutExpired as error:
            raise self._failed(f"nothing after {self.patience} s", "a signature", _MEND) from error
        if done.returncode != 0:
            last = done.stderr.decode("utf-8", "backslashreplace").strip().rpartition("\n")[2]
            raise self._failed(f"status {done.returncode} ({last})", "status 0 and a signature", _MEND)
        return done.stdout

    def _decoded(self, said: bytes) -> bytes:
        try:
            signature = unb64(said.decode("ascii").strip())
        except ValueError:
            signature = b""
        if len(signature) != SIGNATURE_BYTES:
            expected = f"a signature of {SIGNATURE_BYTES} bytes, raw or in base64"
            raise self._failed(f"{len(said)} bytes that are none", expected, _MEND)
        return signature

    def _failed(self, found: str, expected: str, mend: str) -> SigningError:
        return SigningError(command=self.command, found=found, expected=expected, mend=mend)
