"""Evaluator `mutation`: the candidate writes tests; they are run on a module of ours and on changed versions of it.

Whatever a submission holds at the module's place, and whatever version is meant, our own bytes are laid there, for the
module itself as for every other version. Each run is a unit of its own, over a new workspace, as another account, with
nothing in it that tells which version it is but the version. The first run, on the module, says whether there is a
suite at all; the others come in an order drawn by lot, several at a time, with the module itself among them again.
"""

import hashlib
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from decimal import Decimal
from functools import partial

from evaluators.digests import digest_of, file_digests
from evaluators.errors import EvaluatorError, OptionError
from evaluators.model import Bench, EvaluatorSpec, Submission, Verdict
from evaluators.module_versions import Version, VersionsError, correct, read_versions
from evaluators.mutation_ruling import BASELINE, Ran, refusal, refused, rule
from evaluators.options import as_values, is_relative, read_fraction, read_path, read_texts, read_wall, refuse_unknown
from evaluators.packing import NOTHING, laid_over, pack_files
from evaluators.private_files import read_private_file
from evaluators.pytest_unit import HARNESS, HARNESS_IN_PLACE, Suite, run_suite
from evaluators.side_by_side import side_by_side
from evaluators.submitted_files import Absent, read_submitted
from sandbox.api import WorkspaceRequest
from sandbox.spec import KIB, MIB

BASELINES = 3
"""Runs on the module itself: a test that passes in some of them only is a wrong one."""

VERSION = 1
"""Raised when the same runs may be judged otherwise."""

_OPTIONS = frozenset({"module", "sha256", "source", "versions", "tests", "pass_threshold", "wall_s"})
_MOST_READ = 1 * MIB
_CHANNEL_BYTES = 16 * MIB
_PRINTED_BYTES = 32 * KIB
"""Of what a run printed that is kept."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mutation:
    """A module under test, its versions, and where a submission's tests stand."""

    spec: EvaluatorSpec
    module: str
    source: bytes
    """The module as it is right."""
    versions: tuple[Version, ...]
    tests: tuple[str, ...]
    threshold: Decimal
    harness: Mapping[str, bytes]
    wall: timedelta | None = None

    @property
    def id(self) -> str:
        """Name in the nomination."""
        return self.spec.id

    def digest(self) -> str:
        """SHA-256 over harness, options, the module and its versions."""
        sources = {each.case: each.source for each in self.versions}
        whole = {
            "kind": self.spec.kind,
            "version": VERSION,
            "baselines": BASELINES,
            "options": as_values(self.spec.options),
            "files": file_digests({**self.harness, "module": self.source, **sources}),
        }
        return digest_of(whole)

    def expected_cases(self) -> tuple[str, ...]:
        """Whether there is a suite, then each version."""
        return (BASELINE, *(each.case for each in self.versions))

    def judge(self, submission: Submission, bench: Bench) -> Verdict:
        """Judge one submission.

        Raises:
            EvaluatorError: a fault; also where the base holds another module than the one that versions were made of.
            SandboxError: a fault, before submitted code started.
        """
        self._check_base(submission)
        first = self._ran(submission, bench, correct(self.source))
        why = refusal(first.run)
        if why is not None:
            return _told(refused(self.expected_cases(), *why), [first])
        others = [*self.versions, *[correct(self.source)] * (BASELINES - 1)]
        secrets.SystemRandom().shuffle(others)
        work = [partial(self._ran, submission, bench, each) for each in others]
        ran = [first, *side_by_side(work, bench.units_at_once)]
        return _told(rule(ran, self.expected_cases(), self.threshold), ran)

    def _check_base(self, submission: Submission) -> None:
        found = read_submitted(replace(submission, change=NOTHING), self.module, _MOST_READ)
        if found != self.source:
            what = f"{self.module} in the base: {found.value if isinstance(found, Absent) else 'it is another module'}"
            raise EvaluatorError(f"evaluator {self.id}: {what}; pin the module anew, and look at each version")

    def _ran(self, submission: Submission, bench: Bench, version: Version) -> Ran:
        suite = Suite(harness=self.harness, modules=self.tests)
        request = WorkspaceRequest(
            layers=submission.base,
            limits=replace(
                bench.limits,
                wall=self.wall or bench.limits.wall,
                output_bytes=max(bench.limits.output_bytes, _CHANNEL_BYTES),
            ),
            lay=laid_over(submission.change, pack_files({self.module: version.source})),
        )
        return Ran(version=version, run=run_suite(suite, request, bench))


def _told(verdict: Verdict, ran: Sequence[Ran]) -> Verdict:
    """Add what the units took, and what they printed; the operator alone reads which version that was."""
    runs = [each.run for each in ran]
    return replace(
        verdict,
        duration_ms=sum(each.termination.usage.wall_ms for each in runs),
        report=runs[-1].report,
        private_log=b"".join(map(_log, ran)),
    )


def _log(each: Ran) -> bytes:
    return f"== {each.version.case}\n".encode() + each.run.printed[-_PRINTED_BYTES:] + b"\n"


KIND = "mutation"


@dataclass(frozen=True, slots=True, kw_only=True)
class Pin:
    """The module that a table of this kind pins, as the table has it."""

    module: object
    source: object
    sha256: object


def pin_of(spec: EvaluatorSpec) -> Pin | None:
    """Give what a table pins; None for other kinds. `source` is meant to be a copy of what every candidate sees."""
    if spec.kind != KIND:
        return None
    return Pin(**{field: spec.options.get(field) for field in ("module", "source", "sha256")})


def build_mutation(spec: EvaluatorSpec, frozen: object = None) -> Mutation:
    """Read the options and private files of kind `mutation`, and make every version.

    Raises:
        EvaluatorError: they are not what they must be; the module is another than the pinned one; a version drifted.
    """
    if frozen is not None:
        raise EvaluatorError(f"evaluator {spec.id}: a calibration, which {spec.kind} has none of")
    refuse_unknown(spec, _OPTIONS)
    threshold = read_fraction(spec, "pass_threshold", "1")
    if threshold == 0:
        raise OptionError(evaluator=spec.id, field="pass_threshold", found="'0'", expected="more than nothing")
    source = _pinned(spec)
    name = read_path(spec, "versions")
    try:
        versions = read_versions(read_private_file(spec.folder, name), source)
    except VersionsError as error:
        raise EvaluatorError(f"evaluator {spec.id}: {name}: {error}") from error
    return Mutation(
        spec=spec,
        module=read_path(spec, "module"),
        source=source,
        versions=versions,
        tests=_tests(spec),
        threshold=threshold,
        harness={place.name: place.read_bytes() for place in (HARNESS_IN_PLACE, HARNESS)},
        wall=read_wall(spec),
    )


def _pinned(spec: EvaluatorSpec) -> bytes:
    source, pinned = read_private_file(spec.folder, read_path(spec, "source")), spec.options.get("sha256")
    digest = hashlib.sha256(source).hexdigest()
    if digest != pinned:
        expected = f"{digest}, which is that of {spec.options['source']}"
        raise OptionError(evaluator=spec.id, field="sha256", found=repr(pinned), expected=expected)
    return source


def _tests(spec: EvaluatorSpec) -> tuple[str, ...]:
    tests = read_texts(spec, "tests")
    if not tests or not all(map(is_relative, tests)) or spec.options.get("module") in tests:
        expected = "files or folders of the workspace that hold the candidate's tests"
        raise OptionError(evaluator=spec.id, field="tests", found=repr(tests), expected=expected)
    return tests
