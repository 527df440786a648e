"""The documents of a try: what was begun, captured and judged, or why there is nothing to judge."""

from typing import Annotated, ClassVar, Literal

from pydantic import Field, JsonValue

from evaluators.model import Assurance, VerdictCause
from runner.documents.facts import (
    AgentFailure,
    Change,
    End,
    Epoch,
    Facts,
    Origin,
    Phases,
    Size,
    Violation,
    VoidFact,
)
from runner.documents.measurement import SpeedMeasurement
from runner.documents.model import DecimalText, Document, Identifier, Milliseconds, Sha256, Shape
from runner.documents.proof import HostProofs
from runner.documents.seal import Trial
from runner.outcome import Outcome


class Begun(Document):
    """begun.json: a try was started. What is never sealed after it was lost with its runner."""

    SCHEMA_NAME: ClassVar[str] = "begun"

    schema_: Literal["cleanroom/begun/1"] = Field(default="cleanroom/begun/1", alias="schema")
    trial: Trial
    runner: str
    started_ms: Epoch


class Submission(Document):
    """submission.json: what the candidate left behind, how its run ended, and what it took."""

    SCHEMA_NAME: ClassVar[str] = "submission"

    schema_: Literal["cleanroom/submission/1"] = Field(default="cleanroom/submission/1", alias="schema")
    trial: Trial
    origin: Origin
    base_sha256: Sha256
    """Tree digest of the frozen base."""
    tree_sha256: Sha256
    """Tree digest of base + patch, proven at capture."""
    patch_sha256: Sha256
    """Of candidate.diff."""
    failure: AgentFailure | None = None
    """How the agent failed by itself; null where it did not."""
    void: VoidFact | None = None
    """Why the try says nothing, although something was captured; null where it does."""
    started_ms: Epoch
    ended_ms: Epoch
    phases: Phases


class Tree(Document):
    """tree.json: the captured tree as its difference to the frozen base."""

    SCHEMA_NAME: ClassVar[str] = "tree"

    schema_: Literal["cleanroom/tree/1"] = Field(default="cleanroom/tree/1", alias="schema")
    base_sha256: Sha256
    tree_sha256: Sha256
    changes: tuple[Change, ...]
    """Sorted by path bytes."""


class UnitEnd(Document):
    """termination.json: how the candidate's unit ended."""

    SCHEMA_NAME: ClassVar[str] = "termination"

    schema_: Literal["cleanroom/termination/1"] = Field(default="cleanroom/termination/1", alias="schema")
    end: End
    stdout_bytes: Size | None = None
    """How much it printed."""
    stderr_bytes: Size | None = None
    """How much it printed there."""


class Walls(Document):
    """launcher.json: what the launcher saw from inside each unit before the program started."""

    SCHEMA_NAME: ClassVar[str] = "launcher"

    schema_: Literal["cleanroom/launcher/1"] = Field(default="cleanroom/launcher/1", alias="schema")
    units: dict[str, dict[str, JsonValue]]
    """Each unit's report, by what the unit was for."""


class Host(Document):
    """host.json: the machine that the try ran on."""

    SCHEMA_NAME: ClassVar[str] = "host"

    schema_: Literal["cleanroom/host/1"] = Field(default="cleanroom/host/1", alias="schema")
    kernel: str
    systemd: str
    manager: str
    """`system`: the machine's own systemd. `private`: one booted for the keeper."""
    cgroups: str
    """`v2`, or `hybrid` where v1 has the controllers."""
    layers: str
    """How a frozen tree gets an account: `idmap`, `idmap-loop` or `copy`."""
    image: str
    """What bounds a workspace: `loop` or `tmpfs`."""
    proofs: HostProofs
    """That this machine's walls hold: no try without."""


class Policy(Document):
    """policy.json: every breach of the nomination's policy by the submission."""

    SCHEMA_NAME: ClassVar[str] = "policy"

    schema_: Literal["cleanroom/policy/1"] = Field(default="cleanroom/policy/1", alias="schema")
    tree_sha256: Sha256
    violations: tuple[Violation, ...]
    """Empty where it is kept."""


class PublicTests(Document):
    """public-tests.json: how the public test command ended on base + patch."""

    SCHEMA_NAME: ClassVar[str] = "public-tests"

    schema_: Literal["cleanroom/public-tests/1"] = Field(default="cleanroom/public-tests/1", alias="schema")
    tree_sha256: Sha256
    passed: bool
    end: End
    """How their unit ended."""
    stdout_sha256: Sha256
    """What the tests printed is kept privately, below logs/."""
    stderr_sha256: Sha256
    """As above."""


class CaseResult(Shape):
    """One expected case of an evaluator."""

    id: str
    passed: bool
    detail: str = ""
    ms: Milliseconds | None = None


class Ruling(Document):
    """evaluators/<id>.json: one evaluator's verdict."""

    SCHEMA_NAME: ClassVar[str] = "verdict"

    schema_: Literal["cleanroom/verdict/1"] = Field(default="cleanroom/verdict/1", alias="schema")
    id: Identifier
    evaluator_sha256: Sha256
    """Code, private files, options and calibration."""
    tree_sha256: Sha256
    passed: bool
    cause: VerdictCause
    assurance: Assurance
    score: DecimalText | None
    cases: tuple[CaseResult, ...]
    """One an expected case."""
    detail: str
    duration_ms: Milliseconds
    """From its start to the verdict."""
    measurement: SpeedMeasurement | None = None
    """What a verdict about speed rests on."""
    log_sha256: Sha256
    """What the units printed is kept privately, below logs/."""


class ShotResult(Shape):
    """What one shot of a single-shot attempt came to, graded by itself."""

    number: Annotated[int, Field(ge=1, le=2)]
    """The second was told what the public tests of the first printed."""
    tree_sha256: Sha256
    facts: Facts
    outcome: Outcome
    reason: str
    solved: bool
    score: DecimalText | None


class Grading(Document):
    """grading.json: one run of policy, public tests and evaluators over a submission, and the outcome."""

    SCHEMA_NAME: ClassVar[str] = "grading"

    schema_: Literal["cleanroom/grading/1"] = Field(default="cleanroom/grading/1", alias="schema")
    id: Identifier
    trial: Trial
    origin: Origin
    submission_sha256: Sha256
    """Digest of the sealed submission."""
    tree_sha256: Sha256
    evaluators: dict[Identifier, Sha256]
    """Every evaluator of the nomination, with its digest; also those that gave no verdict."""
    facts: Facts
    """All that the outcome follows from."""
    outcome: Outcome
    reason: str
    solved: bool
    score: DecimalText | None
    shots: tuple[ShotResult, ...] = ()
    """Of a single-shot attempt whose grading came to its end; the last is what the fields above say."""
    started_ms: Epoch
    ended_ms: Epoch
    phases: Phases


class Void(Document):
    """void.json: a try that ended without a submission."""

    SCHEMA_NAME: ClassVar[str] = "void"

    schema_: Literal["cleanroom/void/1"] = Field(default="cleanroom/void/1", alias="schema")
    trial: Trial
    origin: Origin
    facts: Facts
    """With `void` or `unavailable`, or both."""
    outcome: Outcome
    reason: str
    started_ms: Epoch
    ended_ms: Epoch | None
    """Null where the runner was killed."""
    phases: Phases
