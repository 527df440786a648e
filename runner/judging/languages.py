"""Which parts of a file are for people alone: comments, docstrings, whole documents. Pure.

Python is read by its own tokenizer. For all others the rule is simple, and knows neither regular expressions nor
here-documents: what stands in quotes is no comment; a comment is what begins with the language's mark outside of
quotes, and with `#` only at a line's begin or after a blank. In a language that is not known, nothing is a comment.
"""

import io
import re
import tokenize
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache


class Language(StrEnum):
    """How comments are written."""

    PYTHON = "python"
    SLASHES = "slashes"
    """`//` and `/* */`."""
    HASH = "hash"
    DASHES = "dashes"
    """`--` and `/* */`."""
    MARKUP = "markup"
    """`<!-- -->`."""
    DOCUMENT = "document"
    """All of it is for people."""
    PLAIN = "plain"
    """There are no comments, as in JSON."""
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """A part of a text, by its first place and the one after its last."""

    start: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Prose:
    """The parts of a text that are for people, in order; `sure` is False where the text could not be read so."""

    spans: tuple[Span, ...]
    sure: bool


_SUFFIXES = {
    Language.PYTHON: "py pyi",
    Language.SLASHES: "js jsx mjs cjs ts tsx c h cc cpp hpp java go rs kt swift cs php scala css scss less dart proto",
    Language.HASH: "sh bash zsh yaml yml toml rb pl r cfg conf ini tf nix mk cmake env properties",
    Language.DASHES: "sql lua hs",
    Language.MARKUP: "html htm xml svg vue",
    Language.DOCUMENT: "md markdown rst txt adoc log",
    Language.PLAIN: "json csv tsv lock",
}
_BY_SUFFIX = {suffix: language for language, suffixes in _SUFFIXES.items() for suffix in suffixes.split()}
_BY_NAME = {
    "makefile": Language.HASH,
    "dockerfile": Language.HASH,
    ".gitignore": Language.HASH,
    ".gitattributes": Language.HASH,
    "readme": Language.DOCUMENT,
    "changelog": Language.DOCUMENT,
    "licence": Language.DOCUMENT,
    "license": Language.DOCUMENT,
    "notes": Language.DOCUMENT,
}

# An open quote or comment runs to the end of its line or of the text: nothing is read twice, so time is linear.
_QUOTED = r"""\"(?:\\.|[^\"\\\n])*\"?|'(?:\\.|[^'\\\n])*'?"""
_COMMENTS = {
    Language.SLASHES: rf"(?P<c>//[^\n]*|/\*.*?(?:\*/|\Z))|{_QUOTED}|`(?:\\.|[^`\\])*`?",
    Language.HASH: rf"(?P<c>(?:(?<![^\n])|(?<=[ \t]))#[^\n]*)|{_QUOTED}",
    Language.DASHES: rf"(?P<c>--[^\n]*|/\*.*?(?:\*/|\Z))|{_QUOTED}",
    Language.MARKUP: r"(?P<c><!--.*?(?:-->|\Z))",
}
_PATTERNS = {language: re.compile(pattern, re.DOTALL) for language, pattern in _COMMENTS.items()}
_STARTS = {Language.SLASHES: ("/",), Language.HASH: ("#",), Language.DASHES: ("-", "/"), Language.MARKUP: ("<!",)}
_LINE_COMMENT = {
    Language.PYTHON: "# {}",
    Language.SLASHES: "// {}",
    Language.HASH: "# {}",
    Language.DASHES: "-- {}",
    Language.MARKUP: "<!-- {} -->",
    Language.DOCUMENT: "{}",
}


_TOKENIZED = 1 << 20
"""Characters of a Python file; a longer one is read by the simple rule."""


def language_of(path: str) -> Language:
    """Give a file's language by its name."""
    name = path.rpartition("/")[2].lower()
    stem, _, suffix = name.rpartition(".")
    return _BY_NAME.get(name) or _BY_NAME.get(stem) or _BY_SUFFIX.get(suffix, Language.UNKNOWN)


def line_comment(language: Language, text: str) -> str | None:
    """Write one line that is a comment; None where the language has none."""
    form = _LINE_COMMENT.get(language)
    return None if form is None else form.format(text)


def prose(language: Language, text: str) -> Prose:
    """Find the comments of a text, and what stands for one: docstrings, whole documents."""
    if language is Language.DOCUMENT:
        return Prose(spans=(Span(start=0, end=len(text)),), sure=True)
    if language is Language.PYTHON:
        return _python(text)
    pattern = _PATTERNS.get(language)
    if pattern is None:
        return Prose(spans=(), sure=language is Language.PLAIN)
    if not any(start in text for start in _STARTS[language]):
        return Prose(spans=(), sure=True)
    spans = (Span(start=match.start(), end=match.end()) for match in pattern.finditer(text) if match["c"])
    return Prose(spans=tuple(spans), sure=True)


def without(text: str, parts: Prose) -> str:
    """Take the parts out; lines of which nothing is left go with them."""
    if not parts.spans:
        return text
    kept: list[str] = []
    at = 0
    for span in parts.spans:
        kept += (text[at : span.start], _GONE, *("\n" + _GONE for _ in range(text.count("\n", span.start, span.end))))
        at = span.end
    kept.append(text[at:])
    lines = "".join(kept).split("\n")
    return "\n".join(line.replace(_GONE, "").rstrip() if _GONE in line else line for line in lines if _is_left(line))


_GONE = "\0"
"""Stands where a part was; no text has it, for bytes with a NUL are no text."""


def _is_left(line: str) -> bool:
    return _GONE not in line or line.replace(_GONE, "").strip() != ""


@lru_cache(maxsize=256)  # the base's files come again with every candidate
def _python(text: str) -> Prose:
    if "#" not in text and '"' not in text and "'" not in text:
        return Prose(spans=(), sure=True)
    if len(text) > _TOKENIZED:
        return Prose(spans=prose(Language.HASH, text).spans, sure=False)
    starts = _line_starts(text)
    try:
        tokens = list(tokenize.generate_tokens(io.StringIO(text, newline="\n").readline))
        spans = tuple(_python_spans(tokens, starts))
    except (tokenize.TokenError, SyntaxError):
        return Prose(spans=prose(Language.HASH, text).spans, sure=False)
    return Prose(spans=spans, sure=True)


_BEFORE_STATEMENT = frozenset({tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT})
_ENDS = frozenset({tokenize.NEWLINE, tokenize.ENDMARKER})
_UNSEEN = frozenset({tokenize.NL, tokenize.COMMENT})


def _python_spans(tokens: Sequence[tokenize.TokenInfo], starts: Sequence[int]) -> Iterator[Span]:
    previous = tokenize.NEWLINE
    for index, token in enumerate(tokens):
        alone = token.type == tokenize.STRING and previous in _BEFORE_STATEMENT and _ends_statement(tokens, index)
        if token.type == tokenize.COMMENT or alone:
            yield Span(start=starts[token.start[0] - 1] + token.start[1], end=starts[token.end[0] - 1] + token.end[1])
        if token.type not in _UNSEEN:
            previous = token.type


def _ends_statement(tokens: Sequence[tokenize.TokenInfo], index: int) -> bool:
    following = index + 1
    while tokens[following].type == tokenize.COMMENT:
        following += 1
    return tokens[following].type in _ENDS


def _line_starts(text: str) -> list[int]:
    starts = [0]
    starts += (match.end() for match in re.finditer("\n", text))
    starts.append(len(text))
    return starts
