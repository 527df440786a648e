"""The summary: each judge's fault is named, lost judges count nowhere, and nothing unknown becomes a number."""

import random
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cache

import pytest

from runner.canonical import canonical, parse, sha256
from runner.documents.judging import (
    Choice,
    ControlItem,
    Flag,
    FlagKind,
    PairItem,
    PairVerdict,
    RubricItem,
    RubricVerdict,
    Skipped,
    SkippedWhy,
    Unscored,
    UnscoredWhy,
    View,
)
from runner.documents.judging_summary import FaultKind, JudgeStanding, JudgingSummary
from runner.documents.reviews import ManualReview, PointScale, Reviewer, ReviewScore
from runner.documents.seal import Trial
from runner.errors import VerificationError
from runner.judges import ControlBounds
from runner.judging.askings import Judged, Said
from runner.judging.summary import summarise
from runner.judging.terms import terms_of
from runner.manifests import manifest_digest
from runner.reports.judging import judging_markdown
from runner.roster import Judge
from tests.unit.judging import scripted
from tests.unit.judging.scripted import CRITERIA, FAMILIES, MANIFEST, NOMINATIONS, RELEASE, Scripted, cell
from tests.unit.runner.evidence_maker import a_manifest

FAIR, JUST = scripted.honest("fair", "dune"), scripted.honest("just", "echo")


@cache
def heard(judge: Callable[[], Scripted]) -> tuple[Said, ...]:
    return tuple(scripted.documents(judge()))


def fair() -> Scripted:
    return FAIR


def just() -> Scripted:
    return JUST


def summary(documents: Sequence[Said], *judges: Scripted, **changes: object) -> JudgingSummary:
    return summarise(
        Judged(documents=tuple(documents), lengths=scripted.lengths()),
        scripted.terms({judge.id: judge.family for judge in judges}, **changes),
    )


@cache
def beside_honest(judge: Callable[[], Scripted]) -> JudgingSummary:
    """Summarise one judge beside two honest ones."""
    return summary((*heard(fair), *heard(just), *heard(judge)), FAIR, JUST, judge())


def standing(found: JudgingSummary, judge: str) -> JudgeStanding:
    return next(each for each in found.judges if each.judge == judge)


@pytest.mark.parametrize(
    ("judge", "kinds", "words", "batch"),
    [
        pytest.param(fair, set(), "", "kept", id="honest"),
        pytest.param(
            scripted.position_biased, {FaultKind.POSITION}, "lean to what was shown first", "lost", id="position"
        ),
        pytest.param(
            scripted.length_biased,
            {FaultKind.LENGTH, FaultKind.DISCERNMENT},
            "it chose the one with them, in 8 of 8",
            "lost",
            id="length",
        ),
        pytest.param(
            scripted.fond, {FaultKind.FAMILY}, "did better with it than with the other judges", "kept", id="fond"
        ),
        pytest.param(scripted.injected, {FaultKind.INJECTION}, "comment speaks to judges", "lost", id="injected"),
        pytest.param(
            scripted.broken, {FaultKind.BROKEN}, "ended without a verdict, most of them unparsable", "lost", id="broken"
        ),
        pytest.param(scripted.silent, {FaultKind.SILENT}, "none of its 436 askings was answered", "lost", id="silent"),
        pytest.param(scripted.shrugging, {FaultKind.SILENT, FaultKind.FLAT}, "it abstained in", "lost", id="shrugging"),
        pytest.param(
            scripted.dicing,
            {FaultKind.NOISE, FaultKind.DISCERNMENT},
            "asked once more in the same order",
            "lost",
            id="dicing",
        ),
    ],
)
def test_each_fault_is_named_and_no_other(
    judge: Callable[[], Scripted], kinds: set[FaultKind], words: str, batch: str
) -> None:
    found = beside_honest(judge) if judge is not fair else beside_honest(scripted.fond)
    seen = standing(found, judge().id)
    assert {fault.kind for fault in seen.faults} == kinds
    assert words in " ".join(fault.says for fault in seen.faults)
    assert seen.batch == batch
    for honest in ("fair", "just"):
        assert (standing(found, honest).faults, standing(found, honest).batch) == ((), "kept")


