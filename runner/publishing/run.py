"""run.json: from what was observed of an attempt to its public document, and back. Pure.

Back, because the tables of a published release are made of these documents alone, by the very rules that make them of
private evidence.
"""

from dataclasses import dataclass, replace
from typing import Literal

from runner.documents.aggregate import Evidence
from runner.documents.capture import Capture
from runner.documents.evidence import Tree
from runner.documents.facts import Controls, End, Facts, Origin
from runner.documents.manifest import Manifest
from runner.documents.published import Artifacts, Execution, FirstShot, Left, Metrics, Run
from runner.documents.writing import decimal_text
from runner.observed import Look, Observed
from runner.outcome import Outcome, outcome, score, solved, verdict
from runner.publishing.words import public_facts, public_shot
from runner.reason import reason
from runner.reports.markdown import CONTROLS_NOT_RUN, DIRECT, SCRIPTED, UNPROVEN
from runner.roster import NetworkMode
from runner.schedule import Cell
from sandbox.termination import Cause


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """What a run.json tells beside what was observed: the files of the attempt, and when it was."""

    artifacts: Artifacts
    started_at: int | None = None
    completed_at: int | None = None
    agent: Execution | None = None
    tests: Execution | None = None
    submission: Left | None = None
    first_shot: FirstShot | None = None


def public(observed: Observed) -> Observed:
    """Give what was observed of an attempt without the words of others."""
    look = observed.counted
    counted = replace(look, facts=public_facts(look.facts), shots=tuple(public_shot(each) for each in look.shots))
    return replace(observed, counted=counted)


def run_document(manifest: Manifest, manifest_sha256: str, observed: Observed, parts: Parts, void: str | None) -> Run:
    """Write an attempt down; `observed` is public, `void` says why the attempt says nothing (None: it does)."""
    cell, look = observed.cell, observed.counted
    facts, points = look.facts, score(look.facts)
    return Run(
        release=manifest.release,
        manifest_sha256=manifest_sha256,
        run_id=run_id(manifest.release, cell),
        nomination=cell.nomination,
        attempt=cell.attempt,
        tries=observed.tries,
        try_=observed.number,
        candidate=manifest.candidate(cell.candidate),
        started_at=parts.started_at,
        completed_at=parts.completed_at,
        duration_ms=lasted(parts.started_at, parts.completed_at),
        benchmark_metrics=metrics(look, lasted(parts.started_at, parts.completed_at)),
        agent=parts.agent,
        usage=look.traffic,
        tests=parts.tests,
        outcome=outcome(facts),
        reason=reason(facts),
        verdict=verdict_word(facts),
        solved=solved(facts),
        score=None if points is None else decimal_text(points),
        void=void,
        changed_files=changed_files(parts.submission),
        forbidden_changes=forbidden_changes(facts),
        notes=notes_of(look.origin),
        artifacts=parts.artifacts,
        facts=facts,
        origin=look.origin,
        phases=look.phases,
        norms=look.norms,
        voids=observed.voids,
        submission=parts.submission,
        shots=look.shots,
        first_shot=parts.first_shot,
        evidence=Evidence(
            submission_sha256=look.submission_sha256,
            grading_sha256=look.grading_sha256,
            void_sha256=look.void_sha256,
        ),
    )


def observed_of(run: Run) -> Observed:
    """Give back what a run.json was written from, for the tables."""
    left = run.submission if run.facts.captured else None
    look = Look(
        facts=run.facts,
        origin=run.origin,
        phases=run.phases,
        traffic=run.usage,
        shots=run.shots,
        changed=None if left is None else left.base_sha256 != left.tree_sha256,
        norms=run.norms,
        submission_sha256=run.evidence.submission_sha256,
        grading_sha256=run.evidence.grading_sha256,
        void_sha256=run.evidence.void_sha256,
    )
    cell = Cell(candidate=run.candidate.id, nomination=run.nomination, attempt=run.attempt)
    return Observed(cell=cell, tries=run.tries, counted=look, voids=run.voids, number=run.try_)


def run_id(release: str, cell: Cell) -> str:
    """Name a run as the reference system does."""
    return f"{release}:{cell.candidate}:{cell.nomination}"


def lasted(started_at: int | None, completed_at: int | None) -> int | None:
    """Give the time between; None where an end is unknown, or a clock was set back."""
    if started_at is None or completed_at is None or completed_at < started_at:
        return None
    return completed_at - started_at


def metrics(look: Look, duration_ms: int | None) -> Metrics:
    """Give what is shown beside a result."""
    solution, tests = look.phases.solution, look.phases.public_tests
    cost = None if solution is None else solution.cost_usd
    return Metrics(
        duration_ms=duration_ms,
        model_duration_ms=None if solution is None else solution.wall_ms,
        public_tests_duration_ms=None if tests is None else tests.wall_ms,
        cost_usd=cost,
        cost_source=None if cost is None else "provider_reported",
    )


def execution(end: End) -> Execution:
    """Write down how a unit ended; the service manager's words about it stay private."""
    return Execution(
        cause=end.cause,
        status=end.status if end.cause is Cause.EXIT else None,
        signal=end.status if end.cause is not Cause.EXIT else None,
        timed_out=end.cause is Cause.TIMEOUT,
        output_limited=end.cause is Cause.OUTPUT_LIMIT,
        duration_ms=end.wall_ms,
        cpu_ms=end.cpu_ms,
        memory_peak_bytes=end.memory_peak_bytes,
    )


def left(tree: Tree, capture: Capture) -> Left:
    """Write down what a candidate left."""
    return Left(
        base_sha256=tree.base_sha256,
        tree_sha256=tree.tree_sha256,
        changes=tree.changes,
        findings=capture.findings,
    )


def verdict_word(facts: Facts) -> Literal["passed", "failed"] | None:
    """Give the evaluators' common verdict as tables write it."""
    passed = verdict(facts)
    return None if passed is None else "passed" if passed else "failed"


def changed_files(submission: Left | None) -> tuple[str, ...]:
    """List the paths that a patch changes."""
    return () if submission is None else tuple(each.path for each in submission.changes)


def forbidden_changes(facts: Facts) -> tuple[str, ...]:
    """List the paths that break the policy, each once, in the order of the violations."""
    return tuple(dict.fromkeys(each.path for each in facts.violations if each.path is not None))


def notes_of(origin: Origin | None) -> tuple[str, ...]:
    """Give what has to be said beside the numbers of a run."""
    if origin is None:
        return ()
    said = {
        SCRIPTED: origin.scripted,
        DIRECT: origin.network is NetworkMode.DIRECT,
        CONTROLS_NOT_RUN: origin.controls is Controls.NOT_RUN,
        UNPROVEN: origin.proven is False,
    }
    return tuple(note for note, holds in said.items() if holds)


def void_reason(facts: Facts) -> str | None:
    """Say why an attempt says nothing; None where it says something."""
    return reason(facts) if outcome(facts) is Outcome.VOID else None
