"""What can go wrong between the runner and its gateway."""

from runner.errors import RunnerError


class GatewayError(RunnerError):
    """The gateway died, or broke its protocol: a fault of ours, never the candidate's."""
