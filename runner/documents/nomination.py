"""What `nomination.toml` says: one task, its limits and how it is judged."""

from collections.abc import Mapping
from typing import Annotated, ClassVar, Literal, Self

from pydantic import ConfigDict, Field, JsonValue, model_validator

from runner.documents.model import Document, Identifier, Sha256, Shape
from runner.fields import ChangeRule, FolderPath, Line, RelativePath, refusal
from sandbox.spec import MIB

DistributionName = Annotated[str, Field(pattern=r"^[A-Za-z0-9]([A-Za-z0-9._-]{0,98}[A-Za-z0-9])?$")]
DistributionVersion = Annotated[str, Field(pattern=r"^[0-9A-Za-z][0-9A-Za-z.!+_-]{0,79}$")]
Argument = Annotated[str, Field(min_length=1, max_length=4096)]


class LoopRules(Shape):
    """What the native loop grants: turns, the tool `run`, and the size of one completion."""

    turns: Annotated[int, Field(ge=1, le=1000)] = 25
    run: bool = False
    completion_tokens: Annotated[int, Field(ge=1, le=10**7)] | None = None


class Origin(Shape):
    """Where the work comes from and under which licence it stands."""

    name: Line
    licence: Line
    url: Line | None = None
    note: Line | None = None


class FolderFixture(Shape):
    """The files in `fixture/`."""

    kind: Literal["folder"]


class SeededFixture(Shape):
    """Files written out in the nomination itself: path below the root -> text."""

    kind: Literal["files"]
    files: Annotated[Mapping[RelativePath, Annotated[str, Field(max_length=MIB)]], Field(min_length=1)]
    executable: tuple[RelativePath, ...] = ()

    @model_validator(mode="after")
    def _known(self) -> Self:
        if strangers := set(self.executable) - set(self.files):
            raise refusal("'executable' to name paths of 'files'", f"add or remove {min(strangers)}")
        return self


class SdistFixture(Shape):
    """A source distribution from the package index, unpacked and never installed."""

    kind: Literal["sdist"]
    name: DistributionName
    version: DistributionVersion
    sha256: Sha256
    path: FolderPath = "."
    """The folder inside it that becomes the fixture; its own top folder is always left out."""
    keep: tuple[ChangeRule, ...] = ()
    """Rules, by paths below `path`, of what alone is kept; none: everything."""
    drop: tuple[ChangeRule, ...] = ()


Fixture = Annotated[FolderFixture | SeededFixture | SdistFixture, Field(discriminator="kind")]


class PatchSolution(Shape):
    """The one patch file in `solution/`."""

    kind: Literal["patch"]


class SdistSolution(Shape):
    """The difference to a later source distribution, projected to some of the allowed paths."""

    kind: Literal["sdist"]
    version: DistributionVersion
    sha256: Sha256
    paths: tuple[ChangeRule, ...] = ()
    """None: all that `allowed_changes` allows."""


Solution = Annotated[PatchSolution | SdistSolution, Field(discriminator="kind")]


class Toolchain(Shape):
    """`/usr/bin/python3` with the packages of a hash-pinned requirements file."""

    kind: Literal["python"] = "python"
    requirements: RelativePath | None = None
    """A file of the nomination's folder; None: the standard library alone."""
    import_paths: tuple[FolderPath, ...] = ()
    """Folders of the workspace that programs import from, before the toolchain's packages."""


class PublicTests(Shape):
    """What the candidate may run itself; `public/` is laid over the workspace, again when judging."""

    command: Annotated[tuple[Argument, ...], Field(min_length=1, max_length=100)]
    """Run from the workspace root. `{python}` stands for the toolchain's interpreter."""

    @model_validator(mode="after")
    def _startable(self) -> Self:
        if self.command[0] != "{python}" and not self.command[0].startswith("/"):
            raise refusal("a command that begins with '{python}' or an absolute path", "write the program's whole path")
        return self


class ChangePolicy(Shape):
    """What a patch may hold besides changes to the allowed paths."""

    deny: tuple[ChangeRule, ...] = ()
    """Never, although allowed."""
    links: bool = False
    modes: bool = False
    """Whether a file may become executable or stop being so."""
    deletions: bool = True
    max_files: Annotated[int, Field(ge=1, le=100_000)] = 100
    max_bytes: Annotated[int, Field(ge=1, le=1024 * MIB)] = MIB
    """Of the patch."""


class EvaluatorTable(Shape):
    """One `[[evaluators]]` table; every further key is an option of its kind."""

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, JsonValue]

    id: Identifier
    kind: Identifier

    @property
    def options(self) -> Mapping[str, JsonValue]:
        """What is the kind's own to read."""
        return dict(self.__pydantic_extra__)


class NominationSpec(Document):
    """A whole nomination. Paths are relative to the workspace root, a fixture's own to where it stands."""

    SCHEMA_NAME: ClassVar[str] = "nomination"

    schema_: Literal["cleanroom/nomination/1"] = Field(default="cleanroom/nomination/1", alias="schema")
    id: Identifier
    version: Line
    title: Line
    class_: Literal["mechanical", "config-plumbing", "code-fix", "free-text"] = Field(alias="class")
    tier: Literal["easy", "standard", "hard", "frontier"]
    mode: Literal["agentic", "single-shot"]
    axes: tuple[Literal["judgement", "security", "review"], ...] = ()
    target_files: tuple[RelativePath, ...] = ()
    """Where the work is expected; what a single-shot answer replaces."""
    root: FolderPath = "."
    """Where the fixture stands below the workspace root."""
    loop: LoopRules = LoopRules()
    source: Origin | None = None
    fixture: Fixture = FolderFixture(kind="folder")
    solution: Solution = PatchSolution(kind="patch")
    toolchain: Toolchain = Toolchain()
    public_tests: PublicTests
    allowed_changes: Annotated[tuple[ChangeRule, ...], Field(min_length=1, max_length=1000)]
    policy: ChangePolicy = ChangePolicy()
    evaluators: Annotated[tuple[EvaluatorTable, ...], Field(max_length=100)] = ()

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        ids = [evaluator.id for evaluator in self.evaluators]
        if len(set(ids)) < len(ids):
            raise refusal("evaluators with ids of their own", "rename one of those that share an id")
        if isinstance(self.solution, SdistSolution) and not isinstance(self.fixture, SdistFixture):
            raise refusal("an sdist solution beside an sdist fixture alone", "write the solution as a patch")
        if self.mode == "single-shot" and not self.target_files:
            raise refusal("'target_files' in mode single-shot", "name the files that the answer replaces")
        return self
