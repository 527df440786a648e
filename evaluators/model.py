"""What is judged, and what a judgement is."""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from pathlib import Path
from typing import Protocol

from evaluators.packing import NOTHING
from evaluators.speed_values import Measurement
from sandbox.api import LauncherReport, Pack, Sandbox
from sandbox.spec import Limits, Mount, ObjectId


@dataclass(frozen=True, slots=True, kw_only=True)
class Submission:
    """What a candidate left behind, as it is judged: stored base layers and the captured change on top."""

    base: tuple[ObjectId, ...]
    change: Pack
    tree_digest: str
    """Of base + change; a grading is bound to it."""
    final_message: str | None = None
    below: Pack = NOTHING
    """What the base layers hold, for evaluators that read files without running anything."""


class VerdictCause(StrEnum):
    """Why a submission passed or did not."""

    PASSED = "passed"
    FAILED = "failed"
    TIMEOUT = "timeout"
    CRASHED = "crashed"
    REJECTED = "rejected"
    """It could not be judged as it is: does not import, does not build, leaves expected cases out."""
    TAMPERED = "tampered"
    """It tried to make the judgement say what is not so."""


class Assurance(StrEnum):
    """How far submitted code was from what judged it."""

    SPLIT = "split"
    IN_PROCESS = "in_process"
    EXIT_CODE = "exit_code"


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One expected case. `ms` is None where it never ran."""

    id: str
    passed: bool
    detail: str = ""
    ms: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """A typed judgement. `passed` holds if, and only if, the cause is PASSED; score is in 0..1."""

    cause: VerdictCause
    assurance: Assurance
    cases: tuple[Case, ...]
    score: Decimal | None
    detail: str = ""
    """One sentence for people; never parsed."""
    duration_ms: int = 0
    report: LauncherReport | None = None
    """What the launcher of the unit with the submitted code saw."""
    driver_report: LauncherReport | None = None
    """What the launcher of the driver's unit saw, where there is one."""
    measurement: Measurement | None = None
    """What a verdict about speed rests on."""
    private_log: bytes = b""
    """What the unit printed: kept privately by digest, never published, never read for a verdict."""

    @property
    def passed(self) -> bool:
        """Whether the submission passed."""
        return self.cause is VerdictCause.PASSED


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluatorSpec:
    """One evaluator as a nomination describes it; the registry makes an `Evaluator` of it."""

    id: str
    kind: str
    options: Mapping[str, object]
    """Parsed JSON, for the kind alone to read and to check."""
    folder: Path
    """The nomination's private files."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """Node in a unit."""

    program: str
    options: tuple[str, ...] = ()
    """What it is told so that it finds the locked packages; nothing where there are none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bench:
    """What an evaluator judges with: the clean room, the nomination's toolchain and its limits."""

    sandbox: Sandbox
    toolchain: tuple[Mount, ...]
    python_path: tuple[str, ...]
    """Folders inside the unit that hold the toolchain's packages."""
    root: str
    """Where the fixture stands below the workspace root; `.` for the root itself."""
    limits: Limits
    import_paths: tuple[str, ...] = ()
    """Folders of the workspace, relative to its root, that programs import from; none: `root` alone."""
    surroundings: tuple[tuple[str, str], ...] = ()
    """Variables of every unit, for trying verdicts under another time zone or locale."""
    node: Node | None = None
    """The toolchain's Node, where that is what programs run with."""
    tools: tuple[Mount, ...] = ()
    """Our own pinned programs (`evaluators/tools.txt`), for kinds and norms that look at files as data."""
    helm: tuple[Mount, ...] = ()
    """The host's `helm`, where it names one."""
    units_at_once: int = 1
    """Of one evaluator that has many to run."""


class Evaluator(Protocol):
    """A deterministic private check of a submission."""

    @property
    def id(self) -> str:
        """Name in the nomination."""

    def digest(self) -> str:
        """SHA-256 (hex) over everything its verdict depends on: code, private files, options, expected cases."""

    def expected_cases(self) -> tuple[str, ...]:
        """Ids of the cases it will report, in order; known before any submitted code runs."""

    def judge(self, submission: Submission, bench: Bench) -> Verdict:
        """Judge one submission.

        Raises:
            EvaluatorError, SandboxError: a fault, before submitted code started.
        """
