"""The release configuration: one JSON file, one release; read strictly and then trusted."""

import difflib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from enum import StrEnum
from pathlib import Path
from typing import Annotated, ClassVar, Literal, Self

from pydantic import Discriminator, Field, Tag, model_validator

from runner.documents.model import Document, Identifier, Shape
from runner.documents.release_log import LOG_FOLDER
from runner.errors import DocumentError, DocumentErrors
from runner.fields import HostPath, Line, RelativePath, refusal
from runner.judges import CriterionEntry, Judging, criterion_id
from runner.parsing import file_name, parse_json, read_file, validate
from runner.roster import Candidate, Judge, ReleaseBudget, Route
from sandbox.spec import GIB, MIB, Limits

MAX_ENTRIES = 1000
Bytes = Annotated[int, Field(ge=4096, le=1024 * GIB)]


REMOVED = {
    "tasks": "rename it to 'nominations'",
    "schema_version": 'write "schema": "cleanroom/release-configuration/1" instead',
    "strict_artifacts": "remove it; evidence is always verified strictly",
    "artifact_schemas": "remove it; every document names its own schema and version",
    "canonical_expert_review": "remove it; reviews are recorded beside a submission, by a later version",
    "retry_policy.allow_retries": "plan more with 'attempts'; repeat voids with 'void_tries'",
    "clean_room.user": "remove it; every unit gets a fresh account from 'clean_room.accounts'",
    "clean_room.home": "remove it; each unit's room is built below 'clean_room.state_dir'",
    "clean_room.workspace": "remove it; a workspace is always /work inside its unit",
    "clean_room.agent_home": "remove it; an agent home is always /home/agent inside its unit",
    "clean_room.reset_script": "remove it; nothing is reset, every unit has a fresh room",
    "clean_room.lock_path": "remove it; the host has one lock, /var/lib/cleanroom/host/lock",
    "clean_room.codex_auth_file": "move it to 'clean_room.login_files', under the key 'codex'",
}
"""Fields of the reference system that are refused, and what replaces each."""


class PhaseLimits(Shape):
    """Ceilings of one unit of a phase; the meaning of each is `sandbox.spec.Limits`'."""

    wall_ms: Annotated[int, Field(ge=100, le=7 * 24 * 3_600_000)] = 900_000
    """Time from the go to the end."""
    memory_bytes: Annotated[int, Field(ge=16 * MIB, le=1024 * GIB)] = 2 * GIB
    """Memory of all its processes together; there is no swap."""
    tasks: Annotated[int, Field(ge=4, le=100_000)] = 256
    """Processes and threads at once."""
    cpu_percent: Annotated[int, Field(ge=1, le=100_000)] = 200
    """Processor time a second; 100 is one core."""
    file_bytes: Bytes = 512 * MIB
    """The largest file that may be written."""
    descriptors: Annotated[int, Field(ge=32, le=1_000_000)] = 4096
    """Open files of one process."""
    output_bytes: Bytes = 2 * MIB
    """Of standard output and of standard error, each; then the unit is ended."""
    tmp_bytes: Annotated[int, Field(ge=MIB, le=1024 * GIB)] = 256 * MIB
    """Shared memory; the temporary folders too where the unit has no workspace image."""
    disk_bytes: Annotated[int, Field(ge=8 * MIB, le=1024 * GIB)] = GIB
    """Workspace, home and temporary folders together. Where a submission is graded, what is laid there comes on top."""
    disk_inodes: Annotated[int, Field(ge=256, le=100_000_000)] = 200_000
    """Files and folders on that disk."""

    def limits(self) -> Limits:
        """Give the value that units are started from."""
        return Limits(
            wall=timedelta(milliseconds=self.wall_ms),
            memory_bytes=self.memory_bytes,
            tasks=self.tasks,
            cpu_percent=self.cpu_percent,
            file_bytes=self.file_bytes,
            descriptors=self.descriptors,
            output_bytes=self.output_bytes,
            tmp_bytes=self.tmp_bytes,
            disk_bytes=self.disk_bytes,
            disk_inodes=self.disk_inodes,
        )


