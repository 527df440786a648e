"""What agents and providers said, word for word, in documents of ours; and event streams in changes. Pure.

A candidate's change is left out of the comparison: an agent writes files by speaking, so every line of its change
stands in its stream. What may not be in a change is the stream's own form, and what the agent's program told the model,
which nobody asked for (`ScanContext.instructions`).
"""

import re
from collections.abc import Iterable, Iterator

from runner.publishing.literals import Spot
from runner.publishing.model import Rule
from runner.publishing.views import View
from runner.reason import BREACHES, FAILURES, VERDICTS
from runner.reports.markdown import CONTROLS_NOT_RUN, DIRECT, SCRIPTED

STRETCH = 48
"""Letters and digits in a row, without what stands between: about nine words."""

_BLOCK = STRETCH // 2
_PROSE = re.compile(rb'[^"\n\\]*(?:\\.[^"\n\\]*)*')
_LEAST_BLANKS = 5
_LEAST_PHRASE = 8
_ESCAPE = re.compile(rb"\\(?:u[0-9a-fA-F]{4}|.)", re.DOTALL)
_KEPT = bytes(range(48, 58)) + bytes(range(65, 91)) + bytes(range(97, 123))
_DROPPED = bytes(each for each in range(256) if each not in _KEPT)

_EVENTS = (
    # Codex: codex exec --json
    re.compile(
        rb'\{"type":\s?"(?:thread\.started|turn\.(?:started|completed|failed)|item\.(?:started|updated|completed))"'
    ),
    # Claude Code: --output-format stream-json
    re.compile(rb'\{"type":\s?"(?:system","subtype":\s?"init|(?:assistant|user)","message":\s?\{|result","subtype")'),
    # OpenCode: run --format json
    re.compile(rb'\{"type":\s?"(?:step_start|step_finish|tool_use|text)",\s?"timestamp":'),
    # Streamed answers: chat completions, Responses, Messages
    re.compile(rb'"object":\s?"chat\.completion(?:\.chunk)?",'),
    re.compile(
        rb'^(?:event: (?:response\.[a-z_.]+|message_start|content_block_delta)$|data: \{"(?:id|type)":)', re.MULTILINE
    ),
)
_EVENT_WORDS = (b'{"type":', b"chat.completion", b"event: ", b"data: {")


def squeezed(text: bytes) -> bytes:
    """Give a text's letters and digits alone, all small: what stands between them differs from writer to writer."""
    return _ESCAPE.sub(b" ", text).translate(None, _DROPPED).lower()


_SENTENCES = (
    *(*FAILURES.values(), *VERDICTS.values(), *BREACHES.values(), CONTROLS_NOT_RUN, DIRECT, SCRIPTED),
    *("public tests passed", "public tests failed", "hidden checks passed", "hidden check", "no hidden check"),
    *("the task was never shown", "failed during", "forbidden"),
)
_OURS = sorted(
    {
        phrase
        for text in _SENTENCES
        for part in re.split(r"\{\w+\}", text)
        if len(phrase := squeezed(part.encode())) >= _LEAST_PHRASE
    },
    key=lambda phrase: (-len(phrase), phrase),
)
"""What runner/reason.py and the tables say, squeezed; the longest first, for one may stand within another."""


def event_streams(view: View) -> Iterator[Spot]:
    """Yield lines in the form of an agent's events or a provider's stream."""
    if any(word in view.text for word in _EVENT_WORDS):
        for form in _EVENTS:
            for found in form.finditer(view.text):
                yield Spot(
                    rule=Rule.RAW, kind="an agent's event or a provider's answer", start=found.start(), text=found[0]
                )


def prose(text: bytes) -> tuple[tuple[int, bytes], ...]:
    """Give the texts of a document that are long enough, have words in them, and are no sentences of ours."""
    return tuple(
        (found.start(), found[0])
        for found in _PROSE.finditer(text)
        if len(found[0]) >= STRETCH and found[0].count(b" ") >= _LEAST_BLANKS and len(_foreign(found[0])) >= STRETCH
    )


def _foreign(text: bytes) -> bytes:
    """Give what is left of a text without our own words: most sentences need not be held against anything."""
    left = squeezed(text)
    for phrase in _OURS:
        left = left.replace(phrase, b"")
    return left


def stretches(texts: Iterable[tuple[int, bytes]], said: Iterable[bytes], public: Iterable[bytes]) -> Iterator[Spot]:
    """Yield the texts of which a long stretch was said, and is in no public text; `public` is squeezed already."""
    wanted = {start: squeezed(text) for start, text in texts}
    known = tuple(public)
    for each in said:
        heard = squeezed(each)
        for start, text in tuple(wanted.items()):
            stretch = next((one for one in _common(text, heard) if not any(one in open_ for open_ in known)), None)
            if stretch is not None:
                del wanted[start]
                yield Spot(rule=Rule.RAW, kind="what an agent or a provider said", start=start, text=stretch)


def _common(text: bytes, heard: bytes) -> Iterator[bytes]:
    """Yield long stretches that both have; one of this length holds one of the text's blocks whole."""
    for at in range(0, len(text) - _BLOCK + 1, _BLOCK):
        place = heard.find(text[at : at + _BLOCK])
        while place >= 0:
            first, last = _grown(text, heard, at, place)
            if last - first >= STRETCH:
                yield text[first:last]
            place = heard.find(text[at : at + _BLOCK], place + 1)


def _grown(text: bytes, heard: bytes, at: int, place: int) -> tuple[int, int]:
    """Give the ends of the stretch around one place at which both are the same."""
    shift = place - at
    first, last = at, at + _BLOCK
    while first and first + shift and text[first - 1] == heard[first + shift - 1]:
        first -= 1
    while last < len(text) and last + shift < len(heard) and text[last] == heard[last + shift]:
        last += 1
    return first, last
