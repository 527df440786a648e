"""`runner status` and `runner stop`."""

import json
import time
from dataclasses import replace
from pathlib import Path

import click

from runner.cli.telling import tell
from runner.clock import now_ms
from runner.documents.manifest import Manifest
from runner.documents.ticket import Ticket
from runner.inputs import Inputs, load_inputs
from runner.pilot import Wanted, selected
from runner.reports.aggregate import planned
from runner.running.line import Line, described
from runner.running.progress import Progress
from runner.running.watching import Watch
from runner.running.words import change, document, report
from runner.schedule import Cell
from runner.sealed import find_evidence
from runner.settings import host_settings

_FOLLOW_SECONDS = 2.0
_END_SECONDS, _POLL_SECONDS = 120.0, 0.2


@click.command()
@click.option("--follow", is_flag=True, help="Say what changes, until no pilot of this release is left.")
@click.option("--json", "as_json", is_flag=True, help="JSON lines.")
@click.pass_obj
def status(config: Path | None, follow: bool, as_json: bool) -> int:  # noqa: FBT001 - click passes flags by name
    """Say how far a release has come, what is at work, when it may end and what it cost."""
    inputs, manifest, store = find_evidence(host_settings(config))
    watch, line, before = Watch(store=store, manifest=manifest), Line(), None
    while True:
        progress, pilots, own, at_ms = look(watch, inputs, line)
        seen = replace(progress, left_ms=None), pilots
        if seen != before:
            click.echo(_words(progress, pilots, at_ms, as_json=as_json, is_first=before is None), nl=False)
        if not follow or not own:
            return 0
        before = seen
        time.sleep(_FOLLOW_SECONDS)


def look(watch: Watch, inputs: Inputs, line: Line) -> tuple[Progress, tuple[Ticket, ...], tuple[Ticket, ...], int]:
    """Say how far a release has come, which pilots there are and which are its own, and when that was looked at."""
    pilots, at_ms = line.living(), now_ms()
    own = pilots_of(watch.store.release, watch.store.root, pilots)
    pilot = own[0] if own and own[0] == pilots[0] else None
    cells = () if pilot is None else _asked(inputs, watch.manifest, pilot)
    return watch.look(pilot, cells, at_ms), pilots, own, at_ms


def _words(progress: Progress, pilots: tuple[Ticket, ...], at_ms: int, *, as_json: bool, is_first: bool) -> str:
    if as_json:
        return json.dumps(document(progress, pilots)) + "\n"
    return report(progress, pilots, at_ms) if is_first else f"{change(progress, pilots, at_ms)}\n"


def _asked(inputs: Inputs, manifest: Manifest, pilot: Ticket) -> tuple[Cell, ...]:
    """Give what a pilot was asked for."""
    asked = pilot.selection
    wanted = Wanted(candidates=asked.candidates, nominations=asked.nominations, attempt=asked.attempt)
    return selected(inputs, planned(manifest), wanted)


def pilots_of(release: str, store: Path, pilots: tuple[Ticket, ...]) -> tuple[Ticket, ...]:
    """Pick the pilots of one release."""
    return tuple(each for each in pilots if (each.release, each.store) == (release, str(store)))


@click.command()
@click.option(
    "--after-current/--now",
    default=True,
    help="End once the current attempt is sealed and graded (the default), or at once, as Ctrl-C does.",
)
@click.option("--pilot", "number", type=click.IntRange(1), help="End this one alone; status tells the numbers.")
@click.option("--json", "as_json", is_flag=True, help="JSON lines, one a pilot.")
@click.pass_obj
def stop(config: Path | None, *, after_current: bool, number: int | None, as_json: bool) -> int:
    """End the pilots of a release, whether at work or waiting in line. Nothing that is sealed is lost."""
    inputs, line = load_inputs(host_settings(config)), Line()
    own = pilots_of(inputs.config.release, inputs.places.store, line.living())
    own = tuple(each for each in own if number in {None, each.number})
    stopped = tuple(each for each in own if line.stop(each, now=not after_current))
    left = () if after_current else _left(line, stopped)
    if as_json:
        for each in stopped:
            ended = not after_current and each not in left
            click.echo(json.dumps({"number": each.number, "release": each.release, "ended": ended}))
    elif not stopped:
        click.echo(f"no pilot of release {inputs.config.release} is at work or waits")
    elif after_current:
        click.echo(f"{described(stopped)}: ends after its current attempt; 'runner pilot --resume' goes on from there")
    elif not left:
        click.echo(f"{described(stopped)}: ended; 'runner pilot --resume' goes on from there")
    if left:
        tell(f"{described(left)}: still ending after {_END_SECONDS:.0f} s; look into its log")
    return 1 if left else 0


def _left(line: Line, stopped: tuple[Ticket, ...]) -> tuple[Ticket, ...]:
    """Wait until interrupted pilots are gone; gives those that are not."""
    deadline = time.monotonic() + _END_SECONDS
    while left := tuple(each for each in line.living() if each in stopped):
        if time.monotonic() > deadline:
            return left
        time.sleep(_POLL_SECONDS)
    return ()
