"""Attempts and tries by the names that people give them."""

import difflib
from collections.abc import Iterator

from runner.documents.manifest import Manifest
from runner.documents.seal import Trial
from runner.errors import UnknownNameError, UsageError
from runner.reports.aggregate import planned
from runner.store import Store


def named_try(store: Store, manifest: Manifest, wanted: str) -> Trial:
    """Give the try that `candidate/nomination/attempt-N` (its last one) or `.../try-K` names.

    Where a release plans one attempt of each, `candidate/nomination` will do.

    Raises:
        UnknownNameError: none that was begun is called so, with near matches.
        UsageError: it is planned, and was never begun.
    """
    names = dict(_names(store, manifest))
    trial = names.get(wanted.strip("/"))
    if trial is None:
        _check_begun(manifest, wanted.strip("/"))
        near = tuple(difflib.get_close_matches(wanted, names, n=3, cutoff=0.5))
        raise UnknownNameError(
            noun="attempt that was begun",
            wanted=wanted[:200],
            near=near,
            known=len(names),
            listed="runner list attempts",
        )
    return trial


def name_of(trial: Trial) -> str:
    """Give a try's whole name."""
    return f"{trial.candidate}/{trial.nomination}/attempt-{trial.attempt}/try-{trial.try_}"


def _check_begun(manifest: Manifest, wanted: str) -> None:
    """Tell the command that runs an attempt, if that is planned.

    Raises:
        UsageError: it is, and was never begun.
    """
    for cell in planned(manifest):
        if str(cell) == wanted:
            command = f"runner pilot --resume --candidate {cell.candidate} --nomination {cell.nomination}"
            raise UsageError(f"{wanted} was planned and never begun; run it: {command}")


def _names(store: Store, manifest: Manifest) -> Iterator[tuple[str, Trial]]:
    """Name every try that was begun; an attempt's own name means its last. Where each has one, it needs no number."""
    for cell in planned(manifest):
        name = f"{cell.candidate}/{cell.nomination}/attempt-{cell.attempt}"
        for number in store.numbers(cell):
            trial = store.trial(cell, number)
            yield f"{name}/try-{number}", trial
            yield name, trial
            if manifest.attempts == 1:
                yield f"{cell.candidate}/{cell.nomination}", trial