class PreflightLimits(PhaseLimits):
    """The `hi` probe has a minute."""

    wall_ms: Annotated[int, Field(ge=100, le=3_600_000)] = 60_000
    """Time from the go to the end."""


class ReleaseLimits(Shape):
    """Ceilings of every phase; frozen with the release."""

    preflight: PreflightLimits = PreflightLimits()
    """The probe's unit."""
    solution: PhaseLimits = PhaseLimits()
    """The candidate's unit."""
    public_tests: PhaseLimits = PhaseLimits()
    """The public tests' unit."""
    evaluators: PhaseLimits = PhaseLimits()
    """Each evaluator's unit."""
    judges: PhaseLimits = PhaseLimits()
    """A judge's unit."""


class RetryPolicy(Shape):
    """Which attempt and grading count, and how often a try without a result is repeated (default: never)."""

    canonical_attempt: Annotated[int, Field(ge=1, le=MAX_ENTRIES)] = 1
    """Which attempt counts where one alone may; frozen, and not used yet."""
    canonical_grading: Literal["first", "latest"] = "first"
    """Which grading of a submission counts where there are several."""
    void_tries: Annotated[int, Field(ge=1, le=10)] = 1
    """All tries of an attempt, the first included, as long as each ends void."""
    void_blames: tuple[Literal["provider", "host", "runner", "evaluator", "nomination"], ...] = (
        "provider",
        "host",
        "runner",
    )
    """Voids with another blame are not repeated: the same would happen again."""
    unavailable_tries: Annotated[int, Field(ge=1, le=10)] = 1
    """All tries of an attempt whose probe fails, the first included; more than one needs `--retry-unavailable`."""


class Accounts(Shape):
    """The range that fresh accounts are taken from."""

    first: Annotated[int, Field(ge=100_000, lt=1 << 31)] = 1_900_000_000
    """The lowest number."""
    last: Annotated[int, Field(ge=100_000, lt=1 << 31)] = 1_900_999_999
    """The highest number; the range holds more than 1000."""

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if self.last - self.first < MAX_ENTRIES:
            raise refusal("a range of more than 1000 accounts", "raise 'last'")
        return self


class CleanRoom(Shape):
    """Where this host keeps what; never frozen with a release."""

    accounts: Accounts = Accounts()
    """The range that fresh accounts are taken from."""
    state_dir: HostPath | None = None
    """Where trees, toolchains and evidence are kept; null: `/var/lib/cleanroom`. A relative one in a checkout below
    `/tmp`, `/var/tmp`, `/run` or `/var/log` stands below `/var/lib/cleanroom` instead.
    """
    opencode_root: HostPath | None = None
    """Folder with OpenCode's program."""
    codex_root: HostPath | None = None
    """Folder with Codex's program."""
    claude_root: HostPath | None = None
    """Folder with Claude Code's program."""
    login_files: Mapping[Literal["opencode", "codex", "claude"], HostPath] = Field(default_factory=dict)
    """Files that hold the logins of agents which bring their own."""
    immutable_evidence: bool = False
    """After `runner publish`, give all sealed evidence the immutable flag (`chattr +i`), where file system and account
    allow it. What is published never gets it: a git work tree could not be worked in."""


class ObjectiveEvaluator(Shape):
    """An inline nomination's evaluator, as the reference system describes it."""

    id: Identifier
    """The evaluator's id."""
    path: RelativePath
    """Where its program stands, below `private_evaluators_dir`."""
    source: RelativePath
    """What it is read from, below `private_evaluators_dir`."""


