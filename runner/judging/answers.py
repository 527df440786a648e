"""A judge's answer read: one strict JSON object, or no verdict and why. Never a guess, never a default. Pure.

Members stand in the order that was asked for, reasons before what they lead to. Quotes must stand in the change they
name; of blanks, only that there are some counts.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from itertools import chain
from typing import NoReturn

from runner.documents.judging import Choice, Quote, RubricScore, Side, UnscoredWhy
from runner.judging.identity import Identities
from runner.judging.letters import shown
from runner.judging.packet import Packet
from runner.judging.scrub import scrubbed_line

LONGEST_ANSWER = 64 * 1024
"""Characters."""

MOST_POINTS = 10
MOST_QUOTES = 12
SHORTEST_QUOTE, LONGEST_QUOTE = 3, 300
LONGEST_REASON = 1000
"""Characters of a reason that are kept."""


class Finish(StrEnum):
    """How a model's answer ended, as its provider says."""

    COMPLETE = "complete"
    LENGTH = "length"
    """Its ceiling was reached."""
    REFUSAL = "refusal"
    """It, or a filter of its provider, would not answer."""
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What came back from a judge."""

    text: str
    finish: Finish


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What an answer is held against."""

    packet: Packet
    criteria: tuple[str, ...]
    """Names, in the order of asking; empty for a pair."""
    nonce: str
    canary: str
    known: Identities
    """Names that reasons are scrubbed of."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """A quote, by the letter of its change."""

    letter: str
    line: int
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RubricAnswer:
    """Points by criterion."""

    scores: tuple[RubricScore, ...]
    quotes: tuple[Evidence, ...]
    injection_seen: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class PairAnswer:
    """Which letter is better."""

    verdict: str
    """A, B, TIE or ABSTAIN."""
    reason: str
    quotes: tuple[Evidence, ...]
    injection_seen: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class NoVerdict:
    """Why an answer is none; the sentence is ours."""

    why: UnscoredWhy
    detail: str


VERDICTS = ("A", "B", "TIE", "ABSTAIN")

_APOLOGY = re.compile(
    r"(?:i['\u2019]?m sorry|i am sorry|sorry|i can(?:no|['\u2019])t|i can not|i won['\u2019]?t|i will not|"
    r"i['\u2019]?m (?:not able|unable)|i am (?:not able|unable)|i must decline|as an ai)\b",
    re.IGNORECASE,
)


def read_pair(reply: Reply, wanted: Wanted) -> PairAnswer | NoVerdict:
    """Read the answer about a pair."""
    try:
        whole = _members(
            _object(reply, wanted), ("nonce", "injection_seen", "quotes", "reason", "verdict"), "the answer"
        )
        seen, quotes = _common(whole, wanted)
        verdict = whole["verdict"]
        if verdict not in VERDICTS or not isinstance(verdict, str):
            _refuse("a verdict other than A, B, TIE and ABSTAIN")
        if verdict in wanted.packet.letters and not quotes:
            _refuse("a verdict without a quote", UnscoredWhy.UNSUPPORTED)
        return PairAnswer(verdict=verdict, reason=_reason(whole["reason"], wanted), quotes=quotes, injection_seen=seen)
    except _NoVerdictError as error:
        return error.found


def read_rubric(reply: Reply, wanted: Wanted) -> RubricAnswer | NoVerdict:
    """Read the answer about one change."""
    try:
        whole = _members(_object(reply, wanted), ("nonce", "injection_seen", "quotes", "scores"), "the answer")
        seen, quotes = _common(whole, wanted)
        if not quotes and wanted.packet.changes[0].shown.lines:
            _refuse("points without a quote", UnscoredWhy.UNSUPPORTED)
        scores = _members(whole["scores"], wanted.criteria, "the scores")
        return RubricAnswer(
            scores=tuple(_score(name, scores[name], wanted) for name in wanted.criteria),
            quotes=quotes,
            injection_seen=seen,
        )
    except _NoVerdictError as error:
        return error.found


def choice(verdict: str, shown_a: Side) -> Choice:
    """Translate a letter into the plan's side."""
    if verdict == "TIE":
        return Choice.TIE
    if verdict == "ABSTAIN":
        return Choice.ABSTAIN
    return Choice(side_of(verdict, shown_a))


def side_of(letter: str, shown_a: Side) -> Side:
    """Give the plan's side of the letter A or B."""
    other: Side = "second" if shown_a == "first" else "first"
    return shown_a if letter == "A" else other


def quotes_of(evidence: tuple[Evidence, ...], shown_a: Side | None) -> tuple[Quote, ...]:
    """Give quotes as documents tell them; without sides for a rubric."""
    return tuple(
        Quote(side=None if shown_a is None else side_of(each.letter, shown_a), line=each.line, text=each.text)
        for each in evidence
    )


class _NoVerdictError(Exception):
    """Ends the reading of an answer; never leaves this module."""

    def __init__(self, found: NoVerdict) -> None:
        super().__init__(found.detail)
        self.found = found


def _refuse(detail: str, why: UnscoredWhy = UnscoredWhy.UNPARSABLE) -> NoReturn:
    raise _NoVerdictError(NoVerdict(why=why, detail=detail))


