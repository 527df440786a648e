"""The two shots of a single-shot attempt: the first's tests, its evidence beside the second's, and its grading."""

from dataclasses import dataclass
from pathlib import Path

from evaluators.public_tests import TestsResult, run_public_tests
from runner.artifacts import Sealed, read_sealed
from runner.canonical import canonical, canonical_lines, sha256
from runner.documents import writing
from runner.documents.evidence import PublicTests, ShotResult, Submission, UnitEnd
from runner.evaluation import Evaluation, evaluate, reopen
from runner.grading import shot
from runner.kept import FIRST, LOGS
from runner.runtime import Ran
from runner.staging import Staged, roomy
from sandbox.api import Pack
from sandbox.capture import Capture
from sandbox.patch import Repository


@dataclass(frozen=True, slots=True, kw_only=True)
class Tested:
    """The public tests of a first shot: what says whether there is a second."""

    tree_sha256: str
    result: TestsResult

    def files(self) -> dict[str, bytes]:
        """Give its evidence, under the names that a sealed submission knows."""
        result = self.result
        document = writing.public_tests(result, tree=self.tree_sha256)
        logs = {f"{FIRST}/{LOGS}/{sha256(log)}": log for log in (result.stdout, result.stderr)}
        return {f"{FIRST}/public-tests.json": canonical(document), **logs}


@dataclass(frozen=True, slots=True, kw_only=True)
class Shot:
    """A shot that was captured: the same evidence as of any run."""

    document: Submission
    ran: Ran
    captured: Capture

    def files(self) -> dict[str, bytes]:
        """Give its evidence, under the names that a sealed submission knows."""
        return {
            **run_files(self.ran),
            "submission.json": canonical(self.document),
            "candidate.diff": self.captured.patch,
            "tree.json": canonical(writing.tree(self.captured)),
            "capture.json": canonical(writing.capture(self.captured)),
            "ledger.jsonl": canonical_lines(self.ran.lines),
        }


def run_files(ran: Ran) -> dict[str, bytes]:
    """Give the evidence of an agent's run, under the names that sealed folders know."""
    result = ran.result
    end = UnitEnd(end=writing.end(result.termination), stdout_bytes=len(result.stdout), stderr_bytes=len(result.stderr))
    return {
        "termination.json": canonical(end),
        "telemetry.json": canonical(ran.telemetry),
        "streams/stdout": result.stdout,
        "streams/stderr": result.stderr,
    }


def tested_before(first: Sealed) -> Tested | None:
    """Give the public tests of a sealed first shot; None where they were not run."""
    if not first.holds("public-tests.json"):
        return None
    tests = first.document(PublicTests, "public-tests.json")
    stdout, stderr = (first.bytes(f"{LOGS}/{digest}") for digest in (tests.stdout_sha256, tests.stderr_sha256))
    result = TestsResult(termination=writing.termination(tests.end), stdout=stdout, stderr=stderr)
    return Tested(tree_sha256=tests.tree_sha256, result=result)


def played_tests(folder: Path | None, captured: Capture) -> Tested | None:
    """Give the tests of a sealed attempt that is played again: what they print differs from time to time."""
    known = None if folder is None else tested_before(read_sealed(folder).below(FIRST))
    return known if known is not None and known.tree_sha256 == captured.tree_digest else None


def shot_tests(staged: Staged, captured: Capture, repository: Repository) -> Tested:
    """Run the public tests on a first shot as they are run when judging: on base + patch, built anew.

    Raises:
        EvaluatorError, SandboxError: a fault.
    """
    applied = repository.apply(staged.base.commit, captured.patch)
    judged = staged.submission(Pack(entries=applied.changes, blobs=applied.contents.get), captured.tree_digest)
    result = run_public_tests(staged.tests, judged, roomy(staged.tests_bench, judged))
    return Tested(tree_sha256=captured.tree_digest, result=result)


def grade_first(sealed: Sealed, staged: Staged, repository: Repository) -> Evaluation | None:
    """Grade the first of two shots, with its public tests as they ended then; None where there is one shot alone.

    Raises:
        KeeperError: the keeper is gone; nothing can be said.
    """
    if not sealed.holds(f"{FIRST}/submission.json"):
        return None
    first = sealed.below(FIRST)
    tests = first.document(PublicTests, "public-tests.json")
    return evaluate(staged, reopen(first, staged, repository), tests)


def shot_results(last: Evaluation, first: Evaluation | None) -> tuple[ShotResult, ...]:
    """Give the results of an attempt's shots, in order."""
    every = (last,) if first is None else (first, last)
    return tuple(shot(number, each.reopened.document, each.parts()) for number, each in enumerate(every, 1))
