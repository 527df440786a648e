"""The documents of a published release: field names of the reference system where they fit, values by our rules.

Times are milliseconds since 1970, money and scores decimal texts, unknown is null. What is private (words of agents,
models and evaluators, names of hidden cases, what units printed) stands in none of them; digests name where it lies.
"""

from typing import Annotated, ClassVar, Literal

from pydantic import Field, StringConstraints

from evaluators.model import Assurance, VerdictCause
from runner.documents.aggregate import Evidence
from runner.documents.capture import CaptureFinding
from runner.documents.evidence import ShotResult
from runner.documents.facts import Change, Epoch, Facts, Origin, PathText, Phases, Size, Spent
from runner.documents.model import DecimalText, Document, Identifier, Milliseconds, Sha256, Shape
from runner.documents.norms import NormsShort
from runner.documents.seal import Ordinal
from runner.documents.telemetry import ProbeReason, Traffic
from runner.fields import Line
from runner.outcome import Outcome
from runner.roster import Candidate
from sandbox.termination import Cause

Count = Annotated[int, Field(ge=0)]

PublishedPath = Annotated[
    str,
    StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*(/[A-Za-z0-9][A-Za-z0-9._-]*)*$", max_length=200),
]
"""A path below the release's folder, which every tool reads alike."""

RunId = Annotated[str, StringConstraints(max_length=300, pattern=r"^[a-z0-9._-]+:[a-z0-9._-]+:[a-z0-9._-]+$")]
"""`<release>:<candidate>:<nomination>`."""


class PublishedFile(Shape):
    """A file of the same release."""

    path: PublishedPath
    sha256: Sha256


class Execution(Shape):
    """How a unit ended."""

    cause: Cause
    """Why it ended so."""
    status: int | None
    """The exit status; null where it did not exit."""
    signal: int | None
    """The signal's number; null where none ended it."""
    timed_out: bool
    """It outlived its time."""
    output_limited: bool
    """It printed more than it may."""
    duration_ms: Milliseconds
    """From the go to its end."""
    cpu_ms: Milliseconds | None
    memory_peak_bytes: Size | None


class Metrics(Shape):
    """What is shown beside a result. Price and time are of the solution alone."""

    duration_ms: Milliseconds | None
    """From the try's start to its last grading's end, waits included."""
    model_duration_ms: Milliseconds | None
    """The candidate's work."""
    public_tests_duration_ms: Milliseconds | None
    """All runs of the public tests."""
    cost_usd: DecimalText | None
    """As the provider reported it."""
    cost_source: Literal["provider_reported"] | None
    """Null where nothing was reported. Nothing is ever estimated."""
    includes_preflight: Literal[False] = False
    includes_judging: Literal[False] = False


class Artifacts(Shape):
    """The files beside a run.json."""

    public_dir: PublishedPath
    """The attempt's folder."""
    candidate_diff: PublishedFile | None
    """Null where nothing was captured."""
    test_result: PublishedFile | None
    """Null where the public tests did not run."""
    objective_evaluator: PublishedFile | None
    """Null where no evaluator gave a verdict."""
    manual_reviews: tuple[PublishedFile, ...] = ()
    """What people said of the submission."""


class Left(Shape):
    """What a candidate left behind, as its difference to the frozen base."""

    base_sha256: Sha256
    tree_sha256: Sha256
    changes: tuple[Change, ...]
    """Sorted by path bytes."""
    findings: tuple[CaptureFinding, ...]
    """What the capture met and no patch carries."""


class FirstShot(Shape):
    """The first of two shots: its files, and what it left. What it came to stands in `shots`."""

    submission: Left
    artifacts: Artifacts
    tests: Execution | None
    """The public tests that decided about the second shot."""


class Run(Document):
    """run.json: one planned attempt: the try that counts, what it came to, and all that this follows from."""

    SCHEMA_NAME: ClassVar[str] = "run"

    schema_: Literal["cleanroom/run/1"] = Field(default="cleanroom/run/1", alias="schema")
    release: Identifier
    manifest_sha256: Sha256
    run_id: RunId
    nomination: Identifier
    attempt: Ordinal
    tries: Count
    """How many were begun; 0 where the attempt was never run."""
    try_: Ordinal | None = Field(alias="try")
    """Number of the one that counts; null where the attempt was never run."""
    candidate: Candidate
    """As the manifest has it."""
    started_at: Epoch | None
    """When the try began; null where there was none, or nobody knows."""
    completed_at: Epoch | None
    """When its grading, or else the try, ended."""
    duration_ms: Milliseconds | None
    """Between the two."""
    benchmark_metrics: Metrics
    """Time and price, as tables show them."""
    agent: Execution | None
    """The candidate's own unit; null where nothing is known of one. Of two shots, the second's."""
    usage: Traffic | None
    """What the gateway counted of the solution; null without a model, and where nobody could count."""
    tests: Execution | None
    """The public tests; null where they did not run."""
    outcome: Outcome
    reason: str
    """The outcome in a sentence. Nothing in it is quoted from an agent, a model or an evaluator."""
    verdict: Literal["passed", "failed"] | None
    """All evaluators together; null where nothing may be said."""
    solved: bool
    score: DecimalText | None
    void: str | None
    """Why this attempt says nothing: the reason of a void, or the one given for publishing without its end."""
    changed_files: tuple[PathText, ...]
    """Every path that the patch changes."""
    forbidden_changes: tuple[PathText, ...]
    """Those that break the nomination's policy."""
    notes: tuple[str, ...]
    """What has to be said beside every number of this run."""
    artifacts: Artifacts
    """The other files of the attempt, by digest."""
    facts: Facts
    """All that the outcome follows from, without the words of others."""
    origin: Origin | None
    """What made the private evidence; null where there is none."""
    phases: Phases
    """Of the try that counts."""
    norms: NormsShort | None = None
    """How the change is made, where the release asks; in no outcome or score."""
    voids: Spent | None
    """What the tries before it took together; null where there were none."""
    submission: Left | None
    """Null where nothing was captured. Of two shots, the second."""
    shots: tuple[ShotResult, ...]
    """Of a single-shot attempt; the last is what the fields above say."""
    first_shot: FirstShot | None
    """Where there were two."""
    evidence: Evidence
    """Digests of the private folders it was made from."""