class InlineNomination(Shape):
    """A nomination in the reference system's fields; paths count from `models_test`."""

    id: Identifier
    """The nomination's id."""
    fixture: RelativePath
    """Folder of the code as the candidate finds it."""
    prompt: RelativePath
    """File with what the candidate is told."""
    test_command: Annotated[tuple[Line, ...], Field(min_length=1, max_length=100)]
    """The public tests' command."""
    allowed_changes: Annotated[tuple[RelativePath, ...], Field(min_length=1, max_length=MAX_ENTRIES)]
    """Paths that a submission may change."""
    objective_evaluator: ObjectiveEvaluator | None = None
    """The hidden check; refused by lint for now."""


def _form(value: object) -> str:
    return "name" if isinstance(value, str) else "inline"


NominationEntry = Annotated[
    Annotated[Identifier, Tag("name")] | Annotated[InlineNomination, Tag("inline")], Discriminator(_form)
]


class PrimaryMetric(StrEnum):
    """What a release ranks by."""

    SOLVED_RATE = "solved_rate"
    MEAN_SCORE = "mean_score"


class Analysis(Shape):
    """What is fixed about the statistics before the first result is seen."""

    seed: Annotated[int, Field(ge=0, lt=1 << 53)] = 0
    """For whatever is drawn by lot; frozen, and not used yet."""
    primary_metric: PrimaryMetric = PrimaryMetric.SOLVED_RATE
    """What a release ranks by; frozen, and not used yet."""
    require_split: bool = False
    """Whether verdicts with a lower assurance than `split` are refused."""


class ReleaseConfig(Document):
    """A whole release configuration. Relative paths count from the checkout that its `config/` stands in."""

    SCHEMA_NAME: ClassVar[str] = "release-configuration"

    schema_: Literal["cleanroom/release-configuration/1"] = Field(alias="schema")
    release: Identifier
    """The release's id; used once."""
    models_test: HostPath = "."
    """The public checkout: fixtures and prompts of inline nominations."""
    results_dir: HostPath = "results"
    """Where `runner publish` writes, in a folder a release; a relative one counts from `models_test`."""
    private_artifacts_dir: HostPath | None = None
    """The store of private evidence; null: `store/` below the state."""
    private_evaluators_dir: HostPath | None = None
    """Read, and not used yet: inline nominations have no evaluators, so lint refuses them for now."""
    require_nomination_selection: bool = False
    """Refuse a `runner pilot` that names no nomination."""
    retry_policy: RetryPolicy = RetryPolicy()
    """Which tries are repeated, and which result counts."""
    budget: ReleaseBudget = ReleaseBudget()
    """What all tries together may spend; then the pilot stops, and its running try ends as its own budget would."""
    nominations: Annotated[tuple[NominationEntry, ...], Field(min_length=1, max_length=MAX_ENTRIES)]
    """Names of folders in `config/nominations`, or whole objects in the reference system's fields."""
    candidates: Annotated[tuple[Candidate, ...], Field(min_length=1, max_length=MAX_ENTRIES)]
    """Who takes part, in the order of execution."""
    judges: Annotated[tuple[Judge, ...], Field(max_length=100)] = ()
    """Who reviews sealed submissions, in a phase of its own."""
    criteria: Annotated[tuple[CriterionEntry, ...], Field(max_length=100)] = ()
    """What judges give points for."""
    clean_room: CleanRoom = CleanRoom()
    """Settings of this host; not frozen, and neither are the four folders above."""
    attempts: Annotated[int, Field(ge=1, le=MAX_ENTRIES)] = 1
    """How many attempts each candidate has on each nomination."""
    limits: ReleaseLimits = ReleaseLimits()
    """Ceilings of every unit, phase by phase."""
    routes: Annotated[tuple[Route, ...], Field(max_length=100)] = ()
    """Ways to providers, for candidates and judges to name."""
    judging: Judging = Judging()
    """What is asked of judges, how often, and when an answer counts."""
    analysis: Analysis = Analysis()
    """What is settled about the statistics beforehand."""
    norms: bool = False
    """Whether it is measured too how a change is made: files out of scope, leftovers, lint, size, tests, comments.
    Never part of an outcome."""
    supersedes: Identifier | None = None
    """The release that this one replaces."""

    @property
    def nomination_ids(self) -> tuple[str, ...]:
        """Ids of all nominations, in order."""
        return tuple(entry if isinstance(entry, str) else entry.id for entry in self.nominations)

    def route(self, name: str | None) -> Route | None:
        """Give a route by its id; None for None."""
        return next((route for route in self.routes if route.id == name), None)


