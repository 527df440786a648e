"""An attempt as a page for a terminal. Pure."""

from collections.abc import Callable, Iterator, Mapping, Sequence

from runner.showing.lines import Line, Tone, heading, plain
from runner.showing.sections import cases_lines, diff_lines, ledger_lines, times_lines, walls_lines
from runner.showing.story import Story
from runner.showing.words import attempt_lines, transcript_lines

_FINDINGS = 20

SECTIONS: Mapping[str, tuple[str, Callable[[Story, int | None], Iterator[Line]]]] = {
    "transcript": ("Transcript", transcript_lines),
    "diff": ("What it left", diff_lines),
    "cases": ("How that was judged", cases_lines),
    "ledger": ("Requests to the model", ledger_lines),
    "walls": ("The walls, as seen from inside", walls_lines),
    "times": ("Time and money", times_lines),
}
"""What can be shown beside the attempt itself, by the word that `--part` takes."""


def page(story: Story, parts: Sequence[str], most: int | None) -> Iterator[Line]:
    """Give the whole page, or some parts of it; what cannot be believed is said first and last."""
    yield from warning(story)
    yield from attempt_lines(story, most)
    for name, (title, section) in SECTIONS.items():
        if not parts or name in parts:
            yield from heading(title)
            yield from section(story, most)
    yield from warning(story)


def warning(story: Story) -> Iterator[Line]:
    """Say loudly that the evidence does not verify."""
    if not story.findings:
        return
    count = len(story.findings)
    yield plain(f"*** THIS EVIDENCE DOES NOT VERIFY: {count} {'finding' if count == 1 else 'findings'} ***", Tone.BAD)
    yield from (plain(f"*** {each}", Tone.BAD) for each in story.findings[:_FINDINGS])
    yield from (
        plain(f"*** and {count - _FINDINGS} more: runner verify", Tone.BAD)
        for _ in story.findings[_FINDINGS : _FINDINGS + 1]
    )
    yield plain("*** what does not verify says nothing about the candidate", Tone.BAD)
