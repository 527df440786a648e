"""What a hidden pytest suite does on the solution: its cases, and the twins proven to fail there. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass

from evaluators.channel import Phase, Transcript, passed
from evaluators.errors import EvaluatorError
from evaluators.twins import Disguise, Twin, twinned

FEWEST_TWINS = 2
"""Tests with a proven twin below which a suite cannot show that it was tampered with."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TwinCase:
    """A case a twin is collected as; `of` is the test's case that cannot pass with it, None if not proven."""

    id: str
    of: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ProvenTwin:
    """A twin of which at least one case failed on the solution, every time."""

    twin: Twin
    cases: tuple[TwinCase, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """The frozen expectations of a suite."""

    cases: tuple[str, ...]
    twins: tuple[ProvenTwin, ...]


Case = tuple[str, Twin | None]
"""A case in the words of the sources, and the twin it belongs to."""


def calibrate(rounds: Sequence[tuple[Disguise, Transcript]]) -> Calibration:
    """Take what several differently shuffled runs on the solution agree on.

    Raises:
        EvaluatorError: a test does not pass every time, runs differ, or too few twins fail every time.
    """
    seen = [_collected(disguise, transcript) for disguise, transcript in rounds]
    if not seen or not all(set(cases) == set(seen[0]) for cases in seen):
        raise EvaluatorError("the hidden tests are not the same cases in every run on the solution")
    outcomes = [_outcomes(disguise, transcript) for disguise, transcript in rounds]
    real = tuple(case for case, twin in seen[0] if twin is None)
    failing = [case for case in real if not all(each.get((case, None)) == "passed" for each in outcomes)]
    if failing or not real:
        raise EvaluatorError(f"hidden tests do not pass on the solution: {', '.join(failing) or 'there are none'}")
    twins = tuple(sorted({twin for _, twin in seen[0] if twin is not None}))
    proven = tuple(each for twin in twins if (each := _prove(twin, seen[0], outcomes)) is not None)
    check_enough(len(twinned([each.twin for each in proven])))
    return Calibration(cases=real, twins=proven)


def check_enough(tests_with_twins: int) -> None:
    """Refuse a suite that submitted code could turn green unnoticed.

    Raises:
        EvaluatorError: fewer than two tests have a twin.
    """
    if tests_with_twins < FEWEST_TWINS:
        raise EvaluatorError(
            f"{tests_with_twins} hidden tests have a twin that must fail; in_process needs {FEWEST_TWINS}: "
            "assert equality with literals, or add pairs in private/twins/"
        )


def _collected(disguise: Disguise, transcript: Transcript) -> tuple[Case, ...]:
    if transcript.collected is None or transcript.troubles:
        raise EvaluatorError(f"hidden tests cannot be collected on the solution: {'; '.join(transcript.troubles)}")
    return tuple(disguise.original(case) for case in transcript.collected)


def _outcomes(disguise: Disguise, transcript: Transcript) -> dict[Case, str]:
    """Give `passed` where every phase passed, `failed` where the call itself failed, `other` elsewhere."""
    phases: dict[Case, list[Phase]] = {}
    for phase in transcript.phases:
        phases.setdefault(disguise.original(phase.id), []).append(phase)
    return {case: _outcome(seen) for case, seen in phases.items()}


def _outcome(seen: Sequence[Phase]) -> str:
    if passed(seen):
        return "passed"
    at_work = [phase for phase in seen if phase.when == "call"]
    prepared = bool(seen) and seen[0].when == "setup" and seen[0].outcome == "passed"
    failed = prepared and any(phase.outcome == "failed" for phase in at_work)
    return "failed" if failed else "other"


def _prove(twin: Twin, seen: tuple[Case, ...], outcomes: list[dict[Case, str]]) -> ProvenTwin | None:
    own = "::".join((twin.file, *twin.scope, twin.test))
    tests = [case for case, of in seen if of is None and case.partition("[")[0] == own]
    twins = [case for case, of in seen if of == twin and case.partition("[")[0] == own]
    inherited = [case for case, of in seen if of == twin and case.partition("[")[0] != own]
    if len(tests) != len(twins):
        return None
    cases = [
        TwinCase(id=case, of=test if all(each.get((case, twin)) == "failed" for each in outcomes) else None)
        for case, test in zip(twins, tests, strict=True)
    ]
    if not any(case.of for case in cases):
        return None
    return ProvenTwin(twin=twin, cases=(*cases, *(TwinCase(id=case, of=None) for case in inherited)))


def calibration_document(calibration: Calibration) -> dict[str, object]:
    """Give the calibration as JSON values. It tells hidden tests' ids: keep it private."""
    return {
        "cases": list(calibration.cases),
        "twins": [
            {
                "file": each.twin.file,
                "scope": list(each.twin.scope),
                "test": each.twin.test,
                "site": each.twin.site,
                "variant": each.twin.variant,
                "cases": [{"id": case.id, "of": case.of} for case in each.cases],
            }
            for each in calibration.twins
        ],
    }


def parse_calibration(document: object) -> Calibration:
    """Read a calibration back.

    Raises:
        EvaluatorError: the document is not what `calibration_document` gives.
    """
    match document:
        case {"cases": [*cases], "twins": [*twins], **rest} if not rest:
            return Calibration(cases=tuple(map(_text, cases)), twins=tuple(map(_proven, twins)))
        case _:
            raise EvaluatorError("a calibration has `cases` and `twins`, and nothing else")


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise EvaluatorError(f"a calibration has {value!r} where a text belongs")
    return value


def _proven(value: object) -> ProvenTwin:
    match value:
        case {
            "file": str(file),
            "scope": [*scope],
            "test": str(test),
            "site": int(site),
            "variant": int(variant),
            "cases": [*cases],
            **rest,
        } if not rest:
            twin = Twin(file=file, scope=tuple(map(_text, scope)), test=test, site=site, variant=variant)
            return ProvenTwin(twin=twin, cases=tuple(map(_twin_case, cases)))
        case _:
            raise EvaluatorError("a calibration's twin lacks a field, or has one too many")


def _twin_case(value: object) -> TwinCase:
    match value:
        case {"id": str(case), "of": str() | None as of, **rest} if not rest:
            return TwinCase(id=case, of=of)
        case _:
            raise EvaluatorError("a calibration's twin case has `id` and `of`, and nothing else")
