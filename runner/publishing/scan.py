"""The scan of everything that would be published, before a byte of it is written. Pure.

What is looked for is told in docs/reference/publication-scan.md, rule by rule, with what is not.
"""

import re
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from hashlib import sha256

from runner.judging.identity import identities
from runner.publishing.entropy import is_digest, named_secrets, random_runs
from runner.publishing.forms import Spellings
from runner.publishing.host_shapes import host_shapes
from runner.publishing.identity import is_judges, named_by_judges
from runner.publishing.literals import Spot, hidden_texts, host_texts
from runner.publishing.model import Rule, ScanContext, ScanFinding
from runner.publishing.places import HIDDEN
from runner.publishing.raw_output import event_streams, prose, squeezed, stretches
from runner.publishing.tokens import is_placeholder, loose_tokens, tokens_in_run
from runner.publishing.views import View, is_change, unreadable_binaries, views_of
from runner.publishing.wrappings import BLOCK_LINE, Inside, blocks, decoded, packed, unescaped

DEEPEST = 4
"""Wrappings around one text that are taken off; what is packed more often is found as unreadable."""

UNWRAPPED_BYTES = 64 << 20
"""Of one published file, all its wrappings together, beyond four times its own size."""

_TIMES = 4
_SHAPED = frozenset({Rule.TOKEN, Rule.UNREADABLE})
"""Rules that look at rows of letters."""

_MOST_ESCAPES = 3
"""Texts in JSON in JSON in a program."""

_LEAST_RUN = 20
_IN_RUNS = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-+/=.~"
_RUNS = bytes(each if each in _IN_RUNS else 32 for each in range(256))
_Rows = tuple[bytes, ...]
_DIGITS = b"0123456789abcdef"
_OPEN_RULES = frozenset({Rule.PATH, Rule.HOST, Rule.EVALUATOR, Rule.RAW, Rule.IDENTITY})
_SHOWN = 60


def scan(files: Mapping[str, bytes], context: ScanContext) -> tuple[ScanFinding, ...]:
    """Give everything in some files that may not be published: path below the release's folder -> content.

    One finding a text and file, in the files' order.
    """
    scanner = _Scanner(context)
    in_names = scanner.names(tuple(files))
    found: list[ScanFinding] = []
    for file, data in files.items():
        found += in_names.get(file, ())
        found += scanner.file(file, data)
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

    def add(self, view: View, spot: Spot) -> None:
        """Note a text; where it was noted before, its place alone."""
        wrapped = ", ".join((*view.wrapped, spot.form) if spot.form else view.wrapped)
        self.note(spot, view.place(spot.start), wrapped)

    def note(self, spot: Spot, place: str, wrapped: str = "") -> None:
        """Note a text by the name of its place."""
        known = self.by_text.get((spot.rule, spot.text))
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
        """Give them, with how often each stands there. A text that is a key of JSON is not told as a place either."""
        texts = [text.decode("utf-8", "replace") for _, text in self.by_text if text]
        for each in self.by_text.values():
            place = each.first.field
            for text in texts:
                place = place.replace(text, HIDDEN)
            yield replace(each.first, field=place, times=len(each.places))


