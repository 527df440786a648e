"""Who a candidate is, in what a judge was shown or said. Pure.

A published judge document says by field whose submission it is about: that was added after the judge had spoken. What
the judge read and wrote must not say it.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping

from runner.publishing.model import Named

JUDGES = frozenset({"judges", "judging", "packets", "pairs"})
"""Folders of documents about judging."""

_NAMING = frozenset(
    {
        *(
            "candidate",
            "candidates",
            "judge",
            "judges",
            "agent",
            "model",
            "route",
            "provider",
            "runtime",
            "subscription",
        ),
        *("family", "label", "reasoning_variant", "run_id", "trial", "origin", "id", "ids", "schema", "path", "file"),
        *("release", "nomination", "reviewer", "public_dir", "sides", "pair"),
    }
)
"""Fields that name somebody or something, by being there."""

_MARKS = re.compile(
    r"(?i)\b(?:co-authored-by:|generated (?:with|by) (?:\[?claude|codex|opencode|an ai)|noreply@anthropic\.com)"
    r"|(?:^|[\s/\"'`(])(?:\.claude|\.codex|\.cursor|\.opencode)/|\b(?:CLAUDE|GEMINI)\.md\b"
    r"|\bas an ai (?:language )?model\b|\b[\w.+-]+@[\w-]+\.[a-z]{2,}\b"
)
"""What agents leave in their work: signatures, folders of their own, addresses."""


def is_judges(file: str) -> bool:
    """Whether a published file is about judging."""
    return not JUDGES.isdisjoint(file.split("/")[:-1]) and file.endswith(".json")


def named_by_judges(document: bytes, names: Iterable[Named]) -> Iterator[tuple[str, str, str]]:
    """Yield field, kind and text of whatever tells a candidate; nothing for what is no JSON."""
    known = {each.text.lower(): each.kind for each in names}
    wanted = "|".join(sorted((re.escape(name) for name in known), key=len, reverse=True))
    found = re.compile(rf"(?<![\w])(?:{wanted})(?![\w])", re.IGNORECASE) if wanted else None
    try:
        whole = json.loads(document)
    except ValueError:
        return
    for field, text in _texts(whole, ""):
        for mark in _MARKS.finditer(text):
            yield field, "an agent's mark", mark[0].strip()
        for name in found.finditer(text) if found else ():
            yield field, known[name[0].lower()], name[0]


def _texts(value: object, field: str) -> Iterator[tuple[str, str]]:
    """Yield every text that does not stand in a field for names, with the field's name."""
    pending: list[tuple[str, object]] = [(field, value)]
    while pending:
        name, inner = pending.pop()
        if isinstance(inner, Mapping):
            for key, each in inner.items():
                yield f"{name}.{key}".removeprefix("."), str(key)
                if key not in _NAMING:
                    pending.append((f"{name}.{key}".removeprefix("."), each))
        elif isinstance(inner, list):
            pending += [(f"{name}[{at}]", each) for at, each in enumerate(inner)]
        elif isinstance(inner, str):
            yield name, inner
