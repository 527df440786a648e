"""Tries that go wrong: every fault is sealed as a void with its blame and phase, and none is ever a submission."""

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from typing import Any, TypeVar, cast

import pytest

from runner.attempt import Attempts
from runner.documents.evidence import Void
from runner.documents.facts import Blame, Phase
from runner.documents.journal import State
from runner.documents.telemetry import Preflight, Telemetry
from runner.errors import RunnerError, StorageError
from runner.gateway.errors import GatewayError
from runner.journal import read_journal
from runner.outcome import Outcome
from runner.runtime import Asked, Ran, Room, Runtime
from runner.staging import Stages
from runner.stopping import StopRequestedError
from runner.store import VOID, Store
from sandbox.api import Changes, LauncherReport, WorkspaceRequest
from sandbox.errors import CaptureError, KeeperError, UnitStartError, WallsError, WorkspaceError
from sandbox.spec import WorkspaceId
from sandbox.unit import UnitResult
from tests.fakes import PlainSandbox
from tests.unit.runner.evidence_maker import HOST, SOLVER, WELL, a_manifest, a_store
from tests.unit.runner.test_evaluation import PASSES
from tests.unit.runner.test_evaluation import set_up as staged_in
from tests.unit.runner.test_outcome import line

MANIFEST = a_manifest()
HI = Asked(preflight=Preflight(needed=True, prompt="hi?", available=True, reason=None))
MUTE = Asked(preflight=Preflight(needed=True, prompt="hi?", available=False, reason="wrong_answer", detail="said no"))
RAN = Ran(
    result=UnitResult(termination=WELL, report=LauncherReport(seen={"uid": 1}), stdout=b"out", stderr=b""),
    telemetry=Telemetry(agent="native", turns=1),
    lines=(),
)


Told = TypeVar("Told")


@dataclass
class ToldRuntime:
    """Answers the probe and runs the agent as a test wants it."""

    asked: Asked | Exception = HI
    ran: Ran | Exception = RAN
    gateway: None = None

    def preflight(self, *_given: object) -> Asked:
        return _said(self.asked)

    def home_of(self, _candidate: object) -> None:
        return None

    def run(self, _candidate: object, _task: object, _room: Room, _on_line: object) -> Ran:
        return _said(self.ran)


def _said(told: Told | Exception) -> Told:
    if isinstance(told, Exception):
        raise told
    return told


@dataclass
class FaultySandbox(PlainSandbox):
    """A sandbox whose workspace, or the look into it, fails."""

    at_opening: Exception | None = None
    at_looking: Exception = CaptureError("unreadable")  # noqa: RUF009 - never changed

    @contextlib.contextmanager
    def workspace(self, request: WorkspaceRequest) -> Iterator[WorkspaceId]:
        del request
        if self.at_opening is not None:
            raise self.at_opening
        yield WorkspaceId("w")

    def changes(self, workspace: WorkspaceId) -> contextlib.AbstractContextManager[tuple[WorkspaceId, Changes]]:
        del workspace
        raise self.at_looking


@dataclass(frozen=True)
class Trying:
    """One try and the store that it leaves its evidence in."""

    store: Store
    run: Callable[[], None]

    @property
    def void(self) -> Void | None:
        (found,) = self.store.tries(SOLVER)
        assert found.submission is None
        return None if found.void is None else found.void.document(Void, "void.json")


def trying(folder: Path, runtime: ToldRuntime, **faults: Exception) -> Trying:
    staged = staged_in(folder, PASSES, ())
    sandbox = FaultySandbox(folder / "faulty", **cast("dict[str, Any]", faults))
    sandbox.folder.mkdir()
    ticks = count(1_000)
    attempts = Attempts(
        store=a_store(folder / "store", MANIFEST),
        manifest=MANIFEST,
        runtime=cast("Runtime", runtime),
        stages=cast("Stages", ToldStages(sandbox)),
        proofs=HOST.proofs,
        patches=lambda _candidate, _staged: pytest.fail("nobody applies a patch"),
        clock=lambda: next(ticks),
    )
    trial = attempts.store.trial(SOLVER, 1)
    candidate = MANIFEST.candidate("solver")
    return Trying(attempts.store, lambda: attempts.run(trial, candidate, staged))


class ToldStages:
    """As much of the stages as a try needs before it is graded."""

    def __init__(self, sandbox: FaultySandbox) -> None:
        self.sandbox = sandbox
        self.workbench = self
        self.repository = None

    def inspection(self) -> None:
        return None