class _Scanner:
    """A context made ready, and what is done with a file."""

    def __init__(self, context: ScanContext) -> None:
        self._context = context
        self._secrets = Spellings(context.secrets)
        self._host = host_texts(context)
        self._hidden = hidden_texts(context)
        self._identities = identities(context.roster)
        self._public = tuple(squeezed(text.encode()) for text in context.public)

    def file(self, file: str, data: bytes) -> Iterator[ScanFinding]:
        """Give what is in a file."""
        found = _Found(file)
        for place, block in unreadable_binaries(file, data):
            found.note(_unreadable("a binary patch that cannot be read", block), place)
        for view, rows in self._all_views(views_of(file, data), found):
            for spot in self._spots(view, rows):
                found.add(view, spot)
        if is_judges(file):
            for place, kind, text in named_by_judges(data, self._identities):
                found.note(Spot(rule=Rule.IDENTITY, kind=kind, start=0, text=text.encode()), place)
        if not is_change(file):
            self._said(file, data, found)
        return found.findings()

    def names(self, files: tuple[str, ...]) -> Mapping[str, tuple[ScanFinding, ...]]:
        """Give what is in the names of files, by file."""
        view = View(text="\n".join(files).encode(), place=lambda _: "its name")
        by_file: dict[str, _Found] = {}
        for spot in self._spots(view, _rows(view.text)):
            file = files[view.text.count(b"\n", 0, spot.start)]
            by_file.setdefault(file, _Found(file)).add(view, spot)
        return {file: tuple(found.findings()) for file, found in by_file.items()}

    def _all_views(self, views: Iterable[View], found: _Found) -> Iterator[tuple[View, _Rows]]:
        """Give views and what is wrapped up in them, as deep and as much as is looked into; with their rows."""
        pending = deque(views)
        left = UNWRAPPED_BYTES + _TIMES * sum(len(view.text) for view in pending)
        while pending:
            view = pending.popleft()
            rows = _rows(view.text) if _SHAPED & view.rules else ()
            yield view, rows
            for inside in _insides(view, rows) if Rule.UNREADABLE in view.rules else ():
                left -= len(inside.content)
                if not inside.whole or left < 0 or len(view.wrapped) >= DEEPEST:
                    spot = _unreadable("more is packed up than is looked into", inside.content, inside.start)
                    found.add(view, spot)
                if left >= 0 and len(view.wrapped) < DEEPEST and inside.content != view.text:
                    pending.append(view.inner(inside))

    def _spots(self, view: View, rows: _Rows) -> Iterator[Spot]:
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
            yield from _shapes(view, rows)

    def _said(self, file: str, data: bytes, found: _Found) -> None:
        texts = prose(data)
        if texts:
            (view, *_) = views_of(file, data)
            for spot in stretches(texts, self._context.raw.said(file), self._public):
                found.add(view, spot)


def _shapes(view: View, rows: _Rows) -> Iterator[Spot]:
    """Yield what has a key's form, or looks drawn by lot."""
    text = view.text
    for token in loose_tokens(text):
        yield Spot(rule=Rule.TOKEN, kind=token.kind, start=token.start, text=token.text)
    for row in rows:
        # Hex digits alone are a digest; nobody's keys have no more than those.
        if row.translate(None, _DIGITS):
            yield from _shapes_of_row(view, row)
    for each in named_secrets(text) if view.of_candidate else ():
        if not (is_placeholder(each.text) or any(tokens_in_run(each.text))):
            yield Spot(rule=Rule.ENTROPY, kind=each.kind, start=each.start, text=each.text)


def _shapes_of_row(view: View, row: bytes) -> Iterator[Spot]:
    tokens = tuple(tokens_in_run(row))
    for token in tokens:
        yield Spot(rule=Rule.TOKEN, kind=token.kind, start=view.text.find(row) + token.start, text=token.text)
    for each in random_runs(row) if Rule.ENTROPY in view.rules else ():
        start = view.text.find(row) + each.start
        known = any(token.text in each.text or each.text in token.text for token in tokens)
        if not (known or is_digest(view.text, start) or is_placeholder(each.text) or any(decoded(each.text))):
            yield Spot(rule=Rule.ENTROPY, kind=each.kind, start=start, text=each.text)


def _rows(text: bytes) -> _Rows:
    """Give the long rows of letters of a text without blanks, each once, in its order."""
    return tuple(dict.fromkeys(row for row in text.translate(_RUNS).split() if len(row) >= _LEAST_RUN))


def _insides(view: View, rows: _Rows) -> Iterator[Inside]:
    yield from packed(view.text)
    yield from unescaped(view.text) if view.escapes < _MOST_ESCAPES else ()
    yield from blocks(view.text) if any(len(row) >= BLOCK_LINE for row in rows) else ()
    for row in rows:
        for inside in decoded(row):
            yield replace(inside, start=view.text.find(row) + inside.start)


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
