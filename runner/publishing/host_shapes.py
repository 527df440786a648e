"""Forms of names that only a host has: accounts of units, network cards, home folders. Pure."""

import re
from collections.abc import Iterator

from runner.publishing.literals import Spot
from runner.publishing.model import Rule
from runner.publishing.views import View

_ACCOUNT = re.compile(rb"(?<![A-Za-z0-9])u(19[0-9]{8})(?![0-9])")
"""The keeper calls an account u and its number (sandbox/room.py)."""

_NUMBER = re.compile(rb"(?i)(?:[ug]id|user|account|owner)[\"']?\s*[:=]\s*[\"']?([0-9]{6,10})(?![0-9])")
_CARD = re.compile(rb"(?<![0-9A-Fa-f:])[0-9A-Fa-f]{2}(?::[0-9A-Fa-f]{2}){5}(?![0-9A-Fa-f:])")
_COLONS = 5
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
    if text.count(b":") >= _COLONS:
        yield from (_spot(Rule.HOST, "the address of a network card", found) for found in _CARD.finditer(text))
    if any(folder in text for folder in (b"/home/", b"/Users/", b"/root/")):
        yield from (_spot(Rule.PATH, "a home folder", found) for found in _HOME.finditer(text))
    yield from _numbers(text, accounts)


def _numbers(text: bytes, accounts: tuple[int, int]) -> Iterator[Spot]:
    """Yield numbers of accounts that are called so: a count of bytes may be as large."""
    if str(accounts[0])[:2].encode() in text:
        for found in _NUMBER.finditer(text):
            if accounts[0] <= int(found[1]) <= accounts[1]:
                kind = "the number of a unit's account"
                yield Spot(rule=Rule.HOST, kind=kind, start=found.start(1), text=found[1])


def _spot(rule: Rule, kind: str, found: re.Match[bytes]) -> Spot:
    return Spot(rule=rule, kind=kind, start=found.start(), text=found[0])
