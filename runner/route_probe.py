"""One `hi`, and one question with tools, through a route of the configuration and the real gateway's unit."""

import difflib
from dataclasses import replace

from runner.agents.model import AgentTask
from runner.agents.native import read_events
from runner.config import ReleaseConfig, load_config
from runner.documents.ledger import LedgerLine
from runner.documents.telemetry import ProbeReason
from runner.errors import DocumentError, UnknownNameError
from runner.freezer import accounts_of
from runner.gateway.client import Tapes
from runner.gateway.routes import PROTOCOLS, speaks
from runner.gateway.serving import address, gateway_unit
from runner.inputs import find_places
from runner.parsing import file_name
from runner.preflight import Probe, judge_try
from runner.roster import Agent, Budget, Candidate, Participant, Route, Status
from runner.route_check import TOOL_PROMPT, Heard, RouteCheck, answers, judge_route, without_key
from runner.runtime import Ran, Room, Runtime
from runner.settings import Settings
from sandbox.client import open_sandbox
from sandbox.spec import GATE_PORT, Limits

_REQUESTS = 4
"""More than both questions need."""


def try_route(settings: Settings, name: str, model: str | None = None) -> tuple[RouteCheck, ...]:
    """Ask the model that the configuration reaches through a route, or the one named.

    Raises:
        UsageError: the configuration has no such route, or reaches no model through it.
        SandboxError: the host cannot hold a clean room.
        GatewayError: the gateway failed.
    """
    config = load_config(settings.config)
    route = _find(config, name)
    file = file_name(settings.config)
    _need_chat(route, file)
    candidate = _candidate(config, route, model, file)
    if route.credential is not None and settings.credential(route.credential) is None:
        return (without_key(route),)
    limits = config.limits.preflight.limits()
    with (
        open_sandbox(find_places(config, settings).state, accounts_of(config)) as sandbox,
        address(settings, route) as url,
        gateway_unit(sandbox) as gateway,
    ):
        runtime = Runtime(
            sandbox=sandbox,
            gateway=gateway,
            routes={route.id: route},
            base_urls={route.id: url},
            credential=settings.credential,
        )
        asked = runtime.preflight(candidate, limits, _ignore, lambda _run: Tapes())
        hi = _heard(asked.runs[-1])
        tool = _ask_for_tool(runtime, candidate, limits) if answers(hi) else None
    return judge_route(route, asked.preflight, hi, tool)


def _find(config: ReleaseConfig, name: str) -> Route:
    found = config.route(name)
    if found is None:
        known = [route.id for route in config.routes]
        near = tuple(difflib.get_close_matches(name, known, n=3, cutoff=0.5))
        raise UnknownNameError(noun="route", wanted=name[:100], near=near, known=len(known))
    return found


def _need_chat(route: Route, file: str) -> None:
    """Say nothing if our own loop can take a route."""
    if not speaks(route, "chat"):
        raise DocumentError(
            file=file,
            field=f"routes[{route.id}].protocol",
            found=route.protocol,
            expected=f"{PROTOCOLS['chat']}, which is what the doctor speaks",
            mend="see what a candidate's own probe says of this route: run a pilot with --candidate",
        )


def _candidate(config: ReleaseConfig, route: Route, model: str | None, file: str) -> Candidate:
    """Make up a candidate of our own loop, with the model of whoever uses the route: active ones first."""
    users: list[Participant] = [each for each in config.candidates if each.route == route.id]
    users.sort(key=lambda each: isinstance(each, Candidate) and each.status is not Status.ACTIVE)
    users += [each for each in config.judges if each.route == route.id]
    user = next((each for each in users if model is None or each.model == model), None)
    wanted = model if user is None else user.model
    if wanted is None:
        raise DocumentError(
            file=file,
            field=f"routes[{route.id}]",
            found="no candidate and no judge that uses it",
            expected="a model to ask",
            mend="name one with --model",
        )
    variant = None if user is None else user.reasoning_variant
    return Candidate(
        id="doctor",
        agent=Agent.NATIVE,
        model=wanted,
        route=route.id,
        reasoning_variant=variant,
        budget=Budget(requests=_REQUESTS),
    )


def _ask_for_tool(runtime: Runtime, candidate: Candidate, limits: Limits) -> Heard:
    task = AgentTask(
        prompt=TOOL_PROMPT,
        wall=limits.wall,
        model=candidate.model,
        gate_port=GATE_PORT,
        turns=1,
        reasoning=candidate.variant,
    )
    ran = runtime.run(candidate, task, Room(limits=limits, label="doctor-tool"), _ignore)
    return replace(_heard(ran), reason=_reason(ran))


def _heard(ran: Ran) -> Heard:
    events, _ = read_events(ran.result.stdout)
    counts = [count for event in events if isinstance(count := event.get("parts"), int)]
    return Heard(telemetry=ran.telemetry, lines=ran.lines, parts=max(counts, default=0))


def _reason(ran: Ran) -> ProbeReason | None:
    """Say why no answer came; that it is another one than to the probe is right."""
    reason = judge_try(Probe(termination=ran.result.termination, telemetry=ran.telemetry, lines=ran.lines))
    return None if reason in {"wrong_answer", "no_model_response"} and answers(_heard(ran)) else reason


def _ignore(line: LedgerLine) -> None:
    """Keep no ledger: nothing here is evidence."""
