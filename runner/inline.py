"""Nominations written into a release configuration in the reference system's fields."""

import os
from collections.abc import Iterator
from pathlib import Path

from runner.config import InlineNomination
from runner.documents.nomination import NominationSpec
from runner.errors import DocumentError, DocumentErrors
from runner.folder import hash_file, list_files
from runner.nomination import FIXTURE, PROMPT, Nomination, read_prompt
from runner.parsing import validate

_PYTHONS = frozenset({"python", "python3"})


def inline_nomination(entry: InlineNomination, models_test: Path, file: str) -> Nomination:
    """Map an inline nomination to the value that a nomination's folder gives.

    Its fixture stands in the workspace where it stands below `models_test`, as in the reference system; class
    and tier, which that one does not know, are `code-fix` and `standard`.

    Raises:
        DocumentError, DocumentErrors: it asks for what this version lacks, or its files are not there.
    """
    name = f"{file}: nomination {entry.id}"
    if problems := tuple(_unsupported(entry, name)):
        raise DocumentErrors(errors=problems)
    prompt = hash_file(PROMPT, _inside(models_test, entry.prompt, name, "prompt"))
    fixture = list_files(_inside(models_test, entry.fixture, name, "fixture"), FIXTURE)
    spec = validate(NominationSpec, _document(entry, models_test), name)
    return Nomination(
        spec=spec,
        folder=models_test,
        file=name,
        prompt=read_prompt(prompt),
        files=tuple(sorted((*fixture, prompt), key=lambda stored: stored.path)),
        evaluators=(),
    )


def _document(entry: InlineNomination, models_test: Path) -> dict[str, object]:
    program, *arguments = entry.test_command
    return {
        "id": entry.id,
        "version": "1",
        "title": entry.id,
        "class": "code-fix",
        "tier": "standard",
        "mode": "agentic",
        "root": entry.fixture,
        "public_tests": {"command": ["{python}" if program in _PYTHONS else program, *arguments]},
        "allowed_changes": [f"{path}/" if (models_test / path).is_dir() else path for path in entry.allowed_changes],
    }


def _unsupported(entry: InlineNomination, name: str) -> Iterator[DocumentError]:
    if entry.objective_evaluator is not None:
        yield DocumentError(
            file=name,
            field="objective_evaluator",
            found=f"the evaluator {entry.objective_evaluator.id}",
            expected="none; evaluators that are programs of their own are not yet available in this version",
            mend="write the nomination as a folder with [[evaluators]] of kind 'pytest'",
        )
    program = entry.test_command[0]
    if program not in _PYTHONS and not program.startswith("/"):
        yield DocumentError(
            file=name,
            field="test_command",
            found=program,
            expected="python, python3 or an absolute path; this version has no other toolchains",
            mend="name the program by its whole path, if every Debian has it",
        )


def _inside(models_test: Path, relative: str, name: str, field: str) -> Path:
    """Give a path below the public checkout, which no link on the way may lead out of."""
    place = models_test / relative
    if os.path.realpath(place) != os.path.join(os.path.realpath(models_test), relative):  # noqa: PTH118 - beside realpath, which never raises
        raise DocumentError(
            file=name,
            field=field,
            found="a symbolic link on the way",
            expected="plain folders",
            mend="put the files themselves there",
        )
    return place
