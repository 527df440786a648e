"""Attempts and tries by the names that people give them."""

import difflib
from collections.abc import Iterator

from runner.documents.manifest import Manifest
from runner.documents.seal import Trial
from runner.errors import UnknownNameError
from runner.reports.aggregate import planned
from runner.store import Store


def named_try(store: Store, manifest: Manifest, wanted: str) -> Trial:
    """Give the try that `candidate/nomination/attempt-N` (its last one) or `.../try-K` names.

    Raises:
        UnknownNameError: none that was begun is called so, with near matches.
    """
    names = dict(_names(store, manifest))
    trial = names.get(wanted.strip("/"))
    if trial is None:
        near = tuple(difflib.get_close_matches(wanted, names, n=3, cutoff=0.5))
        raise UnknownNameError(noun="attempt that was begun", wanted=wanted[:200], near=near, known=len(names))
    return trial


def name_of(trial: Trial) -> str:
    """Give a try's whole name."""
    return f"{trial.candidate}/{trial.nomination}/attempt-{trial.attempt}/try-{trial.try_}"


def _names(store: Store, manifest: Manifest) -> Iterator[tuple[str, Trial]]:
    """Name every try that was begun; an attempt's own name means its last."""
    for cell in planned(manifest):
        name = f"{cell.candidate}/{cell.nomination}/attempt-{cell.attempt}"
        for number in store.numbers(cell):
            trial = store.trial(cell, number)
            yield f"{name}/try-{number}", trial
            yield name, trial
