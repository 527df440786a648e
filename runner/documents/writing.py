"""From the plain values of the sandbox and the evaluators to the documents that keep them."""

from collections.abc import Mapping
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Decimal
from fractions import Fraction

import sandbox.capture
from evaluators.model import Verdict
from evaluators.public_tests import TestsResult
from evaluators.speed_values import Measurement, Pair
from runner.canonical import canonical, sha256
from runner.documents.capture import Capture, CaptureFinding
from runner.documents.evidence import CaseResult, Host, PublicTests, Ruling, Tree, Walls
from runner.documents.facts import Change, End, Spent, path_bytes, path_text
from runner.documents.measurement import SpeedMeasurement, TimedPair, Where
from runner.documents.proof import HostProofs
from sandbox.api import HostFacts, LauncherReport
from sandbox.findings import Finding
from sandbox.termination import Termination, Usage
from sandbox.tree import Entry

LONGEST = 2000
"""Characters of a text for people that a document keeps."""

_RATIO = Decimal("0.000001")


def printable(text: str, limit: int = LONGEST) -> str:
    """Give text that stays on its line and steers no terminal: what cannot be printed is escaped."""
    shown = text if text.isprintable() else "".join(map(_escaped, text))
    return shown if len(shown) <= limit else f"{shown[:limit]} [{len(shown) - limit} more]"


def _escaped(sign: str) -> str:
    return sign if sign.isprintable() else sign.encode("unicode_escape").decode("ascii")


def decimal_text(value: Decimal) -> str:
    """Write a number without exponent and without idle zeros."""
    text = format(value, "f")
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return "0" if text in {"-0", ""} else text


def end(found: Termination) -> End:
    """Write down how a unit ended."""
    usage = found.usage
    return End(
        cause=found.cause,
        status=found.status,
        wall_ms=usage.wall_ms,
        cpu_ms=usage.cpu_ms,
        memory_peak_bytes=usage.memory_peak_bytes,
        detail=printable(found.detail),
    )


def termination(found: End) -> Termination:
    """Give back how a unit ended."""
    usage = Usage(wall_ms=found.wall_ms, cpu_ms=found.cpu_ms, memory_peak_bytes=found.memory_peak_bytes)
    return Termination(cause=found.cause, status=found.status, usage=usage, detail=found.detail)


def spent(found: Termination, *, cost_usd: str | None = None) -> Spent:
    """Write down what a unit took."""
    usage = found.usage
    return Spent(
        wall_ms=usage.wall_ms,
        cpu_ms=usage.cpu_ms,
        memory_peak_bytes=usage.memory_peak_bytes,
        cost_usd=cost_usd,
    )


def change(entry: Entry) -> Change:
    """Write down one entry of a change."""
    return Change(
        path=path_text(entry.path),
        kind=entry.kind,
        executable=entry.executable,
        sha256=entry.sha256,
        size=entry.size,
        target=None if entry.target is None else path_text(entry.target),
    )


def entry(found: Change) -> Entry:
    """Give back one entry of a change.

    Raises:
        TreeError: no tree has such an entry.
    """
    return Entry(
        path=path_bytes(found.path),
        kind=found.kind,
        executable=found.executable,
        sha256=found.sha256,
        size=found.size,
        target=None if found.target is None else path_bytes(found.target),
    )


def tree(found: sandbox.capture.Capture) -> Tree:
    """Write down the captured tree."""
    return Tree(
        base_sha256=found.base_digest,
        tree_sha256=found.tree_digest,
        changes=tuple(change(entry) for entry in found.changes),
    )


def capture(found: sandbox.capture.Capture) -> Capture:
    """Write down what the capture met besides the tree."""
    return Capture(
        findings=tuple(
            CaptureFinding(
                kind=each.kind,
                path=path_text(each.path),
                mode=each.mode,
                size=each.size,
                detail=printable(each.detail),
            )
            for each in found.findings
        )
    )


def finding(found: CaptureFinding) -> Finding:
    """Give back a capture's finding."""
    return Finding(kind=found.kind, path=path_bytes(found.path), mode=found.mode, size=found.size, detail=found.detail)


def host(facts: HostFacts, proofs: HostProofs) -> Host:
    """Write down the machine, and by what it is known that its walls hold."""
    return Host(
        kernel=facts.kernel,
        systemd=facts.systemd,
        manager=facts.manager,
        cgroups=facts.cgroups,
        layers=facts.layers,
        image=facts.image,
        proofs=proofs,
    )


def walls(reports: Mapping[str, LauncherReport]) -> bytes:
    """Write down what the launcher of each unit saw."""
    return canonical(Walls.model_validate({"units": {name: report.seen for name, report in reports.items()}}))


def ruling(verdict: Verdict, *, evaluator: str, digest: str, tree: str) -> Ruling:
    """Write down a verdict."""
    return Ruling(
        id=evaluator,
        evaluator_sha256=digest,
        tree_sha256=tree,
        passed=verdict.passed,
        cause=verdict.cause,
        assurance=verdict.assurance,
        score=None if verdict.score is None else decimal_text(verdict.score),
        cases=tuple(
            CaseResult(id=printable(case.id), passed=case.passed, detail=printable(case.detail), ms=case.ms)
            for case in verdict.cases
        ),
        detail=printable(verdict.detail),
        duration_ms=verdict.duration_ms,
        measurement=None if verdict.measurement is None else measurement(verdict.measurement),
        log_sha256=sha256(verdict.private_log),
    )


def measurement(found: Measurement) -> SpeedMeasurement:
    """Write down a measurement of speed; an interval is never written narrower than it is."""
    interval = found.interval
    return SpeedMeasurement(
        protocol=found.protocol,
        clock=found.clock,
        warm_up=_pair(found.warm_up),
        pairs=tuple(map(_pair, found.pairs)),
        median=ratio_text(found.median),
        low=None if interval is None else ratio_text(interval.low, up=False),
        high=None if interval is None else ratio_text(interval.high, up=True),
        coverage=None if interval is None else ratio_text(interval.coverage, up=False),
        floor=None if found.floor is None else decimal_text(found.floor),
        noise=tuple(map(_pair, found.noise)),
        import_excess_ns=found.import_excess_ns,
        bucket=None if found.bucket is None else decimal_text(found.bucket),
        machine=Where(
            processor=printable(found.machine.processor),
            cores=found.machine.cores,
            kernel=printable(found.machine.kernel),
            load_before=found.machine.load[0],
            load_after=found.machine.load[1],
        ),
    )


def _pair(pair: Pair) -> TimedPair:
    return TimedPair(baseline_ns=pair.baseline_ns, candidate_ns=pair.candidate_ns, baseline_first=pair.baseline_first)


def ratio_text(ratio: Fraction, *, up: bool | None = None) -> str:
    """Write a ratio: rounded to the nearest, or never above or below what it is."""
    exact = Decimal(ratio.numerator) / Decimal(ratio.denominator)
    rounding = ROUND_HALF_EVEN if up is None else ROUND_CEILING if up else ROUND_FLOOR
    return decimal_text(exact.quantize(_RATIO, rounding))


def public_tests(result: TestsResult, *, tree: str) -> PublicTests:
    """Write down how the public tests ended."""
    return PublicTests(
        tree_sha256=tree,
        passed=result.passed,
        end=end(result.termination),
        stdout_sha256=sha256(result.stdout),
        stderr_sha256=sha256(result.stderr),
    )
