"""The scan of everything that would be published, before a byte of it is written. Pure.

What is looked for is told in docs/reference/publication-scan.md, rule by rule, with what is not.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from hashlib import sha256

from runner.publishing.entropy import is_digest, named_secrets, random_runs
from runner.publishing.forms import Spellings
from runner.publishing.host_shapes import host_shapes
from runner.publishing.identity import is_judges, named_by_judges
from runner.publishing.literals import Spot, hidden_texts, host_texts
from runner.publishing.model import Rule, ScanContext, ScanFinding
from runner.publishing.raw_output import event_streams, prose, squeezed, stretches
from runner.publishing.tokens import is_placeholder, loose_tokens, tokens_in_run
from runner.publishing.views import View, is_change, unreadable_binaries, views_of
from runner.publishing.wrappings import Inside, blocks, decoded, packed, unescaped

DEEPEST = 4
"""Wrappings around one text that are taken off; what is packed more often is found as unreadable."""

UNWRAPPED_BYTES = 64 << 20
"""Of one published file, all its wrappings together."""

_LEAST_RUN = 20
_IN_RUNS = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-+/=.~"
_RUNS = bytes(each if each in _IN_RUNS else 32 for each in range(256))
_DIGITS = b"0123456789abcdef"
_OPEN_RULES = frozenset({Rule.PATH, Rule.HOST, Rule.EVALUATOR, Rule.RAW, Rule.IDENTITY})
_SHOWN = 60


def scan(files: Mapping[str, bytes], context: ScanContext) -> tuple[ScanFinding, ...]:
    """Give everything in some files that may not be published: path below the release's folder -> content.

    One finding a text and file, in the files' order.
    """
    scanner = _Scanner(context)
    found: list[ScanFinding] = []
    for file, data in files.items():
        found += scanner.file(file, data)
        found += scanner.name(file)
    return tuple(found)


@dataclass(slots=True)
class _Places:
    """One text of one file, and every place in which it was found."""

    first: ScanFinding
    places: set[str]


@dataclass(slots=True)
class _Found:
    """Findings in one file, each text once."""

    file: str
    by_text: dict[tuple[Rule, bytes], _Places] = field(default_factory=dict)
    secrets: set[tuple[str, str]] = field(default_factory=set)
    """Names and places of secrets."""

    def add(self, view: View, spot: Spot) -> None:
        """Note a text; where it was noted before, its place alone."""
        wrapped = ", ".join((*view.wrapped, spot.form) if spot.form else view.wrapped)
        self.note(spot, view.place(spot.start), wrapped)

    def note(self, spot: Spot, place: str, wrapped: str = "") -> None:
        """Note a text by the name of its place."""
        known = self.by_text.get((spot.rule, spot.text))
        if spot.rule is Rule.SECRET:
            # One place of one secret is one finding, in whichever of its forms it is seen first.
            if (spot.kind, place) in self.secrets:
                return
            self.secrets.add((spot.kind, place))
        if known is not None:
            known.places.add(place)
            return
        finding = ScanFinding(
            rule=spot.rule,
            kind=spot.kind,
            file=self.file,
            field=place,
            sha256=sha256(spot.text).hexdigest(),
            excerpt=excerpt(spot),
            wrapped=wrapped,
        )
        self.by_text[spot.rule, spot.text] = _Places(first=finding, places={place})

    def findings(self) -> Iterator[ScanFinding]:
        """Give them, with how often each stands there."""
        for each in self.by_text.values():
            yield replace(each.first, times=len(each.places))


class _Scanner:
    """A context made ready, and what is done with a file."""

    def __init__(self, context: ScanContext) -> None:
        self._context = context
        self._secrets = Spellings(context.secrets)
        self._host = host_texts(context)
        self._hidden = hidden_texts(context)
        self._public = tuple(squeezed(text.encode()) for text in context.public)

    def file(self, file: str, data: bytes) -> Iterator[ScanFinding]:
        """Give what is in a file."""
        found = _Found(file)
        for place, block in unreadable_binaries(file, data):
            found.note(_unreadable("a binary patch that cannot be read", block), place)
        for view in self._all_views(views_of(file, data), found):
            for spot in self._spots(view):
                found.add(view, spot)
        if is_judges(file):
            for place, kind, text in named_by_judges(data, self._context.identities):
                found.note(Spot(rule=Rule.IDENTITY, kind=kind, start=0, text=text.encode()), place)
        if not is_change(file):
            self._said(file, data, found)
        return found.findings()

    def name(self, file: str) -> Iterator[ScanFinding]:
        """Give what is in a file's name."""
        found = _Found(file)
        view = View(text=file.encode(), place=lambda _: "its name")
        for spot in self._spots(view):
            found.add(view, spot)
        return found.findings()

    def _all_views(self, views: Iterable[View], found: _Found) -> Iterator[View]:
        """Give views and what is wrapped up in them, as deep and as much as is looked into."""
        left = UNWRAPPED_BYTES
        pending = list(views)
        while pending:
            view = pending.pop()
            yield view
            for inside in _insides(view) if Rule.UNREADABLE in view.rules else ():
                left -= len(inside.content)
                if not inside.whole or left < 0 or len(view.wrapped) >= DEEPEST:
                    spot = _unreadable("more is packed up than is looked into", inside.content, inside.start)
                    found.add(view, spot)
                if left < 0:
                    return
                if len(view.wrapped) < DEEPEST and inside.content != view.text:
                    pending.append(view.inner(inside.content, inside.start, inside.wrapping))

    def _spots(self, view: View) -> Iterator[Spot]:
        if Rule.SECRET in view.rules:
            for each in self._secrets.find(view.text):
                text = view.text[each.start : each.start + each.size]
                yield Spot(rule=Rule.SECRET, kind=each.name, start=each.start, text=text, form=_form(each.form))
        if Rule.HOST in view.rules:
            yield from self._host.find(view)
            yield from host_shapes(view, self._context.accounts)
        if Rule.EVALUATOR in view.rules:
            yield from self._hidden.find(view)
        if Rule.RAW in view.rules:
            yield from event_streams(view)
        if Rule.TOKEN in view.rules:
            yield from _shapes(view)

    def _said(self, file: str, data: bytes, found: _Found) -> None:
        texts = prose(data)
        if texts:
            (view, *_) = views_of(file, data)
            for spot in stretches(texts, self._context.raw.said(file), self._public):
                found.add(view, spot)


