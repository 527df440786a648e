"""What a hidden suite does on code that is trusted: the base and the solution, while a nomination is being made."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from evaluators.channel import Phase, passed
from evaluators.model import Bench, Submission
from evaluators.private_files import PrivateFiles
from evaluators.pytest_ruling import Run
from evaluators.pytest_suite import PytestSuite
from evaluators.twins import Sources


@dataclass(frozen=True, slots=True, kw_only=True)
class Survey:
    """How the cases of one run ended."""

    passed: frozenset[str]
    others: frozenset[str]
    """Cases that failed, were skipped, or never ran."""
    trouble: str = ""
    """Why no case could be collected, or the run did not reach its end; empty where it did."""


def survey(suite: PytestSuite, submission: Submission, bench: Bench) -> Survey:
    """Run a suite as it is.

    Raises:
        EvaluatorError, SandboxError: a fault.
    """
    return read_run(suite.run_plainly(submission, bench))


def read_run(run: Run) -> Survey:
    """Tell from a run which cases passed."""
    transcript, end = run.transcript, run.termination
    phases: dict[str, list[Phase]] = {case: [] for case in transcript.collected or ()}
    for phase in transcript.phases:
        phases.setdefault(phase.id, []).append(phase)
    good = frozenset(case for case, seen in phases.items() if passed(seen))
    trouble = run.disguise.readable("; ".join(transcript.troubles))
    if not trouble and (transcript.forged or transcript.status not in {0, 1} or not end.succeeded):
        trouble = transcript.forged or f"it ended by {end.cause} {end.status}, pytest with {transcript.status}"
    return Survey(passed=_named(run, good), others=_named(run, frozenset(phases) - good), trouble=trouble)


def with_modules(suite: PytestSuite, modules: Mapping[str, str]) -> PytestSuite:
    """Give the suite with these modules of tests instead of its own; helpers and data stay."""
    sources = Sources(modules=modules, authored={})
    return replace(suite, files=PrivateFiles(sources=sources, others=suite.files.others))


def _named(run: Run, cases: frozenset[str]) -> frozenset[str]:
    return frozenset(run.disguise.original(case)[0] for case in cases)
