"""`runner replay`."""

import json
from collections.abc import Iterator
from pathlib import Path

import click

from runner.cli.names import ATTEMPT
from runner.cli.privilege import need_keeper
from runner.cli.telling import tell
from runner.freezer import load_frozen
from runner.naming import name_of
from runner.pilot import store_of
from runner.replay import Replayed
from runner.replay import replay as run_again
from runner.settings import host_settings
from sandbox.git import scratch_repository


@click.command()
@click.argument("attempt", metavar="ATTEMPT", type=ATTEMPT)
@click.option("--json", "as_json", is_flag=True, help="One JSON line.")
@click.pass_obj
def replay(config: Path | None, attempt: str, as_json: bool) -> int:  # noqa: FBT001 - click passes flags by name
    """Run an attempt's agent again, against what was recorded of it in its provider's place.

    ATTEMPT is candidate/nomination/attempt-N, which means its last try, or candidate/nomination/attempt-N/try-K. No
    provider is asked, no key is needed, and nothing is written into the store. It ends with 0 if the agent asked the
    same and reached the same tree, with 1 if not, and with 3 if the evidence is broken.
    """
    settings = host_settings(config)
    need_keeper()
    with scratch_repository() as scratch:
        frozen = load_frozen(settings, scratch=scratch)
        replayed = run_again(settings, frozen, store_of(frozen), attempt, tell)
    for line in _json(replayed) if as_json else _lines(replayed):
        click.echo(line)
    return 0 if replayed.is_same else 1


def _lines(replayed: Replayed) -> Iterator[str]:
    trial = replayed.trial
    name = name_of(trial)
    for each in replayed.comparisons:
        yield f"{name}: {each.answered} of {each.recorded} recorded answers were asked for again"
    yield f"the agent's unit ended: {replayed.ended}"
    yield from (f"note: {note}" for note in replayed.notes)
    if replayed.divergences:
        first, *others = replayed.divergences
        yield f"first divergence: {first}"
        yield from (f"then: {other}" for other in others)
    else:
        yield "no divergence"
    same = replayed.tree_sha256 == replayed.sealed_sha256
    yield f"tree: {replayed.tree_sha256}, {'as sealed' if same else f'but sealed was {replayed.sealed_sha256}'}"


def _json(replayed: Replayed) -> Iterator[str]:
    trial = replayed.trial
    yield json.dumps(
        {
            "candidate": trial.candidate,
            "nomination": trial.nomination,
            "attempt": trial.attempt,
            "try": trial.try_,
            "recorded": sum(each.recorded for each in replayed.comparisons),
            "answered": sum(each.answered for each in replayed.comparisons),
            "divergences": list(replayed.divergences),
            "ended": replayed.ended,
            "tree_sha256": replayed.tree_sha256,
            "sealed_sha256": replayed.sealed_sha256,
            "notes": list(replayed.notes),
        }
    )
