"""An attempt as one JSON value, for programs: the same as the page, nothing cut. Pure."""

from collections.abc import Mapping
from dataclasses import asdict

from runner.outcome import score, verdict
from runner.reason import reason
from runner.showing.story import Graded, Run, Story

Facts = Mapping[str, object]


def document(story: Story) -> Facts:
    """Give the whole of a story; what is not known is null. Bytes that are no UTF-8 are surrogates (U+DC80 and on)."""
    passed, points = verdict(story.facts), score(story.facts)
    return {
        "attempt": story.name,
        "verifies": not story.findings,
        "findings": list(story.findings),
        "release": story.trial.release,
        "manifest_sha256": story.trial.manifest_sha256,
        "candidate": story.candidate.model_dump(mode="json"),
        "nomination": story.trial.nomination,
        "title": story.title,
        "outcome": story.outcome.value,
        "reason": reason(story.facts),
        "verdict": None if passed is None else "passed" if passed else "failed",
        "score": None if points is None else str(points),
        "facts": story.facts.model_dump(mode="json"),
        "shots": [each.model_dump(mode="json") for each in story.look.shots],
        "scripted": None if story.look.origin is None else story.look.origin.scripted,
        "unfinished": list(story.unfinished),
        "started_ms": story.started_ms,
        "ended_ms": story.ended_ms,
        "other_tries": [asdict(each) for each in story.others],
        "folder": story.folder,
        "evidence": {
            "submission_sha256": story.look.submission_sha256,
            "grading_sha256": story.look.grading_sha256,
            "void_sha256": story.look.void_sha256,
        },
        "preflight": None if story.preflight is None else story.preflight.model_dump(mode="json"),
        "probes": [each.model_dump(mode="json") for each in story.probes],
        "runs": [_run(each) for each in story.runs],
        "diff": story.diff,
        "capture": list(story.findings_of_capture),
        "gradings": [_graded(each) for each in story.gradings],
        "walls": dict(story.walls),
        "host": None if story.host is None else story.host.model_dump(mode="json"),
        "phases": story.look.phases.model_dump(mode="json"),
        "traffic": None if story.look.traffic is None else story.look.traffic.model_dump(mode="json"),
    }


def _run(run: Run) -> Facts:
    return {
        "name": run.name,
        "source": run.source,
        "claimed": run.claimed,
        "steps": [asdict(step) for step in run.steps],
        "ledger": [each.model_dump(mode="json") for each in run.ledger],
        "telemetry": None if run.telemetry is None else run.telemetry.model_dump(mode="json"),
        "end": None if run.end is None else run.end.end.model_dump(mode="json"),
        "diff": run.diff,
    }


def _graded(graded: Graded) -> Facts:
    return {
        "id": graded.grading.id,
        "counts": graded.counts,
        "outcome": graded.grading.outcome.value,
        "reason": graded.grading.reason,
        "violations": None if graded.policy is None else [each.model_dump() for each in graded.policy.violations],
        "public_tests": None if graded.tests is None else graded.tests.model_dump(mode="json"),
        "public_tests_output": graded.tests_output,
        "evaluators": [each.model_dump(mode="json") for each in graded.rulings],
    }
