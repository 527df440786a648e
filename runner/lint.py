"""Everything that can be said against a release before it is frozen; nothing here contacts anything."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

from evaluators.model import Assurance
from evaluators.registry import assurance_of
from runner.agents.registry import AGENTS
from runner.config import ReleaseConfig
from runner.finding import Finding, Severity, Subject
from runner.freezing import CONTROLS
from runner.gateway.routes import PROTOCOLS, speaks
from runner.host_copies import host_copies
from runner.inputs import Inputs
from runner.judge_lint import judge_findings
from runner.judging.archive import JUDGING
from runner.nomination import PATCH_SUFFIX
from runner.nomination_lint import Aids, fixed_distributions, lint_nomination
from runner.preparing import JUDGE_PROMPTS
from runner.proof import PROOFS
from runner.roster import Agent, Budget, Candidate, NetworkMode, Route, Status
from runner.settings import Settings, is_hidden
from runner.validating.certificates import CERTIFICATES

__all__ = ["Aids", "Finding", "Severity", "lint", "usual_aids"]

_TAKEN = {
    CONTROLS: "the controls' records",
    CERTIFICATES: "the certificates",
    JUDGING: "the judging",
    PROOFS: "the proofs of the walls",
}
"""Names that mean something else where candidates' evidence is kept."""


def usual_aids(inputs: Inputs, settings: Settings) -> Aids:
    """Give lint this host's environment and a look at its Python packages."""
    names = {name for nomination in inputs.nominations for name in fixed_distributions(nomination)}
    return Aids(credential=settings.credential, copies=host_copies(names), helm=settings.helm is not None)


def lint(inputs: Inputs, settings: Settings, aids: Aids) -> tuple[Finding, ...]:
    """Give all findings: those on the configuration first, then each nomination's."""
    config, subject = inputs.config, Subject(file=inputs.file)
    found = [
        *_candidates(config, subject),
        *_modes(inputs, subject),
        *_patch_folders(config, settings, subject),
        *_routes(config, settings, aids, subject),
        *judge_findings(config, settings.checkout / JUDGE_PROMPTS, subject),
        *_free_text(inputs, subject),
        *_assurance(inputs, subject),
        *_places(inputs, subject),
        *_idle(config, subject),
    ]
    for nomination in inputs.nominations:
        found += lint_nomination(nomination, aids)
    return tuple(found)


def _candidates(config: ReleaseConfig, subject: Subject) -> Iterator[Finding]:
    for index, candidate in enumerate(config.candidates):
        if candidate.id in _TAKEN:
            message = f"{candidate.id} is the folder of {_TAKEN[candidate.id]} among a release's evidence"
            yield subject.error(f"candidates[{index}].id", message, "choose another id")
        if candidate.status is not Status.RETIRED:
            yield from _candidate(candidate, config.route(candidate.route), f"candidates[{index}]", subject)
    twins = Counter(_identity(candidate) for candidate in config.candidates if not candidate.is_control)
    for (_, model, *_rest), count in twins.items():
        if count > 1:
            message = f"{count} candidates are the same model by the same route ({model})"
            yield subject.warning("candidates", message, "plan more 'attempts' instead")


def _candidate(candidate: Candidate, route: Route | None, field: str, subject: Subject) -> Iterator[Finding]:
    if candidate.network is NetworkMode.DIRECT:
        yield from _direct(candidate, field, subject)
    dialect = AGENTS[candidate.agent].dialect
    if route is not None and dialect is not None and not speaks(route, dialect):
        message = f"agent {candidate.agent} speaks {PROTOCOLS[dialect]}, and route {route.id} {route.protocol}"
        yield subject.error(f"{field}.route", message, f"name a route whose protocol is {PROTOCOLS[dialect]}")
    if route is not None and not route.is_scripted and not _has_ceiling(candidate):
        mend = "add a budget with usd, requests or tokens"
        yield subject.warning(f"{field}.budget", "nothing bounds what a try may spend", mend)


def _direct(candidate: Candidate, field: str, subject: Subject) -> Iterator[Finding]:
    message = "its login lies within its reach, and nobody counts or reads what it asks: tokens and cost stay unknown"
    yield subject.warning(f"{field}.network", message, "write network: gateway, with a route, if there is a key")
    if candidate.budget != Budget() or candidate.provider_tools:
        message = "nothing holds a budget or provider_tools with network: direct"
        yield subject.error(field, message, "remove them; limits.solution bounds its time")
    if candidate.agent is Agent.OPENCODE and "/" not in (candidate.model or ""):
        mend = "write for example anthropic/claude-sonnet-4-5"
        yield subject.error(f"{field}.model", "OpenCode needs the provider's name before its model's", mend)


