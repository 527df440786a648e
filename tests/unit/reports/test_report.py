"""Laws of the report: who stands where, what is told apart, what is unknown."""

from fractions import Fraction

import pytest

from runner.documents.judging_summary import CandidateStanding, JudgingSummary, MeanPoints, RatingMethod
from runner.reports import report_words as words
from runner.reports.report import CRITERIA, Part, Place, Points, Ranked, Report, Status
from runner.reports.report_building import build
from runner.reports.report_json import report_rows
from runner.roster import Agent
from tests.unit.reports.releases import Entry, a_release

TASKS = 12
BEST = Entry(ends="s " * TASKS)
WORST = Entry(ends="t " * TASKS)


def a_report(**entries: Entry) -> Report:
    return build([a_release(entries)], {})


def row(report: Report, candidate: str) -> Ranked:
    return next(each for each in report.rows if each.contender.candidate == candidate)


def test_rows_stand_by_their_rate_and_equal_rates_share_a_rank() -> None:
    report = a_report(
        c=Entry(ends="s t", cost=None), a=Entry(ends="t t"), d=Entry(ends="t s", cost=None), b=Entry(ends="s s")
    )
    assert [(each.contender.candidate, each.rank) for each in report.rows] == [("b", 1), ("c", 2), ("d", 2), ("a", 4)]


def test_of_equal_rates_the_cheaper_solve_stands_first() -> None:
    report = a_report(a=Entry(ends="s s", cost="2"), b=Entry(ends="s s", cost="0.1"), c=Entry(ends="s s", cost=None))
    assert [each.contender.candidate for each in report.rows] == ["b", "a", "c"]


def test_a_control_is_shown_and_leads_nobody() -> None:
    report = a_report(oracle=Entry(ends="s s", agent=Agent.ORACLE), model=Entry(ends="s t"))
    assert [(each.contender.candidate, each.contender.place, each.rank) for each in report.rows] == [
        ("model", Place.RANKED, 1), ("oracle", Place.CONTROL, None),
    ]  # fmt: skip
    assert report.leader is report.rows[0]


def test_failed_and_unavailable_candidates_keep_their_rows_after_the_others() -> None:
    report = a_report(away=Entry(ends="u u"), out=Entry(ends="v v"), never=Entry(ends="m m"), failed=Entry(ends="t a"))
    assert [(each.contender.candidate, each.rank, each.contender.status) for each in report.rows] == [
        ("failed", 1, Status.MIXED), ("away", None, Status.UNAVAILABLE), ("never", None, Status.MISSING_ARTIFACTS),
        ("out", None, Status.VOID),
    ]  # fmt: skip


def test_every_way_of_not_being_solved_is_told_once_with_what_was_observed() -> None:
    report = a_report(one=Entry(ends="s t t f u v"))
    told = [(each.status, each.count, each.attempts) for each in row(report, "one").contender.happenings]
    assert told == [
        (Status.TESTS_FAILED, 2, ("task-2", "task-3")), (Status.FORBIDDEN_CHANGES, 1, ("task-4",)),
        (Status.UNAVAILABLE, 1, ("task-5",)), (Status.VOID, 1, ("task-6",)),
    ]  # fmt: skip
    says = [each.says for each in row(report, "one").contender.happenings]
    assert says[0] == "the model was shown the task and left a change; public tests failed, hidden check hidden failed"
    assert says[2].endswith("the task was never shown")
    assert "counts neither for nor against it" in says[3]


def test_completed_with_a_failed_hidden_check_is_called_so() -> None:
    assert row(a_report(one=Entry(ends="o")), "one").contender.status is Status.OBJECTIVE_FAILED


def test_few_nominations_tell_nobody_from_the_leader_and_many_do() -> None:
    few = a_report(best=Entry(ends="s s s"), worst=Entry(ends="t t t"))
    assert words.beside(row(few, "worst")) == "not separable"
    many = a_report(best=BEST, worst=WORST)
    assert words.beside(row(many, "worst")) == "separated"
    assert list(words.why_beside(row(many, "worst"))) == [
        "100 points below, p = 0.00024",
        "McNemar mid-p, 12 nominations",
    ]
    assert words.beside(row(many, "best")) == "leader"


def test_voids_are_in_no_rate_and_give_a_worst_and_a_best_case() -> None:
    found = row(a_report(one=Entry(ends="sv tt")), "one").contender.solving
    assert (found.solved, found.counted) == (1, 3)
    assert found.rate is not None
    assert (found.rate.value, found.worst, found.best) == (Fraction(1, 2), Fraction(1, 4), Fraction(1, 2))
    alone = row(a_report(one=Entry(ends="v")), "one").contender.solving
    assert (alone.rate, alone.worst, alone.best) == (None, 0, 1)


def test_pass_at_k_stands_where_there_are_repeats() -> None:
    assert row(a_report(one=Entry(ends="s t")), "one").contender.solving.passes == ()
    found = row(a_report(one=Entry(ends="ss st")), "one").contender.solving.passes
    assert [(each.k, each.once, each.always) for each in found] == [
        (1, Fraction(3, 4), Fraction(3, 4)), (2, 1, Fraction(1, 2)),
    ]  # fmt: skip


