"""One try of an attempt, from its beginning to its seal. It decides nothing: the pure rules do."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

from evaluators.errors import EvaluatorError
from runner import __version__
from runner.agent_end import agent_end, agent_run
from runner.agents.model import AgentTask, Exchange
from runner.agents.registry import AGENTS
from runner.agents.single_shot import answer_of
from runner.artifacts import read_sealed
from runner.bundles.held import fact_of
from runner.canonical import canonical, canonical_lines, parse, sha256
from runner.documents import writing
from runner.documents.evidence import Begun, Host, Submission
from runner.documents.facts import (
    AgentFailure,
    Blame,
    Controls,
    Facts,
    Origin,
    Phase,
    Phases,
    RuntimeFact,
    Spent,
    Unavailable,
    VoidFact,
)
from runner.documents.journal import State
from runner.documents.manifest import Manifest
from runner.documents.proof import HostProofs
from runner.documents.seal import Trial
from runner.documents.writing import printable
from runner.errors import RunnerError, StorageError
from runner.evaluation import evaluate, reopen
from runner.gateway.errors import GatewayError
from runner.grading import Made, grading, void
from runner.journal import reached, read_journal
from runner.parsing import read_file
from runner.roster import Agent, Candidate, NetworkMode
from runner.runtime import Room, Runtime
from runner.shots import Shot, grade_first, played_tests, shot_results, shot_tests
from runner.single_shot import is_tested, news, told
from runner.solution import Solution
from runner.staging import Staged, Stages
from runner.stopping import StopRequestedError
from runner.store import BEGUN, SUBMISSION, Store, may_have_run
from runner.trail import FIRST_WALLS, LEDGER, SOLUTION, Trail, cost_of, discard, left_lines, left_recordings
from sandbox.api import WorkspaceRequest
from sandbox.capture import Capture, capture
from sandbox.errors import CaptureError, KeeperError, PatchError, SandboxError
from sandbox.inspected import CaptureLimits
from sandbox.spec import GATE_PORT


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempts:
    """All that tries of one release need."""

    store: Store
    manifest: Manifest
    runtime: Runtime
    stages: Stages
    proofs: HostProofs
    """That the walls of this host hold."""
    patches: Callable[[Candidate, Staged], Solution]
    """What the agent `patch` applies."""
    clock: Callable[[], int]
    """Milliseconds since 1970, UTC."""

    def run(self, trial: Trial, candidate: Candidate, staged: Staged) -> None:
        """Run one try and seal how it ended.

        Raises:
            KeeperError, GatewayError: the keeper or the gateway died; the try is sealed as void first.
            StopRequestedError: somebody asked for the end; so is this one, where nothing was captured yet.
            StorageError: the disk failed; what is not sealed is void when the next run looks at it.
        """
        started = self.clock()
        self.store.begin(trial, runner=__version__, started_ms=started)
        folder = self.store.folder(trial)
        trail = Trail(trial=trial, candidate=candidate, started_ms=started, ledger=folder / LEDGER)
        with self._sealing(trail, staged):
            if self._available(trail, staged):
                self._seal_submission(trail, staged, self.solve(trail, staged))
        if (folder / SUBMISSION).exists():
            self.grade(trial, candidate, staged)

    @contextmanager
    def _sealing(self, trail: Trail, staged: Staged) -> Iterator[None]:
        """Seal a fault as a void, with what evidence there is."""
        try:
            yield
        except StorageError:
            raise
        except (KeeperError, StopRequestedError) as error:
            self._seal_void(trail, staged, _fault(_blame(error), trail.phase, error, interrupted=True))
            raise
        except GatewayError as error:
            self._gateway_failed(trail, staged, error)
        except (EvaluatorError, SandboxError, RunnerError) as error:
            self._seal_void(trail, staged, _fault(_blame(error), trail.phase, error))

    def _gateway_failed(self, trail: Trail, staged: Staged, error: GatewayError) -> None:
        """Seal a failed gateway as a void; without a gateway nothing else can be run either.

        Raises:
            StorageError: it failed because the disk did.
            GatewayError: it is gone.
        """
        if trail.unsaved is not None:
            raise trail.unsaved from error
        gateway = self.runtime.gateway
        gone = gateway is not None and gateway.lost is not None
        self._seal_void(trail, staged, _fault(Blame.RUNNER, trail.phase, error, interrupted=gone))
        if gone:
            raise error

    def _available(self, trail: Trail, staged: Staged) -> bool:
        """Ask the frozen question; who does not answer it is sealed as unavailable."""
        limits = self.manifest.limits.preflight.limits()
        if not trail.candidate.is_control:
            self.store.note(trail.trial, State.PROBING)
        trail.asked = self.runtime.preflight(trail.candidate, limits, trail.take, trail.tapes)
        trail.walls |= {f"preflight-{at}": ran.result.report for at, ran in enumerate(trail.asked.runs, 1)}
        preflight = trail.asked.preflight
        if preflight.reason is None:
            return True
        told = Unavailable(reason=preflight.reason, detail=preflight.detail)
        self._seal_end(trail, staged, Facts(unavailable=told))
        return False

    def solve(self, trail: Trail, staged: Staged) -> Capture:
        """Let the candidate work; a single shot whose public tests do not pass is shot again."""
        task = self._task(trail.candidate, staged)
        trail.told = task.prompt if task.targets else None
        captured = self._work(trail, staged, task)
        again = self._shoot_again(trail, staged, task, captured) if task.targets else None
        return captured if again is None else self._work(trail, staged, again)

    def _shoot_again(self, trail: Trail, staged: Staged, task: AgentTask, captured: Capture) -> AgentTask | None:
        """Test a first shot, and say what the second is about; None where there is none."""
        first = self._submission(trail, staged, captured)
        if trail.ran is None or not is_tested(first.failure, first.void):
            return None
        trail.phase = Phase.PUBLIC_TESTS
        trail.tested = played_tests(trail.played, captured) or shot_tests(
            staged, captured, self.stages.workbench.repository
        )
        result = trail.tested.result
        if result.report is not None:
            trail.walls[f"{FIRST_WALLS}public-tests"] = result.report
        if result.passed:
            return None
        before = Exchange(answer=answer_of(trail.ran.result.stdout), news=news(result))
        trail.shoot_again(Shot(document=first, ran=trail.ran, captured=captured))
        return replace(task, before=before)

    def _work(self, trail: Trail, staged: Staged, task: AgentTask) -> Capture:
        """Let the candidate work, and read what it left once its unit is gone."""
        limits = self.manifest.limits.solution.limits()
        # Before a second shot a model has worked already: what is cut there was cut in the work.
        trail.phase = Phase.WORKSPACE if trail.first is None else Phase.SOLUTION
        home = self.runtime.home_of(trail.candidate)
        request = WorkspaceRequest(layers=staged.layers, limits=limits, home=home)
        with self.stages.sandbox.workspace(request) as workspace:
            trail.phase = Phase.SOLUTION
            label = f"{trail.trial.candidate}-{trail.trial.nomination}-{trail.trial.attempt}-{trail.trial.try_}"
            room = Room(
                limits=limits,
                label=label,
                workspace=workspace,
                toolchain=staged.toolchain,
                environment=staged.environment,
                tapes=trail.tapes(SOLUTION),
                asked=() if trail.first is None else trail.first.ran.lines,
            )
            if trail.played is None:
                self.store.note(trail.trial, State.RUNNING)
            trail.ran = self.runtime.run(trail.candidate, task, room, trail.take)
            trail.walls["solution"] = trail.ran.result.report
            trail.phase = Phase.CAPTURE
            captured = capture(
                self.stages.sandbox,
                workspace,
                staged.base,
                self.stages.workbench.repository,
                CaptureLimits(),
                self.stages.inspection(),
            )
        if captured.report is not None:
            trail.walls["inspection"] = captured.report
        return captured

    def _task(self, candidate: Candidate, staged: Staged) -> AgentTask:
        nomination = staged.prepared.nomination
        loop = nomination.spec.loop
        given = None
        if candidate.agent is Agent.ORACLE:
            given = staged.prepared.solution
        elif candidate.agent is Agent.PATCH:
            given = self.patches(candidate, staged)
        shoots = candidate.agent is Agent.SINGLE_SHOT
        return AgentTask(
            prompt=told(nomination, staged.prepared.fixture) if shoots else nomination.prompt,
            wall=self.manifest.limits.solution.limits().wall,
            model=candidate.model,
            gate_port=GATE_PORT if AGENTS[candidate.agent].needs_gateway else None,
            turns=loop.turns,
            tools=("run",) if loop.run else (),
            reasoning=candidate.variant,
            change=None if given is None else given.change,
            words=None if given is None else given.message,
            direct=candidate.network is NetworkMode.DIRECT,
            targets=nomination.spec.target_files if shoots else (),
        )

    def _seal_submission(self, trail: Trail, staged: Staged, captured: Capture) -> None:
        """Seal what was left behind, the moment its capture is proven."""
        if trail.ran is None or trail.asked is None:
            raise CaptureError("a capture without a run")
        trail.phase = Phase.SEAL
        last = Shot(document=self._submission(trail, staged, captured), ran=trail.ran, captured=captured)
        files = trail.files() | last.files() | {"host.json": canonical(self._host())}
        self.store.seal_submission(trail.trial, files)
        discard(trail.ledger.parent)

    def _submission(self, trail: Trail, staged: Staged, captured: Capture) -> Submission:
        """Write down what was captured, and how its run ended."""
        if trail.ran is None:
            raise CaptureError("a capture without a run")
        ran = trail.ran
        ended = agent_end(agent_run(ran.result.termination, ran.lines, ran.telemetry))
        return Submission(
            trial=trail.trial,
            origin=self._origin(trail.trial, staged),
            base_sha256=captured.base_digest,
            tree_sha256=captured.tree_digest,
            patch_sha256=sha256(captured.patch),
            failure=ended if isinstance(ended, AgentFailure) else None,
            void=ended if isinstance(ended, VoidFact) else None,
            started_ms=trail.started_ms,
            ended_ms=self.clock(),
            phases=trail.phases(),
        )

    def grade(self, trial: Trial, candidate: Candidate, staged: Staged) -> None:
        """Append a grading to a sealed submission, read back from its sealed bytes.

        Raises:
            KeeperError: the keeper died; the submission stays, and is graded by the next run.
        """
        started, folder = self.clock(), self.store.folder(trial)
        sealed = read_sealed(folder / SUBMISSION)
        discard(folder)  # it is sealed; a runner may have been killed in between
        repository = self.stages.workbench.repository
        reopened = reopen(sealed, staged, repository)
        evaluation = evaluate(staged, reopened)
        first = grade_first(sealed, staged, repository) if evaluation.fault is None else None
        if first is not None:
            evaluation.add_first(first)
        is_shot = candidate.agent is Agent.SINGLE_SHOT and evaluation.fault is None
        shots = shot_results(evaluation, first) if is_shot else ()
        made = Made(
            origin=self._origin(trial, staged),
            started_ms=started,
            ended_ms=self.clock(),
            phases=evaluation.phases,
        )
        name = self.store.next_grading(trial)
        document = grading(name, reopened.document, sealed.digest, evaluation.parts(), made, shots)
        self.store.seal_grading(document, evaluation.files() | {"host.json": canonical(self._host())})

    def seal_lost(self, trial: Trial, staged: Staged) -> None:
        """Seal a try whose runner was killed, with the ledger lines it had acknowledged.

        Its phase says whether its agent may have been at work: the retry rule asks for that.
        """
        folder = self.store.folder(trial)
        lines = left_lines(folder / LEDGER)
        worked = may_have_run(reached(read_journal(self.store.journal), trial))
        phase = Phase.SOLUTION if worked else Phase.PREFLIGHT
        why = "the runner was killed before the try was sealed"
        fact = VoidFact(blame=Blame.RUNNER, phase=phase, reason=why, interrupted=True)
        cost = Spent(cost_usd=cost_of(lines)) if lines else None
        spent = Phases(solution=cost) if worked else Phases(preflight=cost)
        begun = parse(Begun, read_file(folder / BEGUN), str(folder / BEGUN))
        made = Made(origin=self._origin(trial, staged), started_ms=begun.started_ms, ended_ms=None, phases=spent)
        files = {"ledger.jsonl": canonical_lines(lines)} if lines else {}
        self.store.seal_void(void(trial, Facts(void=fact), made), {**left_recordings(folder), **files})
        discard(folder)

    def _seal_void(self, trail: Trail, staged: Staged, fact: VoidFact) -> None:
        self._seal_end(trail, staged, Facts(void=fact))

    def _seal_end(self, trail: Trail, staged: Staged, facts: Facts) -> None:
        made = Made(
            origin=self._origin(trail.trial, staged),
            started_ms=trail.started_ms,
            ended_ms=self.clock(),
            phases=trail.phases(),
        )
        files = trail.files() | {"host.json": canonical(self._host())}
        self.store.seal_void(void(trail.trial, facts, made), files)
        discard(trail.ledger.parent)

    def _runtime_fact(self, candidate: Candidate) -> RuntimeFact | None:
        name = AGENTS[candidate.agent].runtime
        bundle = None if name is None else self.runtime.bundles.get(name)
        return None if bundle is None else fact_of(bundle)

    def _origin(self, trial: Trial, staged: Staged) -> Origin:
        candidate = self.manifest.candidate(trial.candidate)
        routes = {route.id: route for route in self.manifest.routes}
        return Origin(
            runner=__version__,
            host_sha256=sha256(canonical(self._host())),
            toolchains=tuple(mount.object for mount in staged.shown),
            runtime=self._runtime_fact(candidate),
            scripted=candidate.route is not None and routes[candidate.route].is_scripted,
            network=candidate.network,
            controls=Controls(self.manifest.controls),
            proven=self.manifest.nomination(trial.nomination).certificate is not None,
        )

    def _host(self) -> Host:
        return writing.host(self.stages.sandbox.facts(), self.proofs)


def _blame(error: EvaluatorError | SandboxError | RunnerError) -> Blame:
    """Say whose fault an error is."""
    match error:
        case EvaluatorError():
            return Blame.EVALUATOR
        case CaptureError() | PatchError() | RunnerError():
            return Blame.RUNNER
        case SandboxError():
            return Blame.HOST


def _fault(blame: Blame, phase: Phase, error: Exception, *, interrupted: bool = False) -> VoidFact:
    return VoidFact(blame=blame, phase=phase, reason=printable(str(error)), interrupted=interrupted)
