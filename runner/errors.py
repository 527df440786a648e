"""What can go wrong on our side, by the exit code it ends with. What a candidate does is a value instead."""

from dataclasses import dataclass
from typing import ClassVar


class RunnerError(Exception):
    """Every error of this package is one of these; the command line prints it and leaves with its code."""

    exit_code: ClassVar[int] = 1


class UsageError(RunnerError):
    """The command, or a document it reads, asks for what cannot be done."""

    exit_code: ClassVar[int] = 2


class VerificationError(RunnerError):
    """Evidence, a manifest or a record is not what it says it is."""

    exit_code: ClassVar[int] = 3


class HostError(RunnerError):
    """This host cannot run what was asked."""

    exit_code: ClassVar[int] = 4


@dataclass(slots=True, kw_only=True, eq=False)
class DocumentError(UsageError):
    """One thing wrong in one file, and what mends it. `field` is empty where the whole file is meant."""

    file: str
    field: str
    found: str
    expected: str
    mend: str

    def __str__(self) -> str:
        place = f"{self.file}: {self.field}" if self.field else self.file
        return f"{place}: found {self.found}; expected {self.expected}; {self.mend}"


@dataclass(slots=True, kw_only=True, eq=False)
class DocumentErrors(UsageError):  # noqa: N818 - it is several of them
    """Several things wrong at once, told together."""

    errors: tuple[DocumentError, ...]

    def __str__(self) -> str:
        return "\n".join(str(error) for error in self.errors)


@dataclass(slots=True, kw_only=True, eq=False)
class UnknownNameError(UsageError):
    """A selector names what the release does not have."""

    noun: str
    wanted: str
    near: tuple[str, ...]
    known: int
    listed: str | None = None
    """The command that lists them all."""

    def __str__(self) -> str:
        hint = f"did you mean {', '.join(self.near)}?" if self.near else f"the release has {self.known} to choose from"
        more = "" if self.listed is None else f"; see them all: {self.listed}"
        return f"no {self.noun} is called {self.wanted!r}; {hint}{more}"


class FixtureError(DocumentError):
    """A fixture or a solution cannot be made from its source, or is not what it was."""


class ToolchainError(DocumentError):
    """A toolchain's lock is not one, or what was built from it is not what it was."""


class ControlError(DocumentError):
    """A nomination's controls do not end as they must, or their record is not the frozen one."""


class SupplyError(DocumentError):
    """Something from outside that freezing needs did not come: the package index, or pip itself."""

    exit_code: ClassVar[int] = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Drift:
    """One frozen field that is no longer what it was."""

    field: str
    frozen: str
    found: str


@dataclass(slots=True, kw_only=True, eq=False)
class DriftError(UsageError):
    """A release's inputs are no longer those its manifest froze under the same id."""

    file: str
    drifts: tuple[Drift, ...]
    mend: str

    def __str__(self) -> str:
        lines = (f"  {each.field}: frozen {each.frozen}, found {each.found}" for each in self.drifts)
        return "\n".join((f"{self.file}: the release was frozen from other inputs; {self.mend}", *lines))


@dataclass(slots=True, kw_only=True, eq=False)
class StorageError(RunnerError):
    """The disk below the store failed or is full; nothing half-written is visible."""

    file: str
    found: str

    def __str__(self) -> str:
        return (
            f"{self.file}: could not be written: {self.found}; expected a writable store with free space; "
            "free space there (or mend the disk), then run again with --resume"
        )


@dataclass(slots=True, kw_only=True, eq=False)
class SealTakenError(UsageError):
    """Evidence already stands under this name; it is never replaced."""

    file: str

    def __str__(self) -> str:
        return f"{self.file}: found evidence; expected a free name; run again with --resume, which keeps it"


@dataclass(slots=True, kw_only=True, eq=False)
class SealBrokenError(VerificationError):
    """A sealed file is not what was sealed."""

    file: str
    found: str
    expected: str

    def __str__(self) -> str:
        return f"{self.file}: found {self.found}; expected {self.expected}; restore the folder from a copy"


@dataclass(slots=True, kw_only=True, eq=False)
class BegunError(UsageError):
    """Attempts that were asked for were begun before."""

    names: tuple[str, ...]

    def __str__(self) -> str:
        rest = f" and {len(self.names) - 1} more" if len(self.names) > 1 else ""
        return (
            f"found evidence of {self.names[0]}{rest}; expected attempts that were never begun; "
            "run again with --resume, which leaves finished ones as they are"
        )


@dataclass(slots=True, kw_only=True, eq=False)
class NotCanonicalError(RunnerError):
    """A value has no canonical form, so that no document may hold it."""

    found: str

    def __str__(self) -> str:
        return f"a document would hold {self.found}; expected what has one canonical form (RFC 8785, no floats)"
