"""aggregate.md: the same table for people."""

from collections.abc import Iterable, Iterator

from evaluators.norm_scale import NormId
from runner.documents.aggregate import Aggregate, Row, Standing
from runner.documents.facts import Controls, Spent
from runner.documents.norms import NormsMean, NormsShort
from runner.outcome import Outcome
from runner.reports.marks import UNKNOWN, cell, table, table_row
from runner.roster import Agent

CONTROLS_NOT_RUN = "controls not run: nothing proves that the nominations can be solved, and are not solved already"
UNPROVEN = "unproven: nominations were frozen without a certificate that hidden checks resist cheats and do not flake"
DIRECT = (
    "network: direct: some agents reached their makers' hosts by themselves, with a login; what they asked was not "
    "metered, and no budget held"
)
SCRIPTED = "scripted: models were played from scenario files; the table says nothing about any real model"

RULES = (
    "Solved means completed, public tests and every evaluator passed. "
    "Voids, unavailable and missing attempts are in no denominator. This is no ranking."
)

NORMS_RULE = (
    "Norms say how a change is made: 1 less the weighted penalties of what could be measured; what could not is N/A, "
    "and the others share its weight. They are in no outcome, rate or score."
)

_CANDIDATES = (
    "Candidate", "Agent", "Model", "Outcome", "Solved", "Rate", "Rate if voids failed",
    "Rate if voids solved", "Mean score", "Voids", "Unavailable", "Solution time (s)",
    "Solution cost (USD)", "Cost of voids (USD)",
)  # fmt: skip
_SHOTS = ("Candidate", "pass@1", "pass@2")
_NORM_MEANS = ("Candidate", "Norms, solved", "Of", "Norms, all that count", "Of")
_NORMS = ("Candidate", "Nomination", "Attempt", "Norms", *(name.value.capitalize() for name in NormId))
_ATTEMPTS = (
    "Candidate", "Nomination", "Attempt", "Tries", "Outcome", "Verdict", "Score", "Assurance", "Reason",
    "Preflight (s)", "Solution (s)", "Public tests (s)", "Evaluators (s)", "Solution cost (USD)",
    "Cost of voids (USD)", "Scripted", "Network", "Evidence",
)  # fmt: skip


def markdown(aggregate: Aggregate) -> str:
    """Write an aggregate down for people."""
    return whole(aggregate, map(row_line, aggregate.attempts))


def whole(aggregate: Aggregate, row_lines: Iterable[str]) -> str:
    """Write the same of lines that are made already, an attempt each, in order; they end the text."""
    lines = [
        f"# Release {cell(aggregate.release)}",
        "",
        f"Manifest sha256 `{aggregate.manifest_sha256}`.",
        *(f"\n**{note}.**" for note in notes(aggregate)),
        "",
        RULES,
        "",
        *table(_CANDIDATES, (_standing(each) for each in aggregate.candidates)),
        "",
        *_shots(aggregate),
        *_norms(aggregate),
        *table(_ATTEMPTS, ()),
        *row_lines,
    ]
    return "\n".join(lines) + "\n"


def row_line(each: Row) -> str:
    """Write down one attempt's line."""
    return table_row(_row(each))


def notes(aggregate: Aggregate) -> tuple[str, ...]:
    """Give what has to be said beside every table of this release."""
    said = {
        SCRIPTED: aggregate.scripted,
        DIRECT: aggregate.direct,
        CONTROLS_NOT_RUN: aggregate.controls is Controls.NOT_RUN,
        UNPROVEN: bool(aggregate.unproven),
    }
    return tuple(note for note, holds in said.items() if holds)


def seconds(spent: Spent | None) -> str:
    """Give the wall-clock time in seconds."""
    if spent is None or spent.wall_ms is None:
        return UNKNOWN
    return f"{spent.wall_ms // 1000}.{spent.wall_ms % 1000:03d}"


def _shots(aggregate: Aggregate) -> Iterator[str]:
    """Give the table of single-shot candidates, where there are some."""
    shooting = [each for each in aggregate.candidates if each.agent == Agent.SINGLE_SHOT]
    if shooting:
        yield from table(
            _SHOTS, ((each.candidate, each.pass_at_1 or UNKNOWN, each.pass_at_2 or UNKNOWN) for each in shooting)
        )
        yield ""


def _norms(aggregate: Aggregate) -> Iterator[str]:
    """Give the table of norms, where the release measures them."""
    if all(row.norms is None for row in aggregate.attempts):
        return
    yield from (NORMS_RULE, "")
    means = ((each.candidate, each.norms) for each in aggregate.candidates)
    yield from table(_NORM_MEANS, ((name, *_means(found)) for name, found in means))
    yield ""
    rows = ((row, row.norms) for row in aggregate.attempts)
    yield from table(_NORMS, ((*_attempt(row), *_penalties(found)) for row, found in rows if found is not None))
    yield ""


def _attempt(row: Row) -> tuple[str, ...]:
    return (row.candidate, row.nomination, str(row.attempt))


def _means(found: NormsMean | None) -> Iterator[str]:
    if found is None:
        yield from (UNKNOWN, "0", UNKNOWN, "0")
    else:
        yield from (found.solved or UNKNOWN, str(found.solved_count))
        yield from (found.counted or UNKNOWN, str(found.counted_count))


def _penalties(found: NormsShort) -> Iterator[str]:
    yield found.score or UNKNOWN
    yield from (found.penalties.get(name) or UNKNOWN for name in NormId)


def _standing(each: Standing) -> Iterator[str]:
    yield from (each.candidate, each.agent, each.model or UNKNOWN, each.outcome.value)
    yield f"{each.solved}/{each.counted}"
    rates = (each.solved_rate, each.rate_if_voids_failed, each.rate_if_voids_solved, each.mean_score)
    yield from (rate or UNKNOWN for rate in rates)
    yield from (str(each.outcomes[kind]) for kind in (Outcome.VOID, Outcome.UNAVAILABLE))
    yield from (seconds(each.solution), _cost(each.solution), _cost(each.voids))


def _row(row: Row) -> Iterator[str]:
    yield from (row.candidate, row.nomination, str(row.attempt), str(row.tries), row.outcome.value)
    yield from (row.verdict or UNKNOWN, row.score or UNKNOWN, row.assurance or UNKNOWN, row.reason)
    phases = row.phases
    parts = (phases.preflight, phases.solution, phases.public_tests, phases.evaluators)
    yield from (seconds(part) for part in parts)
    yield from (_cost(phases.solution), _cost(row.voids))
    yield {True: "yes", False: "no", None: UNKNOWN}[row.scripted]
    yield UNKNOWN if row.network is None else row.network.value
    evidence = row.evidence
    yield evidence.grading_sha256 or evidence.void_sha256 or evidence.submission_sha256 or UNKNOWN


def _cost(spent: Spent | None) -> str:
    return UNKNOWN if spent is None or spent.cost_usd is None else spent.cost_usd
