"""Mutants of a reference solution in JavaScript: one token changed, never one in a text, pattern or comment. Pure."""

import re
from collections.abc import Collection, Iterator
from decimal import Decimal

from runner.validating.javascript import Token, What, tokens
from runner.validating.mutants import Mutant, thinned

_SIGNS = {
    "===": "!==",
    "!==": "===",
    "==": "!=",
    "!=": "==",
    "<": "<=",
    "<=": "<",
    ">": ">=",
    ">=": ">",
    "&&": "||",
    "||": "&&",
    "+": "-",
    "-": "+",
    "*": "/",
    "/": "*",
    "%": "*",
    "+=": "-=",
    "-=": "+=",
}
"""Signs between two values, each with what it becomes."""

_WORDS = {"true": "false", "false": "true"}
_NAMED_AFTER = frozenset({".", "?.", "function", "class"})
"""What makes a word behind it a name."""

_OPEN, _CLOSE = frozenset("([{"), frozenset(")]}")

_JOINING = frozenset({"in", "instanceof"})
_BEGINNING = frozenset({"++", "--", "!", "~", "{", "@"})
"""Signs that never go on with what stands on the line above."""

_WHOLE = re.compile(r"0[xXbBoO][0-9a-fA-F_]+|[0-9][0-9_]*")

_Edit = tuple[int, int, str]
"""From where to where, and what comes there."""


def javascript_mutants(path: str, source: bytes, lines: Collection[int], most: int) -> tuple[Mutant, ...]:
    """Give at most so many mutants of a JavaScript module's changed lines, spread over all there are."""
    text, wanted = source.decode("utf-8", "surrogateescape"), frozenset(lines)
    found: list[Mutant] = []
    known = tokens(text)
    for at, token in enumerate(known):
        if token.line in wanted:
            found += (
                Mutant(path=path, line=token.line, what=what, source=_edited(text, edits))
                for what, edits in _changes(known, at)
            )
    return thinned(found, most)


def _edited(text: str, edits: tuple[_Edit, ...]) -> bytes:
    for start, end, other in reversed(edits):
        text = text[:start] + other + text[end:]
    return text.encode("utf-8", "surrogateescape")


def _changes(known: tuple[Token, ...], at: int) -> Iterator[tuple[str, tuple[_Edit, ...]]]:
    token, before = known[at], known[at - 1].text if at else ";"
    other: str | None = None
    match token.what:
        case What.SIGN if token.after_value:
            other = _SIGNS.get(token.text)
        case What.NUMBER:
            other = _next_number(token.text)
        case What.WORD if before not in _NAMED_AFTER:
            other = _WORDS.get(token.text)
            yield from _statement(known, at)
        case _:
            pass
    if other is not None:
        yield f"{token.text} becomes {other}", ((token.start, token.end, other),)


def _statement(known: tuple[Token, ...], at: int) -> Iterator[tuple[str, tuple[_Edit, ...]]]:
    token, behind = known[at], known[at + 1 : at + 2]
    if not behind:
        return
    if token.text in {"if", "while"} and behind[0].text == "(" and (close := _closing(known, at + 1)) is not None:
        opened = behind[0].end
        yield "the condition is turned round", ((opened, opened, "!("), (close.start, close.start, ")"))
    if token.text == "return" and behind[0].line == token.line and behind[0].text not in {";", "}"}:
        end = _expression_end(known, at + 1)
        yield "nothing is returned", ((token.end, token.end, " void ("), (end, end, ")"))


def _expression_end(known: tuple[Token, ...], at: int) -> int:
    """Give where an expression that begins at a place ends: at a semicolon, a brace, or with its line."""
    depth, last = 0, known[at]
    for token in known[at:]:
        is_below = token.after_value and token.line > last.line + last.text.count("\n")
        goes_on = token.text in _JOINING or (token.what is What.SIGN and token.text not in _BEGINNING)
        if depth == 0 and (token.text in {";", "}"} or (is_below and not goes_on)):
            break
        depth, last = depth + _deeper(token), token
    return last.end


def _deeper(token: Token) -> int:
    match token.what:
        case What.SIGN:
            return (token.text in _OPEN) - (token.text in _CLOSE)
        case What.TEXT:
            return token.text.endswith("${") - token.text.startswith("}")
        case _:
            return 0


def _closing(known: tuple[Token, ...], at: int) -> Token | None:
    """Give what closes the parenthesis at a place."""
    depth = 0
    for token in known[at:]:
        depth += _deeper(token)
        if depth == 0:
            return token
    return None


def _next_number(text: str) -> str | None:
    """Give the number that is one more, in a form that may stand wherever this one may."""
    plain = text.removesuffix("n").replace("_", "")
    if _WHOLE.fullmatch(plain):
        return f"{_whole(plain) + 1}{'n' if text.endswith('n') else ''}"
    try:
        return format(Decimal(plain) + 1, "f") + ("." if text.endswith(".") else "")
    except ArithmeticError:
        return None


def _whole(plain: str) -> int:
    return int(plain, 0) if plain[:2].lower() in {"0x", "0b", "0o"} else int(plain)
