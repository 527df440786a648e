"""What is known of a nomination's own changes, and whether its evaluators say so. Pure."""

from collections import Counter
from collections.abc import Iterator, Mapping
from decimal import Decimal

from evaluators.model import Verdict
from runner.documents.certificate import Certificate, ProvenControl, ProvenVerdict

_ALWAYS = ("base", "solution", "unrelated")
"""Controls that every nomination has, one of each."""

_SURROUNDINGS = 3
"""Time zones, and locales, that a nomination must be tried under."""

_REFUSED = frozenset({"base", "unrelated", "wrong", "half"})


def problems(certificate: Certificate) -> Iterator[str]:
    """Say in a sentence each why a nomination is not proven; nothing where it is."""
    controls = certificate.controls
    yield from _missing(certificate)
    if not any(each.kind == "wrong" for each in controls):
        yield "no wrong repair is there to be refused: add wrong/<name>.patch"
    for control in controls:
        yield from _problems(control, certificate.repeats, _scores(controls, "base"))
    if certificate.flakes:
        yield f"{certificate.flakes} of {certificate.gradings} verdicts changed from round to round"
    yield from certificate.leaks
    for exploit in certificate.scored:
        said = ", ".join(f"{name} {cause.value}" for name, cause in exploit.causes.items())
        yield f"the cheat '{exploit.name}' scores ({said})"


def gains(verdict: Verdict, base_passed: bool, base_score: Decimal | None) -> bool:  # noqa: FBT001 - of the base
    """Whether a verdict is worth more than the base's."""
    return (verdict.passed and not base_passed) or (verdict.score or Decimal(0)) > (base_score or Decimal(0))


def _missing(certificate: Certificate) -> Iterator[str]:
    """Say what a certificate does not speak of, and one that `runner validate` made does."""
    kinds = Counter(str(each.kind) for each in certificate.controls)
    yield from (f"not one trial of {kind}" for kind in _ALWAYS if kinds[kind] != 1)
    for control in certificate.controls:
        if sorted(each.evaluator for each in control.verdicts) != sorted(certificate.evaluators):
            yield f"{control.name} was not judged once by each evaluator"
    for what in ("TZ", "LC_ALL"):
        if len({each.get(what) for each in certificate.surroundings}) < _SURROUNDINGS:
            yield f"fewer than {_SURROUNDINGS} values of {what} in its rounds"
    if not certificate.exploits:
        yield "no cheat was tried"


def _problems(control: ProvenControl, repeats: int, base: Mapping[str, Decimal]) -> Iterator[str]:
    failed = [each.evaluator for each in control.verdicts if each.passed < repeats]
    if control.kind in _REFUSED:
        yield from _not_refused(control)
    elif failed:
        yield f"{control.name} fails {', '.join(failed)}"
    if control.kind == "half":
        yield from _not_between(control, base)
    if control.kind == "unrelated":
        yield from _moved(control, base)


def _not_refused(control: ProvenControl) -> Iterator[str]:
    if all(each.passed for each in control.verdicts):
        yield f"{control.name} passes every evaluator"
    elif control.kind == "wrong" and not any(map(_says_why, control.verdicts)):
        yield f"{control.name} fails, and neither a case nor a score says why"


def _says_why(verdict: ProvenVerdict) -> bool:
    return bool(verdict.failed_cases) or (verdict.score is not None and Decimal(verdict.score) < 1)


def _moved(control: ProvenControl, base: Mapping[str, Decimal]) -> Iterator[str]:
    for each in control.verdicts:
        if each.score is not None and Decimal(each.score) != base.get(each.evaluator):
            yield f"a change that has nothing to do with it moves the score of {each.evaluator} to {each.score}"


def _not_between(control: ProvenControl, base: Mapping[str, Decimal]) -> Iterator[str]:
    scores = {each.evaluator: Decimal(each.score) for each in control.verdicts if each.score is not None}
    if not any(base.get(name, Decimal(0)) < score < 1 for name, score in scores.items()):
        told = ", ".join(f"{name} {score}" for name, score in scores.items()) or "nothing"
        yield f"{control.name} does not score between the base and 1: {told}"


def _scores(controls: tuple[ProvenControl, ...], kind: str) -> dict[str, Decimal]:
    return {
        each.evaluator: Decimal(each.score)
        for control in controls
        if control.kind == kind
        for each in control.verdicts
        if each.score is not None
    }
