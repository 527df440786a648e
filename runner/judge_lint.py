"""What can be said against a release's judges before it is frozen."""

from collections.abc import Iterator

from runner.config import ReleaseConfig
from runner.finding import Finding, Subject
from runner.gateway.routes import PROTOCOLS, speaks
from runner.roster import Agent, Status


def judge_findings(config: ReleaseConfig, subject: Subject) -> Iterator[Finding]:
    """Yield everything that is wrong or odd about a release's judges, criteria and families."""
    if not config.judges:
        return
    if not config.criteria:
        yield subject.error("criteria", "judges have nothing to score", "name the criteria")
    for index, criterion in enumerate(config.criteria):
        if isinstance(criterion, str):
            message = f"{criterion} has no anchors, so each judge understands its points as it likes"
            yield subject.warning(f"criteria[{index}]", message, "write it with 'id', 'asks' and 'anchors'")
    yield from _reached(config, subject)
    yield from _families(config, subject)
    yield from _fallback(config, subject)


def _reached(config: ReleaseConfig, subject: Subject) -> Iterator[Finding]:
    """Find judges that cannot be asked, or whose spending nothing bounds."""
    for index, judge in enumerate(config.judges):
        field, route = f"judges[{index}]", config.route(judge.route)
        if judge.agent is not Agent.SINGLE_SHOT:
            message = (
                f"{judge.id} would look around in a workspace by agent {judge.agent}, and judges are not given one"
            )
            yield subject.error(f"{field}.agent", message, "remove 'agent': a judge is asked for one plain completion")
        if route is not None and not speaks(route, "chat"):
            message = f"judges are asked by {PROTOCOLS['chat']}, and route {route.id} speaks {route.protocol}"
            yield subject.error(f"{field}.route", message, f"name a route whose protocol is {PROTOCOLS['chat']}")
        budget = judge.budget
        if route is not None and not route.is_scripted and budget.usd is None and budget.completion_tokens is None:
            mend = "add a budget with usd or completion_tokens: it holds for each call"
            yield subject.warning(f"{field}.budget", "nothing bounds what a call may spend", mend)


def _families(config: ReleaseConfig, subject: Subject) -> Iterator[Finding]:
    if config.judging.own_family:
        message = "judges see work of their own family, which many of them favour"
        yield subject.warning("judging.own_family", message, "remove it, and name a fallback of another family")
        return
    for index, judge in enumerate(config.judges):
        if judge.family is None:
            message = f"nobody can tell whose work {judge.id} may not see"
            yield subject.error(f"judges[{index}].family", message, "name its maker, or allow 'judging.own_family'")
    for index, candidate in enumerate(config.candidates):
        known = candidate.is_control or candidate.status is Status.RETIRED or candidate.family is not None
        if not known:
            message = f"nobody can tell which judges may see the work of {candidate.id}"
            mend = "name its maker, or allow 'judging.own_family'"
            yield subject.error(f"candidates[{index}].family", message, mend)


def _fallback(config: ReleaseConfig, subject: Subject) -> Iterator[Finding]:
    families = {judge.id: judge.family for judge in config.judges}
    fallback = config.judging.fallback
    if fallback is None:
        return
    others = [family for name, family in families.items() if name != fallback]
    if not others:
        message = f"{fallback} is the one judge, and a fallback is asked in the place of another alone"
        yield subject.error("judging.fallback", message, "remove it, or add a judge")
    elif all(family == families[fallback] for family in others):
        message = f"{fallback} is of the family of every judge, and can stand in for none"
        yield subject.warning("judging.fallback", message, "choose one of another family")
