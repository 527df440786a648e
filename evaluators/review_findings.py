"""Evaluator `review-findings`: a review of seeded code, judged by where it finds fault. Nothing is run."""

import hashlib
from dataclasses import dataclass
from decimal import Decimal

from evaluators.digests import digest_of
from evaluators.errors import EvaluatorError
from evaluators.json_reading import MOST_BYTES, NotJsonError, read_json
from evaluators.model import Assurance, Bench, Case, EvaluatorSpec, Submission, Verdict, VerdictCause
from evaluators.options import (
    as_values,
    is_relative,
    read_choice,
    read_count,
    read_fraction,
    read_path,
    refuse_unknown,
)
from evaluators.private_files import read_private_file
from evaluators.review_ruling import Matched, Planted, Weights, match, read_findings, score
from evaluators.submitted_files import Absent, read_submitted
from evaluators.text import clean

VERSION = 1
"""Raised when the same review may be judged otherwise."""

_MOST_A_BUG = 5
"""Findings a planted bug that are still a review, where the nomination does not say."""

_OPTIONS = {
    *("file", "key", "tolerance", "fp_penalty", "decoy_penalty", "decoy_weight", "scoring", "pass_threshold", "most"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewFindings:
    """Where bugs and decoys were planted, and where the review must stand."""

    spec: EvaluatorSpec
    file: str
    planted: tuple[Planted, ...]
    key_sha256: str
    weights: Weights
    threshold: Decimal
    most: int

    @property
    def id(self) -> str:
        """Name in the nomination."""
        return self.spec.id

    @property
    def bugs(self) -> tuple[Planted, ...]:
        """What a review should find."""
        return tuple(each for each in self.planted if not each.decoy)

    def digest(self) -> str:
        """SHA-256 over the kind's version, options and the private key."""
        whole = {
            "kind": self.spec.kind,
            "version": VERSION,
            "options": as_values(self.spec.options),
            "key": self.key_sha256,
        }
        return digest_of(whole)

    def expected_cases(self) -> tuple[str, ...]:
        """One case a planted bug."""
        return tuple(each.id for each in self.bugs)

    def judge(self, submission: Submission, bench: Bench) -> Verdict:
        """Judge one submission."""
        del bench
        data = read_submitted(submission, self.file, MOST_BYTES)
        if isinstance(data, Absent):
            return self._nothing(VerdictCause.FAILED, f"{self.file}: {data}")
        try:
            findings = read_findings(read_json(data))
        except NotJsonError as error:
            return self._nothing(VerdictCause.REJECTED, f"{self.file}: {error}")
        if findings is None:
            return self._nothing(VerdictCause.REJECTED, f"{self.file}: no list of findings")
        if len(findings) > self.most:
            said = f"{self.file}: {len(findings)} findings, of which {self.most} are the most that are still a review"
            return self._nothing(VerdictCause.REJECTED, said)
        return self._ruled(match(findings, self.planted, self.weights.tolerance))

    def _ruled(self, matched: Matched) -> Verdict:
        points = score(matched, len(self.bugs), self.weights)
        cause = VerdictCause.PASSED if points >= self.threshold else VerdictCause.FAILED
        told = f"{len(matched.found)} of {len(self.bugs)} bugs found"
        return _verdict(
            cause,
            tuple(Case(id=each.id, passed=each.id in matched.found, ms=0) for each in self.bugs),
            points,
            f"{told}, {matched.alarms} false alarms, {matched.decoys} decoys taken for bugs",
        )

    def _nothing(self, cause: VerdictCause, detail: str) -> Verdict:
        cases = tuple(Case(id=each.id, passed=False, ms=0) for each in self.bugs)
        return _verdict(cause, cases, Decimal(0), detail)


def _verdict(cause: VerdictCause, cases: tuple[Case, ...], points: Decimal, detail: str) -> Verdict:
    # No submitted code runs at all, so none can reach what judges it.
    return Verdict(cause=cause, assurance=Assurance.SPLIT, cases=cases, score=points, detail=clean(detail))


def build_review_findings(spec: EvaluatorSpec, frozen: object = None) -> ReviewFindings:
    """Read the options and the private key.

    Raises:
        EvaluatorError: they are not what they must be.
    """
    if frozen is not None:
        raise EvaluatorError(f"evaluator {spec.id}: a calibration, which {spec.kind} has none of")
    refuse_unknown(spec, _OPTIONS)
    name = read_path(spec, "key")
    data = read_private_file(spec.folder, name)
    planted = _read_key(data, f"{spec.folder}/{name}")
    bugs = sum(not each.decoy for each in planted)
    penalty = read_fraction(spec, "fp_penalty", "0.25")
    return ReviewFindings(
        spec=spec,
        file=read_path(spec, "file"),
        planted=planted,
        key_sha256=hashlib.sha256(data).hexdigest(),
        weights=Weights(
            scoring=read_choice(spec, "scoring", ("penalty", "f2")),
            tolerance=_tolerance(spec),
            fp_penalty=penalty,
            decoy_penalty=read_fraction(spec, "decoy_penalty", str(penalty)),
            decoy_weight=Decimal(read_count(spec, "decoy_weight", 2) or 2),
        ),
        threshold=read_fraction(spec, "pass_threshold", "1"),
        most=read_count(spec, "most", bugs * _MOST_A_BUG) or bugs * _MOST_A_BUG,
    )


def _tolerance(spec: EvaluatorSpec) -> int:
    told = spec.options.get("tolerance")
    return 0 if type(told) is int and told == 0 else read_count(spec, "tolerance", 3) or 3


def _read_key(data: bytes, file: str) -> tuple[Planted, ...]:
    """Read `{"bugs": [...], "decoys": [...]}`, each item with `id`, `file` and `lines`."""
    try:
        value = read_json(data)
    except NotJsonError as error:
        raise EvaluatorError(f"{file}: {error}") from error
    match value:
        case {"bugs": [_, *_] as bugs, **rest} if not rest.keys() - {"decoys"}:
            decoys = rest.get("decoys", [])
        case _:
            raise EvaluatorError(f"{file}: expected an object with `bugs`, not empty, and perhaps `decoys`")
    if not isinstance(decoys, list):
        raise EvaluatorError(f"{file}: `decoys` is no list")
    planted = tuple(_planted(each, file, decoy=False) for each in bugs)
    planted += tuple(_planted(each, file, decoy=True) for each in decoys)
    ids = [each.id for each in planted]
    if len(set(ids)) < len(ids):
        raise EvaluatorError(f"{file}: two of them share an id")
    return planted


def _planted(item: object, file: str, *, decoy: bool) -> Planted:
    match item:
        case {"id": str(name), "file": str(path), "lines": [*lines], **rest} if name and is_relative(path) and not rest:
            return Planted(id=name, file=path, lines=_ranges(lines, f"{file}: {name}"), decoy=decoy)
        case _:
            raise EvaluatorError(f"{file}: expected items with `id`, `file` (a relative path) and `lines`")


def _ranges(lines: list[object], where: str) -> tuple[tuple[int, int], ...]:
    pairs = lines if lines and isinstance(lines[0], list) else [lines]
    ranges = []
    for pair in pairs:
        match pair:
            case [int(first), int(last)] if 0 < first <= last:
                ranges.append((first, last))
            case _:
                raise EvaluatorError(f"{where}: `lines` is [first, last], or a list of such pairs")
    return tuple(ranges)
