"""The frozen plan of a release: every input by digest, every attempt in order; final from the start."""

from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field, model_validator

from runner.config import Analysis, ReleaseLimits, RetryPolicy
from runner.documents.model import Document, Identifier, Integrity, Sha256, Shape
from runner.documents.nomination import NominationSpec
from runner.fields import Line, refusal
from runner.judges import CriterionEntry, Judging
from runner.roster import Candidate, Judge, ReleaseBudget, Route

Count = Annotated[int, Field(ge=0)]
Ordinal = Annotated[int, Field(ge=1, le=9999)]


class FrozenFile(Shape):
    """One file by what it holds. Names of private files are not told."""

    path: str
    """Below the folder it belongs to."""
    sha256: Sha256
    executable: bool = False


class FrozenFolder(Shape):
    """A folder the configuration names: a scripted route's scenarios, a candidate's patches."""

    owner: Identifier
    """Id of the route or candidate."""
    use: Literal["scenarios", "patches"]
    """What the folder is for."""
    files: tuple[FrozenFile, ...]
    """Everything in it."""


class Download(Shape):
    """One file from the package index that an input is made from."""

    name: str
    version: str
    sha256: Sha256


class LockedPackage(Shape):
    """One package of a toolchain; any one of the digests will do."""

    name: str
    version: str
    sha256: tuple[Sha256, ...] = ()
    """Digests of the files that may be installed; none of an npm package's."""
    integrity: Integrity | None = None
    """Of an npm package's file."""


class FrozenToolchain(Shape):
    """What a toolchain is built from. What was built of it is in each attempt."""

    kind: Literal["python", "node"] = "python"
    """What runs programs."""
    lock_sha256: Sha256
    """Of the requirements file; with Node, over its version and integrity and the lock file's digest."""
    packages: tuple[LockedPackage, ...]
    """What it locks."""


class FrozenEvaluator(Shape):
    """An evaluator and what its verdicts depend on. Its cases' ids are private (see documents.controls)."""

    id: Identifier
    kind: Identifier
    sha256: Sha256
    """Over code, private files, options and expected cases."""
    cases: Count | None
    """How many cases it will report; null where it was not calibrated (no controls)."""
    cases_sha256: Sha256 | None
    """Over the canonical list of their ids."""


class FrozenNomination(Shape):
    """A nomination and every input of it by digest."""

    id: Identifier
    spec: NominationSpec
    """The nomination's own document."""
    nomination_sha256: Sha256
    """Over the document and all files that can change a result."""
    prompt_sha256: Sha256
    """Of prompt.md."""
    told_sha256: Sha256 | None = None
    """Of a single-shot candidate's whole first message: prompt, target files and the form of an answer. Null in mode
    agentic."""
    fixture_sha256: Sha256
    """Tree digest of the base: source, `public/` laid over it."""
    public: tuple[FrozenFile, ...]
    """Files of `public/`."""
    private_sha256: Sha256
    """Over the names and digests of `private/`."""
    solution_sha256: Sha256
    """Tree digest of base + solution."""
    solution_lines: Count | None = None
    """Lines that the solution adds and removes, for norms; null where none are measured."""
    toolchain: FrozenToolchain | None
    """Null: the standard library alone."""
    downloads: tuple[Download, ...]
    """What its fixture and solution are made from."""
    evaluators: tuple[FrozenEvaluator, ...]
    """Hidden checks, in order."""
    validation: Sha256 | None
    """Digest of the record of its controls; null where they were not run."""
    certificate: Sha256 | None = None
    """Digest of the certificate that proves it; null: it was frozen unproven."""


class FrozenNorms(Shape):
    """What norms are measured by."""

    version: Annotated[int, Field(ge=1)]
    """Of weights and rules."""
    tools: FrozenToolchain
    """What ruff is built from."""


class PlannedAttempt(Shape):
    """One cell of the plan."""

    candidate: Identifier
    nomination: Identifier
    attempt: Ordinal


class Probe(Shape):
    """The question that shows whether a model is there, and the answer that counts."""

    prompt: Line = "Reply with exactly: hi"
    """What is asked."""
    answer: Line = "hi"
    """What must come back, but for case, blanks and punctuation."""


class Manifest(Document):
    """releases/<id>/manifest.json. No clock, no host facts: the same inputs give the same bytes."""

    SCHEMA_NAME: ClassVar[str] = "manifest"

    schema_: Literal["cleanroom/manifest/1"] = Field(default="cleanroom/manifest/1", alias="schema")
    release: Identifier
    supersedes: Identifier | None
    """The release that this one replaces."""
    configuration_sha256: Sha256
    """Over the frozen part of the release configuration; host settings are none of it."""
    candidates: tuple[Candidate, ...]
    """The full roster, retired ones included."""
    nominations: tuple[FrozenNomination, ...]
    """Every task with its inputs."""
    judges: tuple[Judge, ...]
    """Who reviews sealed submissions."""
    judging: Judging
    """What is asked of them, how often, and when an answer counts."""
    judge_prompts: tuple[FrozenFile, ...]
    """What judges are told."""
    criteria: tuple[CriterionEntry, ...]
    """What judges give points for."""
    routes: tuple[Route, ...]
    """With the name of the variable that holds a key, never a key."""
    folders: tuple[FrozenFolder, ...]
    """Folders that the configuration names."""
    limits: ReleaseLimits
    """Ceilings of every unit, phase by phase."""
    retry_policy: RetryPolicy
    """Which tries are repeated, and which result counts."""
    budget: ReleaseBudget = ReleaseBudget()
    """What all tries together may spend."""
    analysis: Analysis
    """What is settled about the statistics beforehand."""
    norms: FrozenNorms | None = None
    """Null: norms are not measured."""
    probe: Probe
    """The question before the task."""
    attempts: Annotated[int, Field(ge=1)]
    """Of each candidate on each nomination."""
    planned: tuple[PlannedAttempt, ...]
    """In the order of execution."""
    controls: Literal["ran", "not run"]

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        validated = {nomination.validation is not None for nomination in self.nominations}
        if validated != {self.controls == "ran"}:
            raise refusal("a validation for each nomination if, and only if, controls ran", "freeze again")
        return self

    def nomination(self, name: str) -> FrozenNomination:
        """Give a nomination of the release by its id."""
        return next(each for each in self.nominations if each.id == name)

    def candidate(self, name: str) -> Candidate:
        """Give a candidate of the release by its id."""
        return next(each for each in self.candidates if each.id == name)