def _object(reply: Reply, wanted: Wanted) -> object:
    """Parse the whole message as one JSON value."""
    text = _whole(reply, wanted)
    try:
        return json.loads(
            text, object_pairs_hook=_no_twins, parse_int=_small, parse_float=_no_number, parse_constant=_no_number
        )
    except json.JSONDecodeError as error:
        cut = text.startswith("{") and (error.pos >= len(text) or error.msg.startswith("Unterminated string"))
        _refuse("no single JSON object", UnscoredWhy.TRUNCATED if cut else UnscoredWhy.UNPARSABLE)
    except RecursionError:
        _refuse("an answer that nests too deep")


def _whole(reply: Reply, wanted: Wanted) -> str:
    """Give the message, if it is one that was meant as an answer."""
    if wanted.canary in reply.text:
        _refuse("the secret word of its instructions stands in it", UnscoredWhy.CANARY)
    if reply.finish is Finish.REFUSAL:
        _refuse("the judge or its provider refused", UnscoredWhy.REFUSED)
    if reply.finish is Finish.LENGTH:
        _refuse("the answer reached its ceiling", UnscoredWhy.TRUNCATED)
    if len(reply.text) > LONGEST_ANSWER:
        _refuse(f"more than {LONGEST_ANSWER} characters")
    text = reply.text.strip(" \t\r\n")
    if not text:
        _refuse("an empty answer")
    if _APOLOGY.match(text):
        _refuse("an apology instead of an answer", UnscoredWhy.REFUSED)
    return text


def _no_twins(pairs: list[tuple[str, object]]) -> dict[str, object]:
    whole = dict(pairs)
    if len(whole) < len(pairs):
        _refuse("a member that stands twice")
    return whole


def _small(digits: str) -> int:
    if digits.startswith("-") or len(digits) > len(str(LONGEST_ANSWER)):
        _refuse("a number that is none of those asked for")
    return int(digits)


def _no_number(_: str) -> NoReturn:
    _refuse("a number that is no whole one")


def _members(value: object, names: tuple[str, ...], what: str) -> Mapping[str, object]:
    """See that a value is an object with exactly these members, in this order."""
    if not isinstance(value, dict):
        _refuse(f"{what} is no object")
    if tuple(value) != names:
        same = sorted(value) == sorted(names)
        _refuse(f"{what} has its members in another order" if same else f"{what} has other members than asked for")
    return value


def _common(whole: Mapping[str, object], wanted: Wanted) -> tuple[bool, tuple[Evidence, ...]]:
    if whole["nonce"] != wanted.nonce:
        _refuse("the nonce is not this call's")
    seen, quotes = whole["injection_seen"], whole["quotes"]
    if not isinstance(seen, bool):
        _refuse("injection_seen is neither true nor false")
    if not isinstance(quotes, list) or len(quotes) > MOST_QUOTES:
        _refuse(f"quotes are no list of at most {MOST_QUOTES}")
    return seen, tuple(_quote(each, wanted) for each in quotes)


def _quote(value: object, wanted: Wanted) -> Evidence:
    letters = wanted.packet.letters
    is_pair = len(letters) > 1
    quote = _members(value, ("side", "line", "text") if is_pair else ("line", "text"), "a quote")
    letter = quote["side"] if is_pair else letters[0]
    line, text = quote["line"], quote["text"]
    if not isinstance(letter, str) or letter not in letters:
        _refuse("a quote of neither change")
    if isinstance(line, bool) or not isinstance(line, int) or not isinstance(text, str):
        _refuse("a quote without line or text")
    plain = " ".join(text.split())
    if not SHORTEST_QUOTE <= len(plain) <= LONGEST_QUOTE:
        _refuse(
            f"a quote of fewer than {SHORTEST_QUOTE} or more than {LONGEST_QUOTE} characters", UnscoredWhy.UNSUPPORTED
        )
    found = _find(plain, line, wanted.packet.changes[letters.index(letter)].shown.visible)
    return Evidence(letter=letter, line=found, text=plain)


def _find(text: str, line: int, lines: tuple[str, ...]) -> int:
    """Give the line in which a quote stands: the named one, or else the first."""
    for number in chain([line], range(1, len(lines) + 1)):
        if 1 <= number <= len(lines) and text in " ".join(lines[number - 1].split()):
            return number
    _refuse("a quote that does not stand in the change it names", UnscoredWhy.UNSUPPORTED)


def _score(name: str, value: object, wanted: Wanted) -> RubricScore:
    score = _members(value, ("reason", "points"), "a score")
    points = score["points"]
    if isinstance(points, bool) or not isinstance(points, int) or not 0 <= points <= MOST_POINTS:
        _refuse(f"points that are no whole number from 0 to {MOST_POINTS}")
    return RubricScore(criterion=name, points=points, reason=_reason(score["reason"], wanted))


def _reason(value: object, wanted: Wanted) -> str:
    """Give a reason as documents keep it: one bounded line, without names and without what cannot be seen."""
    if not isinstance(value, str) or not value.strip():
        _refuse("no reason")
    line = " ".join(value.split())[: 2 * LONGEST_REASON]
    visible, _ = shown(scrubbed_line(line, wanted.known))
    return visible if len(visible) <= LONGEST_REASON else f"{visible[: LONGEST_REASON - 1]}\u2026"
