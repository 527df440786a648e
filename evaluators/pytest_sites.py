"""Evaluator `pytest` with `sites`: several places to mend, each with test modules of its own and the common guards.

Each site is a suite and a unit of its own, so that what ends one says nothing of another. The score is the part of the
sites that are fixed. Guards are in every site: whoever breaks one of them has fixed nothing. Since a site is worth a
part of the score by itself, each must have twins enough that guessing which test is the twin does not pay.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from decimal import ROUND_HALF_EVEN, Decimal

from evaluators.digests import digest_of
from evaluators.errors import EvaluatorError, OptionError
from evaluators.model import Assurance, Bench, Case, EvaluatorSpec, Submission, Verdict, VerdictCause
from evaluators.options import as_values, read_fraction, read_groups, read_texts
from evaluators.private_files import PrivateFiles
from evaluators.pytest_suite import PytestSuite, build_pytest_suite
from evaluators.text import clean
from evaluators.twins import Sources, find_twins, twinned

FEWEST_TWINS = 4
"""Tests of one site with a twin: a submission that guesses all of them gets that site once in 16 tries."""

VERSION = 1
"""Raised when the same runs may be judged otherwise."""

_OPTIONS = frozenset({"sites", "guards", "pass_threshold"})
_PLACES = Decimal("0.000001")
_NO_RESULT = (VerdictCause.TIMEOUT, VerdictCause.CRASHED, VerdictCause.REJECTED)


@dataclass(frozen=True, slots=True, kw_only=True)
class SitedSuite:
    """One suite a site, by the site's name."""

    spec: EvaluatorSpec
    sites: Mapping[str, PytestSuite]
    threshold: Decimal

    @property
    def id(self) -> str:
        """Name in the nomination."""
        return self.spec.id

    def digest(self) -> str:
        """SHA-256 over the options and every site's suite."""
        whole = {
            "kind": self.spec.kind,
            "version": VERSION,
            "options": as_values(self.spec.options),
            "sites": {name: suite.digest() for name, suite in self.sites.items()},
        }
        return digest_of(whole)

    def expected_cases(self) -> tuple[str, ...]:
        """Every site's cases, each with its site's name before it."""
        return tuple(_case(name, case) for name, suite in self.sites.items() for case in suite.expected_cases())

    def calibrate(self, solution: Submission, bench: Bench) -> dict[str, object]:
        """Let every site learn from the solution.

        Raises:
            EvaluatorError: one cannot be used as it is; it is named.
            SandboxError: a fault.
        """
        learned: dict[str, object] = {}
        for name, suite in self.sites.items():
            try:
                learned[name] = suite.calibrate(solution, bench)
            except EvaluatorError as error:
                raise EvaluatorError(f"site {name}: {error}") from error
        return {"sites": learned}

    def judge(self, submission: Submission, bench: Bench) -> Verdict:
        """Judge one submission, site by site.

        Raises:
            EvaluatorError, SandboxError: a fault.
        """
        return rule({name: suite.judge(submission, bench) for name, suite in self.sites.items()}, self.threshold)


def rule(verdicts: Mapping[str, Verdict], threshold: Decimal) -> Verdict:
    """Make one verdict of the sites'; one that was tampered with makes all of it worth nothing. Pure."""
    fixed = [name for name, each in verdicts.items() if each.passed]
    points = (Decimal(len(fixed)) / len(verdicts)).quantize(_PLACES, ROUND_HALF_EVEN).normalize()
    cause = _cause(verdicts, is_enough=points >= threshold)
    tampered = cause is VerdictCause.TAMPERED
    broken = "; ".join(f"{name}: {each.detail}" for name, each in verdicts.items() if not each.passed)
    last = tuple(verdicts.values())[-1]
    return Verdict(
        cause=cause,
        assurance=Assurance.IN_PROCESS,
        cases=tuple(_cases(verdicts, tampered=tampered)),
        score=Decimal(0) if tampered else points,
        detail=clean(f"{len(fixed)} of {len(verdicts)} sites fixed{'; ' if broken else ''}{broken}"),
        duration_ms=sum(each.duration_ms for each in verdicts.values()),
        report=last.report,
        private_log=b"".join(each.private_log for each in verdicts.values()),
    )


def _cause(verdicts: Mapping[str, Verdict], *, is_enough: bool) -> VerdictCause:
    causes = {each.cause for each in verdicts.values()}
    if VerdictCause.TAMPERED in causes:
        return VerdictCause.TAMPERED
    if is_enough:
        return VerdictCause.PASSED
    # Only where no site gave a result is there none: the solution is then asked whether it has one.
    return next((cause for cause in _NO_RESULT if causes == {cause}), VerdictCause.FAILED)


def _cases(verdicts: Mapping[str, Verdict], *, tampered: bool) -> Iterator[Case]:
    for name, verdict in verdicts.items():
        for case in verdict.cases:
            passed = case.passed and not tampered
            yield replace(case, id=_case(name, case.id), passed=passed)


def _case(site: str, case: str) -> str:
    return f"{site}: {case}"


def build_pytest(spec: EvaluatorSpec, frozen: object = None) -> PytestSuite | SitedSuite:
    """Build an evaluator of kind `pytest`: one suite, or one a site; `frozen` is what `calibrate` gave at freeze.

    Raises:
        EvaluatorError: options, files or calibration are not what they must be.
    """
    if "sites" not in spec.options:
        return build_pytest_suite(spec, frozen)
    options = {name: value for name, value in spec.options.items() if name not in _OPTIONS}
    suite = build_pytest_suite(replace(spec, options=options))
    guards = read_texts(spec, "guards")
    learned = _learned(spec, frozen)
    sites, groups = {}, read_groups(spec, "sites")
    if unused := suite.files.sources.modules.keys() - {*guards, *(each for group in groups.values() for each in group)}:
        expected = "every test module of private/ in a site or among the guards"
        raise OptionError(evaluator=spec.id, field="sites", found=f"{min(unused)} in none", expected=expected)
    for name, modules in groups.items():
        files = _only(suite.files, (*modules, *(each for each in guards if each not in modules)), spec, name)
        if len(twinned(find_twins(files.sources))) < FEWEST_TWINS:
            expected = f"{FEWEST_TWINS} tests with a twin: compare with literals, or add pairs in private/twins/"
            raise OptionError(evaluator=spec.id, field=f"sites.{name}", found="too few", expected=expected)
        sites[name] = replace(suite, files=files).calibrated(learned.get(name))
    if learned and learned.keys() != sites.keys():
        raise EvaluatorError(f"evaluator {spec.id}: its calibration is of other sites")
    return SitedSuite(spec=spec, sites=sites, threshold=read_fraction(spec, "pass_threshold", "1"))


def _learned(spec: EvaluatorSpec, frozen: object) -> Mapping[str, object]:
    match frozen:
        case None:
            return {}
        case {"sites": dict(learned), **rest} if not rest:
            return learned
        case _:
            raise EvaluatorError(f"evaluator {spec.id}: its calibration is of no sites")


def _only(files: PrivateFiles, modules: tuple[str, ...], spec: EvaluatorSpec, site: str) -> PrivateFiles:
    known = files.sources
    for module in modules:
        if module not in known.modules:
            raise OptionError(
                evaluator=spec.id, field=f"sites.{site}", found=module, expected="test modules of private/"
            )
    return replace(
        files,
        sources=Sources(
            modules={path: known.modules[path] for path in modules},
            authored={path: known.authored[path] for path in modules if path in known.authored},
        ),
    )