@pytest.mark.parametrize(
    "judge",
    [
        scripted.position_biased,
        scripted.length_biased,
        scripted.injected,
        scripted.broken,
        scripted.silent,
        scripted.dicing,
    ],
)
def test_a_lost_batch_counts_nowhere_and_every_table_says_so(judge: Callable[[], Scripted]) -> None:
    honest = summary((*heard(fair), *heard(just)), FAIR, JUST)
    found = beside_honest(judge)
    assert found.scales == honest.scales
    assert found.agreement == honest.agreement
    for with_lost, without in zip(found.candidates, honest.candidates, strict=True):
        assert (with_lost.criteria, with_lost.mean) == (without.criteria, without.mean)
        assert with_lost.duels[0] == without.duels[0]
    name = judge().id
    assert any(note.startswith(f"lost batch: nothing that {name} said counts") for note in found.notes)
    assert f"**lost batch: nothing that {name} said counts" in judging_markdown(found)
    assert f"| {name} (LOST) |" in judging_markdown(found)


def test_without_a_judge_left_there_are_no_numbers() -> None:
    found = summary(heard(scripted.position_biased), scripted.position_biased())
    assert found.scales == ()
    assert (found.agreement, found.kappas) == ((), ())
    assert all(candidate.mean is None and candidate.criteria[0].judges == 0 for candidate in found.candidates)
    assert "no judge is left: there are no means, no ratings and no agreement" in found.notes


def test_the_order_of_documents_makes_no_difference() -> None:
    documents = [*heard(fair), *heard(just), *heard(scripted.broken)]
    judges = (FAIR, JUST, scripted.broken())
    before = canonical(summary(documents, *judges))
    random.Random(1).shuffle(documents)  # noqa: S311 - no secret is made of it
    assert canonical(summary(documents, *judges)) == before


def test_a_summary_is_a_document() -> None:
    found = beside_honest(scripted.fond)
    assert parse(JudgingSummary, canonical(found), "summary.json") == found


def a_duel(first: str, second: str, shown_a: str, verdict: Choice, **changes: object) -> PairVerdict:
    item = PairItem.model_validate(
        {
            "nomination": NOMINATIONS[0],
            "first": cell(first, NOMINATIONS[0]),
            "second": cell(second, NOMINATIONS[0]),
            "shown_a": shown_a,
            "repeat": changes.pop("repeat", 0),
        }
    )
    plain: dict[str, object] = {
        "release": RELEASE,
        "manifest_sha256": MANIFEST,
        "item": item,
        "asked": scripted.a_question("fair"),
        "verdict": verdict,
        "reason": "",
        "quotes": (),
        "injection_seen": False,
        "flags": (),
    }
    return PairVerdict.model_validate({**plain, **changes})


def both_orders(first: str, second: str, one: Choice, other: Choice, **changes: object) -> tuple[PairVerdict, ...]:
    return a_duel(first, second, "first", one, **changes), a_duel(first, second, "second", other, **changes)


def ends(found: JudgingSummary, candidate: str) -> tuple[int, int, int, int]:
    duels = next(each for each in found.candidates if each.candidate == candidate).duels[0]
    return duels.won, duels.lost, duels.tied, duels.incomplete


F, S, T, N = Choice.FIRST, Choice.SECOND, Choice.TIE, Choice.ABSTAIN


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        pytest.param(F, F, (1, 0, 0, 0), id="both orders"),
        pytest.param(F, T, (1, 0, 0, 0), id="one order and a tie"),
        pytest.param(T, T, (0, 0, 1, 0), id="two ties"),
        pytest.param(F, S, (0, 0, 1, 0), id="orders contradict"),
        pytest.param(S, S, (0, 1, 0, 0), id="lost"),
        pytest.param(F, N, (0, 0, 0, 1), id="an abstention is no tie"),
    ],
)
def test_both_orders_make_one_end(one: Choice, other: Choice, expected: tuple[int, int, int, int]) -> None:
    found = summary(both_orders("ace-1", "bolt-1", one, other), FAIR)
    assert ends(found, "ace-1") == expected
    won, lost, tied, incomplete = expected
    assert ends(found, "bolt-1") == (lost, won, tied, incomplete)
    assert bool(found.scales) == (incomplete == 0)


