"""What a route's answers show: each line by what the gateway saw and the agent said."""

from typing import Any, get_args

import pytest

from runner.documents.ledger import FailureKind, LedgerLine, Tokens
from runner.documents.telemetry import AgentError, Preflight, ProbeReason, Telemetry, ToolUse
from runner.preflight import SENTENCES
from runner.roster import Route
from runner.route_check import Heard, RouteCheck, answers, judge_route, without_key
from sandbox.check import State
from tests.unit.agents.test_preflight import line as plain_line

ROUTE = Route(id="real", base_url="https://example.invalid/v1", credential="REAL_KEY")


def line(**changed: object) -> LedgerLine:
    return plain_line(**{"tokens": Tokens(input=9, output=1), "model_answered": "m-1", **changed})


def preflight(reason: ProbeReason | None = None) -> Preflight:
    detail = "the model answered" if reason is None else SENTENCES[reason]
    return Preflight(needed=True, prompt="hi", available=reason is None, reason=reason, detail=detail)


def telemetry(**changed: Any) -> Telemetry:  # noqa: ANN401 - as above
    return Telemetry(agent="native", turns=1, **changed)


HI = Heard(telemetry=telemetry(final_message="hi"), lines=(line(),), parts=3)
DONE = Heard(telemetry=telemetry(tool_calls=(ToolUse(name="done", calls=1, errors=0),)), lines=(line(),))


def judged(hi: Heard = HI, tool: Heard | None = DONE, reason: ProbeReason | None = None) -> dict[str, RouteCheck]:
    found = judge_route(ROUTE, preflight(reason), hi, tool)
    assert [each.check.name for each in found] == ["answered", "streamed", "usage", "cost", "tool call"]
    return {each.check.name: each for each in found}


def test_a_route_that_does_all_of_it_is_well() -> None:
    lines = judged()
    assert {each.check.state for each in lines.values()} == {State.OK}
    assert lines["answered"].check.found == "the model answered, as m-1"
    assert lines["streamed"].check.found == "3 parts"
    assert lines["usage"].check.found == "9 in, 1 out"
    assert "N/A" in lines["cost"].check.found


def test_a_cost_is_shown_as_the_provider_tells_it() -> None:
    told = judged(Heard(telemetry=telemetry(), lines=(line(cost="0.00012"),), parts=2))
    assert told["cost"].check.found == "0.00012, as the provider tells it"


@pytest.mark.parametrize(
    ("changed", "name", "found", "mend"),
    [
        pytest.param({"parts": 0}, "streamed", "it came whole", "streams", id="whole"),
        pytest.param({"parts": 1}, "streamed", "1 part", "streams", id="kept-back"),
        pytest.param({"lines": (line(tokens=Tokens()),)}, "usage", "unknown in", "include_usage", id="no-usage"),
        pytest.param({"lines": (line(tokens=Tokens(input=3)),)}, "usage", "unknown out", "include_usage", id="half"),
    ],
)
def test_what_an_answer_lacks_is_one_line(changed: dict[str, Any], name: str, found: str, mend: str) -> None:
    members: dict[str, Any] = {"telemetry": HI.telemetry, "lines": HI.lines, "parts": HI.parts, **changed}
    check = judged(Heard(**members))[name].check
    assert (check.state, check.ok) == (State.FAILED, False)
    assert found in check.found
    assert mend in check.mend
    assert check.lost


@pytest.mark.parametrize("reason", [*get_args(FailureKind), *get_args(get_args(ProbeReason)[0])])
def test_each_reason_why_nothing_answers_is_typed_and_says_what_mends_it(reason: ProbeReason) -> None:
    failed = line(failure="auth", status_upstream=401, retries=2)
    error = AgentError(kind="auth", status=401, message="no such key")
    hi = Heard(telemetry=telemetry(final_error=error), lines=(failed,))
    lines = judged(hi, None, reason)
    answered = lines["answered"]
    assert answered.reason == reason
    assert answered.check.state is State.FAILED
    assert answered.check.found == f"{reason}: {SENTENCES[reason]} (status 401; after 2 more tries; no such key)"
    assert answered.check.mend
    assert {lines[name].check.state for name in ("streamed", "usage", "cost", "tool call")} == {State.UNKNOWN}


def test_a_wrong_answer_still_shows_what_the_route_can_do() -> None:
    lines = judged(reason="wrong_answer")
    assert lines["answered"].check.state is State.FAILED
    assert {lines[name].check.state for name in ("streamed", "usage", "cost", "tool call")} == {State.OK}


@pytest.mark.parametrize(
    ("told", "found"),
    [
        pytest.param({"final_message": "I cannot"}, "none was called; it said 'I cannot'", id="text"),
        pytest.param({}, "none was called", id="nothing"),
        pytest.param({"tool_calls": (ToolUse(name="bash", calls=1, errors=1),)}, "never offered", id="made-up"),
        pytest.param(
            {"tool_calls": (ToolUse(name="done", calls=1, errors=1),), "malformed_arguments": 1},
            "malformed arguments",
            id="malformed",
        ),
    ],
)
def test_a_tool_that_is_not_called_as_it_was_offered_is_one_line(told: dict[str, Any], found: str) -> None:
    check = judged(tool=Heard(telemetry=telemetry(**told), lines=(line(),)))["tool call"].check
    assert check.state is State.FAILED
    assert found in check.found
    assert check.mend


def test_a_question_with_tools_that_fails_keeps_its_reason() -> None:
    lines = judged(tool=Heard(telemetry=telemetry(), lines=(line(failure="refused"),), reason="refused"))
    assert lines["tool call"].reason == "refused"
    assert lines["answered"].check.ok


def test_a_missing_key_is_named_and_nothing_is_asked() -> None:
    told = without_key(ROUTE)
    assert told.reason == "auth"
    assert (told.check.found, told.check.mend) == ("REAL_KEY is not set", "run: export REAL_KEY=...")


def test_only_a_whole_completion_is_an_answer() -> None:
    assert answers(HI)
    for bad in (line(complete=False), line(failure="malformed"), line(operation="models")):
        assert not answers(Heard(telemetry=telemetry(), lines=(bad,)))
