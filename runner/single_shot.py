"""What a single-shot candidate is told: the task with its files, and what came of a first answer. Pure."""

from typing import NoReturn

from evaluators.public_tests import TestsResult
from runner.agents.native_loop.blocks import block, is_mark
from runner.agents.native_loop.text import shorten
from runner.documents.facts import AgentFailure, FailureCause, VoidFact
from runner.errors import DocumentError
from runner.fixture import Fixture
from runner.nomination import Nomination
from sandbox.tree import Entry, Kind

SHOWN_BYTES = 128 << 10
"""Of all target files together; an answer may be twice as long."""

NEWS_CHARS = 16_000
"""Head and tail of what the public tests printed."""

_FORM = """\
This message is all there is to see: nothing can be looked up or run. The files that may change stand below, \
whole, each between two marks.

{files}
Answer with the whole new text of each file that has to change, between the same marks, each mark on a line of \
its own. Between its marks stands the file and nothing else: no fence, no omission. A file that is left out stays \
as it is; no other file can be answered. What stands outside of the marks is taken as the summary.
"""

_NEWS = """\
The public tests do not pass with this answer. They ended by {end} and printed:

{printed}

Answer once more, in the same form. The files are as they were shown at first: what is left out stays so.
"""


def told(nomination: Nomination, fixture: Fixture) -> str:
    """Give the whole first message; it follows from frozen inputs alone.

    Raises:
        DocumentError: a target file is not there, or is none that can be shown and answered.
    """
    entries = {entry.path: entry for entry in fixture.entries}
    shown, size = "", 0
    for index, path in enumerate(nomination.spec.target_files):
        text = _text(nomination, fixture, index, entries.get(path.encode()))
        shown, size = shown + block(path, text), size + len(text.encode())
    if size > SHOWN_BYTES:
        _refuse(nomination, "target_files", f"{size} bytes", f"at most {SHOWN_BYTES} in all")
    return f"{nomination.prompt.rstrip()}\n\n{_FORM.format(files=shown)}"


def news(result: TestsResult) -> str:
    """Give the whole message after a first answer whose public tests did not pass."""
    end = result.termination
    status = "" if end.status is None else f" {end.status}"
    printed = (result.stdout + b"\n" + result.stderr).decode("utf-8", "replace").strip()
    return _NEWS.format(end=f"{end.cause.value}{status}", printed=shorten(printed, NEWS_CHARS))


def is_tested(failure: AgentFailure | None, void: VoidFact | None) -> bool:
    """Whether the public tests are run on a first shot: it was answered, in whatever form."""
    return void is None and (failure is None or failure.cause is FailureCause.MALFORMED_ANSWER)


def _text(nomination: Nomination, fixture: Fixture, index: int, entry: Entry | None) -> str:
    field, wanted = f"target_files[{index}]", "a text file of the fixture"
    if entry is None:
        _refuse(nomination, field, "no such file", wanted)
    if entry.kind is not Kind.FILE or entry.sha256 is None:
        _refuse(nomination, field, f"a {entry.kind.value}", wanted)
    try:
        text = fixture.contents.get(entry.sha256).decode()
    except UnicodeDecodeError:
        _refuse(nomination, field, "bytes that are no UTF-8", wanted)
    if any(is_mark(line) for line in text.split("\n")):
        _refuse(nomination, field, "a line that reads like a mark of an answer", f"{wanted} without one")
    return text


def _refuse(nomination: Nomination, field: str, found: str, expected: str) -> NoReturn:
    mend = "mend target_files, or write mode = 'agentic'"
    raise DocumentError(file=nomination.file, field=field, found=found, expected=expected, mend=mend)
