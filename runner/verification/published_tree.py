"""A published release as it lies in a folder: plain files under plain names, read once."""

import os
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from runner.documents.model import Document
from runner.durable import read_regular
from runner.publishing.names import odd_names
from runner.verification.folders import Reader
from runner.verification.model import Finding
from runner.verification.validating import Schemas


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedTree:
    """The files of a published release."""

    folder: Path
    files: Mapping[str, bytes]
    """By their paths below the folder, in order."""
    reader: Reader

    def read(self, model: type[Document], path: str) -> tuple[Document | None, tuple[Finding, ...]]:
        """Read a document and hold it against its schema; None where it is missing or broken, which is found."""
        if path not in self.files:
            return None, (self.finding(path, "nothing", f"a document of the form {model.SCHEMA_NAME}"),)
        return self.reader.one(model, self.files[path], self.folder / path)

    def finding(self, path: str, found: str, expected: str) -> Finding:
        """Say that a file is not what it should be."""
        return Finding(file=str(self.folder / path), found=found, expected=expected)


def read_tree(folder: Path, schemas: Schemas) -> tuple[PublishedTree, tuple[Finding, ...]]:
    """Read every file below a folder; what is no plain file under a plain name is found, and not opened."""
    files: dict[str, bytes] = {}
    findings: list[Finding] = []
    for path, mode in sorted(_walk(folder)):
        if stat.S_ISREG(mode):
            try:
                files[path] = read_regular(folder / path)
            except OSError as error:
                found = error.strerror or str(error)
                findings.append(Finding(file=str(folder / path), found=found, expected="a file that can be read"))
        else:
            expected = "files and folders with files alone"
            findings.append(Finding(file=str(folder / path), found=_kind(mode), expected=expected))
    for said in odd_names(files):
        name, _, found = said.partition(": ")
        findings.append(Finding(file=str(folder / name), found=found, expected="a plain path that nothing else has"))
    return PublishedTree(folder=folder, files=files, reader=Reader(schemas)), tuple(findings)


def _kind(mode: int) -> str:
    kinds = {stat.S_IFLNK: "a link", stat.S_IFDIR: "an empty folder"}
    return kinds.get(stat.S_IFMT(mode), "something that is no file")


def _walk(folder: Path) -> Iterator[tuple[str, int]]:
    """List every path that is no folder with something in it, with its mode; no link is followed."""
    waiting = [""]
    while waiting:
        place = waiting.pop()
        with os.scandir(folder / place) as entries:
            found = sorted(entries, key=lambda entry: entry.name)
        if not found and place:
            yield place.removesuffix("/"), stat.S_IFDIR
        for entry in found:
            path, mode = f"{place}{entry.name}", entry.stat(follow_symlinks=False).st_mode
            if stat.S_ISDIR(mode):
                waiting.append(f"{path}/")
            else:
                yield path, mode
