"""`runner evaluate`."""

import json
from pathlib import Path

import click

from runner.cli.names import ATTEMPT
from runner.cli.privilege import need_keeper
from runner.cli.telling import tell
from runner.freezer import load_frozen
from runner.naming import name_of
from runner.outcome import Outcome
from runner.regrading import Regraded, Ruled, look_again, regrade
from runner.settings import host_settings


@click.command()
@click.argument("attempts", metavar="[ATTEMPT]...", nargs=-1, type=ATTEMPT)
@click.option("--all", "every", is_flag=True, help="Every attempt that left a submission.")
@click.option("--evaluator", "evaluators", multiple=True, metavar="ID", help="Only this one; nothing is written.")
@click.option("--json", "as_json", is_flag=True, help="JSON lines.")
@click.pass_obj
def evaluate(
    config: Path | None, *, attempts: tuple[str, ...], every: bool, evaluators: tuple[str, ...], as_json: bool
) -> int:
    """Grade sealed submissions again, each as a new grading; the release says which one counts.

    ATTEMPT is candidate/nomination/attempt-N, which means its last try, or candidate/nomination/attempt-N/try-K. No
    model is asked and no key is needed. With --evaluator those alone judge, to be looked at: nothing is sealed. It ends
    with 0 if all that was asked is done, whatever the verdicts, and with 1 if a grading ended in a fault.
    """
    if bool(attempts) == every:
        raise click.UsageError("name attempts, or say --all")
    settings = host_settings(config)
    need_keeper()
    frozen = load_frozen(settings)
    if evaluators:
        for ruled in look_again(frozen, attempts, evaluators, tell):
            click.echo(json.dumps(_ruled_facts(ruled)) if as_json else _ruled_line(ruled))
        return 0
    faults = 0
    for regraded in regrade(frozen, attempts, tell):
        faults += regraded.grading.outcome is Outcome.VOID
        click.echo(json.dumps(_facts(regraded)) if as_json else _line(regraded))
    return 1 if faults else 0


def _line(regraded: Regraded) -> str:
    grading = regraded.grading
    counts = "it counts" if regraded.counts else "it does not count: the release counts another one"
    return f"{name_of(regraded.trial)}: {grading.id}: {grading.outcome}: {grading.reason} ({counts})"


def _facts(regraded: Regraded) -> dict[str, object]:
    grading = regraded.grading
    return {
        "attempt": name_of(regraded.trial),
        "grading": grading.id,
        "outcome": grading.outcome.value,
        "solved": grading.solved,
        "score": grading.score,
        "reason": grading.reason,
        "counts": regraded.counts,
    }


def _ruled_line(ruled: Ruled) -> str:
    verdict = ruled.verdict
    return f"{name_of(ruled.trial)}: {ruled.evaluator}: {verdict.cause} ({verdict.assurance}): {verdict.detail}"


def _ruled_facts(ruled: Ruled) -> dict[str, object]:
    verdict = ruled.verdict
    return {
        "attempt": name_of(ruled.trial),
        "evaluator": ruled.evaluator,
        "cause": verdict.cause.value,
        "assurance": verdict.assurance.value,
        "score": None if verdict.score is None else str(verdict.score),
        "cases": [{"id": case.id, "passed": case.passed, "detail": case.detail} for case in verdict.cases],
    }
