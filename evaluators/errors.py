"""What can go wrong on our side while judging. Never a verdict."""


class EvaluatorError(Exception):
    """The evaluator could not be run, or the nomination it belongs to is broken: a fault."""