def test_an_unknown_cost_is_unknown_and_never_nothing() -> None:
    money = row(a_report(one=Entry(ends="s s", cost=None)), "one").contender.money
    assert (money.cost, money.cost_each, money.per_solve) == (None, None, None)
    assert money.time_ms is not None


def test_a_cost_that_has_no_upper_end_is_written_as_the_least() -> None:
    solve = row(a_report(one=Entry(ends="t t t t")), "one").contender.money.per_solve
    assert words.per_solve(solve).startswith(">= $")
    assert words.per_solve_interval(solve).startswith(">= $")


def test_a_superseded_release_is_marked_not_ranked_and_comes_last() -> None:
    old, new = a_release({"a": BEST}, name="one"), a_release({"b": WORST}, name="two", supersedes="one")
    report = build([old, new], {"one": "two"})
    assert [(each.contender.release, each.contender.place, each.rank) for each in report.rows] == [
        ("two", Place.RANKED, 1), ("one", Place.SUPERSEDED, None),
    ]  # fmt: skip
    assert not report.differs


def test_candidates_of_two_releases_are_compared_on_the_nominations_that_are_the_same() -> None:
    first, second = a_release({"a": BEST}, name="one"), a_release({"b": WORST}, name="two")
    (_, other) = build([first, second], {}).rows
    assert other.beside_leader is not None
    assert other.beside_leader.shared == TASKS


def test_it_is_said_where_ranks_compare_different_tasks() -> None:
    assert a_report(a=Entry(ends="s s"), b=Entry(ends="s")).differs
    assert not a_report(a=Entry(ends="s"), b=Entry(ends="u")).differs


def test_the_digest_of_a_row_changes_with_any_attempt_of_it() -> None:
    one, other = (row(a_report(a=Entry(ends=ends)), "a").contender.evidence_sha256 for ends in ("ss", "st"))
    assert one != other


def _judged(means: dict[str, str | None]) -> JudgingSummary:
    criteria = tuple(MeanPoints(criterion=name, mean=mean, judges=1) for name, mean in means.items())
    who = CandidateStanding(
        candidate="a", family=None, judges=(), criteria=criteria, mean=None, reviews=(), duels=()
    )  # fmt: skip
    return JudgingSummary(
        release="pilot", manifest_sha256="0" * 64, scripted=False, own_family=False, notes=(), judges=(), unasked=(),
        candidates=(who,), agreement=(), kappas=(), scales=(),
        method=RatingMethod(ridge="0.1", draws=0, seed_sha256="0" * 64),
    )  # fmt: skip


def test_review_points_are_whole_and_overall_is_unknown_as_soon_as_one_is() -> None:
    release = a_release({"a": Entry(ends="s")})
    means: dict[str, str | None] = {criterion: "7.6" for _, criterion in CRITERIA}
    judged = {"judging": _judged(means), "aggregate": release.aggregate, "manifest": release.manifest}
    (found,) = build([type(release)(**judged, aggregate_sha256="0" * 64)], {}).rows
    assert found.contender.points.given == (8, 8, 8, 8)
    assert found.contender.points.overall == 8
    assert Points(given=(8, 8, None, 8)).overall is None


def test_it_begins_with_who_leads_how_surely_and_who_cannot_be_told_from_it() -> None:
    report = a_report(best=Entry(ends="s " * 3), near=Entry(ends="s s t"), away=Entry(ends="u u u"))
    assert list(words.lede(report)) == [
        "best leads: it solved 3 of 3 attempts (100%, 95% interval 13.9 to 100%).",
        "Not separable from it: near.", "Nothing can be said about away.",
    ]  # fmt: skip
    assert list(words.lede(a_report(away=Entry(ends="u")))) == ["No candidate of this report has a solve rate."]


@pytest.mark.parametrize(
    ("value", "expected"),
    [(Fraction(2, 3), "66.7%"), (Fraction(1), "100%"), (Fraction(1, 2000), "0%"), (None, "N/A"), (0.125, "12.5%")],
)
def test_percentages(value: Fraction | float | None, expected: str) -> None:
    assert words.percent(value) == expected


def test_numbers_in_words() -> None:
    assert words.seconds(1519381) == "1519.381"
    assert words.money(Fraction("0.0123")) == "$0.0123"
    assert words.about(Fraction(1, 3)) == "$0.3333"
    assert words.about(Fraction(123456)) == "$123500"
    assert [words.part(Part(hits=hits, of=of)) for hits, of in ((0, 0), (1, 1), (0, 1), (2, 3))] == [
        "N/A", "passed", "failed", "2 of 3 passed",
    ]  # fmt: skip
    assert words.chance(Fraction(1, 10**6)) == "< 0.0001"
    assert words.some(("a", "b"), 5) == "a, b and 3 more"


def test_rows_for_other_programs_hold_decimal_strings_and_null_for_what_is_unknown() -> None:
    first, second = report_rows(a_report(a=Entry(ends="s t t"), b=Entry(ends="u u u", cost=None)))
    assert (first["rank"], first["rate"], first["solved"]) == (1, "0.333333", 1)
    assert (second["rank"], second["rate"], second["cost_usd"], second["p"]) == (None, None, None, None)
