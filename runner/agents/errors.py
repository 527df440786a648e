"""What can go wrong on our side while an agent is prepared."""

from runner.errors import RunnerError


class AgentTaskError(RunnerError):
    """A task lacks what the agent chosen for it needs: a fault, or a release that was not linted."""