def load_config(path: Path) -> ReleaseConfig:
    """Read a release configuration.

    Raises:
        DocumentError, DocumentErrors: the file cannot be read, or is no release configuration.
    """
    try:
        data = read_file(path)
    except DocumentError as error:
        raise replace(error, mend="name a release configuration with --config or BENCHMARK_CONFIG") from error
    return parse_config(data, file_name(path))


def parse_config(data: bytes, file: str) -> ReleaseConfig:
    """Parse a release configuration; `file` is what errors call it."""
    config = validate(ReleaseConfig, parse_json(data, file), file, REMOVED)
    if problems := tuple(_unresolved(config, file)):
        raise DocumentErrors(errors=problems)
    return config


def _unresolved(config: ReleaseConfig, file: str) -> Iterator[DocumentError]:
    """Yield what a shape alone cannot see: ids used twice and names of nothing."""
    named = {
        "nominations": config.nomination_ids,
        "candidates": tuple(candidate.id for candidate in config.candidates),
        "judges": tuple(judge.id for judge in config.judges),
        "routes": tuple(route.id for route in config.routes),
        "criteria": tuple(criterion_id(each) for each in config.criteria),
    }
    for field, ids in named.items():
        yield from _repeated(ids, field, file)
    for index, candidate in enumerate(config.candidates):
        place = f"candidates[{index}]"
        yield from _unknown((candidate.route,), named["routes"], f"{place}.route", file)
        if candidate.nominations is not None:
            yield from _repeated(candidate.nominations, f"{place}.nominations", file)
            yield from _unknown(candidate.nominations, named["nominations"], f"{place}.nominations", file)
    for index, judge in enumerate(config.judges):
        yield from _unknown((judge.route,), named["routes"], f"judges[{index}].route", file)
    yield from _unknown((config.judging.fallback,), named["judges"], "judging.fallback", file)
    if config.retry_policy.canonical_attempt > config.attempts:
        found, most = str(config.retry_policy.canonical_attempt), config.attempts
        place = "retry_policy.canonical_attempt"
        yield DocumentError(file=file, field=place, found=found, expected=f"{most} or less", mend="raise 'attempts'")
    if config.release == LOG_FOLDER:
        expected, mend = "another id: the log of releases is called so", "choose another id"
        yield DocumentError(file=file, field="release", found=config.release, expected=expected, mend=mend)
    if config.supersedes == config.release:
        yield DocumentError(
            file=file,
            field="supersedes",
            found="the release itself",
            expected="an older release",
            mend="choose a new id",
        )


def _repeated(ids: Sequence[str], field: str, file: str) -> Iterator[DocumentError]:
    for name, count in Counter(ids).items():
        if count > 1:
            found = f"{name} {count} times"
            yield DocumentError(file=file, field=field, found=found, expected="each once", mend="rename or remove one")


def _unknown(names: Iterable[str | None], known: Sequence[str], field: str, file: str) -> Iterator[DocumentError]:
    for name in names:
        if name is not None and name not in known:
            near = difflib.get_close_matches(name, known, n=1)
            mend = f"did you mean {near[0]}?" if near else "add it, or mend its spelling"
            noun = field.rpartition(".")[2].removesuffix("s")
            yield DocumentError(
                file=file, field=field, found=name, expected=f"the id of a {noun} of this file", mend=mend
            )
