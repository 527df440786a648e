"""What can be said against a release's judges before it is frozen."""

from collections.abc import Iterator
from pathlib import Path

from runner.agents.registry import AGENTS
from runner.config import ReleaseConfig
from runner.finding import Finding, Subject
from runner.gateway.routes import PROTOCOLS, speaks
from runner.judges import IN_DEPTH, PAIRWISE, RUBRIC
from runner.judging.programs import LOOKING_AROUND
from runner.judging.prompts import PromptError, check_template
from runner.roster import Status


def judge_findings(config: ReleaseConfig, prompts: Path, subject: Subject) -> Iterator[Finding]:
    """Yield everything that is wrong or odd about a release's judges, criteria, families, and prompts in a folder."""
    if not config.judges:
        return
    if not config.criteria:
        yield subject.error("criteria", "judges have nothing to score", "name the criteria")
    for index, criterion in enumerate(config.criteria):
        if isinstance(criterion, str):
            message = f"{criterion} has no anchors, so each judge understands its points as it likes"
            yield subject.warning(f"criteria[{index}]", message, "write it with 'id', 'asks' and 'anchors'")
    yield from _reached(config, subject)
    yield from _in_depth(config, subject)
    yield from _templates(config, prompts)
    yield from _families(config, subject)
    yield from _fallback(config, subject)


def _reached(config: ReleaseConfig, subject: Subject) -> Iterator[Finding]:
    """Find judges that cannot be asked, or whose spending nothing bounds."""
    for index, judge in enumerate(config.judges):
        field, route = f"judges[{index}]", config.route(judge.route)
        dialect = AGENTS[judge.agent].dialect
        if judge.in_depth and route is not None and dialect is not None and not speaks(route, dialect):
            message = f"agent {judge.agent} speaks {PROTOCOLS[dialect]}, and route {route.id} {route.protocol}"
            yield subject.error(f"{field}.route", message, f"name a route whose protocol is {PROTOCOLS[dialect]}")
        if route is not None and route.protocol == "messages" and judge.variant is not None and not judge.in_depth:
            message = "a plain question over messages has no reasoning variant to pass on"
            yield subject.error(f"{field}.reasoning_variant", message, "remove it, or set 'extra_body' of the route")
        budget = judge.budget
        if route is not None and not route.is_scripted and budget.usd is None and budget.completion_tokens is None:
            mend = "add a budget with usd or completion_tokens: it holds for each call"
            yield subject.warning(f"{field}.budget", "nothing bounds what a call may spend", mend)


def _in_depth(config: ReleaseConfig, subject: Subject) -> Iterator[Finding]:
    """Find judges that would look around in a way that is not there, for too much, or without end."""
    for index, judge in enumerate(config.judges):
        field = f"judges[{index}]"
        if not judge.in_depth:
            continue
        if judge.agent not in LOOKING_AROUND:
            message = f"agent {judge.agent} reads by running commands, and submitted programs could be run beside it"
            mend = f"choose {', '.join(LOOKING_AROUND)}, or remove 'agent' for one plain completion"
            yield subject.error(f"{field}.agent", message, mend)
        if judge.kind != "rubric":
            message = f"{judge.id} looks around by agent {judge.agent}, and pairs are shown as packets alone"
            yield subject.error(f"{field}.kind", message, 'write "kind": "rubric", or remove \'agent\'')
        if judge.budget.requests is None:
            message = f"nothing bounds how often {judge.id} asks while it looks around"
            yield subject.error(f"{field}.budget.requests", message, "set it; it holds for each call")


def _templates(config: ReleaseConfig, prompts: Path) -> Iterator[Finding]:
    """Hold the prompts that are needed against the places that are filled in them."""
    needed = {RUBRIC: 1, PAIRWISE: 2} | ({IN_DEPTH: 1} if any(judge.in_depth for judge in config.judges) else {})
    for name, changes in needed.items():
        subject = Subject(file=str(prompts / name))
        try:
            check_template((prompts / name).read_text(encoding="utf-8"), changes)
        except PromptError as error:
            mend = "write each placeholder once, as the shipped template does"
            yield subject.error("", f"found {error.found}; expected {error.expected}", mend)
        except (OSError, UnicodeDecodeError) as error:
            yield subject.error("", f"cannot be read ({error})", f"write it, or take the shipped config/judging/{name}")


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
