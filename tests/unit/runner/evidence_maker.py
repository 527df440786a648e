"""Makes evidence as an attempt would, without running anything."""

import dataclasses
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

from evaluators.model import Assurance, Case, Verdict, VerdictCause
from evaluators.public_tests import TestsResult
from runner.agent_end import agent_end, agent_run
from runner.artifacts import Files
from runner.canonical import canonical, canonical_lines, sha256
from runner.config import Analysis, ReleaseLimits, RetryPolicy
from runner.documents.capture import Capture, CaptureFinding
from runner.documents.evidence import Host, Policy, Submission, Tree, UnitEnd, Walls
from runner.documents.facts import (
    AgentFailure,
    Change,
    Controls,
    Facts,
    Origin,
    Phases,
    Spent,
    Unavailable,
    Violation,
    VoidFact,
)
from runner.documents.ledger import LedgerLine
from runner.documents.manifest import FrozenEvaluator, FrozenNomination, Manifest, PlannedAttempt, Probe
from runner.documents.nomination import NominationSpec
from runner.documents.proof import ProofSet
from runner.documents.seal import Trial
from runner.documents.telemetry import Preflight, Telemetry
from runner.documents.writing import end, public_tests, ruling, spent
from runner.gateway.relay.recording import write_record
from runner.grading import Made, Parts, grading, void
from runner.host_proofs import digests, keep_copies
from runner.journal import Scribe
from runner.judges import Judging
from runner.roster import Agent, Candidate, Route
from runner.schedule import Cell
from runner.store import Store, store_for
from sandbox.termination import Cause, Termination, Usage
from sandbox.tree import Entry, Kind, tree_digest
from tests.unit.runner.proofs import a_sandbox_proof

PATCH = b"diff --git a/slugs.py b/slugs.py\n"
GREET = b"def greet():\n    return 'hi'\n"
BASE_ENTRIES = (Entry(path=b"greet.py", kind=Kind.FILE, sha256=sha256(GREET), size=len(GREET)),)
BASE = tree_digest(BASE_ENTRIES)
TREE = sha256(b"tree")
EVALUATOR = sha256(b"evaluator")
CASES = ("empty", "long")
PROOFS = (a_sandbox_proof(), a_sandbox_proof(ProofSet.OBJECTIVE))
HOST = Host(
    kernel="6.1",
    systemd="252",
    manager="private",
    cgroups="v2",
    layers="idmap",
    image="loop",
    proofs=digests(PROOFS),
)
ORIGIN = Origin(
    runner="0.1.0",
    host_sha256=sha256(canonical(HOST)),
    toolchains=(),
    scripted=True,
    controls=Controls.NOT_RUN,
)
WELL = Termination(cause=Cause.EXIT, status=0, usage=Usage(wall_ms=1200, cpu_ms=800, memory_peak_bytes=4096))
BADLY = dataclasses.replace(WELL, status=1)
SOLVER = Cell(candidate="solver", nomination="slugs", attempt=1)
IDLER = Cell(candidate="idler", nomination="slugs", attempt=1)


def a_manifest(*candidates: str, policy: RetryPolicy | None = None, validation: str | None = None) -> Manifest:
    names = candidates or ("solver", "idler")
    return Manifest(
        release="pilot",
        supersedes=None,
        configuration_sha256=sha256(b"configuration"),
        candidates=tuple(_candidate(name) for name in names),
        nominations=(_nomination(validation),),
        judges=(),
        judging=Judging(),
        judge_prompts=(),
        criteria=(),
        routes=(Route(id="scripted", scripted="config/scenarios"),),
        folders=(),
        limits=ReleaseLimits(),
        retry_policy=policy or RetryPolicy(),
        analysis=Analysis(),
        probe=Probe(),
        attempts=1,
        planned=tuple(PlannedAttempt(candidate=name, nomination="slugs", attempt=1) for name in names),
        controls="not run" if validation is None else "ran",
    )


def _candidate(name: str) -> Candidate:
    return Candidate(id=name, agent=Agent.NATIVE, model=name, route="scripted", label=f"The {name}")


def _nomination(validation: str | None) -> FrozenNomination:
    spec = {
        "schema": "cleanroom/nomination/1",
        "id": "slugs",
        "version": "1",
        "title": "Slugs",
        "class": "code-fix",
        "tier": "easy",
        "mode": "agentic",
        "public_tests": {"command": ["{python}", "-m", "pytest"]},
        "allowed_changes": ["slugs.py"],
        "evaluators": [{"id": "hidden", "kind": "pytest"}],
    }
    evaluator = FrozenEvaluator(
        id="hidden",
        kind="pytest",
        sha256=EVALUATOR,
        cases=len(CASES),
        cases_sha256=sha256(canonical({"cases": list(CASES)})),
    )
    return FrozenNomination(
        id="slugs",
        spec=NominationSpec.model_validate_json(canonical(spec)),
        nomination_sha256=sha256(b"nomination"),
        prompt_sha256=sha256(b"prompt"),
        fixture_sha256=BASE,
        public=(),
        private_sha256=sha256(b"private"),
        solution_sha256=TREE,
        toolchain=None,
        downloads=(),
        evaluators=(evaluator,),
        validation=validation,
    )


def a_store(root: Path, manifest: Manifest) -> Store:
    return store_for(root, manifest, Scribe(clock=lambda: 1_000, run="0" * 16))


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """What happened in a try that left a submission."""

    termination: Termination = WELL
    ledger: tuple[LedgerLine, ...] = ()
    telemetry: Telemetry = Telemetry(agent="nop", turns=0)  # noqa: RUF009 - it is frozen
    violations: tuple[Violation, ...] = ()
    findings: tuple[CaptureFinding, ...] = ()
    """Of the capture; what of them breaks the policy stands in `violations` too."""
    tests: bool = True
    hidden: bool = True
    fault: VoidFact | None = None
    """Of the grading."""
    cost: str | None = "0.25"


