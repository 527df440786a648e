"""Forms of names that only a host has: accounts of units, network cards, home folders. Pure."""

import re
from collections.abc import Iterator
from itertools import takewhile

from runner.publishing.literals import Spot
from runner.publishing.model import Rule
from runner.publishing.views import View

_ACCOUNT = re.compile(rb"(?<![A-Za-z0-9])u(19[0-9]{8})(?![0-9])")
"""The keeper calls an account u and its number (sandbox/room.py)."""

_CALLED = re.compile(rb"(?i)(?:[ug]id|user|account|owner)[\"']?\s{0,9}[:=]\s{0,9}[\"']?$")
_LONGEST_NAME = 40
_CARD = re.compile(rb"(?<![0-9A-Fa-f:])[0-9A-Fa-f]{2}(?::[0-9A-Fa-f]{2}){5}(?![0-9A-Fa-f:])")
_CARDLIKE = re.compile(rb":(?:[0-9A-Fa-f]{2}:){4}")
"""Quick to look for."""

_HOME = re.compile(
    rb"(?<![A-Za-z0-9_.-])/(?:(?:home|Users)/(?!agent(?![A-Za-z0-9_-]))[A-Za-z0-9_.-]+|root/[A-Za-z0-9_.-]+)"
)
"""Home folders; /home/agent is what every candidate has inside its unit."""


def host_shapes(view: View, accounts: tuple[int, int]) -> Iterator[Spot]:
    """Yield accounts wherever they stand; cards, numbers of accounts and home folders in documents of ours alone.

    A candidate may write any of these into a test of its own, and then they are no host's.
    """
    text = view.text
    if b"u19" in text:
        yield from (_spot(Rule.HOST, "an account of a unit", found) for found in _ACCOUNT.finditer(text))
    if view.of_candidate:
        return
    if _CARDLIKE.search(text):
        yield from (_spot(Rule.HOST, "the address of a network card", found) for found in _CARD.finditer(text))
    if any(folder in text for folder in (b"/home/", b"/Users/", b"/root/")):
        yield from (_spot(Rule.PATH, "a home folder", found) for found in _HOME.finditer(text))
    yield from _numbers(text, accounts)


def _numbers(text: bytes, accounts: tuple[int, int]) -> Iterator[Spot]:
    """Yield numbers of accounts that are called so: a count of bytes may be as large."""
    first, last = (str(each) for each in accounts)
    same = "".join(one for one, _ in takewhile(lambda pair: pair[0] == pair[1], zip(first, last, strict=False)))
    common = same if len(first) == len(last) else ""
    form = re.compile(b"%b[0-9]{%d,%d}(?![0-9])" % (common.encode(), len(first) - len(common), len(last) - len(common)))
    for found in form.finditer(text):
        before = text[max(0, found.start() - _LONGEST_NAME) : found.start()]
        if accounts[0] <= int(found[0]) <= accounts[1] and _CALLED.search(before):
            yield _spot(Rule.HOST, "the number of a unit's account", found)


def _spot(rule: Rule, kind: str, found: re.Match[bytes]) -> Spot:
    return Spot(rule=rule, kind=kind, start=found.start(), text=found[0])
