"""Norms of a release: what its nominations say that they depend on, and how they are written down. Pure."""

from collections.abc import Iterable, Iterator
from decimal import ROUND_HALF_EVEN, Decimal

from evaluators.model import Submission
from evaluators.norm_counts import Asked
from evaluators.norm_scale import VERSION, WEIGHTS, Norm, as_decimal
from evaluators.norms import Measured
from evaluators.two_trees import FileChange, changes_of, is_test, size_of
from runner.canonical import sha256
from runner.documents.nomination import NominationSpec
from runner.documents.norms import NormFact, Norms, NormsMean, NormsShort
from runner.documents.writing import decimal_text, printable
from runner.fields import is_glob
from runner.fixture import Fixture
from runner.rules import matcher
from runner.solution import Solution

_TEST = "test_it.py"
_PLACES = Decimal("0.0001")


def solution_changes(fixture: Fixture, solution: Solution) -> tuple[FileChange, ...]:
    """Give what a solution makes of each path of its fixture."""
    made = Submission(base=(), change=solution.change, tree_digest=solution.digest, below=fixture.pack)
    return changes_of(made)


def solution_lines(fixture: Fixture, solution: Solution) -> int:
    """Count the lines that a solution adds and removes."""
    return sum(size_of(solution_changes(fixture, solution)))


def asked(spec: NominationSpec, solution_lines: int | None) -> Asked:
    """Give what norms depend on, of a nomination's document and the size of its solution."""
    allowed, denied = matcher(spec.allowed_changes), matcher(spec.policy.deny)
    tests = (path.encode() for path in _tests(spec.allowed_changes))
    return Asked(
        target_files=spec.target_files,
        tests_allowed=any(is_test(path) and allowed(path) and not denied(path) for path in tests),
        solution_lines=solution_lines,
    )


def _tests(rules: Iterable[str]) -> Iterator[str]:
    """Yield paths at which somebody might add a test: each rule itself, or a likely name that it means."""
    for rule in rules:
        if rule.endswith("/"):
            yield from (f"{rule}{_TEST}", f"{rule}tests/{_TEST}")
        elif is_glob(rule):
            for deep in ("tests", "a"):
                spelled = rule.replace("**", deep).replace("*.py", _TEST).replace("*", "test_it")
                yield from (spelled, f"{spelled}/{_TEST}")
        else:
            yield rule


def document(measured: Measured, tree: str) -> Norms:
    """Write norms down."""
    found = measured.norms
    return Norms(
        version=VERSION,
        tree_sha256=tree,
        norms=tuple(map(fact, found.norms)),
        score=None if found.score is None else decimal_text(found.score),
        reason=found.reason,
        lint_log_sha256=sha256(measured.lint_log) if measured.lint_log else None,
    )


def fact(norm: Norm) -> NormFact:
    """Write one norm down."""
    penalty = norm.penalty
    return NormFact(
        id=norm.id,
        weight=decimal_text(as_decimal(WEIGHTS[norm.id])),
        penalty=None if penalty is None else decimal_text(as_decimal(penalty)),
        counts=dict(norm.counts) if penalty is not None else {},
        reason=printable(norm.reason),
        found=tuple(printable(each) for each in norm.found),
    )


def short(norms: Norms) -> NormsShort:
    """Give norms as tables have them."""
    return NormsShort(score=norms.score, penalties={each.id: each.penalty for each in norms.norms})


def mean(norms: Iterable[tuple[bool, NormsShort | None]]) -> NormsMean | None:
    """Sum up the norms of a candidate's attempts, each with whether it was solved; None where none was measured."""
    known = [(solved, Decimal(each.score)) for solved, each in norms if each is not None and each.score is not None]
    if not known:
        return None
    solved = [score for is_solved, score in known if is_solved]
    every = [score for _, score in known]
    return NormsMean(solved=_mean(solved), solved_count=len(solved), counted=_mean(every), counted_count=len(every))


def _mean(scores: list[Decimal]) -> str | None:
    if not scores:
        return None
    return decimal_text((sum(scores, Decimal(0)) / len(scores)).quantize(_PLACES, ROUND_HALF_EVEN))