def test_what_the_plan_calls_first_does_not_matter() -> None:
    documents = [*both_orders("bolt-1", "ace-1", S, S), *both_orders("cube-1", "ace-1", F, F)]
    found = summary(documents, FAIR)
    assert ends(found, "ace-1") == (1, 1, 0, 0)
    assert [rating.candidate for rating in found.scales[0].ratings] == ["cube-1", "ace-1", "bolt-1"]


def unscored(said: Said, why: UnscoredWhy = UnscoredWhy.REFUSED, number: int = 1) -> Unscored:
    asked = None if said.asked is None else said.asked.model_copy(update={"number": number})
    return Unscored(release=RELEASE, manifest_sha256=MANIFEST, item=said.item, asked=asked, why=why, flags=())


LENIENT = ControlBounds(unscored=100)


def test_what_is_unscored_is_no_loss_and_no_tie() -> None:
    first, second = both_orders("ace-1", "bolt-1", F, F)
    found = summary([first, unscored(second)], FAIR, bounds=LENIENT)
    assert ends(found, "ace-1") == ends(found, "bolt-1") == (0, 0, 0, 1)
    assert found.scales == ()
    assert [(each.why, each.count, each.share) for each in found.judges[0].unscored] == [
        (UnscoredWhy.REFUSED, 1, "0.5")
    ]


def a_rubric(candidate: str, *points: int, nomination: str = NOMINATIONS[0], **changes: object) -> RubricVerdict:
    plain: dict[str, object] = {
        "release": RELEASE,
        "manifest_sha256": MANIFEST,
        "item": RubricItem.model_validate(
            {"cell": cell(candidate, nomination), "criteria": CRITERIA, "repeat": changes.pop("repeat", 0)}
        ),
        "asked": scripted.a_question("fair"),
        "scores": tuple(
            {"criterion": name, "points": each, "reason": ""} for name, each in zip(CRITERIA, points, strict=True)
        ),
        "quotes": (),
        "injection_seen": False,
        "flags": (),
    }
    return RubricVerdict.model_validate({**plain, **changes})


def means(found: JudgingSummary, candidate: str) -> tuple[str | None, ...]:
    each = next(each for each in found.candidates if each.candidate == candidate)
    return (*(row.mean for row in each.criteria), each.mean)


def test_means_weigh_nominations_alike_whatever_was_repeated() -> None:
    documents = [
        a_rubric("ace-1", 2, 0),
        a_rubric("ace-1", 4, 0, repeat=1),
        a_rubric("ace-1", 9, 10, nomination=NOMINATIONS[1]),
    ]
    assert means(summary(documents, FAIR), "ace-1") == ("6", "5", "5.5")


def test_an_unscored_asking_is_no_zero() -> None:
    given = a_rubric("ace-1", 8, 6)
    missing = unscored(a_rubric("ace-1", 0, 0, nomination=NOMINATIONS[1]))
    found = summary([given, missing], FAIR, bounds=LENIENT)
    assert means(found, "ace-1") == ("8", "6", "7")
    row = found.candidates[0].judges[0].criteria[0]
    assert (row.scored, row.unscored) == (1, 1)
    assert "8 (1 scored, 1 unscored)" in judging_markdown(found)


def test_what_is_wholly_unknown_stays_unknown() -> None:
    found = summary([unscored(a_rubric("ace-1", 0, 0))], FAIR, bounds=LENIENT)
    assert means(found, "ace-1") == means(found, "bolt-1") == (None, None, None)
    assert "N/A (0 scored, 1 unscored)" in judging_markdown(found)


def test_a_mean_over_criteria_needs_them_all() -> None:
    item = RubricItem(cell=cell("ace-1", NOMINATIONS[0]), criteria=CRITERIA[:1])
    verdict = a_rubric("ace-1", 8, 6)
    half = verdict.model_copy(update={"item": item, "scores": verdict.scores[:1]})
    assert means(summary([half], FAIR), "ace-1") == ("8", None, None)


LEFT = (Flag(side=None, kind=FlagKind.IDENTITY_LEFT, count=1),)


def test_what_is_not_blind_is_in_no_mean_and_no_rating() -> None:
    duels = both_orders("ace-1", "bolt-1", F, F, flags=(LEFT[0].model_copy(update={"side": "first"}),))
    found = summary([a_rubric("ace-1", 9, 9, flags=LEFT), *duels], FAIR)
    assert means(found, "ace-1") == (None, None, None)
    assert found.candidates[0].judges[0].criteria[0].not_blind == 1
    assert found.judges[0].not_blind == 3
    assert ends(found, "ace-1") == (0, 0, 0, 1)
    assert found.scales == ()


