"""A nomination on its way: from a fix to the files of a folder. Pure."""

import posixpath
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from runner.history.snapshot import keeper
from runner.members import Member
from runner.nomination import DOCUMENT, PRIVATE, PROMPT, SOLUTION
from runner.proposing.change import (
    allowed_rules,
    hidden_path,
    holds_tests,
    import_folders,
    is_of_tests,
    is_test_module,
    test_root,
)
from runner.proposing.fix import Asked, Fix
from runner.proposing.prompt import draft
from runner.proposing.toml import toml_text
from runner.rules import matcher
from sandbox.spec import MIB

REQUIREMENTS, README = "requirements.txt", "README.md"
EVALUATOR = "hidden"

_LICENCES = (
    ("Apache-2.0", "Apache License"),
    ("MPL-2.0", "Mozilla Public License"),
    ("MIT", "Permission is hereby granted, free of charge, to any person obtaining a copy of this software and"),
    ("ISC", "Permission to use, copy, modify, and/or distribute this software"),
    ("BSD-3-Clause", "Neither the name"),
    ("BSD-2-Clause", "Redistribution and use in source and binary forms"),
    ("LGPL", "GNU LESSER GENERAL PUBLIC LICENSE"),
    ("GPL", "GNU GENERAL PUBLIC LICENSE"),
)
"""Licences by words that stand in their texts; the first that does counts."""

_HELPER_BYTES = 8 * MIB
_MOST_CASES = 2000
_SETTINGS = ("pyproject.toml", "setup.cfg", "pytest.ini", "tox.ini")


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """All that a proposed nomination is made of."""

    asked: Asked
    fix: Fix
    lock: str
    solution: bytes
    """The patch."""
    modules: Mapping[str, str]
    """Hidden tests by their paths in `private/`."""
    helpers: Mapping[str, bytes]
    """What stands beside them."""
    telling: frozenset[str]
    """Names that the prompt must not say."""
    exclude: tuple[str, ...] = ()
    """Paths that the fixture lacks besides those that were asked for."""
    wrong: Mapping[str, bytes] = field(default_factory=dict)
    """Repairs that are refused: name -> patch."""
    fail_to_pass: tuple[str, ...] = ()
    pass_to_pass: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    """What the author should know and do, in sentences."""

    @property
    def to_do(self) -> tuple[str, ...]:
        """Everything that its author should know and do."""
        return (f"Add {self.asked.id} to the configuration's nominations.", *self.notes)

    @property
    def is_measured(self) -> bool:
        """Whether it is known what the hidden tests say of the base."""
        return bool(self.fail_to_pass or self.pass_to_pass)

    @property
    def fixture(self) -> tuple[Member, ...]:
        """The fixture's files."""
        kept = keeper(self.exclude)
        return tuple(member for member in self.fix.before.members if kept(member.path))

    def with_notes(self, *notes: str) -> "Draft":
        """Give the draft with more for its author to know."""
        return replace(self, notes=(*self.notes, *notes))


def hidden_tests(fix: Fix) -> tuple[dict[str, str], tuple[str, ...]]:
    """Give the fix's own tests by their paths in `private/`, and what of them is no text."""
    modules: dict[str, str] = {}
    odd: list[str] = []
    for path in fix.sorted.tests:
        member = fix.after.get(path)
        if member is None or not path.endswith(".py") or not holds_tests(member.data):
            continue
        try:
            modules[hidden_path(path)] = member.data.decode()
        except UnicodeDecodeError:
            odd.append(path)
    return modules, tuple(odd)


def helpers_of(fix: Fix, modules: Mapping[str, str]) -> tuple[dict[str, bytes], tuple[str, ...]]:
    """Give what stands beside hidden tests and is no test, and the data that is left out since everybody sees it."""
    roots = {test_root(path) or posixpath.dirname(path) for path in modules}
    helpers: dict[str, bytes] = {}
    seen: list[str] = []
    for path, member in sorted(fix.after.items()):
        beside = any(path.startswith(f"{root}/") if root else path == "conftest.py" for root in roots)
        if not beside or is_test_module(path) or hidden_path(path) in modules:
            continue
        known = fix.parent.get(path)
        if known is None or known.data != member.data or not member.data:
            helpers[path] = member.data
        elif path.endswith(".py"):
            helpers[path] = b"# Beside the hidden tests: as it stands in the fixture.\n" + member.data
        else:
            seen.append(path)
    while sum(map(len, helpers.values())) > _HELPER_BYTES:
        largest = max(helpers, key=lambda path: len(helpers[path]))
        seen.append(largest)
        del helpers[largest]
    return helpers, tuple(seen)


def public_command(asked: Asked, fixture: tuple[Member, ...], sources: tuple[str, ...]) -> tuple[str, ...]:
    """Give the command of the public tests: what was asked for, or pytest over the tests that are there."""
    if asked.command:
        return asked.command
    by_path = {member.path.decode(): member.data for member in fixture}
    tests = [path for path, data in by_path.items() if path.endswith(".py") and is_of_tests(path) and holds_tests(data)]
    if not tests:
        names = [path.removesuffix(".py").removesuffix("/__init__") for path in sources if path.endswith(".py")]
        module = (names or ["sys"])[0].removeprefix("src/").removeprefix("lib/").replace("/", ".")
        return ("{python}", "-c", f"import {module}")
    places = sorted({test_root(path) or path for path in tests})
    quiet = any(b"addopts" in by_path.get(path, b"") for path in _SETTINGS)
    options = ("-o", "addopts=") if quiet else ()
    return ("{python}", "-m", "pytest", "-q", "-p", "no:cacheprovider", *options, *places)


