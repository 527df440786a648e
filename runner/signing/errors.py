"""What can go wrong with keys, signatures and trees."""

from dataclasses import dataclass

from runner.errors import DocumentError, RunnerError, VerificationError


@dataclass(slots=True, kw_only=True, eq=False)
class SignatureError(VerificationError):
    """What is signed is not what it says it is, or not by whom it should be."""

    file: str
    found: str
    expected: str

    def __str__(self) -> str:
        return f"{self.file}: found {self.found}; expected {self.expected}"


class ProofError(SignatureError):
    """A proof about a tree does not lead to the root that it is held against."""


class KeyFileError(DocumentError):
    """A file that should hold a key does not, or others can read it."""


@dataclass(slots=True, kw_only=True, eq=False)
class SigningError(RunnerError):
    """A command that signs for us did not, or not with the key that it should."""

    command: str
    found: str
    expected: str
    mend: str

    def __str__(self) -> str:
        return f"{self.command}: found {self.found}; expected {self.expected}; {self.mend}"
