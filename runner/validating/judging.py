"""What is known of a nomination's own changes, and whether its evaluators say so. Pure."""

from collections.abc import Iterator, Mapping
from decimal import Decimal

from runner.documents.certificate import Certificate, ProvenControl

_REFUSED = frozenset({"base", "unrelated", "wrong", "half"})


def problems(certificate: Certificate) -> Iterator[str]:
    """Say in a sentence each why a nomination is not proven; nothing where it is."""
    controls = certificate.controls
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


def _problems(control: ProvenControl, repeats: int, base: Mapping[str, Decimal]) -> Iterator[str]:
    passed = [each for each in control.verdicts if each.passed]
    failed = [each.evaluator for each in control.verdicts if each.passed < repeats]
    if control.kind in _REFUSED:
        if len(passed) == len(control.verdicts):
            yield f"{control.name} passes every evaluator"
        elif control.kind == "wrong" and not any(each.failed_cases for each in control.verdicts):
            yield f"{control.name} fails, and no case says why"
    elif failed:
        yield f"{control.name} fails {', '.join(failed)}"
    if control.kind == "half":
        yield from _not_between(control, base)
    if control.kind == "unrelated":
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
