"""What can go wrong on our side while judging. Never a verdict."""

from dataclasses import dataclass


class EvaluatorError(Exception):
    """The evaluator could not be run, or the nomination it belongs to is broken: a fault."""


@dataclass(slots=True)
class OptionError(EvaluatorError):
    """An evaluator's table in a nomination says what its kind does not understand."""

    evaluator: str
    field: str
    found: str
    expected: str

    def __str__(self) -> str:
        return f"evaluator {self.evaluator}: {self.field}: found {self.found}, expected {self.expected}"


class BaselineError(EvaluatorError):
    """What a candidate is measured against is not right itself: the nomination's fault."""


class NoisyHostError(EvaluatorError):
    """The machine is too noisy for a measurement to tell anything: the host's fault."""