class TestResult(Document):
    """test-result.json: how the public tests ended on base + patch."""

    __test__ = False  # no test, whatever pytest thinks

    SCHEMA_NAME: ClassVar[str] = "test-result"

    schema_: Literal["cleanroom/test-result/1"] = Field(default="cleanroom/test-result/1", alias="schema")
    tree_sha256: Sha256
    passed: bool
    execution: Execution
    """Their unit."""
    stdout_sha256: Sha256
    """What they printed is private."""
    stderr_sha256: Sha256
    """As above."""


class EvaluatorName(Shape):
    """Which check it was."""

    id: Identifier
    sha256: Sha256
    """Code, private files, options and calibration."""


class PublishedCase(Shape):
    """One expected case of an evaluator, in its order. Which case it is is private."""

    passed: bool
    ms: Milliseconds | None


class Objective(Shape):
    """What one evaluator said."""

    evaluator: EvaluatorName
    """Which check it was."""
    status: Literal["completed"] = "completed"
    passed: bool
    cause: VerdictCause
    assurance: Assurance
    score: DecimalText | None
    cases: tuple[PublishedCase, ...]
    """One an expected case."""
    duration_ms: Milliseconds
    """From its start to the verdict."""
    verdict_sha256: Sha256
    """The private document with the cases' names and what was said of each."""


class ObjectiveEvaluator(Document):
    """objective-evaluator.json: what the evaluators said of base + patch."""

    SCHEMA_NAME: ClassVar[str] = "objective-evaluator"

    schema_: Literal["cleanroom/objective-evaluator/1"] = Field(
        default="cleanroom/objective-evaluator/1", alias="schema"
    )
    tree_sha256: Sha256
    passed: bool
    """All of them."""
    evaluators: tuple[Objective, ...]
    """In the nomination's order."""


class PublishedAsking(Shape):
    """One asking of the probe's question; the answer's text is private."""

    reason: ProbeReason | None
    """Why the answer does not count; null where it does."""
    duration_ms: Milliseconds
    """The unit's time."""
    usage: Traffic | None
    """What the gateway counted."""


class PublishedProbe(Shape):
    """One probe, and the attempts that stand on it."""

    sha256: Sha256
    """Of the private document."""
    needed: bool
    """False for agents without a model."""
    available: bool
    """Whether the candidate may work."""
    reason: ProbeReason | None
    """Why not."""
    tries: tuple[PublishedAsking, ...]
    """One an asking."""
    attempts: tuple[str, ...]
    """`<nomination>/attempt-<n>`, in planned order."""


class PublishedPreflight(Document):
    """preflight.json: whether a candidate was there, each time it was asked."""

    SCHEMA_NAME: ClassVar[str] = "published-preflight"

    schema_: Literal["cleanroom/published-preflight/1"] = Field(
        default="cleanroom/published-preflight/1", alias="schema"
    )
    release: Identifier
    manifest_sha256: Sha256
    candidate: Candidate
    """As the manifest has it."""
    status: Literal["available", "unavailable", "not_needed", "not_asked"]
    """`available`: at least one of its attempts had an answer before it."""
    probes: tuple[PublishedProbe, ...]
    """In the order of the attempts that stand on them."""


class ChangeLength(Shape):
    """How long a change is."""

    submission_sha256: Sha256
    """Digest of the sealed submission."""
    lines: Count
    """Lines added or removed, as pairs showed them."""


class JudgedLengths(Document):
    """judging/lengths.json: what the summary of judging needs of what judges were shown, which is private."""

    SCHEMA_NAME: ClassVar[str] = "judged-lengths"

    schema_: Literal["cleanroom/judged-lengths/1"] = Field(default="cleanroom/judged-lengths/1", alias="schema")
    release: Identifier
    lengths: tuple[ChangeLength, ...]
    """Sorted by digest."""


class AllowedFinding(Shape):
    """Something that the scan before publication found, and somebody let pass."""

    rule: Identifier
    """The rule that found it."""
    file: PublishedPath
    """Where it stands."""
    field: str
    """The place in the file."""
    sha256: Sha256
    """Of the text that was found."""
    reason: Line
    """Why it may be published."""


class Allowed(Document):
    """allowed.json: every finding that was let pass, with the reason that was given."""

    SCHEMA_NAME: ClassVar[str] = "allowed"

    schema_: Literal["cleanroom/allowed/1"] = Field(default="cleanroom/allowed/1", alias="schema")
    release: Identifier
    entries: tuple[AllowedFinding, ...]
    """Sorted by file, field and rule; empty where nothing was found."""
