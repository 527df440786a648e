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
        said = run_command(self.command, data, self.patience)
        signature = said if len(said) == SIGNATURE_BYTES else self._decoded(said)
        if not self.key.made(signature, data):
            mend = "have it sign with that key, or register its own: runner keys rotate"
            raise self._failed("a signature of another key", f"one of key {self.keyid}", mend)
        return signature

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


def run_command(command: str, data: bytes, patience: float) -> bytes:
    """Give what a command of the operator's writes when it is given data; `patience` in seconds.

    Raises:
        SigningError: it cannot be run, fails, or takes too long.
    """
    try:
        argv = shlex.split(command)
        done = subprocess.run(argv, input=data, capture_output=True, timeout=patience, check=False)
    except (ValueError, IndexError) as error:
        raise _failed(command, "no command", "a program and its arguments") from error
    except OSError as error:
        raise _failed(command, error.strerror or str(error), "a program") from error
    except subprocess.TimeoutExpired as error:
        raise _failed(command, f"nothing after {patience} s", "an answer") from error
    if done.returncode != 0:
        last = done.stderr.decode("utf-8", "backslashreplace").strip().rpartition("\n")[2]
        raise _failed(command, f"status {done.returncode} ({last})", "status 0")
    return done.stdout


def _failed(command: str, found: str, expected: str) -> SigningError:
    return SigningError(command=command, found=found, expected=expected, mend=_MEND)
