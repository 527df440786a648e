"""Which kinds of evaluators there are, and how one is built from its table in a nomination."""

from collections.abc import Callable, Mapping
from typing import Final

from evaluators.errors import OptionError
from evaluators.json_match import build_json_match
from evaluators.model import Evaluator, EvaluatorSpec
from evaluators.pytest_sites import build_pytest
from evaluators.review_findings import build_review_findings

Builder = Callable[[EvaluatorSpec, object], Evaluator]

KINDS: Final[Mapping[str, Builder]] = {
    "json-match": build_json_match,
    "pytest": build_pytest,
    "review-findings": build_review_findings,
}


def build(spec: EvaluatorSpec, frozen: object = None) -> Evaluator:
    """Build an evaluator; `frozen` is what its `calibrate` gave at freeze, None where it has none.

    Raises:
        EvaluatorError: its kind is unknown, or its options or files are not what they must be.
    """
    builder = KINDS.get(spec.kind)
    if builder is None:
        raise OptionError(evaluator=spec.id, field="kind", found=repr(spec.kind), expected=", ".join(sorted(KINDS)))
    return builder(spec, frozen)
