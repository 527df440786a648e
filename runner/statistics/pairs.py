"""Whether two candidates differ on the nominations that both tried. Pure; exact, or drawn where that is too much.

Sources: Q. McNemar, Psychometrika 12 (1947); H. O. Lancaster, J. Am. Stat. Assoc. 56 (1961), for the mid-p value;
R. A. Fisher, The design of experiments (1935), for changing signs; S. Holm, Scand. J. Stat. 6 (1979).
"""

import hashlib
from collections.abc import Sequence
from enum import StrEnum
from fractions import Fraction
from itertools import product
from math import comb, lcm

from runner.judging.chance import even_chance

_LARGEST = 1 << 27
"""Bits of the counts of all sums."""
_DRAWS = 9_999
_BYTE = 8


class Test(StrEnum):
    """What a difference was tested by."""

    __test__ = False  # no test of pytest's

    MCNEMAR = "McNemar mid-p"
    """One attempt each at a nomination."""
    SIGN_FLIP = "sign-flip"
    """Several."""


def mcnemar(one_alone: int, other_alone: int) -> Fraction:
    """Give McNemar's two-sided mid-p value.

    Args:
        one_alone: nominations that the one solved and the other did not.
        other_alone: the other way round.
    """
    of = one_alone + other_alone
    exact = even_chance(one_alone, of)
    if exact is None:
        return Fraction(1)
    own = Fraction(comb(of, one_alone), 2**of)
    return 1 - own / 2 if one_alone == other_alone else exact - own


def sign_flip(differences: Sequence[Fraction]) -> Fraction:
    """Give the two-sided chance of as large a mean if each difference could as well have the other sign.

    All ways are counted; where differences have so fine a common step that this takes too much, 9,999 ways are drawn
    by SHAKE-256 from the differences themselves, and the observed one counts as one more.
    """
    signed = _signed(differences)
    if (sum(map(abs, signed)) + 1) * (len(signed) + 1) > _LARGEST:
        return _drawn(signed)
    return Fraction(_counted(signed), 1 << len(signed))


def _signed(differences: Sequence[Fraction]) -> list[int]:
    """Give the differences that are not zero, as whole numbers of their common step."""
    step = lcm(*(each.denominator for each in differences)) if differences else 1
    return [int(each * step) for each in differences if each]


def _counted(signed: Sequence[int]) -> int:
    """Count the ways with as large a sum: a number holds, in a slot for each sum, in how many ways that comes about."""
    sizes = [abs(each) for each in signed]
    reach, width = sum(sizes), len(sizes) + 1
    ways = 1
    for size in sizes:
        ways += ways << (size * width)  # each sum as it is, and with this difference
    # A slot at `at` stands for the sum 2 at - reach.
    found = abs(sum(signed))
    low, high = (reach - found) // 2, (reach + found) // 2
    if low == high:
        return 1 << len(sizes)
    return _total(ways & ((1 << (low + 1) * width) - 1), width) + _total(ways >> (high * width), width)


def _total(slots: int, width: int) -> int:
    """Add up the slots of a number, in halves, so that each step handles numbers half as long."""
    count = -(-slots.bit_length() // width)
    if count < 2:  # noqa: PLR2004 - one slot, or none
        return slots
    half = count // 2 * width
    return _total(slots & ((1 << half) - 1), width) + _total(slots >> half, width)


def _drawn(signed: Sequence[int]) -> Fraction:
    """Draw ways, a bit a sign; each byte's eight signs are added up beforehand."""
    groups = [signed[at : at + _BYTE] for at in range(0, len(signed), _BYTE)]
    sums = [
        [sum(sign * each for sign, each in zip(signs, group, strict=False)) for signs in _SIGNS] for group in groups
    ]
    bits = hashlib.shake_256(b"flip/v1\0" + repr(list(signed)).encode()).digest(_DRAWS * len(groups))
    found = abs(sum(signed))
    hits = 0
    for at in range(0, len(bits), len(groups)):
        way = sum(table[byte] for table, byte in zip(sums, bits[at : at + len(groups)], strict=True))
        hits += abs(way) >= found
    return Fraction(1 + hits, 1 + _DRAWS)


_SIGNS = tuple(product((1, -1), repeat=_BYTE))


def holm(chances: Sequence[Fraction]) -> tuple[Fraction, ...]:
    """Give the chances corrected for how many there are, in their order."""
    order = sorted(range(len(chances)), key=lambda at: chances[at])
    corrected = [Fraction(0)] * len(chances)
    highest = Fraction(0)
    for rank, at in enumerate(order):
        highest = max(highest, min(Fraction(1), (len(chances) - rank) * chances[at]))
        corrected[at] = highest
    return tuple(corrected)
