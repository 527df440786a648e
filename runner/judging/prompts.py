"""The one message a judge gets: a frozen template with its placeholders filled in one pass. Pure.

What is filled in is never looked at again, so no text of a task or a change can stand for a placeholder. The line that
a change begins and ends with is drawn for each call, 128 bits, and is refused where the packet happens to hold it.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from runner.errors import RunnerError
from runner.judges import AnchoredCriterion, criterion_id
from runner.judging.packet import Packet, PublicTests, texts
from runner.judging.render import Shown

_PLACEHOLDER = re.compile(r"\{\{([a-z_]+)\}\}")
_HEX = re.compile(r"[0-9a-f]{32}")

_COMMON = frozenset({"criteria", "task", "tests", "solution", "change", "boundary", "nonce", "canary"})
NEEDED = {1: _COMMON | {"answer_scores"}, 2: _COMMON}
"""Placeholders of a template, by the number of changes that it shows."""

_TESTS = {
    PublicTests.PASSED: "they pass",
    PublicTests.FAILED: "they do not pass",
    PublicTests.NOT_RUN: "they could not be run",
}


@dataclass(slots=True, kw_only=True, eq=False)
class PromptError(RunnerError):
    """A template or a secret does not do."""

    found: str
    expected: str

    def __str__(self) -> str:
        return f"judge prompt: found {self.found}; expected {self.expected}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Secrets:
    """What is drawn for one call: 32 hex digits each."""

    boundary: str
    nonce: str
    canary: str

    def __post_init__(self) -> None:
        drawn = (self.boundary, self.nonce, self.canary)
        if len(set(drawn)) < len(drawn) or not all(_HEX.fullmatch(each) for each in drawn):
            raise PromptError(found="secrets that are no three different ones", expected="32 hex digits each")


def check_template(template: str, changes: int) -> None:
    """See that a template has every placeholder it needs and no other.

    Raises:
        PromptError: it lacks one, or has one that nothing fills.
    """
    found = set(_PLACEHOLDER.findall(template))
    if found != NEEDED[changes]:
        odd = ", ".join(sorted(found ^ NEEDED[changes]))
        raise PromptError(found=f"a template that differs in {odd}", expected=", ".join(sorted(NEEDED[changes])))


def build_prompt(template: str, packet: Packet, secrets: Secrets) -> str:
    """Give the whole message.

    Raises:
        PromptError: the template has a placeholder that nothing fills, or the packet holds the boundary.
    """
    if any(secrets.boundary in text for text in texts(packet)):
        raise PromptError(found="a packet that holds the boundary", expected="another draw")
    changes = (
        block(secrets.boundary, f"change {letter}", letter, change.shown)
        for letter, change in zip(packet.letters, packet.changes, strict=True)
    )
    values = {
        "criteria": "\n".join(_criterion(each) for each in packet.criteria),
        "task": packet.task.rstrip("\n"),
        "tests": _tests(packet),
        "solution": _solution(packet, secrets.boundary),
        "change": "\n\n".join(changes),
        "answer_scores": _answer_scores(packet),
        "boundary": secrets.boundary,
        "nonce": secrets.nonce,
        "canary": secrets.canary,
    }
    return fill(template, values)


def fill(template: str, values: Mapping[str, str]) -> str:
    """Fill a template's placeholders, all at once.

    Raises:
        PromptError: it has one that nothing fills.
    """
    strangers = set(_PLACEHOLDER.findall(template)) - values.keys()
    if strangers:
        raise PromptError(found=f"the placeholder {min(strangers)}", expected=", ".join(sorted(values)))
    return _PLACEHOLDER.sub(lambda match: values[match[1]], template)


def block(boundary: str, name: str, letter: str, shown: Shown) -> str:
    """Give a change between its boundary lines, each of its lines with its mark."""
    lines = "\n".join(f"{letter}{number}|{line}" for number, line in enumerate(shown.visible, 1))
    return f"{boundary} {name} begins\n{lines}\n{boundary} {name} ends"


def _criterion(criterion: str | AnchoredCriterion) -> str:
    if isinstance(criterion, str):
        return f"- {criterion}"
    anchors = sorted(criterion.anchors.items(), key=lambda anchor: int(anchor[0]))
    meanings = "".join(f"\n  {points}: {meaning}" for points, meaning in anchors)
    return f"- {criterion.id}: {criterion.asks}{meanings}"


def _tests(packet: Packet) -> str:
    if len(packet.changes) == 1:
        return f"With this change {_TESTS[packet.changes[0].tests]}."
    return "\n".join(
        f"With change {letter} {_TESTS[change.tests]}."
        for letter, change in zip(packet.letters, packet.changes, strict=True)
    )


def _solution(packet: Packet, boundary: str) -> str:
    if packet.solution is None:
        return ""
    whole = block(boundary, "a solution", "R", packet.solution)
    return f"\n# A solution\n\nOne that is known to be right. There may be others as good.\n\n{whole}\n"


def _answer_scores(packet: Packet) -> str:
    lines = (f'  "{criterion_id(each)}": {_FORM}' for each in packet.criteria)
    return ' "scores": {\n' + ",\n".join(lines) + "\n }"


_FORM = '{"reason": "why, in one or two plain sentences", "points": a whole number from 0 to 10}'
