"""`hi` through OpenCode, Codex and Claude Code: each way in which none comes back has its own reason."""

import json
import os
import socket
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from runner.gateway.scenario import Scenario
from runner.gateway.scripted import scripted_provider
from tests.flow.bench import CONFIG, Bench, copied
from tests.flow.test_agents import PROTOCOLS, ROOM, roots

__all__ = ["roots"]

STEPS: dict[str, dict[str, object]] = {
    "unknown": {"fail": {"status": 404, "code": "model_not_found", "message": "The model does not exist."}},
    "badkey": {"fail": {"status": 401, "code": "invalid_api_key", "message": "Incorrect API key provided."}},
    "emptied": {"fail": {"status": 402, "code": "insufficient_quota", "message": "You have no credit left."}},
    "silent": {"answer": {"text": "hi"}, "hang_ms": 600_000},
    "mute": {"answer": {"text": ""}},
    "wrong": {"answer": {"text": "How can I help you?"}},
}
"""What the scripted model does with the question, each time that it is asked."""

REASONS = {
    "unknown": "unknown_model",
    "badkey": "auth",
    "emptied": "quota",
    "refused": "network",
    "silent": "timeout",
    "mute": "no_model_response",
    "wrong": "wrong_answer",
}
"""`refused`: nobody listens where the provider should be."""

TRIES = {"wrong": 2}
"""A wrong answer is asked for once more; everything else is asked once."""

RELEASES = {"silence": 15_000, "answers": 60_000}
"""How long a probe may take, in milliseconds, by release. Only those that nobody answers take it all."""


def release_of(case: str) -> str:
    return "silence" if case == "silent" else "answers"


def scenarios() -> Iterator[Scenario]:
    for agent in PROTOCOLS:
        for case, step in STEPS.items():
            steps = [{**step, "repeat": True}]
            yield Scenario.model_validate_json(json.dumps({"model": f"scripted/{agent}-{case}", "steps": steps}))


def write_config(bench: Bench, release: str, base_url: str, closed_url: str, roots: dict[str, str]) -> None:
    routes = [
        {"id": f"{agent}{end}", "base_url": url, "credential": "PROBE_KEY", "protocol": protocol}
        for agent, protocol in PROTOCOLS.items()
        for end, url in (("", base_url), ("-closed", closed_url))
    ]
    candidates = [
        {
            "id": f"{agent}-{case}",
            "agent": agent,
            "model": f"scripted/{agent}-{case}",
            "route": f"{agent}-closed" if case == "refused" else agent,
        }
        for agent in PROTOCOLS
        for case in REASONS
        if release_of(case) == release
    ]
    changed = {
        "release": release,
        "candidates": candidates,
        "routes": routes,
        "judges": [],
        "clean_room": {"state_dir": ".cleanroom", **roots},
        "limits": {**CONFIG["limits"], "preflight": {**ROOM, "wall_ms": RELEASES[release]}},  # type: ignore[dict-item]
    }
    bench.config.write_text(json.dumps(CONFIG | changed))


@dataclass(frozen=True, slots=True, kw_only=True)
class Probed:
    """Releases in which every probe fails."""

    bench: Bench
    err: str

    def preflight(self, agent: str, case: str) -> dict[str, Any]:
        store = self.bench.checkout / ".cleanroom/store"
        folder = store / release_of(case) / f"{agent}-{case}" / "clamp/attempt-1/try-1"
        [kept] = folder.rglob("preflight.json")
        found: dict[str, Any] = json.loads(kept.read_bytes())
        return found


@pytest.fixture(scope="module")
def probed(benches: Path, frozen: Bench, roots: dict[str, str]) -> Probed:
    bench = copied(frozen, benches / "probes")
    by_model = {each.model: each for each in scenarios()}
    with scripted_provider(by_model) as provider, socket.socket() as nobody, pytest.MonkeyPatch.context() as patch:
        nobody.bind(("127.0.0.1", 0))  # Never listened on: whoever connects is refused.
        closed_url = f"http://127.0.0.1:{nobody.getsockname()[1]}/v1"
        patch.setitem(os.environ, "PROBE_KEY", "sk-probe")
        err = ""
        for release in RELEASES:
            write_config(bench, release, provider.base_url, closed_url, roots)
            assert bench.run("freeze").code == 0
            err += bench.run("pilot").err
    return Probed(bench=bench, err=err)


@pytest.mark.parametrize("case", REASONS)
@pytest.mark.parametrize("agent", PROTOCOLS)
def test_each_way_in_which_no_answer_comes_has_its_own_reason(probed: Probed, agent: str, case: str) -> None:
    assert f"{agent}-{case}/clamp/attempt-1: unavailable" in probed.err
    preflight = probed.preflight(agent, case)
    assert (preflight["available"], preflight["reason"]) == (False, REASONS[case]), preflight
    assert len(preflight["tries"]) == TRIES.get(case, 1)
