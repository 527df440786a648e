"""What a candidate must not be told: names and bytes of private files."""

import re
from collections.abc import Iterator

from evaluators.mutation import pin_of
from runner.finding import Finding, Subject
from runner.nomination import FIXTURE, PRIVATE, PUBLIC, Nomination
from sandbox.spec import MIB

_TEST_NAME = re.compile(rb"^\s*(?:async\s+)?(?:def|class)\s+([Tt]est\w+)", re.MULTILINE)
_SHORTEST_NAME = 6
"""Shorter names are words of the language."""


def leaks(nomination: Nomination) -> Iterator[Finding]:
    """Yield private names in the prompt, and private files among those that a candidate sees."""
    subject = Subject(file=nomination.file)
    shown = {file.sha256: file.path for name in (FIXTURE, PUBLIC) for file in nomination.below(name) if file.size}
    copies = {f"{PRIVATE}/{pin.source}" for each in nomination.evaluators if (pin := pin_of(each)) is not None}
    for file in nomination.below(PRIVATE):
        if (path := shown.get(file.sha256)) and file.path not in copies:
            yield subject.error(path, f"it is the same file as {file.path}", "remove one of the two")
    told = private_names(nomination) & set(re.findall(r"[\w.-]*\w", nomination.prompt))
    for name in sorted(told):
        mend = "describe the behaviour, not how it is checked"
        yield subject.error("prompt", f"it names {name}, which is in private/", mend)


def private_names(nomination: Nomination) -> set[str]:
    """Give names of private files and of hidden tests that no public file has as well."""
    names: set[str] = set()
    for file in nomination.below(PRIVATE):
        base = file.path.rpartition("/")[2]
        names |= {base, base.removesuffix(".py")}
        names |= test_names(file.read()) if base.endswith(".py") and file.size <= MIB else set()
    public: set[str] = set()
    for file in (*nomination.below(PUBLIC), *nomination.below(FIXTURE)):
        base = file.path.rpartition("/")[2]
        public |= {base, base.removesuffix(".py")}
        public |= test_names(file.read()) if base.endswith(".py") and file.size <= MIB else set()
    return {name for name in names - public if len(name) >= _SHORTEST_NAME}


def test_names(source: bytes) -> set[str]:
    """Give the names of the tests that a module defines."""
    return {name.decode("utf-8", "replace") for name in _TEST_NAME.findall(source)}
