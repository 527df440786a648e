"""Whether a row of letters looks drawn by lot, as keys are, or written, as names are. Pure.

Shannon's measure alone does not tell: a long identifier has as many bits a letter as a short key. So three things are
asked: many different letters, small and capital letters and digits in wild turns, and no order in them. Hex digits are
never asked, for digests are everywhere; of those only what is named a secret counts.
"""

import math
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

LEAST_LENGTH = 24
"""Letters. Keys have more; words seldom do."""

MOST_LENGTH = 200
"""Letters. What is longer is data: its content is looked into, where it can be decoded."""

_LEAST_BITS = 3.6
_LEAST_LETTERS = 18
_ALPHABET = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Form:
    """What letters drawn by lot have at least: parts a letter; and how seldom a sign is among them."""

    turns: float
    letters_a_sign: int


_FORMS = {3: _Form(turns=0.36, letters_a_sign=10), 2: _Form(turns=0.22, letters_a_sign=MOST_LENGTH + 1)}
"""By how many kinds (small, capital, digit) there are. Measured: random letters and digits of all three have about 0.55
parts a letter, of two about 0.35; names in mixed case have below 0.3, and where they have two kinds, several signs."""

_PARTS = re.compile(rb"[A-Z]?[a-z]+|[A-Z]+|[0-9]+")
_RUN = re.compile(rb"[A-Za-z0-9+/_-]{24,}={0,2}")
_DIGESTS = re.compile(rb"(?<![A-Za-z0-9])(?:0x)?(?:[0-9a-f]{4,}|[0-9A-F]{4,})(?![A-Za-z0-9])")
"""Hex digits between signs: digests in paths and addresses, and the parts of UUIDs."""
_SIGNS = b"+/_-="

_DIGEST = re.compile(
    rb"(?i)(?:sha-?(?:1|224|256|384|512)|md5|blake[23][bs]?|integrity|checksum|fingerprint|digest|etag|revision|base64,"
    rb"|\bh1:|ssh-(?:rsa|dss|ed25519)|ecdsa-sha2-\S+|signature|public[_-]?key|certificate)[^\n]{0,24}$"
)
"""What stands before a digest, a public key or a picture in its line, and says so."""

_NAME = re.compile(
    rb"(?i)(?:api[_-]?key|secret|token|passw(?:or)?d|credential|private[_-]?key|access[_-]?key)[\w-]{0,20}[\"']?\s{0,9}$"
)
_VALUE = re.compile(rb"(?::=|=>|[:=])\s{0,9}[rbuf]?[\"']([^\s\"']{16,200})[\"']")
_LONGEST_NAME = 60
_NAMED_BITS = 3.2
_TEMPLATE = re.compile(rb"[{}<>(]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Random:
    """A text that looks drawn by lot, and where it begins."""

    start: int
    text: bytes
    kind: str


def bits_a_letter(text: bytes) -> float:
    """Give Shannon's entropy of a text's letters, in bits a letter; 0 for none."""
    counts = Counter(text).values()
    return -sum(count / len(text) * math.log2(count / len(text)) for count in counts)


def looks_random(text: bytes) -> bool:
    """Whether letters and digits turn as wildly as if they had been drawn."""
    if not LEAST_LENGTH <= len(text) <= MOST_LENGTH:
        return False
    text = _DIGESTS.sub(b"", text).rstrip(b"=")
    letters = text.translate(None, _SIGNS)
    digits = letters.translate(None, _ALPHABET)
    kinds = bool(digits) + (letters != letters.lower()) + (letters != letters.upper())
    form = _FORMS.get(kinds)
    if form is None or not digits or len(letters) < _LEAST_LETTERS:
        return False
    if len(text) - len(letters) > len(text) // form.letters_a_sign + 1:
        return False
    turns = len(_PARTS.findall(letters)) / len(letters)
    return turns >= form.turns and bits_a_letter(letters) >= _LEAST_BITS and not _is_ordered(letters, digits)


def random_runs(run: bytes) -> Iterator[Random]:
    """Yield the parts of a row of letters that look drawn by lot."""
    for found in _RUN.finditer(run):
        if looks_random(found[0]):
            yield Random(start=found.start(), text=found[0], kind="letters as if drawn by lot")


def is_digest(text: bytes, start: int) -> bool:
    """Whether the line says before a place that a digest, a public key or data stands there."""
    line = text.rfind(b"\n", 0, start) + 1
    return _DIGEST.search(text[max(line, start - 60) : start]) is not None


def named_secrets(text: bytes) -> Iterator[Random]:
    """Yield quoted values that are called a key, a token or the like, and hold letters and digits in no order."""
    for found in _VALUE.finditer(text):
        value = found[1]
        mixed = re.search(rb"[0-9]", value) and re.search(rb"[A-Za-z]", value) and not _TEMPLATE.search(value)
        named = mixed and _NAME.search(text[max(0, found.start() - _LONGEST_NAME) : found.start()])
        if named and bits_a_letter(value) >= _NAMED_BITS and _is_wild(value):
            yield Random(start=found.start(1), text=value, kind="a value called a secret")


def _is_wild(value: bytes) -> bool:
    """Whether a value reads as no words: at most half of it stands in rows of four small letters and more."""
    words = sum(len(word) for word in re.findall(rb"[A-Za-z][a-z]{3,}", value))
    return words * 2 <= len(value) and not _is_ordered(value, re.sub(rb"[^0-9]", b"", value))


def _is_ordered(letters: bytes, digits: bytes) -> bool:
    """Whether digits or letters stand in the order of the alphabet, as in made-up data."""
    others = letters.translate(None, b"0123456789").lower()
    return _sorted_part(others) or (len(digits) > 3 and _sorted_part(digits))  # noqa: PLR2004 - three say nothing


def _sorted_part(letters: bytes) -> bool:
    """Whether three in four letters follow the one before them, or are the same."""
    steps = sum(0 <= after - before <= 1 for before, after in pairwise(letters))
    return len(letters) > 1 and steps * 4 >= (len(letters) - 1) * 3
