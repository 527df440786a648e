"""A module under test and its other versions: mutants, which are wrong, and equivalents, which behave as it does. Pure.

Each version is the module with one place changed. A text that is to be found there and stands in it twice, or not at
all, means that module and versions have drifted apart: the nomination is broken, and nothing is judged with it.

Equivalents are what a suite cannot tell from mutants unless it tests behaviour. Every line that a mutant changes must
be changed by an equivalent too that compiles to other code, so that neither a digest of the text, or of the code, nor
one line of it says which is which. One equivalent may rewrite a whole function.
"""

import difflib
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from types import CodeType

from evaluators.errors import EvaluatorError

_FIELDS = ("id", "find", "replace")


class VersionsError(EvaluatorError):
    """The versions are not what they must be for this module; the text says which, and what is expected."""


class Behaviour(StrEnum):
    """How a version behaves."""

    CORRECT = "correct"
    """It is the module itself."""
    EQUIVALENT = "equivalent"
    """As the module does, though its text is another."""
    MUTANT = "mutant"
    """Otherwise than the module, in a way that tests can see."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Version:
    """One version of the module, whole."""

    id: str
    behaviour: Behaviour
    source: bytes

    @property
    def case(self) -> str:
        """Give the id of the case that says whether a suite took it for what it is."""
        return f"{self.behaviour}: {self.id}"


def correct(module: bytes) -> Version:
    """Give the module itself."""
    return Version(id="the module", behaviour=Behaviour.CORRECT, source=module)


def read_versions(text: bytes, module: bytes) -> tuple[Version, ...]:
    """Read a TOML file of `[[mutant]]` and `[[equivalent]]` tables, and apply each to the module.

    Raises:
        VersionsError: it is no such file, a version has drifted, does not compile, or is none.
    """
    try:
        tables = tomllib.loads(text.decode())
        source = module.decode()
    except ValueError as error:
        raise VersionsError(f"no TOML, or no UTF-8: {error}") from error
    if unknown := tables.keys() - {Behaviour.MUTANT, Behaviour.EQUIVALENT}:
        raise VersionsError(f"{min(unknown)} is unknown; expected [[mutant]] and [[equivalent]]")
    edits = [
        (behaviour, each)
        for behaviour in (Behaviour.MUTANT, Behaviour.EQUIVALENT)
        for each in _edits(tables, behaviour)
    ]
    _check_applicable(source, [each for _, each in edits])
    versions = tuple(
        Version(
            id=each["id"],
            behaviour=behaviour,
            source=source.replace(each["find"], each["replace"]).encode(),
        )
        for behaviour, each in edits
    )
    _check_distinct(module, versions)
    return versions


def _edits(tables: Mapping[str, object], behaviour: Behaviour) -> Iterator[dict[str, str]]:
    found = tables.get(behaviour, [])
    for number, each in enumerate(found if isinstance(found, list) else [None]):
        if not isinstance(each, dict) or each.keys() != {*_FIELDS}:
            raise VersionsError(f"{behaviour}[{number}] has to have {', '.join(_FIELDS)}, and nothing else")
        if not all(isinstance(value, str) for value in each.values()) or not each["id"].isprintable() or not each["id"]:
            raise VersionsError(f"{behaviour}[{number}]: {', '.join(_FIELDS)} are texts, the id one line")
        yield each


def _check_applicable(source: str, edits: Sequence[Mapping[str, str]]) -> None:
    ids = [each["id"] for each in edits]
    if twice := {each for each in ids if ids.count(each) > 1}:
        raise VersionsError(f"the id {min(twice)} is given twice")
    counts = {each["id"]: source.count(each["find"]) if each["find"] else 0 for each in edits}
    if drifted := [f"{name} ({count} times)" for name, count in counts.items() if count != 1]:
        raise VersionsError(f"what is to be found stands in the module not exactly once: {', '.join(drifted)}")


def _check_distinct(module: bytes, versions: Sequence[Version]) -> None:
    known = {_compiled(module, "the module"): "the module"}
    covered: set[int] = set()
    for version in versions:
        made = _compiled(version.source, version.id)
        if version.source == module:
            raise VersionsError(f"{version.id} changes nothing")
        if version.behaviour is Behaviour.EQUIVALENT:
            covered |= _lines(module, version) if made not in known else set()
        elif made in known:
            raise VersionsError(f"{version.id} compiles to the same code as {known[made]}: no test can see it")
        known.setdefault(made, version.id)
    mutants = [each for each in versions if each.behaviour is Behaviour.MUTANT]
    if not mutants or not covered:
        raise VersionsError("it needs mutants, and equivalents that compile to other code than the module")
    if told := {line for each in mutants for line in _lines(module, each)} - covered:
        shown = ", ".join(map(str, sorted(told)))
        raise VersionsError(
            f"lines {shown} are changed by mutants and by no equivalent: who reads them tells them apart"
        )


def _lines(module: bytes, version: Version) -> set[int]:
    """Give the lines of the module, counted from 1, that a version lacks."""
    sides = module.splitlines(), version.source.splitlines()
    steps = difflib.SequenceMatcher(None, *sides, autojunk=False).get_opcodes()
    return {line + 1 for tag, start, end, _, _ in steps if tag != "equal" for line in range(start, end)}


def _compiled(source: bytes, name: str) -> object:
    try:
        return _shape(compile(source, name, "exec", dont_inherit=True))
    except (SyntaxError, ValueError) as error:
        raise VersionsError(f"{name} does not compile: {error}") from error


def _shape(code: CodeType) -> object:
    """Give all of compiled code but where its lines stand."""
    inner = tuple(_shape(each) if isinstance(each, CodeType) else repr(each) for each in code.co_consts)
    names = (code.co_name, code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars)
    return (names, code.co_argcount, code.co_kwonlyargcount, code.co_flags, code.co_code, code.co_exceptiontable, inner)