@pytest.mark.parametrize(
    ("runtime", "faults", "blame", "phase"),
    [
        pytest.param(ToldRuntime(asked=UnitStartError("x")), {}, Blame.HOST, Phase.PREFLIGHT, id="probe"),
        pytest.param(ToldRuntime(asked=GatewayError("x")), {}, Blame.RUNNER, Phase.PREFLIGHT, id="probe-gateway"),
        pytest.param(ToldRuntime(), {"at_opening": WorkspaceError("x")}, Blame.HOST, Phase.WORKSPACE, id="workspace"),
        pytest.param(ToldRuntime(ran=WallsError("x")), {}, Blame.HOST, Phase.SOLUTION, id="walls"),
        pytest.param(ToldRuntime(ran=GatewayError("x")), {}, Blame.RUNNER, Phase.SOLUTION, id="gateway"),
        pytest.param(ToldRuntime(ran=RunnerError("x")), {}, Blame.RUNNER, Phase.SOLUTION, id="runner"),
        pytest.param(ToldRuntime(), {}, Blame.RUNNER, Phase.CAPTURE, id="capture"),
        pytest.param(ToldRuntime(), {"at_looking": WorkspaceError("x")}, Blame.HOST, Phase.CAPTURE, id="view"),
    ],
)
def test_a_fault_is_sealed_as_a_void_with_its_blame(
    tmp_path: Path, runtime: ToldRuntime, faults: dict[str, Exception], blame: Blame, phase: Phase
) -> None:
    tried = trying(tmp_path, runtime, **faults)
    tried.run()
    void = tried.void
    assert void is not None
    assert void.facts.void is not None
    assert (void.outcome, void.facts.void.blame, void.facts.void.phase) == (Outcome.VOID, blame, phase)
    assert not void.facts.void.interrupted


def test_evidence_of_what_ran_before_the_fault_is_kept(tmp_path: Path) -> None:
    tried = trying(tmp_path, ToldRuntime())
    tried.run()
    (found,) = tried.store.tries(SOLVER)
    assert found.void is not None
    assert found.void.bytes("streams/stdout") == b"out"
    assert all(found.void.holds(name) for name in ("preflight.json", "termination.json", "launcher.json", "host.json"))


def test_a_dead_keeper_ends_the_run_after_its_try_was_sealed(tmp_path: Path) -> None:
    tried = trying(tmp_path, ToldRuntime(ran=KeeperError("gone")))
    with pytest.raises(KeeperError):
        tried.run()
    assert tried.void is not None
    assert tried.void.facts.void is not None
    assert (tried.void.facts.void.blame, tried.void.facts.void.interrupted) == (Blame.HOST, True)


@pytest.mark.parametrize(
    ("runtime", "phase"),
    [
        pytest.param(ToldRuntime(asked=StopRequestedError()), Phase.PREFLIGHT, id="probe"),
        pytest.param(ToldRuntime(ran=StopRequestedError()), Phase.SOLUTION, id="work"),
    ],
)
def test_a_try_that_is_stopped_is_sealed_as_one_that_was_cut_and_the_run_ends(
    tmp_path: Path, runtime: ToldRuntime, phase: Phase
) -> None:
    tried = trying(tmp_path, runtime)
    with pytest.raises(StopRequestedError):
        tried.run()
    assert tried.void is not None
    void = tried.void.facts.void
    assert void is not None
    assert (void.blame, void.interrupted, void.phase) == (Blame.RUNNER, True, phase)


def test_the_journal_tells_what_a_try_reached_before_it_does(tmp_path: Path) -> None:
    tried = trying(tmp_path, ToldRuntime())
    tried.run()
    wanted = [State.PLANNED, State.PROBING, State.RUNNING, State.VOID]
    assert [each.state for each in read_journal(tried.store.journal)] == wanted


def test_a_failing_disk_seals_nothing_and_leaves_the_try_open(tmp_path: Path) -> None:
    tried = trying(tmp_path, ToldRuntime(ran=StorageError(file="store", found="full")))
    with pytest.raises(StorageError):
        tried.run()
    assert tried.void is None


def test_who_does_not_answer_is_unavailable_and_never_works(tmp_path: Path) -> None:
    tried = trying(tmp_path, ToldRuntime(asked=MUTE, ran=AssertionError("it was let to work")))
    tried.run()
    assert tried.void is not None
    assert tried.void.outcome is Outcome.UNAVAILABLE
    assert tried.void.facts.unavailable is not None
    assert (tried.store.folder(tried.store.trial(SOLVER, 1)) / VOID).is_dir()


@pytest.mark.parametrize(
    ("fresh", "kept"), [pytest.param(True, True, id="asked"), pytest.param(False, False, id="known")]
)
def test_the_try_that_asked_keeps_the_requests_of_the_probe(tmp_path: Path, *, fresh: bool, kept: bool) -> None:
    asked = replace(HI, runs=(replace(RAN, lines=(line(None),)),), fresh=fresh)
    tried = trying(tmp_path, ToldRuntime(asked=asked))
    tried.run()
    (found,) = tried.store.tries(SOLVER)
    assert found.void is not None
    assert found.void.holds("preflight.jsonl") is kept
    assert (found.void.document(Void, "void.json").phases.preflight is not None) is kept
