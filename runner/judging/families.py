"""No judge sees work of its own family, unless the release says so: whose place a fallback takes, or nobody's. Pure.

A family that is not known counts as everybody's. The same model is the same family, whatever a release calls it.
"""

from collections.abc import Iterable, Mapping

from runner.documents.judging import ControlItem, Item, PairItem, RubricItem, Skipped, SkippedWhy
from runner.judges import Judging
from runner.roster import Candidate, Judge


def is_own(judge: Judge, candidate: Candidate) -> bool:
    """Whether a judge would see work of its own family."""
    if candidate.is_control:
        return False
    if judge.family is None or candidate.family is None:
        return True
    return judge.family.casefold() == candidate.family.casefold() or _model(judge.model) == _model(candidate.model)


def who_answers(
    judge: Judge, item: Item, judging: Judging, judges: Mapping[str, Judge], candidates: Mapping[str, Candidate]
) -> Judge | Skipped:
    """Give the judge that is asked: the planned one, the release's fallback, or none."""
    seen = [candidates[name] for name in contestants(item)]
    if judging.own_family or not _any_own(judge, seen):
        return judge
    fallback = None if judging.fallback is None else judges[judging.fallback]
    if fallback is not None and fallback.id != judge.id and not _any_own(fallback, seen):
        return fallback
    return Skipped(judge=judge.id, item=item, why=SkippedWhy.OWN_FAMILY)


def contestants(item: Item) -> tuple[str, ...]:
    """Name the candidates whose work an asking shows."""
    match item:
        case RubricItem():
            return (item.cell.candidate,)
        case PairItem():
            return (item.first.candidate, item.second.candidate)
        case ControlItem():
            return () if item.cell is None else (item.cell.candidate,)


def _any_own(judge: Judge, candidates: Iterable[Candidate]) -> bool:
    return any(is_own(judge, candidate) for candidate in candidates)


def _model(name: str | None) -> str:
    """Give a model's name without its vendor and its price class."""
    return (name or "").rpartition("/")[2].partition(":")[0].casefold()
