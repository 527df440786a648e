"""One sealed folder: its bytes, its files, the form and the schema of each document."""

from collections.abc import Iterator, Mapping
from pathlib import Path

import jsonschema

from runner.artifacts import Sealed, inspect_sealed, parse, parse_lines
from runner.documents.model import Document
from runner.documents.seal import SEAL_NAME, SealKind, Trial
from runner.errors import DocumentError, DocumentErrors, SealBrokenError
from runner.kept import Kept, kept_as, required
from runner.verification.model import Finding, Opened, differ

Schemas = Mapping[str, Mapping[str, object]]


def open_folder(
    place: Path, kind: SealKind, trial: Trial, schemas: Schemas
) -> tuple[Opened | None, tuple[Finding, ...]]:
    """Open a sealed folder and list all that is wrong with it; None where its seal cannot be read."""
    sealed, flaws = inspect_sealed(place)
    findings = [Finding(file=str(each.file), found=each.found, expected=each.expected) for each in flaws]
    if sealed is None:
        return None, tuple(findings)
    seal_file = place / SEAL_NAME
    findings += _valid(sealed.seal, seal_file, schemas)
    findings += differ(seal_file, "kind", sealed.seal.kind.value, kind.value)
    findings += differ(seal_file, "trial", sealed.seal.trial, trial)
    findings += (
        Finding(file=str(place / name), found="nothing", expected="a file that every such folder has")
        for name in required(kind)
        if not sealed.holds(name)
    )
    documents: dict[str, Document | tuple[Document, ...]] = {}
    broken = {each.file for each in flaws}
    for listed in sealed.seal.files:
        kept = kept_as(kind, listed.path)
        if kept is None:
            expected = f"no such file in a {kind.value}"
            findings.append(Finding(file=str(place / listed.path), found="a file", expected=expected))
        elif place / listed.path not in broken and kept.model is not None:
            findings += _read(sealed, listed.path, kept, documents, schemas)
    return Opened(sealed=sealed, documents=documents), tuple(findings)


def read_one(
    model: type[Document], data: bytes, file: Path, schemas: Schemas
) -> tuple[Document | None, tuple[Finding, ...]]:
    """Read a document that stands alone."""
    try:
        document = parse(model, data, str(file))
    except (DocumentError, DocumentErrors) as error:
        return None, tuple(_refused(error))
    return document, tuple(_valid(document, file, schemas))


def _read(
    sealed: Sealed,
    path: str,
    kept: Kept,
    documents: dict[str, Document | tuple[Document, ...]],
    schemas: Schemas,
) -> Iterator[Finding]:
    if kept.model is None:
        return
    file = sealed.folder / path
    try:
        data = sealed.bytes(path)
        if kept.lines:
            documents[path] = lines = parse_lines(kept.model, data, str(file))
            for line in lines:
                yield from _valid(line, file, schemas)
        else:
            documents[path] = document = parse(kept.model, data, str(file))
            yield from _valid(document, file, schemas)
    except SealBrokenError as error:
        yield Finding(file=error.file, found=error.found, expected=error.expected)
    except (DocumentError, DocumentErrors) as error:
        yield from _refused(error)


def _refused(error: DocumentError | DocumentErrors) -> Iterator[Finding]:
    for each in error.errors if isinstance(error, DocumentErrors) else (error,):
        place = f"{each.file}: {each.field}" if each.field else each.file
        yield Finding(file=place, found=each.found, expected=each.expected)


def _valid(document: Document, file: Path, schemas: Schemas) -> Iterator[Finding]:
    """Hold a document against its committed schema, which another reader would use."""
    schema = schemas.get(document.SCHEMA_NAME)
    if schema is None:
        yield Finding(file=str(file), found="no schema", expected=f"schemas/{document.SCHEMA_NAME}.json")
        return
    value = document.model_dump(mode="json", by_alias=True)
    for error in jsonschema.Draft202012Validator(schema).iter_errors(value):
        expected = f"what schemas/{document.SCHEMA_NAME}.json says"
        yield Finding(file=f"{file}: {error.json_path}", found=error.message[:200], expected=expected)
