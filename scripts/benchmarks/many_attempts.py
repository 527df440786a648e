"""A store of very many attempts, quickly: a few made as they would be, and others copied, sealed under their own names.

Each has all the files that an attempt has, as real files in real folders; what is in them repeats.
"""

import os
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from verify_store import make_store, plan_of

from runner.canonical import canonical, sha256
from runner.documents.manifest import Manifest
from runner.documents.seal import SEAL_NAME, Trial
from runner.parsing import parse_json
from runner.reports.aggregate import planned
from runner.schedule import Cell
from runner.store import Store, store_for
from runner.working import cores, in_order

PATTERNS = 200
"""Attempts that are made whole."""

Files = Mapping[str, bytes]
"""Of one try, by path."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Copier:
    """Writes one attempt after another; pickles."""

    store: Store
    patterns: Sequence[Files]

    def __call__(self, job: tuple[int, Cell]) -> None:
        """Write an attempt: a pattern's files, with the attempt's name in them, sealed again."""
        at, cell = job
        trial = self.store.trial(cell, 1)
        folder = f"{self.store.folder(trial)}/"
        files = _renamed(self.patterns[at % len(self.patterns)], trial)
        for place in sorted({os.path.dirname(path) for path in files}):  # noqa: PTH120 - as quick as can be
            os.makedirs(folder + place, exist_ok=True)  # noqa: PTH103 - as above
        for path, data in files.items():
            descriptor = os.open(folder + path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o444)
            os.write(descriptor, data)
            os.close(descriptor)


def _renamed(pattern: Files, trial: Trial) -> Files:
    name = trial.model_dump(mode="json", by_alias=True)
    files = dict(pattern)
    files["begun.json"] = _changed(files["begun.json"], trial=name)
    digest = _sealed(files, "submission", "submission.json", trial=name)
    _sealed(files, "gradings/grading-1", "grading.json", trial=name, submission_sha256=digest)
    return files


def _sealed(files: dict[str, bytes], folder: str, document: str, **fields: object) -> str:
    """Change a folder's document, and seal it again; gives the digest."""
    place = f"{folder}/{document}"
    files[place] = _changed(files[place], **fields)
    listed = parse_json(files[f"{folder}/{SEAL_NAME}"], SEAL_NAME)["files"]
    for each in listed:
        if each["path"] == document:
            each |= {"sha256": sha256(files[place]), "size": len(files[place])}
    files[f"{folder}/{SEAL_NAME}"] = _changed(files[f"{folder}/{SEAL_NAME}"], files=listed, **fields)
    return sha256(files[f"{folder}/{SEAL_NAME}"])


def _changed(data: bytes, **fields: object) -> bytes:
    return canonical(parse_json(data, "a document") | fields)


@dataclass(frozen=True, slots=True, kw_only=True)
class Many:
    """A release of very many planned attempts, none of which has been run."""

    store: Store
    manifest: Manifest
    patterns: Sequence[Files]

    def make(self, attempts: slice) -> None:
        """Write some of the planned attempts."""
        jobs = [*enumerate(planned(self.manifest))][attempts]
        for _ in in_order(Copier(store=self.store, patterns=self.patterns), jobs, cores()):
            pass


def plan_many(root: Path, attempts: int, nominations: int) -> Many:
    """Plan so many attempts, whose evidence will be below `root`."""
    manifest = plan_of(attempts, nominations)
    with tempfile.TemporaryDirectory(dir=root.parent) as aside:
        made, _ = make_store(Path(aside), PATTERNS)
        tries = sorted(made.root.glob("pilot/candidate-*/*/attempt-*/try-1"))
        patterns = [
            {file.relative_to(tried).as_posix(): file.read_bytes() for file in tried.rglob("*") if file.is_file()}
            for tried in tries
        ]
        subprocess.run(["/bin/chmod", "-R", "u+w", aside], check=True)
    return Many(store=store_for(root, manifest), manifest=manifest, patterns=patterns)