def _modes(inputs: Inputs, subject: Subject) -> Iterator[Finding]:
    """Find candidates that cannot take a nomination as it is meant; controls take every one."""
    answered = {each.id for each in inputs.nominations if each.is_single_shot}
    for index, candidate in enumerate(inputs.config.candidates):
        if candidate.status is Status.RETIRED or candidate.is_control:
            continue
        planned = set(inputs.config.nomination_ids if candidate.nominations is None else candidate.nominations)
        answers = candidate.agent is Agent.SINGLE_SHOT
        if wrong := sorted(planned - answered if answers else planned & answered):
            mode = "agentic" if answers else "single-shot"
            message = f"agent {candidate.agent} cannot take {', '.join(wrong)}, of mode {mode}"
            mend = "list the candidate's 'nominations'; the agent single-shot takes those of mode single-shot alone"
            yield subject.error(f"candidates[{index}].nominations", message, mend)


def _has_ceiling(candidate: Candidate) -> bool:
    budget = candidate.budget
    return any(ceiling is not None for ceiling in (budget.usd, budget.requests, budget.tokens))


def _identity(candidate: Candidate) -> tuple[str | None, ...]:
    return (candidate.agent, candidate.model, candidate.route, candidate.variant)


def _patch_folders(config: ReleaseConfig, settings: Settings, subject: Subject) -> Iterator[Finding]:
    for index, candidate in enumerate(config.candidates):
        if candidate.patches is None:
            continue
        folder = settings.path(candidate.patches)
        for name in candidate.nominations or config.nomination_ids:
            if not (folder / f"{name}{PATCH_SUFFIX}").is_file():
                mend = "add it, or list the candidate's 'nominations'"
                message = f"there is no {folder / name}{PATCH_SUFFIX}"
                yield subject.error(f"candidates[{index}].patches", message, mend)


def _routes(config: ReleaseConfig, settings: Settings, aids: Aids, subject: Subject) -> Iterator[Finding]:
    used = {candidate.route for candidate in config.candidates if candidate.status is not Status.RETIRED}
    used |= {judge.route for judge in config.judges}
    for index, route in enumerate(config.routes):
        field = f"routes[{index}]"
        if route.id not in used:
            yield subject.warning(field, f"nobody takes the route {route.id}", "remove it")
            continue
        if route.scripted is not None and not _has_scenarios(settings.path(route.scripted)):
            message = f"there is no scenario in {settings.path(route.scripted)}"
            yield subject.error(f"{field}.scripted", message, "name the folder of the scenario files")
        if route.credential is not None and aids.credential(route.credential) is None:
            message, mend = f"{route.credential} is not set", "set it before a run; freezing does not need it"
            yield subject.warning(f"{field}.credential", message, mend)
        if _is_plain_text(route):
            message = "the key would travel unencrypted"
            yield subject.error(f"{field}.base_url", message, "write an https address")


def _has_scenarios(folder: Path) -> bool:
    return folder.is_dir() and any(path.suffix == ".json" for path in folder.iterdir())


def _is_plain_text(route: Route) -> bool:
    address = urlsplit(route.base_url or "")
    is_local = address.hostname in {"localhost", "127.0.0.1", "::1"}
    return route.credential is not None and address.scheme == "http" and not is_local


def _free_text(inputs: Inputs, subject: Subject) -> Iterator[Finding]:
    """Find nominations that judges grade, where no judge would."""
    if any(judge.kind != "pairwise" for judge in inputs.config.judges):
        return
    for nomination in inputs.nominations:
        if nomination.spec.is_free_text:
            message = f"{nomination.id} is of class free-text, and nobody gives points for its answers"
            yield subject.error("judges", message, "add a judge that gives points, or remove the nomination")


def _assurance(inputs: Inputs, subject: Subject) -> Iterator[Finding]:
    if not inputs.config.analysis.require_split:
        return
    for nomination in inputs.nominations:
        for spec in nomination.evaluators:
            if (assurance := assurance_of(spec)) is not Assurance.SPLIT:
                message = f"evaluator {spec.id} of {nomination.id} judges {assurance.value}"
                yield subject.error("analysis.require_split", message, "remove the demand, or that evaluator")


def _places(inputs: Inputs, subject: Subject) -> Iterator[Finding]:
    places = inputs.places
    if is_hidden(places.state):
        message, mend = (
            f"a private systemd does not see {places.state}",
            "name a folder outside /tmp and /run",
        )
        yield subject.error("clean_room.state_dir", message, mend)
    for field, place in (("private_artifacts_dir", places.store), ("clean_room.state_dir", places.state)):
        if place == places.results or place.is_relative_to(places.results):
            message = f"private evidence would lie in the public {places.results}"
            yield subject.error(field, message, "name another folder")


def _idle(config: ReleaseConfig, subject: Subject) -> Iterator[Finding]:
    planned = [candidate for candidate in config.candidates if candidate.status is not Status.RETIRED]
    if not planned:
        yield subject.error("candidates", "all are retired, so nothing is planned", "set a status to active")
    for index, name in enumerate(config.nomination_ids):
        if planned and not any(each.nominations is None or name in each.nominations for each in planned):
            yield subject.warning(
                f"nominations[{index}]", f"no planned candidate takes {name}", "remove it, or list it"
            )
