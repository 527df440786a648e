"""The doctor on this very host, and routes asked through the real gateway's unit."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.flow.bench import CONFIG, Bench, await_, own_folder, write_bench

pytestmark = pytest.mark.systemd

STATES = Path("/var/lib/cleanroom")
TOOL = {"answer": {"tool_calls": [{"name": "done", "arguments": {"summary": "hi"}}]}}
PLAYED: dict[str, list[dict[str, object]]] = {
    "well": [{"when": {"contains": "exactly: hi"}, "answer": {"text": "hi"}, "cost": "0.002"}, TOOL],
    "refusing": [{"fail": {"status": 401, "message": "no such key", "code": "invalid_api_key"}}],
    "unknown": [{"fail": {"status": 404, "message": "no such model", "code": "model_not_found"}}],
    "crowded": [{"fail": {"status": 429, "message": "slow down", "retry_after": "0"}}],
    "broken": [{"fail": {"status": 500, "message": "it broke"}}],
    "silent": [{"raw": {"content_type": "text/event-stream", "body": "data: [DONE]\n\n"}}],
    "wordy": [{"when": {"contains": "exactly: hi"}, "answer": {"text": "hi"}}, {"answer": {"text": "As you wish."}}],
}


@pytest.fixture(scope="module")
def played() -> Iterator[Bench]:
    """A bench whose models each answer in one way."""
    models = [{"id": name, "agent": "native", "model": f"scripted/{name}", "route": "scripted"} for name in PLAYED]
    keyed = {"id": "keyed", "agent": "native", "model": "real/one", "route": "real"}
    real = {"id": "real", "base_url": "http://127.0.0.1:9/v1", "credential": "DOCTOR_KEY_THAT_NOBODY_HAS"}
    routes: list[dict[str, object]] = [
        {"id": "scripted", "scripted": "config/played", "amendments": ["include_usage"]},
        real,
    ]
    routes.append({"id": "unused", "scripted": "config/played"})
    routes.append({"id": "other", "base_url": "http://127.0.0.1:9/v1", "protocol": "messages"})
    with own_folder(STATES, "doctor") as folder:
        bench = write_bench(folder, CONFIG | {"candidates": [*models, keyed], "routes": routes})
        (folder / "config/played").mkdir()
        for name, steps in PLAYED.items():
            scenario = {"schema": "cleanroom/scenario/1", "model": f"scripted/{name}", "steps": steps}
            (folder / "config/played" / f"{name}.json").write_text(json.dumps(scenario))
        yield bench


def asked(bench: Bench, *words: str) -> tuple[int, dict[str, dict[str, object]]]:
    said = bench.run("doctor", "--json", *words)
    return said.code, {str(line["name"]): line for line in map(json.loads, said.out.splitlines())}


def test_this_host_can_hold_clean_rooms_and_the_doctor_leaves_nothing(played: Bench) -> None:
    before = sorted(path.name for path in played.checkout.iterdir())
    said = played.run("doctor")
    assert (said.code, said.err) == (0, "")
    assert "\nthis host can hold clean rooms: " in said.out
    assert "DOCTOR_KEY_THAT_NOBODY_HAS" in said.out, "a key that is missing is a warning"
    assert sorted(path.name for path in played.checkout.iterdir()) == before
    assert str(played.checkout) not in Path("/proc/self/mountinfo").read_text()
    await_(lambda: not list(Path("/sys/fs/cgroup").glob("**/cleanroom-doctor-*")), "the end of its control groups")


def test_an_account_that_is_not_root_is_told_what_could_not_be_seen(played: Bench) -> None:
    nobody = ("/usr/bin/setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", "--")
    said = played.run("doctor", within=nobody)
    assert (said.code, said.err) == (4, "")
    assert "unfit    root" in said.out
    assert "run the doctor as root" in said.out


def test_a_route_that_can_do_all_passes_line_by_line(played: Bench) -> None:
    said = played.run("doctor", "--route", "scripted")
    assert said.code == 0, said
    assert [line.split()[0] for line in said.out.splitlines()[1:6]] == ["ok"] * 5
    assert "0.002, as the provider tells it" in said.out
    assert "100 in, 20 out" in said.out
    assert "done was called" in said.out


@pytest.mark.parametrize(
    ("name", "reason", "found", "mend"),
    [
        pytest.param("refusing", "auth", "status 401", "credential", id="401"),
        pytest.param("unknown", "unknown_model", "status 404", "the model's name", id="404"),
        pytest.param("crowded", "overloaded", "status 429", "ask again later", id="429"),
        pytest.param("broken", "overloaded", "status 500", "ask again later", id="500"),
        pytest.param("silent", "malformed", "status 200", "base_url", id="empty-stream"),
    ],
)
def test_a_route_that_fails_gives_a_typed_line_and_what_mends_it(
    played: Bench, name: str, reason: str, found: str, mend: str
) -> None:
    code, lines = asked(played, "--route", "scripted", "--model", f"scripted/{name}")
    assert code == 1
    assert lines["answered"]["reason"] == reason
    assert found in str(lines["answered"]["found"])
    assert mend in str(lines["answered"]["mend"])
    assert lines["tool call"]["state"] == "unknown"


def test_a_model_that_calls_no_tool_is_told(played: Bench) -> None:
    code, lines = asked(played, "--route", "scripted", "--model", "scripted/wordy")
    assert (code, lines["answered"]["ok"], lines["tool call"]["ok"]) == (1, True, False)
    assert "As you wish." in str(lines["tool call"]["found"])


def test_usage_that_nobody_asks_for_is_told_with_the_amendment_that_does(played: Bench) -> None:
    code, lines = asked(played, "--route", "unused", "--model", "scripted/well")
    assert (code, lines["usage"]["ok"]) == (1, False)
    assert "include_usage" in str(lines["usage"]["mend"])


def test_a_route_without_its_key_is_not_asked(played: Bench) -> None:
    code, lines = asked(played, "--route", "real")
    assert (code, list(lines)) == (1, ["answered"])
    assert lines["answered"]["mend"] == "run: export DOCTOR_KEY_THAT_NOBODY_HAS=..."


@pytest.mark.parametrize(
    ("words", "said"),
    [
        pytest.param(("--route", "script"), "did you mean scripted?", id="unknown"),
        pytest.param(("--route", "unused"), "name one with --model", id="no-model"),
        pytest.param(("--route", "other"), "found messages; expected chat-completions", id="another-protocol"),
        pytest.param(("--model", "m"), "--route", id="no-route"),
    ],
)
def test_a_route_that_is_none_is_wrong_usage(played: Bench, words: tuple[str, ...], said: str) -> None:
    done = played.run("doctor", *words)
    assert (done.code, done.out) == (2, "")
    assert said in done.err
