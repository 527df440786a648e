"""How a unit ended: the table of everything systemd was seen to say, and what must never pass for success."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox.spec import GIB, MIB
from sandbox.termination import Cause, Stop, UnitFacts, termination

LIMIT = 2 * GIB
DONE = UnitFacts(
    load_state="loaded",
    active_state="active",
    sub_state="exited",
    result="success",
    main_code=1,
    main_status=0,
    stop=None,
    wall_ms=1200,
    went=True,
    cpu_ms=800,
    memory_peak_bytes=10 * MIB,
    memory_limit_bytes=LIMIT,
    oom_kills=0,
)


def ended(result: str, code: int, status: int) -> UnitFacts:
    """Facts of a program that ended by itself, as systemd 252 tells them."""
    state = ("active", "exited") if result == "success" else ("failed", "failed")
    return replace(DONE, active_state=state[0], sub_state=state[1], result=result, main_code=code, main_status=status)


@pytest.mark.parametrize(
    ("facts", "cause", "status"),
    [
        pytest.param(ended("success", 1, 0), Cause.EXIT, 0, id="exit-0"),
        pytest.param(ended("exit-code", 1, 3), Cause.EXIT, 3, id="exit-3"),
        pytest.param(ended("exit-code", 1, 201), Cause.EXIT, 201, id="its-own-201"),
        pytest.param(ended("exit-code", 1, 255), Cause.EXIT, 255, id="its-own-255"),
        pytest.param(ended("signal", 2, 11), Cause.SIGNAL, 11, id="segfault"),
        pytest.param(ended("signal", 2, 6), Cause.SIGNAL, 6, id="abort-without-core"),
        pytest.param(ended("core-dump", 3, 6), Cause.SIGNAL, 6, id="abort-with-core"),
        pytest.param(ended("signal", 2, 9), Cause.SIGNAL, 9, id="killed-itself"),
        pytest.param(ended("signal", 2, 40), Cause.SIGNAL, 40, id="real-time-signal"),
        # systemd calls these four a success.
        pytest.param(ended("success", 2, 15), Cause.SIGNAL, 15, id="term"),
        pytest.param(ended("success", 2, 1), Cause.SIGNAL, 1, id="hup"),
        pytest.param(ended("success", 2, 2), Cause.SIGNAL, 2, id="int"),
        pytest.param(ended("success", 2, 13), Cause.SIGNAL, 13, id="pipe"),
        pytest.param(ended("timeout", 2, 15), Cause.TIMEOUT, None, id="runtime-max"),
        pytest.param(ended("timeout", 2, 9), Cause.TIMEOUT, None, id="runtime-max-ignored-term"),
        pytest.param(ended("timeout", 1, 0), Cause.TIMEOUT, None, id="runtime-max-trapped-term-exit-0"),
        pytest.param(ended("oom-kill", 2, 9), Cause.OOM, None, id="oom-v2"),
        pytest.param(ended("oom-kill", 1, 0), Cause.OOM, None, id="oom-v2-after-exit-0"),
    ],
)
def test_what_systemd_says_of_a_program_that_ended(facts: UnitFacts, cause: Cause, status: int | None) -> None:
    found = termination(facts)
    assert (found.cause, found.status) == (cause, status)
    assert found.usage.wall_ms == 1200


@pytest.mark.parametrize("state", ["stop-sigterm", "stop-sigkill", "final-sigterm", "final-sigkill"])
@pytest.mark.parametrize(
    ("facts", "cause", "status"),
    [
        pytest.param(ended("exit-code", 1, 3), Cause.EXIT, 3, id="exit-3"),
        pytest.param(ended("exit-code", 1, 203), Cause.EXIT, 203, id="its-own-203"),
        pytest.param(ended("signal", 2, 9), Cause.SIGNAL, 9, id="killed-itself"),
        pytest.param(ended("core-dump", 3, 6), Cause.SIGNAL, 6, id="abort"),
        pytest.param(ended("oom-kill", 2, 9), Cause.OOM, None, id="oom"),
    ],
)
def test_a_child_that_will_not_die_does_not_turn_a_failure_into_a_fault(
    facts: UnitFacts, cause: Cause, status: int | None, state: str
) -> None:
    found = termination(replace(facts, active_state="deactivating", sub_state=state))
    assert (found.cause, found.status) == (cause, status)


@pytest.mark.parametrize(
    ("kills", "peak", "limit", "cause"),
    [
        pytest.param(1, 10 * MIB, LIMIT, Cause.OOM, id="counted"),
        pytest.param(0, LIMIT - MIB, LIMIT, Cause.OOM, id="near-the-limit-counter-read-too-early"),
        pytest.param(None, LIMIT, LIMIT, Cause.OOM, id="at-the-limit"),
        pytest.param(0, LIMIT - MIB - 1, LIMIT, Cause.SIGNAL, id="below"),
        pytest.param(None, None, LIMIT, Cause.SIGNAL, id="peak-unknown"),
        pytest.param(None, LIMIT, None, Cause.SIGNAL, id="limit-unknown"),
    ],
)
def test_with_v1_groups_out_of_memory_is_told_from_another_sigkill(
    kills: int | None, peak: int | None, limit: int | None, cause: Cause
) -> None:
    facts = replace(ended("signal", 2, 9), oom_kills=kills, memory_peak_bytes=peak, memory_limit_bytes=limit)
    assert termination(facts).cause is cause


def test_another_signal_at_the_memory_limit_is_that_signal() -> None:
    assert termination(replace(ended("signal", 2, 11), memory_peak_bytes=LIMIT)).cause is Cause.SIGNAL


def test_a_child_lost_to_the_memory_limit_is_told_beside_the_programs_own_status() -> None:
    found = termination(replace(ended("exit-code", 1, 4), oom_kills=2))
    assert (found.cause, found.status) == (Cause.EXIT, 4)
    assert "2 of its processes" in found.detail


@pytest.mark.parametrize("stop", list(Stop))
@pytest.mark.parametrize(
    "facts",
    [
        pytest.param(DONE, id="exit-0"),
        pytest.param(ended("signal", 2, 9), id="sigkill"),
        pytest.param(ended("timeout", 2, 9), id="timeout"),
        pytest.param(ended("oom-kill", 2, 9), id="oom"),
        pytest.param(replace(DONE, load_state="not-found", sub_state="dead", main_code=0), id="gone"),
        pytest.param(replace(DONE, sub_state="running", main_code=0), id="still-running"),
    ],
)
def test_why_we_stopped_it_wins_over_how_it_died(facts: UnitFacts, stop: Stop) -> None:
    found = termination(replace(facts, stop=stop))
    assert (found.cause.value, found.status) == (stop.value, None)
    assert not found.succeeded


@pytest.mark.parametrize(
    "facts",
    [
        pytest.param(replace(DONE, load_state="not-found", sub_state="dead", main_code=0), id="collected"),
        pytest.param(replace(DONE, load_state="not-found", sub_state="dead"), id="gone-though-it-exited"),
        pytest.param(replace(DONE, load_state="error"), id="broken-unit"),
        pytest.param(replace(DONE, main_code=0), id="never-known"),
        pytest.param(replace(DONE, sub_state="running"), id="not-ended"),
        pytest.param(replace(DONE, sub_state="stop-sigterm"), id="still-stopping"),
        pytest.param(replace(DONE, sub_state=""), id="no-state"),
        pytest.param(replace(DONE, result="resources"), id="resources"),
        pytest.param(replace(DONE, result="protocol"), id="protocol"),
        pytest.param(replace(DONE, result="watchdog"), id="watchdog"),
        pytest.param(replace(DONE, result=""), id="no-result"),
        pytest.param(replace(DONE, result="heaven"), id="unknown-result"),
        pytest.param(replace(DONE, main_code=5), id="stopped-is-no-end"),
        pytest.param(ended("success", 1, 3), id="success-with-3"),
        pytest.param(ended("exit-code", 1, 0), id="failure-with-0"),
        pytest.param(ended("success", 2, 11), id="success-by-segfault"),
        pytest.param(ended("signal", 1, 0), id="signal-that-exited"),
        pytest.param(ended("core-dump", 2, 6), id="core-without-core"),
        pytest.param(ended("signal", 2, 0), id="signal-that-is-none"),
        pytest.param(ended("signal", 2, 65), id="signal-above-all"),
    ],
)
def test_what_nobody_knows_is_the_managers_failure(facts: UnitFacts) -> None:
    found = termination(facts)
    assert found.is_fault
    assert found.status is None
    assert found.detail


@pytest.mark.parametrize("status", [0, 1, 200, 203, 217, 225, 226, 254, 255])
@pytest.mark.parametrize("stop", [None, Stop.TIMEOUT, Stop.OOM, Stop.OUTPUT_LIMIT])
def test_before_the_go_every_end_is_a_fault(status: int, stop: Stop | None) -> None:
    facts = replace(ended("exit-code" if status else "success", 1, status), went=False, stop=stop)
    assert termination(facts).is_fault


def test_a_unit_we_gave_up_before_the_go_is_no_fault() -> None:
    assert termination(replace(DONE, went=False, stop=Stop.KILLED)).cause is Cause.KILLED


FACTS = st.builds(
    UnitFacts,
    load_state=st.sampled_from(["loaded", "not-found", "error", "masked", "bad-setting", ""]),
    active_state=st.sampled_from(["active", "failed", "inactive", "deactivating", ""]),
    sub_state=st.sampled_from(["exited", "failed", "dead", "running", "start", "stop-sigkill", ""]),
    result=st.sampled_from(["success", "exit-code", "signal", "core-dump", "timeout", "oom-kill", "protocol", ""]),
    main_code=st.integers(0, 6),
    main_status=st.integers(0, 255),
    stop=st.none() | st.sampled_from(Stop),
    wall_ms=st.integers(0, 10**6),
    went=st.booleans(),
    cpu_ms=st.none() | st.integers(0, 10**6),
    memory_peak_bytes=st.none() | st.integers(0, 4 * GIB),
    memory_limit_bytes=st.none() | st.just(LIMIT),
    oom_kills=st.none() | st.integers(0, 3),
)


@given(FACTS)
def test_a_missing_unit_or_unknown_program_never_exits(facts: UnitFacts) -> None:
    found = termination(facts)
    if facts.stop is None and (facts.load_state != "loaded" or facts.main_code == 0 or not facts.went):
        assert found.cause is Cause.MANAGER


@given(FACTS)
def test_success_has_all_its_evidence_or_is_none(facts: UnitFacts) -> None:
    evidence = (
        facts.went
        and facts.stop is None
        and (facts.load_state, facts.result, facts.main_code, facts.main_status) == ("loaded", "success", 1, 0)
        and facts.sub_state in {"exited", "failed", "dead"}
    )
    assert termination(facts).succeeded is evidence


@given(FACTS)
def test_only_an_exit_or_a_signal_has_a_status(facts: UnitFacts) -> None:
    found = termination(facts)
    assert (found.status is not None) is (found.cause in {Cause.EXIT, Cause.SIGNAL})
