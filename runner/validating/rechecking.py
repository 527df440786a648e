"""A certificate held against what a freeze finds by itself: whoever may write in the folder may write one.

Every control is judged by a freeze anyway, and must end as the certificate says. Of the cheats some are drawn by lot
and tried again: a certificate that hides that k of n cheats score is refused with a chance of 1 - (1 - k/n) ** LOT, or
more.
"""

import random
from collections.abc import Iterator
from decimal import Decimal

from evaluators.model import Bench, Evaluator, Submission
from runner.documents.certificate import Certificate, ProvenVerdict
from runner.documents.controls import ControlsRecord, ControlVerdict
from runner.errors import ControlError
from runner.nomination import Nomination
from runner.release import PreparedNomination
from runner.validating.certificates import CERTIFICATE
from runner.validating.cheats import cheats
from runner.validating.judging import gains
from runner.validating.target import target_of
from sandbox.spec import ObjectId

LOT = 2
"""Cheats of a nomination that a freeze tries again."""


def contradicted(nomination: Nomination, certificate: Certificate, record: ControlsRecord) -> Iterator[ControlError]:
    """Yield what a certificate says of a control and a freeze does not find."""
    proven = {
        (control.name, verdict.evaluator): verdict for control in certificate.controls for verdict in control.verdicts
    }
    for control in record.controls:
        for verdict in control.verdicts:
            known = proven.get((control.name, verdict.id))
            said, found = _said(known, certificate.repeats), _found(verdict)
            if said != found:
                yield _refused(nomination, f"{control.name}, judged by {verdict.id}: {said}", f"{found}, as it is here")


def _said(verdict: ProvenVerdict | None, repeats: int) -> str:
    if verdict is None:
        return "nothing"
    return _words(passed=verdict.passed == repeats, score=verdict.score)


def _found(verdict: ControlVerdict) -> str:
    return _words(passed=verdict.passed, score=verdict.score)


def _words(*, passed: bool, score: str | None) -> str:
    return f"{'passed' if passed else 'not passed'}, score {score or 'none'}"


def retried(
    prepared: PreparedNomination,
    record: ControlsRecord,
    evaluators: tuple[Evaluator, ...],
    base: tuple[ObjectId, ...],
    bench: Bench,
) -> Iterator[ControlError]:
    """Try some cheats again, drawn by lot, and yield those that score.

    Raises:
        SandboxError, EvaluatorError: a fault.
    """
    known = next(each for each in record.controls if each.kind == "base")
    before = {each.id: (each.passed, None if each.score is None else Decimal(each.score)) for each in known.verdicts}
    made = cheats(target_of(prepared))
    for cheat in random.SystemRandom().sample(made, min(LOT, len(made))):
        submission = Submission(
            base=base, change=cheat.changes, tree_digest=prepared.fixture.digest, below=prepared.fixture.pack
        )
        scored = [each.id for each in evaluators if gains(each.judge(submission, bench), *before[each.id])]
        if scored:
            found = f"the cheat '{cheat.name}' scores: {', '.join(scored)}"
            yield _refused(prepared.nomination, found, "a cheat that scores nothing, as the certificate says")


def _refused(nomination: Nomination, found: str, expected: str) -> ControlError:
    return ControlError(
        file=nomination.file,
        field=CERTIFICATE,
        found=found,
        expected=expected,
        mend=f"prove it here: runner validate --nomination {nomination.id}",
    )
