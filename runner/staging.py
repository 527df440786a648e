"""A nomination set up in the clean room: stored layers, toolchain, the base of captures; once a run."""

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from evaluators.model import Bench, Evaluator, Submission
from evaluators.norm_counts import Asked
from evaluators.public_tests import PublicTests, environment, run_public_tests
from runner.config import ReleaseLimits
from runner.controls import Graded
from runner.errors import SupplyError
from runner.freezing import Stage
from runner.norms import asked, solution_lines
from runner.preparing import Workbench
from runner.release import PreparedNomination
from runner.toolchains import node_of, python_path_of, shown
from runner.tools import HELM_TARGET, TOOL_KINDS, helm_pack, shown_tools
from sandbox.api import Pack, Sandbox
from sandbox.capture import Base, harness_pack
from sandbox.spec import KIB, MIB, Limits, Mount, ObjectId
from sandbox.tree import Entry
from sandbox.workspace_git import workspace_git

INSPECTION_TARGET = "/opt/inspection"
_BLOCK = 4 * KIB
"""What the smallest file or folder takes."""
_STEP_BYTES, _STEP_INODES = 16 * MIB, 4096
"""Rooms come in few sizes, for each new one costs the making of a file system."""
_SMALL = 8
"""What takes less than this part of a room needs no larger one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Staged:
    """One nomination, ready to be worked on and judged."""

    prepared: PreparedNomination
    base: Base
    fixture: ObjectId
    git: ObjectId
    """The layer with the workspace's own one-commit repository; candidates alone see it."""
    toolchain: tuple[Mount, ...]
    tests: PublicTests
    bench: Bench
    """What evaluators judge with."""
    tests_bench: Bench
    """The same, under the limits of public tests."""
    norms: Asked | None = None
    """What norms depend on; None: they are not measured."""

    @property
    def environment(self) -> tuple[tuple[str, str], ...]:
        """Give what a candidate's programs need to find the toolchain; an honest test run leaves no cache behind."""
        return (*environment(self.bench), ("PYTEST_ADDOPTS", "-p no:cacheprovider"))

    @property
    def shown(self) -> tuple[Mount, ...]:
        """Give everything that units of this nomination are given to work with."""
        return (*self.toolchain, *self.bench.tools, *self.bench.helm)

    @property
    def layers(self) -> tuple[ObjectId, ...]:
        """What a candidate's workspace stands on."""
        return (self.git, self.fixture)

    def submission(self, change: Pack, tree_digest: str, final_message: str | None = None) -> Submission:
        """Give a change to the base as it is judged."""
        return Submission(
            base=(self.fixture,),
            change=change,
            tree_digest=tree_digest,
            final_message=final_message,
            below=self.prepared.fixture.pack,
        )

    def solution(self) -> Submission:
        """Give the reference solution as it is judged."""
        solution = self.prepared.solution
        return self.submission(solution.change, solution.digest, solution.message)


