"""`runner pilot`."""

import json
import shlex
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from secrets import token_hex

import click

from runner.cli.names import CANDIDATE, NOMINATION
from runner.cli.privilege import need_keeper
from runner.cli.telling import hint, standard_screen, tell
from runner.cli.watch import look
from runner.clock import now_ms
from runner.documents.ticket import Selection
from runner.dry_run import Rehearsal, rehearsal_text, rehearse
from runner.freezer import Frozen, load_frozen
from runner.inputs import Inputs, load_inputs
from runner.pilot import Done, Wanted, has_work, run_pilot, store_of
from runner.running.beating import LIVE_S, PLAIN_S, Beat, beating
from runner.running.detaching import detach_pilot
from runner.running.line import Draft, Line, described
from runner.running.turns import at_once, in_line, until_free
from runner.running.watching import Watch
from runner.running.words import change, live
from runner.settings import Settings, host_settings
from runner.stopping import Signals, heard_signals


@click.command()
@click.option(
    "--candidate", "candidates", multiple=True, type=CANDIDATE, metavar="ID[,ID...]", help="Ids or models to run."
)
@click.option(
    "--nomination", "nominations", multiple=True, type=NOMINATION, metavar="ID[,ID...]", help="Nominations to run."
)
@click.option("--task", "tasks", multiple=True, hidden=True)
@click.option("--attempt", type=click.IntRange(1, 9999), help="Run this attempt number alone.")
@click.option("--resume", is_flag=True, help="Go on where an earlier run ended.")
@click.option("--retry-unavailable", is_flag=True, help="Ask unavailable candidates again, if the release allows it.")
@click.option("--detach", is_flag=True, help="Run on its own, without this terminal; wait in line if need be.")
@click.option("--in-line", "token", hidden=True, help="What a detached pilot is known by.")
@click.option("--log", type=click.Path(path_type=Path), hidden=True, help="Where a detached pilot's words go.")
@click.option("--dry-run", is_flag=True, help="Show what would be run; needs neither root nor systemd.")
@click.option("--json", "as_json", is_flag=True, help="JSON lines.")
@click.pass_obj
def pilot(  # noqa: PLR0913 - one parameter an option
    config: Path | None,
    *,
    candidates: tuple[str, ...],
    nominations: tuple[str, ...],
    tasks: tuple[str, ...],
    attempt: int | None,
    resume: bool,
    retry_unavailable: bool,
    detach: bool,
    token: str | None,
    log: Path | None,
    dry_run: bool,
    as_json: bool,
) -> int:
    """Run the planned attempts of a frozen release, one after another."""
    if tasks:
        click.echo("runner: --task is called --nomination now", err=True)
    wanted = Wanted(
        candidates=candidates,
        nominations=(*nominations, *tasks),
        attempt=attempt,
        resume=resume,
        retry_unavailable=retry_unavailable,
    )
    settings = host_settings(config)
    if dry_run:
        shown = rehearse(load_inputs(settings), settings, wanted)
        click.echo(_json(shown) if as_json else rehearsal_text(shown), nl=False)
        return 0
    need_keeper()
    if detach and has_work(settings, load_frozen(settings), wanted):
        return _detach(settings, wanted, as_json=as_json)
    with heard_signals() as signals:
        try:
            done = _run(settings, wanted, signals) if token is None else _in_line(settings, wanted, token, log, signals)
        except KeyboardInterrupt:
            done = Done(tries=0, gradings=0, voids=0, stopped=True)  # Nothing was begun yet.
    click.echo(json.dumps(asdict(done)) if as_json else _said(done))
    if done.stopped:
        tell(f"to go on: {_command(config, wanted)}")
    else:
        hint("verify", "aggregate", "show ATTEMPT")
    return 1 if done.voids or done.exhausted is not None or done.stopped else 0


def _run(settings: Settings, wanted: Wanted, signals: Signals) -> Done:
    """Run now, or say who is in the way."""
    frozen = load_frozen(settings)
    draft = _draft(frozen.inputs, wanted, token_hex(8), None)
    with _watched(settings, frozen) as told:
        return run_pilot(settings, frozen, wanted, told, partial(at_once, Line(), draft), signals)


