"""An attempt in lines: what it left, how that was judged, what it asked, its walls, its times. Pure."""

from collections.abc import Iterator, Sequence

from runner.documents.facts import Phases
from runner.documents.ledger import LedgerLine
from runner.reason import VERDICTS
from runner.reports.marks import UNKNOWN
from runner.showing.lines import Line, Tone, plain, quoted
from runner.showing.seen import seen_walls
from runner.showing.story import Graded, Story


def diff_lines(story: Story, most: int | None) -> Iterator[Line]:
    """Show the patch that it left; before that, what a first shot had left."""
    for run in story.runs:
        if run.diff is not None:
            yield plain(f"{run.name}, which another followed", Tone.HEADING)
            yield from patch_lines(run.diff, None if most is None else 10 * most)
            yield plain("what counts", Tone.HEADING)
    if story.diff is None:
        yield plain("no patch: it left nothing that could be captured, or it is not what was sealed", Tone.FAINT)
    elif not story.diff:
        yield plain("it changed nothing", Tone.FAINT)
    else:
        yield from patch_lines(story.diff, None if most is None else 10 * most)


def patch_lines(diff: str, most: int | None) -> Iterator[Line]:
    """Show a patch: what came, and what went."""
    tones = {"+": Tone.ADDED, "-": Tone.REMOVED, "d": Tone.HEADING, "@": Tone.FAINT}
    for line in quoted(diff, most):
        yield Line(text=line.text, tone=tones.get(line.text[:1], line.tone), quoted=True) if line.quoted else line


def cases_lines(story: Story, most: int | None) -> Iterator[Line]:
    """Name what failed: public tests, rules, hidden cases."""
    if not story.gradings:
        yield plain("it was never graded", Tone.FAINT)
    for graded in story.gradings:
        counts = "it counts" if graded.counts else "it does not count"
        yield plain(f"{graded.grading.id} ({counts}): {graded.grading.outcome}: {graded.grading.reason}", Tone.HEADING)
        yield from _failed(graded, most)
    for shot in story.look.shots:
        yield plain(f"shot {shot.number} by itself: {shot.outcome}: {shot.reason}")


def _failed(graded: Graded, most: int | None) -> Iterator[Line]:
    for breach in () if graded.policy is None else graded.policy.violations:
        yield plain(f"forbidden: {breach.rule} {breach.path or ''} {breach.detail}".rstrip(), Tone.BAD)
    if graded.tests is not None:
        end = graded.tests.end
        status = "" if end.status is None else f" {end.status}"
        tone = Tone.GOOD if graded.tests.passed else Tone.BAD
        yield plain(f"public tests {'passed' if graded.tests.passed else 'failed'}: {end.cause}{status}", tone)
        yield from quoted(graded.tests_output, most) if graded.tests_output else ()
    for ruling in graded.rulings:
        failed = [case for case in ruling.cases if not case.passed]
        passed = len(ruling.cases) - len(failed)
        tone = Tone.GOOD if ruling.passed else Tone.BAD
        score = "" if ruling.score is None else f", score {ruling.score}"
        said = f"{VERDICTS[ruling.cause]} ({ruling.assurance}){score}: {passed} of {len(ruling.cases)} cases passed"
        yield plain(f"hidden check {ruling.id} {said}", tone)
        yield from quoted(ruling.detail, most) if ruling.detail else ()
        for case in failed:
            yield plain(f"  failed: {case.id}", Tone.BAD)
            yield from quoted(case.detail, most) if case.detail else ()


_LEDGER = ("no.", "asked", "model", "status", "end", "time (s)", "in", "cached", "out", "cost (USD)", "tries")


def ledger_lines(story: Story, most: int | None) -> Iterator[Line]:
    """List the requests to the model, a line each."""
    del most
    tables = [("the probe", story.probes), *((run.name, run.ledger) for run in story.runs)]
    if not any(lines for _, lines in tables):
        yield plain("no request to a model was made, or none was metered", Tone.FAINT)
    for name, lines in tables:
        if lines:
            yield plain(f"{name}: {counted(len(lines), 'request')}")
            yield from table_lines((_LEDGER, *(_request(line) for line in lines)))


def _request(line: LedgerLine) -> tuple[str, ...]:
    tokens = line.tokens
    where = line.tunnel.host if line.tunnel is not None else line.model_answered or line.model_asked or UNKNOWN
    ended = line.failure or line.refusal or line.finish_reason or ("whole" if line.complete else "cut")
    counts = (tokens.input, tokens.cached, tokens.output)
    return (
        str(line.sequence),
        line.operation,
        where,
        UNKNOWN if line.status_given is None else str(line.status_given),
        ended,
        seconds(line.duration_ms),
        *(UNKNOWN if each is None else str(each) for each in counts),
        line.cost or UNKNOWN,
        str(line.retries + 1),
    )


def walls_lines(story: Story, most: int | None) -> Iterator[Line]:
    """Say what the launcher of each unit saw before its program started."""
    del most
    if not story.walls:
        yield plain("no unit of it was started, or no report of one is kept", Tone.FAINT)
    for unit, seen in story.walls.items():
        yield plain(unit, Tone.HEADING)
        yield from (plain(f"  {said}") for said in seen_walls(seen))
    if (host := story.host) is not None:
        yield plain(f"host: kernel {host.kernel}, systemd {host.systemd} ({host.manager}), cgroups {host.cgroups}")
        yield plain(f"  workspaces: {host.layers} over {host.image}")
        yield plain(f"  its walls were tried: proofs {host.proofs.sandbox} and {host.proofs.objective_sandbox}")


_TIMES = ("phase", "time (s)", "processor (s)", "memory (MiB)", "cost (USD)")


def times_lines(story: Story, most: int | None) -> Iterator[Line]:
    """Give time and money, phase by phase."""
    del most
    yield from table_lines((_TIMES, *times_of(story.look.phases)))
    if (traffic := story.look.traffic) is not None:
        waited = f", {seconds(traffic.wait_ms)} s of it between tries" if traffic.wait_ms else ""
        asked = f"{counted(traffic.requests, 'request')} ({traffic.failed} failed)"
        yield plain(f"{asked}, {seconds(traffic.provider_ms)} s at the provider{waited}; {traffic.cost or UNKNOWN} USD")


def times_of(phases: Phases) -> Iterator[tuple[str, ...]]:
    """Give a row for each phase that ran; what nobody knows is N/A, never nothing."""
    for name in Phases.model_fields:
        spent = getattr(phases, name)
        if spent is None:
            continue
        peak = spent.memory_peak_bytes
        memory = UNKNOWN if peak is None else str(peak >> 20)
        times = (UNKNOWN if ms is None else seconds(ms) for ms in (spent.wall_ms, spent.cpu_ms))
        yield (name.replace("_", " "), *times, memory, spent.cost_usd or UNKNOWN)


def counted(number: int, noun: str) -> str:
    """Give a number with its noun."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def seconds(ms: int) -> str:
    """Give milliseconds as seconds."""
    return f"{ms // 1000}.{ms % 1000:03d}"


def table_lines(rows: Sequence[Sequence[str]]) -> Iterator[Line]:
    """Give a table's lines: one a row, whatever its cells hold."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for number, row in enumerate(rows):
        cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        yield plain(f"  {'  '.join(cells)}", Tone.PLAIN if number else Tone.FAINT)
