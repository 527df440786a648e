"""The artifacts of the reference system, as far as something follows from them; whatever else they say is let be.

Its data vary: early releases have no hashes, no `outcome`, no times, `task` for `nomination`. What only some artifacts
have may be missing here. Field names are its own.
"""

from collections.abc import Mapping
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError
from pydantic_core import ErrorDetails

from runner.parsing import describe, field_name
from runner.verification.model import Finding

Sha256 = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]
Number = int | float
Entry = dict[str, Any]
"""A candidate or judge as the configuration has it."""
M = TypeVar("M", bound="Foreign")


class Foreign(BaseModel):
    """A part of an artifact: what is named has its type, the rest stays as it came."""

    model_config = ConfigDict(frozen=True, extra="allow", strict=True, defer_build=True)


class ArtifactHash(Foreign):
    """The hash of a file by itself, or of another one."""

    path: str
    sha256: Sha256


class Usage(Foreign):
    """What a runtime reported of its model."""

    reported_cost_usd: Number | None = None


class Times(Foreign):
    """When something began and ended, ISO 8601, and the milliseconds between."""

    started_at: str | None = None
    completed_at: str | None = None
    duration_ms: Number | None = None


class Execution(Times):
    """How a program ended."""

    status: int | None = None
    """Null: by a signal."""
    timed_out: bool = False
    output_limited: bool = False
    usage: Usage | None = None

    @property
    def failed(self) -> bool:
        """Whether it did not end by itself with 0."""
        return self.status != 0 or self.timed_out or self.output_limited


class Metrics(Foreign):
    """benchmark_metrics of a run: the same figures again."""

    duration_ms: Number | None = None
    model_duration_ms: Number | None = None
    public_tests_duration_ms: Number | None = None
    cost_usd: Number | None = None


class Availability(Times):
    """Why a candidate was not there."""

    reason: str | None = None


class Artifacts(Foreign):
    """The files beside a run."""

    candidate_diff: ArtifactHash | None = None
    test_result: ArtifactHash | None = None
    objective_evaluator: ArtifactHash | None = None


class Hashed(Foreign):
    """An artifact with its own hash; early ones have none."""

    schema_version: int | None = None
    artifact_hash: ArtifactHash | None = None


class Run(Hashed, Times):
    """run.json."""

    release: str
    nomination: str | None = None
    task: str | None = None
    """The nomination, in early releases."""
    run_id: str | None = None
    attempt: int | None = None
    candidate: Entry
    benchmark_metrics: Metrics | None = None
    agent: Execution | None
    tests: Execution | None
    outcome: str | None = None
    availability: Availability | None = None
    changed_files: list[str]
    forbidden_changes: list[str] | None = None
    artifacts: Artifacts


class TestResult(Hashed, Execution):
    """test-result.json."""

    __test__ = False  # the name is the reference system's, and no test of pytest's


class Evaluator(Foreign):
    """Which private evaluator it was."""

    id: str
    sha256: Sha256 | None = None


class Objective(Hashed, Times):
    """objective-evaluator.json."""

    evaluator: Evaluator
    status: str
    passed: bool
    execution: Execution | None = None


class Preflight(Hashed, Times):
    """preflight.json of a candidate."""

    candidate: Entry
    status: str
    reason: str | None = None


class Judge(Hashed):
    """judges/<id>.json."""

    judge: Entry
    status: str
    reason: str | None = None
    scores: dict[str, Any] | None = None
    execution: Execution | None = None
    judge_prompt_version: int | None = None
    candidate: str
    nomination: str | None = None
    task: str | None = None
    run_id: str | None = None
    attempt: int | None = None


class ReviewEvidence(Foreign):
    """What a reviewer saw of the results."""

    public_tests_passed: bool | None = None
    objective_evaluator_passed: bool | None = None
    forbidden_changes: int | None = None


class ManualReview(Foreign):
    """manual-reviews/<reviewer>.json: it has no hash."""

    release: str
    candidate: str
    nomination: str
    attempt: int
    scores: dict[str, Any]
    average: Number | None = None
    evidence: ReviewEvidence | None = None


class FrozenEvaluator(Evaluator):
    """The evaluator of a nomination, by its digest."""

    source_sha256: Sha256 | None = None


class Nomination(Foreign):
    """A frozen nomination."""

    id: str
    allowed_changes: list[str]
    objective_evaluator: FrozenEvaluator | None = None


class RetryPolicy(Foreign):
    """Which attempt counts."""

    canonical_attempt: Annotated[int, Field(ge=1)] = 1
    allow_retries: bool = False


class JudgePrompt(Foreign):
    """The prompt of judges, by its digest."""

    version: int | None = None


class Manifest(Foreign):
    """manifest.json, schema version 3."""

    schema_version: int
    release: str
    nominations: list[Nomination]
    candidates: list[Entry]
    judges: list[Entry] = []
    criteria: list[str] = []
    retry_policy: RetryPolicy = RetryPolicy()
    judge_prompt: JudgePrompt | None = None
    config_sha256: Sha256 | None = None
    spec_hash: Sha256


class Aggregate(Foreign):
    """aggregate.json, schema version 2; its rows are compared member by member."""

    schema_version: int
    release: str
    criteria: list[str] = []
    candidates: list[dict[str, Any]]
    generated_at: str | None = None
    reproducibility: dict[str, Any] | None = None


def parsed(model: type[M], value: Mapping[str, Any], file: str) -> tuple[M | None, tuple[Finding, ...]]:
    """Turn a JSON table into an artifact; None where it is none, which is found field by field."""
    try:
        return model.model_validate(value), ()
    except ValidationError as error:
        problems = error.errors(include_url=False, include_context=False)
    return None, tuple(_finding(each, file) for each in problems)


def _finding(problem: ErrorDetails, file: str) -> Finding:
    field = field_name(tuple(part for part in problem["loc"] if not isinstance(part, str) or "[" not in part))
    found = "nothing" if problem["type"] == "missing" else describe(problem["input"], field)
    said = problem["msg"].replace("Input should be ", "").removeprefix("Field required") or "this field"
    return Finding(file=f"{file}: {field}", found=found, expected=said)
