"""The tokens of a JavaScript program, as far as changing one needs them: what is code, and what looks like it. Pure.

ECMA-262's lexical grammar without its parser. Whether a slash divides or begins a regular expression, which the grammar
leaves to the parser, is told by what stands before it; where that is wrong, and where a literal has no end, the program
is read no further and what is left has no tokens.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum, auto


class What(Enum):
    """The kinds of tokens."""

    WORD = auto()
    NUMBER = auto()
    TEXT = auto()
    """A string, or a part of a template between its expressions."""
    PATTERN = auto()
    """A regular expression."""
    SIGN = auto()


@dataclass(frozen=True, slots=True, kw_only=True)
class Token:
    """One token; comments and blanks are none."""

    what: What
    text: str
    start: int
    line: int
    """Counted from 1."""
    after_value: bool
    """Whether what stands before it gives a value: then a sign joins two."""

    @property
    def end(self) -> int:
        """Where the next one may begin."""
        return self.start + len(self.text)


_BLANK = re.compile(r"(?:\s|\ufeff|//[^\n\r\u2028\u2029]*|/\*.*?\*/)+", re.DOTALL)
_HASHBANG = re.compile(r"#![^\n]*")
_WORD = re.compile(r"#?(?:[\w$]|\\u(?:[0-9a-fA-F]{4}|\{[0-9a-fA-F]+\}))+")
_NUMBER = re.compile(
    r"(?:0[xX][0-9a-fA-F_]+|0[bB][01_]+|0[oO][0-7_]+|(?:[0-9][0-9_]*\.?[0-9_]*|\.[0-9][0-9_]*)(?:[eE][+-]?[0-9_]+)?)n?"
)
_STRING = re.compile(r"'(?:\\.|[^'\\\n])*'|\"(?:\\.|[^\"\\\n])*\"", re.DOTALL)
_PATTERN = re.compile(r"/(?![*/])(?:\\[^\n]|\[(?:\\[^\n]|[^\]\\\n])*\]|[^/\\\[\n])+/\w*")
_TEMPLATE = re.compile(r"(?:\\.|\$(?!\{)|[^`\\$])*(?:`|\$\{)", re.DOTALL)
_SIGN = re.compile(
    r">>>=|\.\.\.|===|!==|\*\*=|<<=|>>=|>>>|&&=|\|\|=|\?\?="
    r"|=>|==|!=|<=|>=|&&|\|\||\?\?|\?\.(?![0-9])|\+\+|--|\+=|-=|\*=|/=|%=|&=|\|=|\^=|<<|>>|\*\*"
    r"|[{}()\[\];,<>+\-*/%&|^!~?:=.@]"
)

_OPERATIONS = frozenset({"await", "delete", "in", "instanceof", "new", "of", "typeof", "void", "yield"})
_STATEMENTS = frozenset({"case", "default", "do", "else", "finally", "return", "throw", "try"})
_DECLARATIONS = frozenset({"const", "export", "extends", "function", "import", "let", "var"})
_NO_VALUE = _OPERATIONS | _STATEMENTS | _DECLARATIONS
"""Words after which a value is still to come, or a declaration."""

_WITH_HEAD = frozenset({"if", "while", "for", "with"})
"""Words whose parentheses are followed by a statement."""

_BLOCKS_AFTER = frozenset({")", ";", "{", "}", "=>", "else", "do", "try", "finally"})


@dataclass(slots=True)
class _Scan:
    """A program while it is read."""

    text: str
    at: int = 0
    has_value: bool = False
    """Whether what was read last gives a value."""
    last: str = ";"
    before_last: str = ";"
    open: list[str] = field(default_factory=list)
    """What is open: `(`, `head`, `[`, `block`, `object`, `template`."""

    def tokens(self) -> Iterator[Token]:
        if hashbang := _HASHBANG.match(self.text):
            self.at = hashbang.end()
        line, counted = 1, 0
        while True:
            if blank := _BLANK.match(self.text, self.at):
                self.at = blank.end()
            found = self._next()
            if found is None:
                return
            what, text = found
            line, counted = line + self.text.count("\n", counted, self.at), self.at
            yield Token(what=what, text=text, start=self.at, line=line, after_value=self.has_value)
            self.at += len(text)
            self._pass(what, text)

    def _next(self) -> tuple[What, str] | None:
        """Give the token that begins here; None at the end, and where nothing can be told."""
        first = self.text[self.at : self.at + 1]
        if first == "`" or (first == "}" and self.open[-1:] == ["template"]):
            body = _TEMPLATE.match(self.text, self.at + 1)
            return None if body is None else (What.TEXT, first + body[0])
        choices = [(What.TEXT, _STRING), (What.NUMBER, _NUMBER), (What.WORD, _WORD), (What.SIGN, _SIGN)]
        if first == "/" and not self.has_value:
            choices = [(What.PATTERN, _PATTERN)]
        for what, pattern in choices:
            if found := pattern.match(self.text, self.at):
                return what, found[0]
        return None

    def _pass(self, what: What, text: str) -> None:
        """Note what follows from a token for those behind it."""
        match what:
            case What.TEXT if text[0] in "`}":
                self._template(text)
            case What.WORD:
                self.has_value = self.last in {".", "?."} or text not in _NO_VALUE | _WITH_HEAD
            case What.SIGN:
                self._sign(text)
            case _:
                self.has_value = True
        self.before_last, self.last = self.last, text

    def _template(self, text: str) -> None:
        if text[0] == "}":
            self.open.pop()
        self.has_value = not text.endswith("${")
        if not self.has_value:
            self.open.append("template")

    def _sign(self, text: str) -> None:
        match text:
            case "(":
                is_head = self.last in _WITH_HEAD and self.before_last not in {".", "?."}
                self._begin("head" if is_head else "(")
            case "[":
                self._begin("[")
            case "{":
                self._begin("block" if self.has_value or self.last in _BLOCKS_AFTER else "object")
            case ")" | "]" | "}":
                # After the head of a statement, and after a block, a statement begins.
                self.has_value = (self.open.pop() if self.open else "block") not in {"head", "block"}
            case "++" | "--":
                pass
            case _:
                self.has_value = False

    def _begin(self, what: str) -> None:
        self.open.append(what)
        self.has_value = False


def tokens(text: str) -> tuple[Token, ...]:
    """Give the tokens of a program, up to where they cannot be told."""
    return tuple(_Scan(text).tokens())
