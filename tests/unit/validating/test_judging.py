"""What makes a nomination unproven: each reason is told, and nothing else is one."""

from decimal import Decimal

import pytest

from evaluators.model import Assurance, VerdictCause
from runner.documents.certificate import Certificate, Exploit, ProvenControl, ProvenVerdict
from runner.validating.judging import problems
from runner.validating.rates import upper_bound
from runner.validating.surroundings import variables

ZERO = "0" * 64


def control(kind: str, *, passed: int, score: str | None, cases: tuple[str, ...] = (), name: str = "") -> ProvenControl:
    verdict = ProvenVerdict(
        evaluator="hidden",
        passed=passed,
        causes=(VerdictCause.PASSED if passed else VerdictCause.FAILED,),
        assurance=Assurance.SPLIT,
        score=score,
        failed_cases=cases,
    )
    return ProvenControl(name=name or kind, kind=kind, patch_sha256=None, verdicts=(verdict,))  # type: ignore[arg-type]


GOOD = (
    control("base", passed=0, score="0.25", cases=("a",)),
    control("unrelated", passed=0, score="0.25", cases=("a",)),
    control("solution", passed=3, score="1"),
    control("wrong", passed=0, score="0", cases=("a",)),
    control("half", passed=0, score="0.5", cases=("a",)),
    control("alternative", passed=3, score="1"),
)


def certificate(*controls: ProvenControl, **changes: object) -> Certificate:
    plain: dict[str, object] = {
        "nomination": "clamp",
        "nomination_sha256": ZERO,
        "fixture_sha256": ZERO,
        "solution_sha256": ZERO,
        "evaluators": {"hidden": ZERO},
        "repeats": 3,
        "surroundings": tuple(map(dict, map(variables, range(3)))),
        "controls": controls or GOOD,
        "gradings": 18,
        "flakes": 0,
        "flake_bound": "0.1533",
        "mutants": 4,
        "killed": 3,
        "survivors": ("a.py:3: Lt becomes LtE",),
        "leaks": (),
        "exploits": (Exploit(name="exit 0", scored=False, causes={"hidden": VerdictCause.CRASHED}),),
    }
    return Certificate(**{**plain, **changes})  # type: ignore[arg-type]


def test_a_proven_nomination_has_no_problem() -> None:
    assert list(problems(certificate())) == []


@pytest.mark.parametrize(
    ("place", "other", "told"),
    [
        (0, control("base", passed=1, score="1"), "base passes every evaluator"),
        (1, control("unrelated", passed=0, score="0.5"), "moves the score of hidden to 0.5"),
        (2, control("solution", passed=2, score="1"), "solution fails hidden"),
        (3, control("wrong", passed=1, score="1"), "wrong passes every evaluator"),
        (3, control("wrong", passed=0, score=None), "neither a case nor a score says why"),
        (
            4,
            control("half", passed=0, score="0.25", cases=("a",)),
            "does not score between the base and 1: hidden 0.25",
        ),
        (4, control("half", passed=3, score="1"), "half passes every evaluator"),
        (5, control("alternative", passed=0, score="0"), "alternative fails hidden"),
    ],
)
def test_each_control_that_ends_otherwise_is_told(place: int, other: ProvenControl, told: str) -> None:
    controls = (*GOOD[:place], other, *GOOD[place + 1 :])
    assert any(told in each for each in problems(certificate(*controls)))


def test_flakes_leaks_cheats_and_missing_wrong_repairs_are_told() -> None:
    cheat = Exploit(name="exit 0", scored=True, causes={"hidden": VerdictCause.PASSED})
    found = list(problems(certificate(*GOOD[:3], flakes=1, leaks=("the prompt names x",), exploits=(cheat,))))
    assert found == [
        "no wrong repair is there to be refused: add wrong/<name>.patch",
        "1 of 18 verdicts changed from round to round",
        "the prompt names x",
        "the cheat 'exit 0' scores (hidden passed)",
    ]


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"controls": GOOD[1:]}, "not one trial of base"),
        ({"controls": (*GOOD, GOOD[2])}, "not one trial of solution"),
        ({"controls": (*GOOD[:2], *GOOD[3:])}, "not one trial of solution"),
        (
            {"controls": (*GOOD[:5], GOOD[5].model_copy(update={"verdicts": ()}))},
            "alternative was",
        ),
        ({"evaluators": {"hidden": ZERO, "more": ZERO}}, "solution was not judged once by each evaluator"),
        ({"exploits": ()}, "no cheat was tried"),
        ({"surroundings": ({"TZ": "UTC", "LC_ALL": "C.UTF-8"},) * 3}, "fewer than 3 values of LC_ALL"),
        ({"surroundings": ()}, "fewer than 3 values of TZ"),
    ],
)
def test_a_certificate_that_leaves_something_out_proves_nothing(changes: dict[str, object], told: str) -> None:
    assert any(each.startswith(told) for each in problems(certificate(**changes)))


@pytest.mark.parametrize(
    ("seen", "tries", "bound"),
    [
        (0, 20, "0.1391"),
        (0, 60, "0.0487"),
        (0, 1, "0.95"),
        (1, 20, "0.2161"),
        (5, 20, "0.4556"),
        (3, 3, "1"),
        (0, 0, "1"),
    ],
)
def test_bounds_are_those_of_clopper_and_pearson(seen: int, tries: int, bound: str) -> None:
    """0 of n gives 1 - 0.05 ** (1 / n); the others are quantiles of beta(seen + 1, tries - seen) at 0.95."""
    assert abs(upper_bound(seen, tries) - Decimal(bound)) <= Decimal("0.0001")
