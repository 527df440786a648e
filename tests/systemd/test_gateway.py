"""An agent in its unit, the gateway in its own, the scripted provider outside: the whole way, on real walls."""

import os
import time
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta

import pytest

from evaluators.packing import pack_files
from runner.agents.model import AgentTask
from runner.agents.native import Native
from runner.agents.registry import AGENTS
from runner.documents.ledger import LedgerLine
from runner.documents.telemetry import Telemetry
from runner.gateway.bundle import gateway_bundle
from runner.gateway.client import Gateway, Terms, open_gateway
from runner.gateway.errors import GatewayError
from runner.gateway.scenario import Answer, Fail, Scenario, Step, ToolCall, When
from runner.gateway.scripted import scripted_provider
from runner.preflight import PROBE_PROMPT, Probe, judge_try
from sandbox import profiles
from sandbox.api import WorkspaceRequest
from sandbox.client import KeeperSandbox
from sandbox.profiles import Program
from sandbox.spec import MIB, Limits, Mount
from sandbox.termination import Cause
from sandbox.unit import UnitResult, run

pytestmark = pytest.mark.systemd

LIMITS = Limits(
    wall=timedelta(seconds=20), memory_bytes=256 * MIB, disk_bytes=16 * MIB, disk_inodes=2000, tmp_bytes=8 * MIB
)
MODEL = "scripted/model"


def call(name: str, **arguments: object) -> Step:
    return Step(answer=Answer(tool_calls=(ToolCall(name=name, arguments=arguments),)))


STEPS = (
    Step(when=When(contains="exactly: hi"), answer=Answer(text="hi")),
    call("edit", path="a.py", old="1", new="2"),
    call("run", command="id -u; cat a.py; env; cat /proc/net/dev | wc -l"),
    call("done", summary="two"),
)


@pytest.fixture(scope="module")
def gateway(sandbox: KeeperSandbox) -> Iterator[Gateway]:
    with open_gateway(sandbox, sandbox.store(gateway_bundle())) as gateway:
        yield gateway


def work(
    sandbox: KeeperSandbox, gateway: Gateway, base_url: str, task: AgentTask, *, wall: float = 20
) -> tuple[UnitResult, Telemetry, tuple[LedgerLine, ...]]:
    layer = sandbox.store(pack_files({"a.py": b"x = 1\n"}))
    terms = Terms(attempt="a", base_url=base_url, model=MODEL, credential="sk-secret")
    limits = replace(LIMITS, wall=timedelta(seconds=wall))
    with (
        sandbox.workspace(WorkspaceRequest(layers=(layer,), limits=limits)) as workspace,
        sandbox.gate() as gate,
        gateway.attempt(terms, os.dup(gate.listener), lambda _line: None) as traffic,
    ):
        command = Native().command(replace(task, gate_port=gate.port))
        mounts = tuple(Mount(object=sandbox.store(pack), target=target) for target, pack in command.packs)
        program = Program(argv=command.argv, mounts=mounts, environment=command.environment)
        ran = run(sandbox, profiles.candidate(program, limits, workspace, gate), stdin=command.stdin)
    return ran, Native().telemetry(ran.stdout, ran.stderr, ran.termination), traffic.lines


TASK = AgentTask(prompt="work", wall=LIMITS.wall, model=MODEL, tools=("run",))


def test_a_model_works_through_the_gate(sandbox: KeeperSandbox, gateway: Gateway) -> None:
    with scripted_provider({MODEL: Scenario(model=MODEL, steps=STEPS)}) as provider:
        ran, told, lines = work(sandbox, gateway, provider.base_url, TASK)
        sent = str(provider.requests[-1]["messages"])
    assert ran.stderr == b""
    assert (ran.termination.cause, ran.termination.status, told.ended) == (Cause.EXIT, 0, "done")
    assert [line.failure for line in lines] == [None, None, None]
    assert "x = 2" in sent
    assert "sk-secret" not in sent
    assert provider.headers[0]["authorization"] == "Bearer sk-secret"


def test_the_probe_is_answered(sandbox: KeeperSandbox, gateway: Gateway) -> None:
    with scripted_provider({MODEL: Scenario(model=MODEL, steps=STEPS)}) as provider:
        task = replace(TASK, prompt=PROBE_PROMPT, probe=True)
        ran, told, lines = work(sandbox, gateway, provider.base_url, task)
    assert judge_try(Probe(termination=ran.termination, telemetry=told, lines=lines)) is None


def test_a_provider_that_dies_ends_the_loop(sandbox: KeeperSandbox, gateway: Gateway) -> None:
    steps = (STEPS[1], Step(fail=Fail(status=402), repeat=True))
    with scripted_provider({MODEL: Scenario(model=MODEL, steps=steps)}) as provider:
        ran, told, lines = work(sandbox, gateway, provider.base_url, TASK)
    assert (ran.termination.status, lines[-1].failure) == (3, "quota")
    assert told.final_error is not None
    assert told.final_error.kind == "quota"


def test_an_agent_that_waits_for_ever_is_ended_with_its_line(sandbox: KeeperSandbox, gateway: Gateway) -> None:
    step = Step(answer=Answer(text="late"), hang_ms=60_000)
    with scripted_provider({MODEL: Scenario(model=MODEL, steps=(step,))}) as provider:
        ran, _, lines = work(sandbox, gateway, provider.base_url, TASK, wall=2)
    assert ran.termination.cause is Cause.TIMEOUT
    assert [line.complete for line in lines] == [False]


def test_agents_without_a_model_need_no_gate(sandbox: KeeperSandbox) -> None:
    layer = sandbox.store(pack_files({"a.py": b"x = 1\n"}))
    task = AgentTask(prompt="", wall=LIMITS.wall, change=pack_files({"new/b.py": b"y"}))
    for name in ("oracle", "patch", "nop"):
        agent = AGENTS[name]
        command = agent.command(task)
        with sandbox.workspace(WorkspaceRequest(layers=(layer,), limits=LIMITS)) as workspace:
            mounts = tuple(Mount(object=sandbox.store(pack), target=target) for target, pack in command.packs)
            program = Program(argv=command.argv, mounts=mounts)
            ran = run(sandbox, profiles.tests(program, LIMITS, workspace), stdin=command.stdin)
            assert agent.telemetry(ran.stdout, ran.stderr, ran.termination).ended == "done"
            with sandbox.changes(workspace) as (_, changes):
                seen = changes.touched + changes.whole
        assert bool(seen) is (name != "nop")


def test_a_gateway_that_ends_amid_an_attempt_is_a_fault(sandbox: KeeperSandbox) -> None:
    bundle = sandbox.store(gateway_bundle())
    steps = (Step(answer=Answer(text="late"), hang_ms=60_000),)
    scenario = Scenario(model=MODEL, steps=steps)
    short = replace(LIMITS, wall=timedelta(seconds=3), tasks=128)
    began = time.monotonic()
    with (
        scripted_provider({MODEL: scenario}) as provider,
        open_gateway(sandbox, bundle, short) as gateway,
        pytest.raises(GatewayError),
    ):
        work(sandbox, gateway, provider.base_url, TASK)
    assert time.monotonic() - began < 15
