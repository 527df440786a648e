"""The files of a published release of the reference system, each read once; and where its attempts lie."""

import os
import re
import stat
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from runner.durable import read_regular
from runner.reference_system.documents import Foreign, Hashed, M, Times, parsed
from runner.reference_system.rules import elapsed_ms
from runner.reference_system.values import ForeignJsonError, Value, hash_without, read
from runner.verification.model import Finding

RUN, DIFF, TESTS, OBJECTIVE = "run.json", "candidate.diff", "test-result.json", "objective-evaluator.json"
PREFLIGHT, MANIFEST, AGGREGATE = "preflight.json", "manifest.json", "aggregate.json"
JUDGES, REVIEWS = "judges", "manual-reviews"

LARGEST = 64 << 20
"""Bytes of the largest file that is read; the system itself cuts outputs at 2 MiB."""

_TOLERANCE_MS = 1
_ATTEMPT = re.compile(r"attempt-([1-9][0-9]{0,8})")
_PRIMARY = (RUN, DIFF, TESTS, OBJECTIVE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where an attempt of a candidate on a nomination lies."""

    candidate: str
    nomination: str
    attempt: int
    folder: str
    """Below the release."""
    legacy: bool
    """Without `attempts/`, as early releases have it."""

    def __str__(self) -> str:
        return f"{self.candidate}/{self.nomination}/attempt-{self.attempt}"


@dataclass(slots=True, kw_only=True)
class Files:
    """A release's files; what cannot be read is found."""

    folder: Path
    findings: list[Finding] = field(default_factory=list)
    unhashed: list[str] = field(default_factory=list)
    """Artifacts of early releases, which have no hash of their own."""
    seen: set[str] = field(default_factory=set)
    """What was read or looked for."""

    def holds(self, path: str) -> bool:
        """Whether something has this name."""
        return os.path.lexists(self.folder / path)

    def find(self, path: str, found: str, expected: str) -> None:
        """Say that a file is not what it should be."""
        self.findings.append(Finding(file=str(self.folder / path), found=found, expected=expected))

    def differ(self, path: str, field: str, found: object, expected: object) -> None:
        """Say that a field is not what follows from everything else, where it is not."""
        if found != expected:
            self.find(path, f"{field} {found!r}", f"{expected!r}, as follows from the rest")

    def elapsed(self, path: str, times: Times, field: str) -> None:
        """Hold a duration against its times."""
        elapsed = elapsed_ms(times)
        told = times.duration_ms
        if elapsed is not None and told is not None and abs(elapsed - told) > _TOLERANCE_MS:
            self.differ(path, f"{field}duration_ms", told, elapsed)

    def data(self, path: str) -> bytes | None:
        """Give a file's bytes; None where it cannot be read."""
        self.seen.add(path)
        try:
            size = (self.folder / path).lstat().st_size
            if size <= LARGEST:
                return read_regular(self.folder / path)
            self.find(path, f"{size} bytes", f"at most {LARGEST}")
        except OSError as error:
            self.find(path, error.strerror or str(error), "a file that can be read")
        return None

    def table(self, path: str) -> dict[str, Value] | None:
        """Give a file's JSON table; None where it is none."""
        data = self.data(path)
        if data is None:
            return None
        try:
            value = read(data)
        except ForeignJsonError as error:
            self.find(path, str(error), "one JSON value")
            return None
        if not isinstance(value, dict):
            self.find(path, "JSON of another kind", "a JSON table")
            return None
        return value

    def document(self, path: str, model: type[M], version: int, *, legacy: bool = False) -> M | None:
        """Give an artifact of a schema version, its own hash computed again; None where it is none."""
        value = self.table(path)
        return None if value is None else self.read_as(path, value, model, version, legacy=legacy)

    def read_as(
        self, path: str, value: dict[str, Value], model: type[M], version: int, *, legacy: bool = False
    ) -> M | None:
        """Give a file's JSON table as an artifact, as `document` does."""
        document, findings = parsed(model, value, str(self.folder / path))
        self.findings += findings
        if document is not None:
            if isinstance(document, Hashed):
                self._hashed(path, value, document, legacy=legacy)
            self._version(path, document, version, legacy=legacy)
        return document

    def _version(self, path: str, document: Foreign, version: int, *, legacy: bool) -> None:
        found = getattr(document, "schema_version", None)
        if found != version and not (legacy and found is None):
            self.find(path, f"schema_version {found}", f"{version}")

    def _hashed(self, path: str, value: dict[str, Value], document: Hashed, *, legacy: bool) -> None:
        own = document.artifact_hash
        if own is None:
            self.unhashed.append(path)
            if not legacy:
                self.find(path, "no artifact_hash", "its own hash")
            return
        if own.path != path.rpartition("/")[2]:
            self.find(path, f"the artifact_hash of {own.path}", "its own")
        made = hash_without(value, "artifact_hash")
        if own.sha256 != made:
            self.find(path, f"artifact_hash {own.sha256}", f"{made}, of what it says")

    def attempts(self, candidate: str, nomination: str) -> Iterator[Place]:
        """List the attempts of a pair, also that of an early release, which lies above."""
        above = f"{candidate}/{nomination}"
        if any(self.holds(f"{above}/{name}") for name in _PRIMARY):
            yield Place(candidate=candidate, nomination=nomination, attempt=1, folder=above, legacy=True)
        for name in sorted(self.names(f"{above}/attempts"), key=lambda each: (len(each), each)):
            found = _ATTEMPT.fullmatch(name)
            folder = f"{above}/attempts/{name}"
            if found is None:
                self.find(folder, "something unknown", "folders named attempt-N")
            else:
                yield Place(
                    candidate=candidate, nomination=nomination, attempt=int(found[1]), folder=folder, legacy=False
                )

    def names(self, path: str) -> list[str]:
        """List what lies in a folder; nothing where there is none."""
        place = self.folder / path
        return sorted(each.name for each in os.scandir(place)) if _is_folder(place) else []

    def folders(self, path: str) -> list[str]:
        """List the folders in a folder."""
        return [each for each in self.names(path) if _is_folder(self.folder / path / each)]

    def walk(self) -> Iterator[str]:
        """List every path that is no folder, in order; no link is followed."""
        waiting = [""]
        while waiting:
            place = waiting.pop()
            for name in self.names(place):
                path = f"{place}/{name}" if place else name
                if _is_folder(self.folder / path):
                    waiting.append(path)
                else:
                    yield path


def _is_folder(path: Path) -> bool:
    try:
        return stat.S_ISDIR(path.lstat().st_mode)
    except OSError:
        return False
