"""What lint has to say."""

from dataclasses import dataclass
from enum import StrEnum


class Severity(StrEnum):
    """Whether a release can be run with it."""

    ERROR = "error"
    """It cannot, or its results would mean nothing."""
    WARNING = "warning"
    """It can; somebody should look."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing that lint found."""

    severity: Severity
    file: str
    field: str
    message: str
    mend: str

    def __str__(self) -> str:
        place = f"{self.file}: {self.field}" if self.field else self.file
        return f"{self.severity}: {place}: {self.message}; {self.mend}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """The document that findings are about."""

    file: str

    def error(self, field: str, message: str, mend: str) -> Finding:
        """Find what must be mended."""
        return Finding(severity=Severity.ERROR, file=self.file, field=field, message=message, mend=mend)

    def warning(self, field: str, message: str, mend: str) -> Finding:
        """Find what should be looked at."""
        return Finding(severity=Severity.WARNING, file=self.file, field=field, message=message, mend=mend)
