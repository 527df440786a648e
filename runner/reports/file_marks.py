"""By what attempts are known again without reading them: what a row is made of was not changed since.

Looked at are, of each try, the seals, the documents that a row is made of, and which files and folders there are beside
them. Whoever writes to one, renames it, or sets its mode, owner or times changes its time of change (ctime), which
nobody can set back short of setting the machine's clock or writing to the disk beneath the file system; git's index
works alike. What else is sealed - diffs, streams, recordings - makes no row: whether it still is what was sealed,
verifying says, which reads every byte.
What judges and people add beside a submission changes no row, and is left out.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import IO, Self

from runner.documents.reading import Holding, LookedAt
from runner.documents.seal import SEAL_NAME
from runner.kept import FIRST, NORMS
from runner.reports.looking import names_in
from runner.store import BEGUN, GRADINGS, SUBMISSION, VOID

MADE_OF = (SEAL_NAME, "submission.json", "grading.json", "void.json", "telemetry.json", "ledger.jsonl", NORMS)
"""What rows are made of, in a sealed folder; beside them the ledger of a first shot."""
LOOKING = Path(__file__).with_name("looking.py")
NOTHING = LookedAt(still=(), holding=())
"""Of an attempt that has no files."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """What is to be looked at of an attempt, the next time."""

    looked_at: LookedAt
    newest_ns: int
    """When any of it was changed last, in nanoseconds since 1970."""


def see(attempt: Path) -> Seen | None:
    """See what an attempt is made of; None where it changes meanwhile, or cannot be looked into."""
    try:
        if not os.path.lexists(attempt):
            return Seen(looked_at=NOTHING, newest_ns=0)
        tries = [f"/{each.name}" for each in sorted(attempt.iterdir()) if each.is_dir()]
        still = ("", *(path for tried in tries for path in _paths(str(attempt), tried)))
        newest = max(os.lstat(f"{attempt}{path}").st_ctime_ns for path in still)
        holding = tuple(Holding(folder=tried, names=tuple(names_in(f"{attempt}{tried}"))) for tried in tries)
    except OSError:
        return None
    return Seen(looked_at=LookedAt(still=still, holding=holding), newest_ns=newest)


def _paths(attempt: str, tried: str) -> Iterator[str]:
    """Give the paths in one try's folder, but for that folder, which judges add to."""
    there = names_in(attempt + tried)
    yield from (f"{tried}/{name}" for name in (BEGUN, GRADINGS) if name in there)
    sealed = [name for name in (SUBMISSION, VOID) if name in there]
    if GRADINGS in there:
        sealed += [f"{GRADINGS}/{name}" for name in names_in(f"{attempt}{tried}/{GRADINGS}")]
    for folder in (f"{tried}/{name}" for name in sealed):
        names = names_in(attempt + folder)
        yield folder
        yield from (f"{folder}/{name}" for name in MADE_OF if name in names)
        shot = f"{folder}/{FIRST}/ledger.jsonl"
        if os.path.lexists(attempt + shot):
            yield shot


class Looking:
    """Looks at attempts that were read before, in a process a core, while its owner does something else."""

    def __init__(
        self, attempts: Sequence[tuple[str, int]], shapes: Sequence[LookedAt], since_ns: int, shares: int
    ) -> None:
        """Plan the looking; nothing is begun.

        Args:
            attempts: folders by their whole paths, each with the number of its shape.
            shapes: what there is to look at.
            since_ns: in nanoseconds since 1970; what was changed later is not as it was.
            shares: how many processes look.
        """
        size = max(1, -(-len(attempts) // max(1, shares)))
        self._shares = [attempts[at : at + size] for at in range(0, len(attempts), size)]
        self._shapes = [
            ([path[1:] for path in each.still], [(held.folder[1:], held.names) for held in each.holding])
            for each in shapes
        ]
        self._since_ns = since_ns
        self._running: list[tuple[subprocess.Popen[bytes], IO[bytes]]] = []
        self._open = ExitStack()

    def __enter__(self) -> Self:
        """Begin to look."""
        for share in self._shares:
            self._running.append(self._begin(share))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End what still looks."""
        for process, _ in self._running:
            process.kill()
            process.wait()
        self._open.close()

    def _begin(self, share: Sequence[tuple[str, int]]) -> tuple[subprocess.Popen[bytes], IO[bytes]]:
        given = self._open.enter_context(tempfile.TemporaryFile())  # noqa: SIM115 - the stack closes it
        told = self._open.enter_context(tempfile.TemporaryFile())  # noqa: SIM115 - the stack closes it
        asked = {"since_ns": self._since_ns, "shapes": self._shapes, "attempts": share}
        given.write(json.dumps(asked).encode())
        given.seek(0)
        argv = [sys.executable, "-I", "-S", "-B", str(LOOKING)]
        return subprocess.Popen(argv, stdin=given, stdout=told, stderr=subprocess.DEVNULL, env={}), told

    def known(self) -> bytes:
        """Give a byte an attempt, in their order: `1` where it is as it was; nowhere where nobody could look."""
        return b"".join(self._known())

    def _known(self) -> Iterator[bytes]:
        for share, (process, told) in zip(self._shares, self._running, strict=True):
            process.wait()
            told.seek(0)
            said = told.read()
            is_whole = process.returncode == 0 and len(said) == len(share)
            yield said if is_whole else b"0" * len(share)