def test_what_was_asked_again_counts_once() -> None:
    verdict = a_rubric("ace-1", 8, 6)
    later = verdict.model_copy(update={"asked": verdict.asked.model_copy(update={"number": 3})})
    found = summary([unscored(verdict, number=1), unscored(verdict, number=2), later], FAIR)
    judge = found.judges[0]
    assert (judge.askings, judge.scored, judge.unscored, judge.asked_again) == (1, 1, (), 2)


def test_what_stays_without_a_verdict_counts_by_its_last_cause() -> None:
    verdict = a_rubric("ace-1", 8, 6)
    answers = [unscored(verdict, UnscoredWhy.REFUSED, 2), unscored(verdict, UnscoredWhy.TRUNCATED, 1)]
    judge = summary(answers, FAIR, bounds=LENIENT).judges[0]
    assert [(each.why, each.count) for each in judge.unscored] == [(UnscoredWhy.REFUSED, 1)]
    assert judge.asked_again == 1


def test_a_judge_that_is_generous_to_everybody_is_not_called_fond_of_its_own() -> None:
    generous = Scripted(
        id="santa",
        family="acme",
        duel=FAIR.duel,
        points=lambda seen, dice: min(10, scripted.fair_points(seen, dice) + 2),
    )
    found = summary((*heard(fair), *heard(just), *scripted.documents(generous)), FAIR, JUST, generous)
    assert standing(found, "santa").faults == ()


def test_a_family_is_held_against_judges_of_other_families_alone() -> None:
    fond, cousin = scripted.fond(), scripted.honest("cousin", "acme")
    documents = (*heard(scripted.fond), *scripted.documents(cousin))
    alone = summary(documents, fond, cousin)
    assert all(each.family_lean.chance is None and each.faults == () for each in alone.judges)
    found = summary((*documents, *heard(fair)), fond, cousin, FAIR)
    assert [fault.kind for fault in standing(found, "uncle").faults] == [FaultKind.FAMILY]
    assert standing(found, "cousin").faults == ()


def test_skipped_and_unasked_askings_are_counted() -> None:
    verdict = a_rubric("ace-1", 8, 6)
    skipped = Skipped(judge="fair", item=a_rubric("bolt-1", 0, 0).item, why=SkippedWhy.OWN_FAMILY)
    nobody = unscored(a_rubric("cube-1", 0, 0), UnscoredWhy.TOO_LARGE).model_copy(update={"asked": None})
    stood_in = a_rubric("cube-2", 1, 1, asked=scripted.a_question("fair").model_copy(update={"instead_of": "just"}))
    found = summarise(
        Judged(documents=(verdict, nobody, stood_in), skipped=(skipped,)),
        scripted.terms({"fair": "bolt", "just": "dune"}),
    )
    judge = found.judges[0]
    assert [(each.why, each.count) for each in judge.skipped] == [(SkippedWhy.OWN_FAMILY, 1)]
    assert [(each.why, each.count) for each in found.unasked] == [(UnscoredWhy.TOO_LARGE, 1)]
    assert judge.stood_in == 1
    assert found.candidates[2].judges[0].criteria[0].skipped == 1
    text = judging_markdown(found)
    assert "own\\_family: 1" in text
    assert "Askings that no judge was given: too\\_large: 1." in text


def test_a_judge_without_controls_is_called_unproven() -> None:
    found = summary([a_rubric("ace-1", 8, 6)], FAIR)
    assert found.notes == ("unproven: fair answered no hidden control, so that nothing tells how far to believe it",)


def test_what_a_release_allows_stands_beside_every_table() -> None:
    found = summary([a_rubric("ace-1", 8, 6)], FAIR, own_family=True, scripted=True)
    text = judging_markdown(found)
    assert "**own family: this release lets judges see work of their own family.**" in text
    assert "**scripted: judges were played" in text


def test_repeats_of_an_order_are_taken_together() -> None:
    documents = [*both_orders("ace-1", "bolt-1", F, T), a_duel("ace-1", "bolt-1", "first", S, repeat=1)]
    found = summary(documents, FAIR)
    assert ends(found, "ace-1") == (0, 0, 1, 0)
    assert (found.judges[0].repeats.hits, found.judges[0].repeats.of) == (0, 1)


