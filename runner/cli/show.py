"""`runner show`."""

import json
import shutil
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import click

from runner.cli.names import ATTEMPT, RELEASE
from runner.documents.manifest import Manifest
from runner.errors import UsageError, VerificationError
from runner.naming import named_try
from runner.sealed import find_sealed
from runner.settings import Settings, host_settings
from runner.showing.beside import beside, compared
from runner.showing.comparing import compare_stories
from runner.showing.document import document
from runner.showing.lines import Line, Pair, Tone, Written, written
from runner.showing.page import SECTIONS, page
from runner.showing.reading import read_story
from runner.showing.story import Story
from runner.showing.words import LINES
from runner.store import Store
from runner.verify import committed_schemas

_COLOURS: Mapping[Tone, Mapping[str, Any]] = {
    Tone.HEADING: {"bold": True},
    Tone.GOOD: {"fg": "green"},
    Tone.BAD: {"fg": "red"},
    Tone.FAINT: {"dim": True},
    Tone.ADDED: {"fg": "green"},
    Tone.REMOVED: {"fg": "red"},
}
_MOST = 2


@click.command()
@click.argument("attempts", metavar="ATTEMPT [ATTEMPT]", nargs=-1, type=ATTEMPT)
@click.option("--part", "parts", multiple=True, type=click.Choice(list(SECTIONS)), help="This section alone.")
@click.option("--full", is_flag=True, help="Cut no text, however long.")
@click.option("--release", type=RELEASE, metavar="ID", help="Of this release; default: the configuration's own.")
@click.option("--json", "as_json", is_flag=True, help="One JSON line; nothing is cut.")
@click.pass_obj
def show(
    config: Path | None,
    *,
    attempts: tuple[str, ...],
    parts: tuple[str, ...],
    full: bool,
    release: str | None,
    as_json: bool,
) -> int:
    """Show what happened in an ATTEMPT, from its sealed evidence; of two, what they differ in.

    ATTEMPT is candidate/nomination/attempt-N, which means its last try, or candidate/nomination/attempt-N/try-K. What a
    candidate wrote cannot steer the terminal: such characters stand escaped, and each of its lines has a bar before it.
    It ends with 3 if the evidence does not verify.
    """
    if not 1 <= len(attempts) <= _MOST:
        raise UsageError("name one attempt to show, or two to compare; 'runner list attempts' names them all")
    settings = host_settings(config)
    manifest, store = find_sealed(settings, release)
    stories = [_read(store, manifest, name) for name in attempts]
    if as_json:
        click.echo(json.dumps(_document(stories)))
    else:
        _print(settings, _lines(stories, parts, None if full else LINES))
    return VerificationError.exit_code if any(story.findings for story in stories) else 0


def _read(store: Store, manifest: Manifest, name: str) -> Story:
    return read_story(store, manifest, named_try(store, manifest, name), committed_schemas())


def _document(stories: list[Story]) -> Mapping[str, object]:
    match stories:
        case [left, right]:
            return compared(left, right, compare_stories(left, right))
        case _:
            return document(stories[0])


def _lines(stories: list[Story], parts: tuple[str, ...], most: int | None) -> Iterable[Line | Pair]:
    match stories:
        case [left, right]:
            return beside(left, right, compare_stories(left, right), most)
        case _:
            return page(stories[0], parts, most)


def _print(settings: Settings, lines: Iterable[Line | Pair]) -> None:
    """Print lines; folded and in colours on a terminal alone."""
    terminal = sys.stdout.isatty()
    width = shutil.get_terminal_size().columns if terminal else None
    for line in written(lines, width):
        click.echo(_coloured(line) if terminal and settings.colour else line.text)


def _coloured(line: Written) -> str:
    return "".join(click.style(text, **_COLOURS.get(tone, {})) for text, tone in line.spans)
