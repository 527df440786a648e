"""Norms against what they follow from: the two trees, what ruff said, the rules. They bind no outcome."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction

from evaluators.lint_delta import delta, read
from evaluators.norm_counts import Asked, counted
from evaluators.norm_scale import COUNTS, VERSION, Norm, NormId, score_of
from evaluators.norms import NOTHING_CHANGED
from evaluators.two_trees import FileChange, file_changes
from runner.documents.evidence import Grading
from runner.documents.norms import NormFact, Norms, NormsShort
from runner.documents.writing import decimal_text
from runner.errors import SealBrokenError
from runner.kept import LOGS, NORMS
from runner.norms import asked, fact
from runner.verification.model import Finding, Opened, Rebuilt, Scope, differ, nomination_of


def check_norms(opened: Opened, grading: Grading, rebuilt: Rebuilt | None, scope: Scope) -> Iterator[Finding]:
    """Find what does not follow about the norms of a grading; `rebuilt` is None where its tree is not at hand."""
    found = opened.documents.get(NORMS)
    file = opened.file(NORMS)
    wanted = scope.manifest.norms is not None and grading.facts.void is None
    if not isinstance(found, Norms):
        if wanted and NORMS not in opened.sealed.files:
            yield Finding(file=file, found="no norms", expected="norms, which the release measures")
        return
    if scope.manifest.norms is None:
        yield Finding(file=file, found="norms", expected="none: the release does not measure them")
        return
    yield from differ(file, "version", found.version, scope.manifest.norms.version)
    yield from differ(file, "tree_sha256", found.tree_sha256, grading.tree_sha256)
    yield from _check_rules(file, found)
    yield from _check_lint(opened, found)
    if rebuilt is not None and found.version == VERSION:
        nomination = nomination_of(scope, grading.trial)
        changes = file_changes(rebuilt.changes, rebuilt.content, rebuilt.base)
        yield from _check_counts(file, found, changes, asked(nomination.spec, nomination.solution_lines))


def check_short(file: str, place: str, found: NormsShort | None) -> Iterator[Finding]:
    """Find that a score does not follow from its penalties."""
    if found is not None:
        score = score_of((name, None if each is None else Fraction(each)) for name, each in found.penalties.items())
        yield from differ(file, f"{place}.score", found.score, None if score is None else decimal_text(score))


def _check_rules(file: str, found: Norms) -> Iterator[Finding]:
    """Weights are the version's, penalties follow from counts, and the score from penalties."""
    names = [each.id for each in found.norms]
    yield from differ(file, "norms", names, [] if found.reason else list(NormId))
    for each in found.norms:
        known = Norm(id=each.id, counts=each.counts, reason=each.reason, found=each.found)
        if not each.reason and set(each.counts) != set(COUNTS[each.id]):
            found_counts, expected = ", ".join(sorted(each.counts)) or "no counts", ", ".join(COUNTS[each.id])
            yield Finding(file=f"{file}: {each.id}", found=found_counts, expected=expected)
        else:
            yield from differ(file, f"norms[{each.id}]", each, fact(known))
    short = NormsShort(score=found.score, penalties={each.id: each.penalty for each in found.norms})
    yield from check_short(file, "norms", short)


def _check_lint(opened: Opened, found: Norms) -> Iterator[Finding]:
    """Derive the lint norm again from what ruff said."""
    each = next((norm for norm in found.norms if norm.id is NormId.LINT), None)
    if each is None or found.lint_log_sha256 is None:
        return
    try:
        told = read(opened.sealed.bytes(f"{LOGS}/{found.lint_log_sha256}"))
    except SealBrokenError:
        yield Finding(file=opened.file(NORMS), found="no log of ruff's", expected="what it said, below logs/")
        return
    # Whether the unit was ended by what it looked at is told by nothing but the norm itself.
    broke = told.submission is None and not each.reason
    again = delta(replace(told, broke=broke))
    yield from differ(opened.file(NORMS), "norms[lint]", each, fact(again))


def _check_counts(file: str, found: Norms, changes: Sequence[FileChange], rules: Asked) -> Iterator[Finding]:
    """Count again in the two trees."""
    yield from differ(file, "reason", found.reason, "" if changes else NOTHING_CHANGED)
    said: dict[NormId, NormFact] = {each.id: each for each in found.norms}
    for norm in counted(changes, rules):
        if changes and norm.id in said:
            yield from differ(file, f"norms[{norm.id}]", said[norm.id], fact(norm))
    lint = said.get(NormId.LINT)
    asks = any(each.is_python for each in changes)
    if lint is not None and asks and not lint.reason and found.lint_log_sha256 is None:
        yield Finding(file=file, found="a lint norm without a log", expected="what ruff said, or a reason")
