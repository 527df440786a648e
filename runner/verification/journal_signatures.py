"""The signatures of a journal, against the keys that were pinned.

Each line names the one before, so that a signature vouches for all lines before it: in a whole chain the last one that
a run made with a key is checked. Where the chain is broken every one is.
"""

import json
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from runner.canonical import parse, sha256
from runner.documents.journal import Entry
from runner.documents.keys import KeyRole
from runner.errors import DocumentError, DocumentErrors
from runner.journal import signed_bytes, whole_lines
from runner.signing.encoding import unb64
from runner.signing.trust import Trust
from runner.verification.model import Finding

_PLAIN = re.compile(
    rb'\{"at_ms":[0-9]+,"keyid":(?P<keyid>null|"[0-9a-f]+"),"previous":(?P<previous>null|"[0-9a-f]+"),'
    rb'"recovered":(?:true|false),"run":(?P<run>"[0-9a-f]+"),"schema":"[a-z0-9/]+","sealed_sha256":(?:null|"[0-9a-f]+"),'
    rb'"sig":(?P<sig>null|"[A-Za-z0-9+/=]+"),"state":"[a-z]+","trial":\{[^{}\\]*\}\}'
)
"""A line in canonical form; it holds each member once."""

NO_KEY = "its signatures were not checked: no runner key is known here"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Said:
    """What a line says of itself; whether it is one is another's to find."""

    place: str
    data: bytes
    run: object
    keyid: object
    is_signed: bool
    follows: bool
    """Whether it names the line before."""


def check_signatures(file: Path, trust: Trust | None) -> tuple[tuple[Finding, ...], tuple[str, ...]]:
    """Give what is wrong with a journal's signatures, and what was not looked at."""
    lines = tuple(_said(file))
    if trust is None or not trust.keys(KeyRole.RUNNER):
        return (), (f"{file}: {NO_KEY}",) if any(line.is_signed for line in lines) else ()
    is_whole = all(line.follows for line in lines)
    chosen = tuple(_last_ones(lines)) if is_whole else lines
    return (*_signatures(chosen, trust), *_unsigned(lines)), ()


def _said(file: Path) -> Iterator[_Said]:
    previous = None
    for number, data in enumerate(whole_lines(file).split(b"\n")[:-1], 1):
        said = _members(data)
        if said is not None:
            yield _Said(
                place=f"{file}:{number}",
                data=data,
                run=said.get("run"),
                keyid=said.get("keyid"),
                is_signed=said.get("keyid") is not None and said.get("sig") is not None,
                follows=said.get("previous") == previous,
            )
        previous = sha256(data)


def _members(data: bytes) -> dict[str, object] | None:
    """Give what a line says of itself; one that is written as we write it is not read as a whole."""
    plain = _PLAIN.fullmatch(data)
    if plain is not None:
        return {name: None if each == b"null" else each[1:-1].decode() for name, each in plain.groupdict().items()}
    with suppress(ValueError, RecursionError):
        said = json.loads(data)
        return said if isinstance(said, dict) else None
    return None


def _last_ones(lines: Iterable[_Said]) -> Iterator[_Said]:
    """Give the last line that each run signed with a key."""
    for _, own in groupby(lines, key=lambda line: (line.run, line.keyid)):
        *_, last = own
        yield last


def _signatures(lines: Iterable[_Said], trust: Trust) -> Iterator[Finding]:
    """Each signature is that of a runner key that was pinned, and counts."""
    for line in lines:
        if not line.is_signed:
            continue
        with suppress(DocumentError, DocumentErrors):  # It is no line, which is found elsewhere.
            found = _objection(parse(Entry, line.data, line.place), trust)
            if found is not None:
                yield Finding(file=line.place, found=found, expected="one of a runner key that counts")


def _objection(entry: Entry, trust: Trust) -> str | None:
    key = next((each for each in trust.keys(KeyRole.RUNNER) if each.keyid == entry.keyid), None)
    if key is None or entry.sig is None:
        return f"a signature of key {entry.keyid}, which nobody pinned"
    try:
        signature = unb64(entry.sig)
    except ValueError as error:
        return f"a signature that is {error}"
    if not key.made(signature, signed_bytes(entry)):
        return f"a signature that key {entry.keyid} did not make"
    return trust.objection(key, KeyRole.RUNNER, None)


def _unsigned(lines: Iterable[_Said]) -> Iterator[Finding]:
    """Where the runner has a key it signs every line."""
    bare = [line for line in lines if not line.is_signed]
    if bare:
        rest = f", and {len(bare) - 1} more" if len(bare) > 1 else ""
        yield Finding(file=bare[0].place, found=f"a line without a signature{rest}", expected="the runner key's")
