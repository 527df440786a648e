"""All judges of a release beside each other: what each did, and what it gave. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass

from runner.judging.askings import Asking, Judged, Settled, settle
from runner.judging.conduct import Conduct, conduct
from runner.judging.leanings import Moved, by_family, chorus, voice
from runner.judging.points import Tallies, tallies
from runner.judging.terms import Terms


@dataclass(frozen=True, slots=True, kw_only=True)
class Panel:
    """All judges of a release, and what they gave."""

    terms: Terms
    judged: Judged
    settled: Settled
    conducts: tuple[Conduct, ...]
    """In the manifest's order; all that were asked or skipped."""
    points: Mapping[str, Tallies]
    """By judge."""

    @property
    def kept(self) -> tuple[Conduct, ...]:
        """Judges whose batch is not lost."""
        return tuple(each for each in self.conducts if not each.crossed)

    def points_of(self, judge: str) -> Tallies:
        """Give what a judge gave; nothing where it was asked for no points."""
        return self.points.get(judge, {})

    def family_lean(self, seen: Conduct) -> Moved:
        """Hold what a judge says of its own family against what the kept judges of other families say."""
        own = self.terms.judges[seen.judge]
        rest = [each for each in self.kept if self.terms.judges[each.judge] != own]
        if own is None or not rest:
            return Moved()
        return by_family(
            voice(seen.whole, self.points_of(seen.judge)),
            chorus(voice(each.whole, self.points_of(each.judge)) for each in rest),
            {candidate: family == own for candidate, family in self.terms.candidates.items()},
        )


def seat(judged: Judged, terms: Terms) -> Panel:
    """Bring everything that was said together, by judge.

    Raises:
        VerificationError: a document is not of this release.
    """
    settled = settle(judged, terms)
    by_judge: dict[str, list[Asking]] = {judge: [] for judge in terms.judges}
    for asking in settled.askings:
        by_judge[asking.judge].append(asking)
    skipped = {each.judge for each in judged.skipped}
    return Panel(
        terms=terms,
        judged=judged,
        settled=settled,
        conducts=tuple(
            conduct(judge, askings, terms.bounds, judged.lengths)
            for judge, askings in by_judge.items()
            if askings or judge in skipped
        ),
        points=tallies(settled.askings, judged.skipped),
    )
