"""Who a candidate is, in what a judge was shown or said. Pure.

A published judge document says by field whose submission it is about: that was added after the judge had spoken. What
the judge read and wrote must not say it. What tells somebody is known in one place, runner/judging/identity.py, which
packets are scrubbed by too.
"""

import json
import re
from collections.abc import Iterator, Mapping

from runner.judging.identity import Identities, Trace, is_agent_file, is_suspect, tells, traces

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
        *(
            "item",
            "cell",
            "first",
            "second",
            "asked",
            "release",
            "nomination",
            "reviewer",
            "public_dir",
            "sides",
            "pair",
        ),
    }
)
"""Fields that name somebody or something, by being there."""

_KINDS = {
    Trace.NAME: "a name of a model, an agent or a maker",
    Trace.SIGNATURE: "a signature",
    Trace.ADDRESS: "an address",
    Trace.PLACE: "somebody's folder",
    Trace.AGENT_FILE: "a file of an agent",
}
_WORDS = re.compile(r"[\w./-]+")


def is_judges(file: str) -> bool:
    """Whether a published file is about judging."""
    return not JUDGES.isdisjoint(file.split("/")[:-1]) and file.endswith(".json")


def named_by_judges(document: bytes, known: Identities) -> Iterator[tuple[str, str, str]]:
    """Yield field, kind and text of whatever tells a candidate; nothing for what is no JSON."""
    try:
        whole = json.loads(document)
    except (ValueError, RecursionError):
        return
    for field, text in _texts(whole):
        for line in text.splitlines():
            for found in traces(line.lower(), known) if is_suspect(line.lower(), known) else ():
                told = line[found.start : found.end]
                if found.trace is Trace.SIGNATURE or tells(found.trace, told):
                    yield field, f"{_KINDS[found.trace]}, in what a judge said or was shown", told.strip()
            if any(is_agent_file(word) for word in _WORDS.findall(line)):
                yield field, _KINDS[Trace.AGENT_FILE], line.strip()


def _texts(value: object) -> Iterator[tuple[str, str]]:
    """Yield every text that does not stand in a field for names, with the field's name."""
    pending: list[tuple[str, object]] = [("", value)]
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
