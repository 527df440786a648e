"""One file of a submission as data: nothing is run, no link is followed. Pure."""

from collections.abc import Iterable
from enum import StrEnum

from evaluators.model import Submission
from sandbox.tree import Entry, Kind


class Absent(StrEnum):
    """Why there are no bytes to read."""

    MISSING = "there is no such file"
    NO_FILE = "it is no plain file"
    TOO_LARGE = "it is too large"


def read_submitted(submission: Submission, path: str, most: int) -> bytes | Absent:
    """Give a file's bytes as base + change holds it; `most` bounds them."""
    wanted = path.encode("utf-8", "surrogatepass")  # a path may be what submitted code answered
    decided, entry = _find(submission.change.entries, wanted)
    pack = submission.change
    if not decided:
        _, entry = _find(submission.below.entries, wanted)
        pack = submission.below
    if entry is None:
        return Absent.MISSING
    if entry.kind is not Kind.FILE or entry.sha256 is None:
        return Absent.NO_FILE
    return pack.blobs(entry.sha256) if entry.size <= most else Absent.TOO_LARGE


def _find(entries: Iterable[Entry], wanted: bytes) -> tuple[bool, Entry | None]:
    """Say whether these entries decide what stands at a path, and which one does."""
    is_beneath = False
    for entry in entries:
        if entry.path == wanted:
            return True, None if entry.kind is Kind.GONE else entry
        # It may still come: a file that is gone can be a folder now.
        is_beneath |= entry.kind is not Kind.FOLDER and wanted.startswith(entry.path + b"/")
    return is_beneath, None