def test_a_preference_for_a_place_is_tested_by_pairs() -> None:
    documents = [
        *both_orders("ace-1", "ace-2", F, S),
        *both_orders("ace-1", "bolt-1", F, T),
        *both_orders("ace-1", "bolt-2", T, F),
        *both_orders("ace-1", "cube-1", F, F),
    ]
    judge = summary(documents, FAIR).judges[0]
    assert (judge.slot_lean.towards, judge.slot_lean.away, judge.slot_lean.chance) == (2, 1, "1")
    assert (judge.first_slot.hits, judge.first_slot.of, judge.first_slot.share) == (4, 6, "0.6667")
    assert (judge.orders.hits, judge.orders.of) == (1, 4)


def test_a_text_that_helps_only_while_it_is_seen_is_called_an_injection() -> None:
    flags = (Flag(side=None, kind=FlagKind.INJECTION, count=1),)
    bare = scripted.a_question("fair", View.BARE)
    documents = [
        a_rubric("ace-1", points, points, nomination=nomination, flags=flags, asked=asked)
        for nomination in NOMINATIONS
        for points, asked in ((10, scripted.a_question("fair")), (4, bare))
    ]
    judge = summary(documents, FAIR).judges[0]
    assert [fault.kind for fault in judge.faults] == [FaultKind.INJECTION]
    assert (judge.text_lean.towards, judge.text_lean.away) == (12, 0)


def review(reviewer: str, candidate: str, *points: int, scale: PointScale = PointScale.ZERO_TO_TEN) -> ManualReview:
    of = cell(candidate, NOMINATIONS[0])
    trial = Trial(
        release=RELEASE,
        manifest_sha256=MANIFEST,
        candidate=candidate,
        nomination=of.nomination,
        attempt=1,
        try_=1,
    )
    return ManualReview(
        trial=trial,
        submission_sha256=of.submission_sha256,
        reviewer=Reviewer(id=reviewer, type="person"),
        blind=True,
        results_known=False,
        scale=scale,
        scores=tuple(ReviewScore(criterion=name, points=each) for name, each in zip(CRITERIA, points, strict=True)),
        summary=None,
        original=None,
    )


def with_reviews(*reviews: ManualReview) -> JudgingSummary:
    documents = (
        a_rubric("ace-1", 2, 3),
        a_rubric("bolt-1", 5, 6),
        a_rubric("cube-1", 9, 8),
        *both_orders("ace-1", "bolt-1", S, S),
        *both_orders("bolt-1", "cube-1", S, S),
    )
    return summarise(Judged(documents=documents, reviews=reviews), scripted.terms({"fair": "dune"}))


def test_reviewers_are_raters_beside_judges() -> None:
    found = with_reviews(review("ann", "ace-1", 2, 3), review("ann", "bolt-1", 5, 6), review("ann", "cube-1", 9, 8))
    rows = {(row.what, row.among): row for row in found.agreement}
    assert rows["clarity", "judges and reviewers"].alpha.value == "1"
    assert rows["pairs", "judges and reviewers"].alpha.why is not None
    kappas = {row.what: row for row in found.kappas}
    assert (kappas["clarity"].one, kappas["clarity"].other) == ("fair", "reviewer ann")
    assert (kappas["pairs"].same.hits, kappas["pairs"].same.of) == (2, 2)
    assert [(row.criterion, row.mean) for row in found.candidates[0].reviews[0].criteria] == [
        ("clarity", "2"),
        ("scope", "3"),
    ]


def test_points_of_another_scale_are_shown_and_never_mixed() -> None:
    other = PointScale.ONE_TO_TEN
    found = with_reviews(review("bob", "ace-1", 1, 1, scale=other), review("bob", "bolt-1", 7, 7, scale=other))
    assert {row.what for row in found.agreement} == {"pairs"}
    given = found.candidates[0].reviews[0]
    assert (given.scale, given.criteria[0].mean) == (other, "1")
    assert "| ace-1 | bob | 1-10 | yes | no | clarity | 1 | 1 |" in judging_markdown(found)