def _shapes(view: View) -> Iterator[Spot]:
    """Yield what has a key's form, or looks drawn by lot."""
    text = view.text
    for token in loose_tokens(text):
        yield Spot(rule=Rule.TOKEN, kind=token.kind, start=token.start, text=token.text)
    for run in _runs(text):
        tokens = tuple(tokens_in_run(run))
        for token in tokens:
            yield Spot(rule=Rule.TOKEN, kind=token.kind, start=text.find(run) + token.start, text=token.text)
        for each in random_runs(run) if Rule.ENTROPY in view.rules and not tokens else ():
            start = text.find(run) + each.start
            if not (is_digest(text, start) or is_placeholder(each.text) or any(decoded(each.text))):
                yield Spot(rule=Rule.ENTROPY, kind=each.kind, start=start, text=each.text)
    for each in named_secrets(text) if view.of_candidate else ():
        if not (is_placeholder(each.text) or any(tokens_in_run(each.text))):
            yield Spot(rule=Rule.ENTROPY, kind=each.kind, start=each.start, text=each.text)


def _runs(text: bytes) -> set[bytes]:
    """Give the long rows of letters of a text, each once; digests aside, for they are nothing else."""
    rows = {row for row in text.translate(_RUNS).split() if len(row) >= _LEAST_RUN}
    return {row for row in rows if row.translate(None, _DIGITS)}


def _insides(view: View) -> Iterator[Inside]:
    text = view.text
    yield from packed(text)
    yield from unescaped(text)
    yield from blocks(text)
    for row in {row for row in text.translate(_RUNS).split() if len(row) >= _LEAST_RUN}:
        for inside in decoded(row):
            yield replace(inside, start=text.find(row) + inside.start)


def _unreadable(kind: str, text: bytes, start: int = 0) -> Spot:
    return Spot(rule=Rule.UNREADABLE, kind=kind, start=start, text=text)


def _form(form: str) -> str:
    return "" if form == "plain" else form


def excerpt(spot: Spot) -> str:
    """Tell a text's shape; of what is no key, the first letter of each word as well."""
    size = f"{len(spot.text)} bytes"
    if spot.rule not in _OPEN_RULES:
        return size
    words = re.sub(r"(\w)\w*", lambda word: word[1] + "*" * (len(word[0]) - 1), spot.text.decode("utf-8", "replace"))
    plain = "".join(letter if letter.isprintable() else "?" for letter in words)
    return f"{size}: {plain[:_SHOWN]}"