def begin(store: Store, cell: Cell, number: int = 1) -> Trial:
    trial = store.trial(cell, number)
    keep_copies(store.root / store.release, PROOFS)
    store.begin(trial, runner="0.1.0", started_ms=1_000)
    return trial


def submit(store: Store, trial: Trial, run: Run) -> tuple[Submission, str]:
    """Seal a submission."""
    ended = agent_end(agent_run(run.termination, run.ledger, run.telemetry))
    made = Submission(
        trial=trial,
        origin=ORIGIN,
        base_sha256=BASE,
        tree_sha256=TREE,
        patch_sha256=sha256(PATCH),
        failure=ended if isinstance(ended, AgentFailure) else None,
        void=ended if isinstance(ended, VoidFact) else None,
        started_ms=1_000,
        ended_ms=3_000,
        phases=Phases(preflight=Spent(wall_ms=10, cost_usd="0.01"), solution=spent(run.termination, cost_usd=run.cost)),
    )
    return made, store.seal_submission(trial, submission_files(made, run))


def submission_files(made: Submission, run: Run) -> Files:
    change = Change(path="slugs.py", kind=Kind.FILE, sha256=sha256(b"new"), size=3)
    documents = {
        "submission.json": made,
        "tree.json": Tree(base_sha256=BASE, tree_sha256=TREE, changes=(change,)),
        "capture.json": Capture(findings=run.findings),
        "termination.json": UnitEnd(end=end(run.termination)),
        "telemetry.json": run.telemetry,
        "preflight.json": Preflight(needed=False, prompt=None, available=True, reason=None),
        "launcher.json": Walls(units={"candidate": {"uid": 1}}),
        "host.json": HOST,
    }
    return {name: canonical(document) for name, document in documents.items()} | {
        "candidate.diff": PATCH,
        "ledger.jsonl": canonical_lines(run.ledger),
        "streams/stdout": b"out",
        "streams/stderr": b"",
        **({"exchanges/solution.gz": recording(run.ledger)} if run.ledger else {}),
    }


def recording(lines: tuple[LedgerLine, ...]) -> bytes:
    """Give the recording of a ledger whose bodies nobody kept."""
    return b"".join(_exchange(line) for line in lines)


def _exchange(line: LedgerLine) -> bytes:
    asked = {
        "record": "asked",
        "sequence": line.sequence,
        "operation": line.operation,
        "method": "POST",
        "target": "/v1/chat/completions",
        "size": line.request_bytes,
        "sha256": line.request_sha256,
        "cut": True,
    }
    given = {
        "record": "given",
        "sequence": line.sequence,
        "status": line.status_given,
        "content_type": None,
        "stream": line.stream,
        "size": line.response_bytes,
        "cut": True,
        "redacted": 0,
        "ended": line.complete,
        "failure": line.failure,
        "refusal": line.refusal,
        "played": None,
    }
    return write_record(asked, b"") + write_record(given, b"")


def grade(store: Store, made: Submission, digest: str, run: Run) -> str:
    """Append a grading."""
    cause = VerdictCause.PASSED if run.hidden else VerdictCause.FAILED
    verdict = Verdict(
        cause=cause,
        assurance=Assurance.IN_PROCESS,
        cases=tuple(Case(id=name, passed=run.hidden, ms=1) for name in CASES),
        score=Decimal(int(run.hidden)),
        private_log=b"private",
    )
    result = TestsResult(termination=WELL if run.tests else BADLY, stdout=b"tests", stderr=b"")
    tests = public_tests(result, tree=made.tree_sha256)
    hidden = ruling(verdict, evaluator="hidden", digest=EVALUATOR, tree=made.tree_sha256)
    policy = Policy(tree_sha256=made.tree_sha256, violations=run.violations)
    rulings = () if run.fault is not None else (hidden,)
    parts = Parts(policy=policy, tests=tests, rulings=rulings, evaluators=(("hidden", EVALUATOR),), fault=run.fault)
    phases = Phases(public_tests=Spent(wall_ms=300), evaluators=Spent(wall_ms=400))
    when = Made(origin=ORIGIN, started_ms=4_000, ended_ms=5_000, phases=phases)
    document = grading(store.next_grading(made.trial), made, digest, parts, when)
    files = {"policy.json": canonical(policy), "public-tests.json": canonical(tests)}
    files |= {f"evaluators/{each.id}.json": canonical(each) for each in rulings}
    files |= {f"logs/{sha256(log)}": log for log in (b"private", b"tests", b"")}
    return store.seal_grading(document, files)


def attempt(store: Store, cell: Cell, run: Run, number: int = 1) -> str:
    """Make a whole try."""
    made, digest = submit(store, begin(store, cell, number), run)
    return grade(store, made, digest, run)


def end_void(store: Store, trial: Trial, fact: VoidFact | Unavailable, *, cost: str | None = "0.5") -> str:
    """Seal a try that left no submission."""
    facts = Facts(
        unavailable=fact if isinstance(fact, Unavailable) else None,
        void=fact if isinstance(fact, VoidFact) else None,
    )
    phases = Phases(preflight=Spent(wall_ms=50, cost_usd=cost))
    made = Made(origin=ORIGIN, started_ms=1_000, ended_ms=1_500, phases=phases)
    return store.seal_void(void(trial, facts, made), {"host.json": canonical(HOST)})