def _in_line(settings: Settings, wanted: Wanted, token: str, log: Path | None, signals: Signals) -> Done:
    """Run when everybody who asked before is done."""
    with Line().place(_draft(load_inputs(settings), wanted, token, log)) as place:
        frozen = load_frozen(settings)
        with _watched(settings, frozen) as told:
            turn = partial(in_line, place, told)
            return until_free(partial(run_pilot, settings, frozen, wanted, told, turn, signals), place, told)


@contextmanager
def _watched(settings: Settings, frozen: Frozen) -> Iterator[Callable[[str], None]]:
    """Say beside all else how far the release has come, when it may end and what it cost; gives how to say the rest."""
    watch, line = Watch(store=store_of(frozen), manifest=frozen.manifest), Line()
    with standard_screen(settings.environ) as screen:
        words = partial(_progress, watch, frozen.inputs, line, short=screen.is_live)
        say, every_s = (screen.stand, LIVE_S) if screen.is_live else (screen.tell, PLAIN_S)
        with beating(Beat(look=words, say=say, every_s=every_s)):
            yield screen.tell


def _progress(watch: Watch, inputs: Inputs, line: Line, *, short: bool) -> str:
    progress, pilots, _, at_ms = look(watch, inputs, line)
    return live(progress, at_ms) if short else change(progress, pilots, at_ms)


def _detach(settings: Settings, wanted: Wanted, *, as_json: bool) -> int:
    """Start a pilot on its own."""
    inputs, line = load_inputs(settings), Line()
    apart = detach_pilot(settings, inputs.places.state, inputs.config.release, _options(wanted), line)
    ahead = tuple(each for each in line.living() if each.number < apart.ticket.number)
    if as_json:
        told = {"number": apart.ticket.number, "name": apart.name, "log": str(apart.log), "ahead": len(ahead)}
        click.echo(json.dumps(told))
        return 0
    behind = f"waits in line behind {described(ahead)}" if ahead else "is on its way"
    click.echo(f"{described((apart.ticket,))} {behind}: {apart.name}, log {apart.log}")
    click.echo("see it: runner status --follow; end it: runner stop")
    return 0


def _options(wanted: Wanted) -> tuple[str, ...]:
    """Spell what is wanted as options again."""
    words = [f"--candidate={each}" for each in wanted.candidates]
    words += [f"--nomination={each}" for each in wanted.nominations]
    words += [] if wanted.attempt is None else [f"--attempt={wanted.attempt}"]
    words += ["--resume"] if wanted.resume else []
    words += ["--retry-unavailable"] if wanted.retry_unavailable else []
    return tuple(words)


def _command(config: Path | None, wanted: Wanted) -> str:
    """Give the command that goes on where this one was stopped."""
    known = () if config is None else ("--config", str(config))
    return shlex.join(("runner", *known, "pilot", *_options(replace(wanted, resume=True))))


def _draft(inputs: Inputs, wanted: Wanted, token: str, log: Path | None) -> Draft:
    selection = Selection(candidates=wanted.candidates, nominations=wanted.nominations, attempt=wanted.attempt)
    return Draft(
        token=token,
        release=inputs.config.release,
        store=inputs.places.store,
        selection=selection,
        asked_ms=now_ms(),
        log=log,
    )


def _json(shown: Rehearsal) -> str:
    return "".join(json.dumps(line) + "\n" for line in shown.lines())


def _said(done: Done) -> str:
    if done.is_idle and done.exhausted is None:
        return "nothing was left to do"
    tries = "1 try" if done.tries == 1 else f"{done.tries} tries"
    gradings = "1 further grading" if done.gradings == 1 else f"{done.gradings} further gradings"
    stopped = "" if done.exhausted is None else f"; stopped, for the release's budget is used up: {done.exhausted}"
    stopped += "; stopped, as it was asked to; 'runner pilot --resume' goes on from there" if done.stopped else ""
    return f"{tries}, {gradings}, {done.voids} void{stopped}"