@dataclass(slots=True, kw_only=True)
class Stages:
    """All nominations of a run, staged when first asked for. `runner.freezing.ControlRoom` is one."""

    sandbox: Sandbox
    workbench: Workbench
    limits: ReleaseLimits
    norms: bool = False
    """Whether norms are measured."""
    _known: dict[str, Staged] = field(default_factory=dict)
    _harness: Mount | None = None

    def inspection(self) -> Mount:
        """Give the mount that shows the capture's harness."""
        if self._harness is None:
            self._harness = Mount(object=self.sandbox.store(harness_pack()), target=INSPECTION_TARGET)
        return self._harness

    def staged(self, prepared: PreparedNomination) -> Staged:
        """Store a nomination's fixture and toolchain.

        Raises:
            SandboxError, RunnerError: a fault, or a toolchain that cannot be built.
        """
        name = prepared.nomination.id
        if name not in self._known:
            self._known[name] = self._stage(prepared)
        return self._known[name]

    def _stage(self, prepared: PreparedNomination) -> Staged:
        fixture, spec = prepared.fixture, prepared.nomination.spec
        toolchain = shown(prepared.lock, self.workbench.workshop, self.sandbox)
        bench = Bench(
            sandbox=self.sandbox,
            toolchain=toolchain,
            python_path=python_path_of(prepared.lock),
            root=spec.root,
            limits=self.limits.evaluators.limits(),
            import_paths=spec.toolchain.import_paths,
            node=node_of(prepared.lock),
            tools=self._tools(prepared),
            helm=self._helm(prepared),
            units_at_once=len(os.sched_getaffinity(0)) + 1,  # one is on its way in or out
        )
        return Staged(
            prepared=prepared,
            base=Base(
                digest=fixture.digest,
                commit=self.workbench.repository.ingest(fixture.entries, fixture.contents.get),
                listings=fixture.contents,
            ),
            fixture=self.sandbox.store(fixture.pack),
            git=self.sandbox.store(workspace_git(fixture.entries, fixture.contents.get)),
            toolchain=toolchain,
            tests=PublicTests(command=spec.public_tests.command, files=fixture.public_pack),
            bench=bench,
            tests_bench=replace(bench, limits=self.limits.public_tests.limits()),
            norms=asked(spec, solution_lines(fixture, prepared.solution)) if self.norms else None,
        )

    def _tools(self, prepared: PreparedNomination) -> tuple[Mount, ...]:
        """Give our own pinned programs where something asks for them; norms alone can do without."""
        needed = any(each.kind in TOOL_KINDS for each in prepared.nomination.evaluators)
        if not needed and not self.norms:
            return ()
        try:
            return shown_tools(self.workbench.workshop, self.sandbox)
        except SupplyError:
            if needed:
                raise
            return ()

    def _helm(self, prepared: PreparedNomination) -> tuple[Mount, ...]:
        """Give the host's Helm where a nomination asks for it; without one its evaluator says so."""
        needed = any(each.kind == "helm" for each in prepared.nomination.evaluators)
        if not needed or self.workbench.helm is None:
            return ()
        return (Mount(object=self.sandbox.store(helm_pack(self.workbench.helm)), target=HELM_TARGET),)

    def stage(self, prepared: PreparedNomination) -> Stage:
        """Set a nomination up for its controls."""
        staged = self.staged(prepared)
        return Stage(base=(staged.fixture,), bench=staged.bench, grade=ControlGrade(staged))


def roomy(bench: Bench, submission: Submission) -> Bench:
    """Give the bench with room for a submission: the release bounds what programs write beside what is laid.

    No submission that was captured is too large to be judged, which would look like our fault.
    """
    limits = with_room(bench.limits, submission.change.entries)
    return bench if limits == bench.limits else replace(bench, limits=limits)


def with_room(limits: Limits, entries: Sequence[Entry]) -> Limits:
    """Give the limits with room for what is laid, where that would take much of it."""
    inodes = len(entries) + len(_folders(entry.path for entry in entries))
    laid = inodes * _BLOCK + sum(-(-entry.size // _BLOCK) * _BLOCK for entry in entries)
    if laid * _SMALL <= limits.disk_bytes and inodes * _SMALL <= limits.disk_inodes:
        return limits
    return replace(
        limits,
        disk_bytes=limits.disk_bytes + -(-laid // _STEP_BYTES) * _STEP_BYTES,
        disk_inodes=limits.disk_inodes + -(-inodes // _STEP_INODES) * _STEP_INODES,
    )


def _folders(paths: Iterable[bytes]) -> set[bytes]:
    """Give every folder that the paths lie in."""
    found: set[bytes] = set()
    for path in paths:
        above = path.rpartition(b"/")[0]
        while above and above not in found:
            found.add(above)
            above = above.rpartition(b"/")[0]
    return found


@dataclass(frozen=True, slots=True)
class ControlGrade:
    """Grades controls as submissions are graded; a fault is an error here."""

    staged: Staged

    def __call__(self, submission: Submission, evaluators: tuple[Evaluator, ...]) -> Graded:
        """Grade one control.

        Raises:
            SandboxError, EvaluatorError: a fault.
        """
        staged = self.staged
        tests = run_public_tests(staged.tests, submission, roomy(staged.tests_bench, submission))
        bench = roomy(staged.bench, submission)
        verdicts = {each.id: each.judge(submission, bench) for each in evaluators}
        return Graded(public_tests=tests.passed, verdicts=verdicts)