def test_what_nothing_joins_has_scales_of_its_own() -> None:
    documents = [*both_orders("ace-1", "ace-2", F, F), *both_orders("bolt-1", "bolt-2", F, T)]
    found = summary(documents, FAIR)
    assert [len(scale.ratings) for scale in found.scales] == [2, 2]
    text = judging_markdown(found)
    assert "No comparison joins these scales: their ratings cannot be compared." in text
    assert "**Wins between these groups go one way only: ace-1 > ace-2. No distance between them is known.**" in text


def test_attempts_of_a_candidate_make_one_comparison_in_a_nomination() -> None:
    second = cell("ace-1", NOMINATIONS[0]).model_copy(update={"attempt": 2, "submission_sha256": sha256(b"second")})
    documents = [
        *both_orders("ace-1", "bolt-1", F, F),
        *(
            each.model_copy(update={"item": each.item.model_copy(update={"first": second})})
            for each in both_orders("ace-1", "bolt-1", S, S)
        ),
    ]
    found = summary(documents, FAIR)
    assert ends(found, "ace-1") == (1, 1, 0, 0)
    assert (found.scales[0].comparisons, found.scales[0].ratings[0].rating) == (1, "0")


WRONG = {"release": "another"}


@pytest.mark.parametrize(
    ("documents", "words"),
    [
        pytest.param(
            [a_rubric("ace-1", 1, 1).model_copy(update=WRONG)], "of another; expected one of pilot", id="release"
        ),
        pytest.param(
            [a_rubric("ace-1", 1, 1, asked=scripted.a_question("nobody"))],
            "a verdict of nobody; expected one of the release's judges",
            id="judge",
        ),
        pytest.param([a_rubric("ace-1", 1, 1), a_rubric("ace-1", 2, 1)], "found 2 verdicts of fair on one", id="twice"),
    ],
)
def test_what_is_not_of_this_release_is_refused(documents: list[Said], words: str) -> None:
    with pytest.raises(VerificationError, match=words):
        summary(documents, FAIR)


def test_a_verdict_about_a_stranger_is_refused() -> None:
    with pytest.raises(VerificationError, match="about ace-1; expected the release's candidates"):
        summary([a_rubric("ace-1", 1, 1)], FAIR, candidates={"bolt-1": "bolt"})


def test_a_review_of_another_release_is_refused() -> None:
    strange = review("ann", "ace-1", 1, 1)
    strange = strange.model_copy(update={"trial": strange.trial.model_copy(update={"release": "another"})})
    with pytest.raises(VerificationError, match="a review of another"):
        with_reviews(strange)


def test_a_control_that_is_missed_by_less_than_its_bound_loses_nothing() -> None:
    """With 20% allowed, one of five missed is within it, and two are not."""
    for missed, batch in ((1, "kept"), (2, "lost")):
        documents = [a_control(number, Choice.FIRST if number <= missed else Choice.TIE) for number in range(1, 6)]
        found = summary(documents, FAIR)
        assert found.judges[0].batch == batch
        assert Fraction(found.judges[0].controls[0].held, 5) == Fraction(5 - missed, 5)


def a_control(number: int, verdict: Choice) -> PairVerdict:
    item = ControlItem.model_validate(
        {
            "control": "identical",
            "nomination": NOMINATIONS[0],
            "cell": None,
            "shown_a": "first",
            "expected": "tie",
            "number": number,
        },
        strict=False,
    )
    return a_duel("ace-1", "ace-2", "first", verdict, item=item)


def test_a_releases_terms_are_what_it_froze_and_its_seed_follows_from_them() -> None:
    judges = (Judge(id="fair", model="fair/1", route="scripted", family="dune"),)
    manifest = a_manifest().model_copy(update={"judges": judges, "criteria": CRITERIA})
    found = terms_of(manifest)
    assert (found.judges, found.criteria, found.bounds) == ({"fair": "dune"}, CRITERIA, ControlBounds())
    assert list(found.candidates) == ["solver", "idler"]
    assert found.scripted
    assert found.manifest_sha256 == manifest_digest(manifest)
    other = manifest.model_copy(update={"release": "other"})
    assert terms_of(manifest).seed == found.seed != terms_of(other).seed


def test_every_candidate_stands_in_the_summary() -> None:
    found = summary([a_rubric("ace-1", 8, 6)], FAIR)
    assert [each.candidate for each in found.candidates] == list(FAMILIES)
