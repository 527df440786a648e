"""Evaluator `json-match`: a JSON file of the submission against a private one. Nothing is run.

Types count everywhere: true is not 1, and 1 is not 1.0. Expected values are never told, neither in a case nor in a
detail: what is told is where the answer leaves the expected form, by names that the answer itself has.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal

from evaluators.digests import digest_of
from evaluators.errors import EvaluatorError, OptionError
from evaluators.json_reading import MOST_BYTES, NotJsonError, read_json
from evaluators.model import Assurance, Bench, Case, EvaluatorSpec, Submission, Verdict, VerdictCause
from evaluators.options import as_values, read_flag, read_path, refuse_unknown
from evaluators.private_files import read_private_file
from evaluators.submitted_files import Absent, read_submitted
from evaluators.text import clean

VERSION = 1
"""Raised when the same answer may be judged otherwise."""

CASE = "match"

Json = dict[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class JsonMatch:
    """A private JSON value, and where the answer must stand."""

    spec: EvaluatorSpec
    file: str
    expected: object
    expected_sha256: str
    unordered: bool

    @property
    def id(self) -> str:
        """Name in the nomination."""
        return self.spec.id

    def digest(self) -> str:
        """SHA-256 over the kind's version, options and the expected bytes."""
        whole = {
            "kind": self.spec.kind,
            "version": VERSION,
            "options": as_values(self.spec.options),
            "expected": self.expected_sha256,
        }
        return digest_of(whole)

    def expected_cases(self) -> tuple[str, ...]:
        """One case: the whole value."""
        return (CASE,)

    def judge(self, submission: Submission, bench: Bench) -> Verdict:
        """Judge one submission."""
        del bench
        found = read_submitted(submission, self.file, MOST_BYTES)
        if isinstance(found, Absent):
            return _verdict(VerdictCause.FAILED, f"{self.file}: {found}")
        try:
            value = read_json(found)
        except NotJsonError as error:
            return _verdict(VerdictCause.REJECTED, f"{self.file}: {error}")
        place = next(differences(self.expected, value, unordered=self.unordered), None)
        if place is None:
            return _verdict(VerdictCause.PASSED, "the answer is the expected one")
        return _verdict(VerdictCause.FAILED, f"{self.file}: differs at {place or 'the top'}")


def differences(expected: object, found: object, place: str = "", *, unordered: bool) -> Iterator[str]:
    """Give the places, as JSON pointers (RFC 6901) into the found value, at which it is not the expected one."""
    if type(expected) is not type(found):
        yield place
    elif isinstance(expected, dict) and isinstance(found, dict):
        yield from _objects(expected, found, place, unordered=unordered)
    elif isinstance(expected, list) and isinstance(found, list):
        yield from _lists(expected, found, place, unordered=unordered)
    elif expected != found:
        yield place


def _objects(expected: Json, found: Json, place: str, *, unordered: bool) -> Iterator[str]:
    if expected.keys() != found.keys():
        yield place
        return
    for key in found:
        yield from differences(expected[key], found[key], f"{place}/{_escaped(key)}", unordered=unordered)


def _lists(expected: list[object], found: list[object], place: str, *, unordered: bool) -> Iterator[str]:
    if unordered:
        if Counter(map(fingerprint, expected)) != Counter(map(fingerprint, found)):
            yield place
    elif len(expected) != len(found):
        yield place
    else:
        for at, (one, other) in enumerate(zip(expected, found, strict=True)):
            yield from differences(one, other, f"{place}/{at}", unordered=unordered)


def fingerprint(value: object) -> str:
    """Give a text that two values share if, and only if, they are equal with lists taken as unordered."""
    if isinstance(value, dict):
        inside = (f"{json.dumps(key)}:{fingerprint(each)}" for key, each in sorted(value.items()))
        return "{" + ",".join(inside) + "}"
    if isinstance(value, list):
        return "[" + ",".join(sorted(map(fingerprint, value))) + "]"
    return f"{type(value).__name__} {json.dumps(value)}"


def _escaped(key: str) -> str:
    return key.replace("~", "~0").replace("/", "~1")


def _verdict(cause: VerdictCause, detail: str) -> Verdict:
    passed = cause is VerdictCause.PASSED
    said = clean(detail)
    return Verdict(
        cause=cause,
        assurance=Assurance.SPLIT,  # no submitted code runs at all
        cases=(Case(id=CASE, passed=passed, detail="" if passed else said, ms=0),),
        score=Decimal(passed),
        detail=said,
    )


def build_json_match(spec: EvaluatorSpec, frozen: object = None) -> JsonMatch:
    """Read the options and the private file.

    Raises:
        EvaluatorError: they are not what they must be.
    """
    if frozen is not None:
        raise EvaluatorError(f"evaluator {spec.id}: a calibration, which {spec.kind} has none of")
    refuse_unknown(spec, {"file", "expected", "unordered"})
    name = read_path(spec, "expected")
    data = read_private_file(spec.folder, name)
    try:
        expected = read_json(data)
    except NotJsonError as error:
        raise OptionError(
            evaluator=spec.id, field="expected", found=f"{name}: {error}", expected="a JSON file of private/"
        ) from error
    return JsonMatch(
        spec=spec,
        file=read_path(spec, "file"),
        expected=expected,
        expected_sha256=hashlib.sha256(data).hexdigest(),
        unordered=read_flag(spec, "unordered"),
    )
