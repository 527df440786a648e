"""Which planned attempts have no end yet, and what would bring them to one. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass

from runner.config import RetryPolicy
from runner.errors import UsageError
from runner.schedule import Action, Cell, TryState, next_step

_SHOWN = 10


@dataclass(slots=True, kw_only=True, eq=False)
class UnendedError(UsageError):
    """A release with attempts that are not over is not published."""

    release: str
    attempts: Mapping[Cell, str]
    """With why each is not over."""

    def __str__(self) -> str:
        shown = [f"  {cell}: {why}" for cell, why in self.attempts.items()]
        rest = [f"  and {len(shown) - _SHOWN} more"] if len(shown) > _SHOWN else []
        told = (
            f"release {self.release}: {len(shown)} planned attempts have no end; expected one of each; "
            "run: runner pilot --resume, or publish them as void with --incomplete REASON"
        )
        return "\n".join((told, *shown[:_SHOWN], *rest))


def unended(states: Mapping[Cell, tuple[TryState, ...]], rules: RetryPolicy) -> dict[Cell, str]:
    """Give the attempts for which a pilot would still do something, each with why."""
    steps = (next_step(cell, tries, rules) for cell, tries in states.items())
    return {step.cell: step.why for step in steps if step.action is not Action.SKIP or step.lost is not None}
