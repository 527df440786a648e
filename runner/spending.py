"""Adding up time and money; a sum is unknown as soon as one of its parts is. Pure."""

from collections.abc import Callable, Iterable
from decimal import Decimal

from runner.documents.facts import Phases, Spent
from runner.documents.writing import decimal_text


def add_up(parts: Iterable[Spent]) -> Spent:
    """Give what the parts took together; nothing at all took nothing."""
    whole = tuple(parts)
    costs = [each.cost_usd for each in whole]
    peaks = _known(whole, lambda each: each.memory_peak_bytes)
    return Spent(
        wall_ms=_sum(whole, lambda each: each.wall_ms),
        cpu_ms=_sum(whole, lambda each: each.cpu_ms),
        memory_peak_bytes=max(peaks, default=0) if peaks is not None else None,
        cost_usd=None if None in costs else decimal_text(sum((Decimal(each or 0) for each in costs), Decimal(0))),
    )


def add_up_phases(phases: Phases) -> Spent:
    """Give what the phases that ran took together; unknown where none ran."""
    ran = [getattr(phases, name) for name in Phases.model_fields]
    parts = [each for each in ran if each is not None]
    return add_up(parts) if parts else Spent()


def _sum(parts: tuple[Spent, ...], pick: Callable[[Spent], int | None]) -> int | None:
    known = _known(parts, pick)
    return None if known is None else sum(known)


def _known(parts: tuple[Spent, ...], pick: Callable[[Spent], int | None]) -> list[int] | None:
    values = [pick(each) for each in parts]
    known = [each for each in values if each is not None]
    return known if len(known) == len(values) else None
