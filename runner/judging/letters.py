"""Characters that are not what they seem: shown escaped, counted, or read as what they look like. Pure.

Classes are those of the Unicode Character Database. What looks like a Latin letter is a short list of our own, after
the confusables of Unicode Technical Standard 39: Cyrillic, Greek and Armenian letters, and all that NFKC makes ASCII.
"""

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache

_ODD = re.compile(r"[^\t\x20-\x7e]")
_WORD = re.compile(r"\w*[^\W\x00-\x7f]\w*")
_UNSEEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
_BLANK = "Zs"
_BRACKETS = frozenset("\u27e6\u27e7")
_FILLERS = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")
_SELECTORS = ((0xFE00, 0xFE0F), (0x180B, 0x180F), (0xE0100, 0xE01EF))
_TAGS = (0xE0020, 0xE007E)
_TAG_SHIFT = 0xE0000
_ESCAPED_BYTES = (0xDC80, 0xDCFF)

_LIKE = {
    "A": "\u0410\u0391",
    "B": "\u0412\u0392",
    "C": "\u0421",
    "E": "\u0415\u0395",
    "H": "\u041d\u0397",
    "I": "\u0406\u0399",
    "J": "\u0408",
    "K": "\u041a\u039a",
    "M": "\u041c\u039c",
    "N": "\u039d",
    "O": "\u041e\u039f",
    "P": "\u0420\u03a1",
    "Q": "\u051a",
    "S": "\u0405",
    "T": "\u0422\u03a4",
    "W": "\u051c",
    "X": "\u0425\u03a7",
    "Y": "\u04ae\u03a5",
    "Z": "\u0396",
    "a": "\u0430\u03b1",
    "c": "\u0441",
    "d": "\u0501",
    "e": "\u0435",
    "g": "\u0261",
    "h": "\u04bb",
    "i": "\u0456\u03b9\u0131",
    "j": "\u0458",
    "k": "\u03ba",
    "l": "\u04cf",
    "n": "\u0578",
    "o": "\u043e\u03bf\u0585",
    "p": "\u0440\u03c1",
    "q": "\u051b",
    "s": "\u0455",
    "u": "\u057d",
    "v": "\u03bd",
    "w": "\u051d",
    "x": "\u0445",
    "y": "\u0443",
}
_LOOKS_LIKE = {ord(each): latin for latin, others in _LIKE.items() for each in others}


@dataclass(frozen=True, slots=True, kw_only=True)
class Folded:
    """A text as it reads, in ASCII as far as that goes; `origins` gives each character's place in the text."""

    text: str
    origins: tuple[int, ...]


def shown(text: str) -> tuple[str, int]:
    """Write characters that cannot be seen as `⟦U+202E⟧` or `⟦0xE9⟧` (no UTF-8), and count them.

    The brackets themselves are written so too, and not counted: the form has one meaning.
    """
    if _ODD.search(text) is None:
        return text, 0
    hidden = 0
    parts: list[str] = []
    for letter in text:
        if is_unseen(letter):
            hidden += 1
            parts.append(_escaped(letter))
        else:
            parts.append(_escaped(letter) if letter in _BRACKETS else letter)
    return "".join(parts), hidden


def lookalikes(text: str) -> int:
    """Count words that mix Latin with other letters, or read like Latin without being it."""
    if text.isascii():
        return 0
    return sum(1 for match in _WORD.finditer(text) if _misleads(match[0]))


def folded(text: str) -> Folded:
    """Read a text as it looks: lookalikes as Latin, invisible characters not at all, tag characters as ASCII."""
    if text.isascii():
        return Folded(text=text, origins=())
    letters: list[str] = []
    origins: list[int] = []
    for place, letter in enumerate(text):
        for each in _read(letter):
            letters.append(each)
            origins.append(place)
    return Folded(text="".join(letters), origins=(*origins, len(text)))


def lowered(text: str) -> str:
    """Write a text in lower case, letter by letter, so that places stay what they are."""
    return text.lower() if text.isascii() else "".join(_lower(letter) for letter in text)


def _lower(letter: str) -> str:
    small = letter.lower()
    return small if len(small) == 1 else letter


@lru_cache(maxsize=4096)
def is_unseen(letter: str) -> bool:
    """Whether a character cannot be seen, or is a blank that is none of ours."""
    if letter in {" ", "\t"}:
        return False
    category, number = unicodedata.category(letter), ord(letter)
    odd = category in _UNSEEN or category == _BLANK or letter in _FILLERS
    return odd or any(first <= number <= last for first, last in _SELECTORS)


@lru_cache(maxsize=4096)
def _read(letter: str) -> str:
    if _TAGS[0] <= ord(letter) <= _TAGS[1]:
        return chr(ord(letter) - _TAG_SHIFT)
    if unicodedata.category(letter) == _BLANK:
        return " "
    if is_unseen(letter) and letter != "\n":
        return ""
    plain = unicodedata.normalize("NFKC", letter).translate(_LOOKS_LIKE)
    return "".join(each for each in unicodedata.normalize("NFKD", plain) if not unicodedata.combining(each))


def _escaped(letter: str) -> str:
    number = ord(letter)
    if _ESCAPED_BYTES[0] <= number <= _ESCAPED_BYTES[1]:
        return f"⟦0x{number - 0xDC00:02X}⟧"
    return f"⟦U+{number:04X}⟧"


@lru_cache(maxsize=4096)
def _misleads(word: str) -> bool:
    latin = any(each.isascii() and each.isalpha() for each in word)
    foreign = any(not each.isascii() and each.isalpha() and not _is_latin(each) for each in word)
    reads = unicodedata.normalize("NFKC", word).translate(_LOOKS_LIKE)
    return (latin and foreign) or reads.isascii()


def _is_latin(letter: str) -> bool:
    return unicodedata.name(letter, "").startswith("LATIN ")
