"""Which kinds of evaluators there are, and how one is built from its table in a nomination."""

from collections.abc import Callable, Mapping
from typing import Final

from evaluators.driven import build_checks, build_command
from evaluators.errors import OptionError
from evaluators.json_match import build_json_match
from evaluators.model import Assurance, Evaluator, EvaluatorSpec
from evaluators.mutation import build_mutation
from evaluators.node_test import build_node_test
from evaluators.pytest_sites import build_pytest
from evaluators.review_findings import build_review_findings
from evaluators.small_kinds import build_compile, build_helm, build_lint, build_rbac
from evaluators.speed_options import Protocol
from evaluators.speedup import build_speedup

Builder = Callable[[EvaluatorSpec, object], Evaluator]

KINDS: Final[Mapping[str, Builder]] = {
    "checks": build_checks,
    "command": build_command,
    "compile": build_compile,
    "helm": build_helm,
    "json-match": build_json_match,
    "mutation": build_mutation,
    "lint": build_lint,
    "node-test": build_node_test,
    "pytest": build_pytest,
    "rbac": build_rbac,
    "review-findings": build_review_findings,
    "speedup": build_speedup,
}


_SPEED: Final[Mapping[str, Assurance]] = {
    Protocol.PAIRED_V1: Assurance.IN_PROCESS,
    Protocol.SELF_REPORTED: Assurance.EXIT_CODE,
}


def assurance_of(spec: EvaluatorSpec) -> Assurance:
    """Say how far submitted code will be from what judges it; every verdict says it too."""
    if spec.kind in {"mutation", "pytest"}:
        return Assurance.IN_PROCESS
    if spec.kind == "speedup":
        return _SPEED.get(str(spec.options.get("protocol")), Assurance.SPLIT)
    by_status = spec.kind in {"command", "compile"} and "argv" in spec.options
    return Assurance.EXIT_CODE if by_status else Assurance.SPLIT


def build(spec: EvaluatorSpec, frozen: object = None) -> Evaluator:
    """Build an evaluator; `frozen` is what its `calibrate` gave at freeze, None where it has none.

    Raises:
        EvaluatorError: its kind is unknown, or its options or files are not what they must be.
    """
    builder = KINDS.get(spec.kind)
    if builder is None:
        raise OptionError(evaluator=spec.id, field="kind", found=repr(spec.kind), expected=", ".join(sorted(KINDS)))
    return builder(spec, frozen)
