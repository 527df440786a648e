"""One sealed folder: its bytes, its files, the form and the schema of each document."""

from collections.abc import Iterator
from pathlib import Path

from runner.artifacts import inspect_sealed
from runner.canonical import parse_line_values, parse_value
from runner.documents.model import Document
from runner.documents.seal import SEAL_NAME, SealKind, Trial
from runner.errors import DocumentError, DocumentErrors
from runner.kept import LOGS, STREAMS, Kept, kept_as, required
from runner.verification.model import Documents, Finding, Opened, differ
from runner.verification.validating import Schemas, Validators

_MOST_KNOWN = 1 << 12
"""Files whose documents are remembered."""
_SMALL = 1 << 16
"""Bytes of the largest of them."""
_BULK = (f"{STREAMS}/", f"{LOGS}/")
"""Where files lie that may be big, and of which nothing but the digest counts."""


class Reader:
    """Reads documents and holds them against their schemas; the same bytes are looked at once."""

    def __init__(self, schemas: Schemas) -> None:
        self._validators = Validators(schemas)
        self._known: dict[tuple[type[Document], str], Documents] = {}

    def one(self, model: type[Document], data: bytes, file: Path | str) -> tuple[Document | None, tuple[Finding, ...]]:
        """Read a document that stands alone."""
        try:
            document, value = parse_value(model, data, str(file))
        except (DocumentError, DocumentErrors) as error:
            return None, tuple(_refused(error))
        return document, tuple(self._valid(model, value, file))

    def listed(self, kept: Kept, data: bytes, digest: str, file: str) -> tuple[Documents | None, tuple[Finding, ...]]:
        """Read a file that is known by its digest; None where it holds no document, or none that can be read."""
        if kept.model is None:
            return None, ()
        known = self._known.get((kept.model, digest))
        if known is not None:
            return known, ()
        found, findings = self._lines(kept.model, data, file) if kept.lines else self.one(kept.model, data, file)
        if found is not None and not findings and len(data) <= _SMALL:
            if len(self._known) >= _MOST_KNOWN:
                self._known.clear()
            self._known[kept.model, digest] = found
        return found, findings

    def valid(self, document: Document, file: Path) -> Iterator[Finding]:
        """Hold a document against its committed schema, which another reader would use."""
        return self._valid(type(document), document.model_dump(mode="json", by_alias=True), file)

    def _lines(
        self, model: type[Document], data: bytes, file: str
    ) -> tuple[tuple[Document, ...] | None, tuple[Finding, ...]]:
        try:
            lines = parse_line_values(model, data, str(file))
        except (DocumentError, DocumentErrors) as error:
            return None, tuple(_refused(error))
        findings = (finding for _, value in lines for finding in self._valid(model, value, file))
        return tuple(document for document, _ in lines), tuple(findings)

    def _valid(self, model: type[Document], value: object, file: Path | str) -> Iterator[Finding]:
        name = model.SCHEMA_NAME
        if name not in self._validators:
            yield Finding(file=str(file), found="no schema", expected=f"schemas/{name}.json")
            return
        for error in self._validators.errors(name, value):
            expected = f"what schemas/{name}.json says"
            yield Finding(file=f"{file}: {error.json_path}", found=error.message[:200], expected=expected)


def open_folder(place: Path, kind: SealKind, trial: Trial, reader: Reader) -> tuple[Opened | None, tuple[Finding, ...]]:
    """Open a sealed folder and list all that is wrong with it; None where its seal cannot be read."""
    sealed, flaws = inspect_sealed(place, _is_looked_into)
    findings = [Finding(file=str(each.file), found=each.found, expected=each.expected) for each in flaws]
    if sealed is None:
        return None, tuple(findings)
    seal_file = place / SEAL_NAME
    findings += reader.valid(sealed.seal, seal_file)
    findings += differ(seal_file, "kind", sealed.seal.kind.value, kind.value)
    findings += differ(seal_file, "trial", sealed.seal.trial, trial)
    findings += (
        Finding(file=str(place / name), found="nothing", expected="a file that every such folder has")
        for name in required(kind)
        if not sealed.holds(name)
    )
    documents: dict[str, Documents] = {}
    for path, listed in sealed.files.items():
        kept = kept_as(kind, path)
        if kept is None:
            expected = f"no such file in a {kind.value}"
            findings.append(Finding(file=str(place / path), found="a file", expected=expected))
        elif kept.model is not None and path in sealed.held:
            found, flawed = reader.listed(kept, sealed.held[path], listed.sha256, f"{place}/{path}")
            findings += flawed
            if found is not None:
                documents[path] = found
    return Opened(sealed=sealed, documents=documents), tuple(findings)


def _is_looked_into(path: str) -> bool:
    return not path.startswith(_BULK)


def _refused(error: DocumentError | DocumentErrors) -> Iterator[Finding]:
    for each in error.errors if isinstance(error, DocumentErrors) else (error,):
        place = f"{each.file}: {each.field}" if each.field else each.file
        yield Finding(file=place, found=each.found, expected=each.expected)
