"""How large the reference solutions of a release are."""

from collections.abc import Iterator
from dataclasses import dataclass

from evaluators.two_trees import size_of
from runner.inputs import load_inputs
from runner.norms import solution_changes
from runner.preparing import open_workbench, prepare_nomination
from runner.selection import select
from runner.settings import Settings


@dataclass(frozen=True, slots=True, kw_only=True)
class SolutionSize:
    """A solution in numbers, counted from the two trees."""

    nomination: str
    files: int
    """All that it changes."""
    added: int
    """Lines of texts that only the solved tree has."""
    removed: int
    """Lines of texts that only the base has."""
    no_text: int
    """Changed files whose lines cannot be counted."""

    @property
    def lines(self) -> int:
        """What norms compare with."""
        return self.added + self.removed


def solution_sizes(settings: Settings, wanted: tuple[str, ...]) -> Iterator[SolutionSize]:
    """Measure the solutions of a configuration's nominations, in its order.

    Raises:
        UsageError, DocumentErrors: a name means nothing, or inputs are broken.
        SupplyError: a pinned file is not here and cannot be fetched.
    """
    inputs = load_inputs(settings)
    workbench = open_workbench(inputs.places, settings)
    for name in select(inputs.config.nomination_ids, wanted, lambda name: (name,), "nomination"):
        prepared = prepare_nomination(inputs.nomination(name), workbench)
        changes = solution_changes(prepared.fixture, prepared.solution)
        added, removed = size_of(changes)
        yield SolutionSize(
            nomination=name,
            files=len(changes),
            added=added,
            removed=removed,
            no_text=sum(not each.is_text for each in changes),
        )