def nomination_members(made: Draft) -> tuple[Member, ...]:
    """Give every file of the nomination's folder."""
    return tuple(sorted(_members(made), key=lambda member: member.path))


def _members(made: Draft) -> Iterator[Member]:
    for member in made.fixture:
        yield Member(path=b"fixture/" + member.path, data=member.data, executable=member.executable)
    texts = {
        DOCUMENT: toml_text(_document(made)),
        PROMPT: _prompt(made),
        README: _readme(made),
        REQUIREMENTS: made.lock,
        **{f"{PRIVATE}/{path}": text for path, text in made.modules.items()},
    }
    yield from (Member(path=path.encode(), data=text.encode()) for path, text in texts.items())
    yield Member(path=f"{SOLUTION}/solution.patch".encode(), data=made.solution)
    yield from (Member(path=f"{PRIVATE}/{path}".encode(), data=data) for path, data in made.helpers.items())
    yield from (Member(path=f"wrong/{name}.patch".encode(), data=data) for name, data in made.wrong.items())


def _document(made: Draft) -> dict[str, object]:
    asked, fix, sources = made.asked, made.fix, made.fix.sorted.sources
    allowed = allowed_rules(sources)
    imports = import_folders(sources)
    return {
        "schema": "cleanroom/nomination/1",
        "id": asked.id,
        "version": "1",
        "title": _title(made),
        "class": "code-fix",
        "tier": "standard",
        "mode": "agentic",
        "target_files": [path for path in sources if path in fix.parent] or list(sources),
        "allowed_changes": list(allowed),
        "loop": {"turns": 25, "run": True},
        "source": {"name": asked.repository.resolve().name, "licence": asked.licence or licence_of(fix)},
        "fixture": {"kind": "folder"},
        "snapshot": _snapshot(made),
        "solution": {"kind": "patch"},
        "toolchain": {"requirements": REQUIREMENTS} | ({"import_paths": list(imports)} if imports else {}),
        "public_tests": {"command": list(public_command(asked, made.fixture, sources))},
        **({"policy": {"deny": denied}} if (denied := _denied(made, allowed)) else {}),
        "evaluators": [_evaluator(made)],
    }


def _snapshot(made: Draft) -> dict[str, object]:
    known = made.fix.snapshot
    exclude = [*(known.exclude or ()), *made.exclude]
    fields = {
        "commit": known.commit,
        "paths": None if known.paths is None else list(known.paths),
        "strip": known.strip,
        "exclude": exclude or None,
    }
    return {name: value for name, value in fields.items() if value is not None}


def _evaluator(made: Draft) -> dict[str, object]:
    table: dict[str, object] = {"id": EVALUATOR, "kind": "pytest"}
    for name, cases in (("fail_to_pass", made.fail_to_pass), ("pass_to_pass", made.pass_to_pass)):
        if 0 < len(cases) <= _MOST_CASES:
            table[name] = list(cases)
    return table


def _denied(made: Draft, allowed: tuple[str, ...]) -> list[str]:
    """Give the tests, and what steers tests, among what may be changed."""
    means = matcher(allowed)
    tests = [path for path in made.fix.parent if is_of_tests(path) and means(path.encode())]
    return sorted({f"{root}/" if (root := test_root(path)) else path for path in tests})


def _title(made: Draft) -> str:
    lines = (line for line in _prompt(made).splitlines() if line.startswith("# "))
    title = next(lines, f"# {made.asked.id}").removeprefix("# ").strip()
    return "".join(letter for letter in title if letter.isprintable())[:200].strip() or made.asked.id


def _prompt(made: Draft) -> str:
    if made.asked.prompt is not None:
        return made.asked.prompt
    sources = made.fix.sorted.sources
    command = " ".join(public_command(made.asked, made.fixture, sources)).replace("{python}", "python3")
    return draft(made.fix.message, made.telling, allowed_rules(sources), command)


def licence_of(fix: Fix) -> str:
    """Tell the repository's licence by the words of its file; say so where they are not known."""
    for path, member in sorted(fix.parent.items()):
        if path.upper().startswith(("LICENSE", "LICENCE", "COPYING")):
            words = " ".join(member.data.decode("utf-8", "replace").split())
            return next((name for name, said in _LICENCES if said in words), "not known")
    return "not known"


def _readme(made: Draft) -> str:
    fix = made.fix
    counted = f"{len(made.fail_to_pass)} cases fail on the base alone, {len(made.pass_to_pass)} never"
    counted = counted if made.is_measured else "not run yet"
    head = [
        f"# {made.asked.id}",
        "",
        f"Proposed by `runner init nomination` from the fix {fix.commit}. Nothing of this page is frozen or shown.",
        "",
        f"- solution: {', '.join(fix.sorted.sources)}",
        f"- hidden tests: {', '.join(made.modules) or 'none'} ({counted})",
        f"- left out of the fix: {', '.join(fix.sorted.others) or 'nothing'}",
        "",
        "## What is left to do",
        "",
    ]
    return "\n".join((*head, *(f"- {note}" for note in made.to_do), ""))
