"""All that is shown of an attempt, as one value: what the evidence holds, and what of it could not be believed."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from pydantic import JsonValue

from runner.documents.evidence import Grading, Host, Policy, PublicTests, Ruling, UnitEnd
from runner.documents.facts import Facts
from runner.documents.ledger import LedgerLine
from runner.documents.seal import Trial
from runner.documents.telemetry import Preflight, Telemetry
from runner.naming import name_of
from runner.observed import Look
from runner.outcome import Outcome, outcome
from runner.roster import Candidate
from runner.showing.steps import Step

Walls = Mapping[str, Mapping[str, JsonValue]]
"""What the launcher of each unit saw, by what the unit was for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One run of the agent: its requests, and what was said in them."""

    name: str
    """`solution`; of single-shot attempts `shot 1` and `shot 2`."""
    ledger: tuple[LedgerLine, ...] = ()
    steps: tuple[Step, ...] = ()
    source: str = ""
    """Where the steps are from, or why there are none."""
    claimed: bool = False
    """The steps are told by the agent's own stream alone."""
    telemetry: Telemetry | None = None
    end: UnitEnd | None = None
    diff: str | None = None
    """The patch of a first shot that a second followed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Graded:
    """One grading of the submission."""

    grading: Grading
    counts: bool
    policy: Policy | None = None
    tests: PublicTests | None = None
    tests_output: str | None = None
    """What the public tests printed, where they did not pass."""
    rulings: tuple[Ruling, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class OtherTry:
    """Another try of the same attempt, in short."""

    number: int
    outcome: Outcome
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Story:
    """One try of an attempt, as far as its evidence goes."""

    trial: Trial
    candidate: Candidate
    title: str
    """Of the nomination."""
    look: Look
    folder: str
    findings: tuple[str, ...] = ()
    """What is not as it was sealed, or does not follow from the rest: `runner verify` says the same."""
    unfinished: tuple[str, ...] = ()
    started_ms: int | None = None
    ended_ms: int | None = None
    others: tuple[OtherTry, ...] = ()
    preflight: Preflight | None = None
    probes: tuple[LedgerLine, ...] = ()
    runs: tuple[Run, ...] = ()
    diff: str | None = None
    """The patch; bytes that are no UTF-8 as surrogates. Null where there is none, or not the sealed one."""
    findings_of_capture: tuple[str, ...] = ()
    gradings: tuple[Graded, ...] = ()
    walls: Walls = field(default_factory=dict)
    host: Host | None = None

    @property
    def name(self) -> str:
        """Give the name that commands take."""
        return name_of(self.trial)

    @property
    def facts(self) -> Facts:
        """Give the facts that the outcome follows from."""
        return self.look.facts

    @property
    def outcome(self) -> Outcome:
        """Give how it ended."""
        return outcome(self.look.facts)

    @property
    def counted(self) -> Graded | None:
        """Give the grading that counts."""
        return next((each for each in self.gradings if each.counts), None)

    @property
    def steps(self) -> tuple[Step, ...]:
        """Give the steps of all its runs."""
        return tuple(step for run in self.runs for step in run.steps)
