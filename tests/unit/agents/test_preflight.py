"""The probe: tables from facts to reasons."""

from dataclasses import replace

import pytest

from runner.agents.traffic import sum_traffic
from runner.documents.ledger import FailureKind, LedgerLine, Tokens, TunnelFact
from runner.documents.telemetry import Telemetry
from runner.preflight import Probe, judge_probe, judge_try, no_probe_needed, normalise, wants_another
from sandbox.termination import Cause
from tests.unit.agents.loop_rig import ended


def line(**changes: object) -> LedgerLine:
    plain: dict[str, object] = {
        "sequence": 1,
        "operation": "chat",
        "started_ms": 0,
        "first_byte_ms": 1,
        "duration_ms": 10,
        "model_asked": "m",
        "model_answered": "m",
        "provider_answered": None,
        "stream": True,
        "status_upstream": 200,
        "status_given": 200,
        "complete": True,
        "finish_reason": "stop",
        "failure": None,
        "refusal": None,
        "tokens": Tokens(),
        "cost": None,
        "retries": 0,
        "wait_ms": 0,
        "amended": (),
        "request_bytes": 1,
        "request_sha256": "0" * 64,
        "response_bytes": 0,
        "response_sha256": None,
    }
    return LedgerLine(**{**plain, **changes})


def probe(answer: str | None = "hi", *lines: LedgerLine, cause: Cause = Cause.EXIT, status: int | None = 0) -> Probe:
    return Probe(
        termination=ended(status or 0, cause),
        telemetry=Telemetry(agent="native", turns=1, final_message=answer),
        lines=lines or (line(),),
    )


@pytest.mark.parametrize("answer", ["hi", "Hi", "HI!", " hi.\n", '"hi"', "`hi`", "**Hi**", "h i", "\uff48\uff49"])
def test_dress_does_not_matter(answer: str) -> None:
    assert normalise(answer) == "hi"


@pytest.mark.parametrize("answer", ["", "hello", "hi there", "hi1", "hí", "\U0001d5f5"])
def test_another_word_does(answer: str) -> None:
    assert normalise(answer) != "hi"


@pytest.mark.parametrize(
    ("asked", "reason"),
    [
        pytest.param(probe(), None, id="hi"),
        pytest.param(probe("hello"), "wrong_answer", id="another word"),
        pytest.param(probe(""), "no_model_response", id="silence"),
        pytest.param(probe(None), "no_model_response", id="nothing told"),
        pytest.param(probe("hi", line(operation="models")), "no_model_response", id="said without a model"),
        pytest.param(probe("hi", line(complete=False)), "no_model_response", id="said too early"),
        pytest.param(probe("hi", status=1), "process_failure", id="status"),
        pytest.param(probe("hi", cause=Cause.SIGNAL, status=9), "process_failure", id="signal"),
        pytest.param(probe("hi", cause=Cause.OOM), "process_failure", id="memory"),
        pytest.param(probe("hi", cause=Cause.TIMEOUT), "timeout", id="time"),
        pytest.param(probe("hi", cause=Cause.OUTPUT_LIMIT), "output_limited", id="output"),
        pytest.param(probe(None, line(failure="auth"), status=3), "auth", id="credential"),
        pytest.param(probe(None, line(failure="network"), cause=Cause.TIMEOUT), "network", id="hung provider"),
        pytest.param(probe("hi", line(failure="overloaded"), line(sequence=2)), None, id="came back"),
    ],
)
def test_each_end_has_its_reason(asked: Probe, reason: str | None) -> None:
    assert judge_try(asked) == reason
    told = judge_probe([asked])
    assert (told.available, told.reason) == (reason is None, reason)
    assert told.detail


def tunnel(failure: FailureKind | None = None) -> LedgerLine:
    fact = TunnelFact(host="api.example.com:443", sent_bytes=1, received_bytes=1)
    return line(operation="connect", failure=failure, model_asked=None, model_answered=None, tunnel=fact)


@pytest.mark.parametrize(
    ("asked", "reason"),
    [
        pytest.param(probe("hi", tunnel()), None, id="hi"),
        pytest.param(probe("hello", tunnel()), "wrong_answer", id="another word"),
        pytest.param(probe(None, tunnel()), "no_model_response", id="nothing told"),
        pytest.param(probe(None, tunnel(), tunnel("refused"), status=1), "process_failure", id="status"),
        pytest.param(probe(None, tunnel("network"), status=1), "network", id="nobody there"),
        pytest.param(probe(None, tunnel("network"), cause=Cause.TIMEOUT), "timeout", id="time"),
    ],
)
def test_where_nothing_is_metered_the_answer_tells(asked: Probe, reason: str | None) -> None:
    unmetered = replace(asked, metered=False)
    assert judge_try(unmetered) == reason
    assert judge_probe([unmetered]).tries[0].traffic is None


def test_only_a_wrong_answer_is_asked_once_more() -> None:
    assert wants_another([])
    assert wants_another([probe("no")])
    assert not wants_another([probe("no"), probe("no")])
    assert not wants_another([probe("hi")])
    assert not wants_another([probe(None, line(failure="auth"), status=3)])
    assert judge_probe([probe("no"), probe("hi")]).available
    assert judge_probe([probe("no"), probe("no")]).reason == "wrong_answer"


def test_a_fault_is_no_answer() -> None:
    with pytest.raises(ValueError, match="fault"):
        judge_try(probe(cause=Cause.MANAGER))
    with pytest.raises(ValueError, match="nothing was asked"):
        judge_probe([])


def test_agents_without_a_model_say_so() -> None:
    told = no_probe_needed()
    assert (told.needed, told.available, told.prompt) == (False, True, None)


def test_traffic_adds_what_is_known_and_leaves_unknown_unknown() -> None:
    lines = (
        line(tokens=Tokens(input=10, output=1), cost="0.1", retries=1, wait_ms=5),
        line(tokens=Tokens(input=5), cost="0.25", failure="network"),
        line(operation="models", tokens=Tokens(cached=7)),
        line(status_upstream=None, failure="refused", refusal="budget"),
        line(status_upstream=503, failure="overloaded"),
    )
    told = sum_traffic(lines)
    assert (told.requests, told.failed, told.retries, told.wait_ms, told.provider_ms) == (4, 3, 1, 5, 35)
    assert (told.tokens.input, told.tokens.output, told.tokens.cached) == (15, 1, None)
    assert told.cost == "0.35"
    assert sum_traffic(()).cost is None


def test_an_answer_without_a_price_leaves_the_whole_price_unknown() -> None:
    hung_up = line(sequence=2, complete=False, cost=None)
    assert sum_traffic((line(cost="0.1"), hung_up)).cost is None
