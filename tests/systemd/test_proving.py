"""The attacks on real units of every role: all are held, a widened unit is noticed, and nothing stays on the host."""

import socket
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from sandbox.attacks import attacks_of, proofs_of
from sandbox.canaries import FOLDER, Canaries, canaries
from sandbox.client import KeeperSandbox
from sandbox.probes.sockets import NOT_TRIED
from sandbox.proofs import Proof
from sandbox.proving import AGENT_ROLES, OBJECTIVE_ROLES, prove, stage
from sandbox.proving_stage import Stage
from sandbox.spec import Network, Reach, Role, UnitSpec

pytestmark = pytest.mark.systemd

ALL = (*AGENT_ROLES, *OBJECTIVE_ROLES)


@pytest.fixture(scope="module")
def staged(sandbox: KeeperSandbox) -> Iterator[Stage]:
    with stage(sandbox) as set_up:
        yield set_up


def broken(staged: Stage, tried: Role, **changed: object) -> dict[str, str]:
    """Look around in a unit whose spec was changed, and name what is broken of what is looked for."""

    def widen(spec: UnitSpec) -> UnitSpec:
        return replace(spec, **changed)  # type: ignore[arg-type]  # the fields of a spec

    proofs = proofs_of(tried, staged.look(tried, widen))
    looked = {attack.id for attack in attacks_of(tried) if attack.probe.startswith("look/")}
    return {proof.attack: proof.observed for proof in proofs if proof.attack in looked and not proof.held}


def test_every_attack_is_held_from_every_role(sandbox: KeeperSandbox) -> None:
    told: list[Proof] = []
    proofs = prove(sandbox, ALL, told.append)
    assert [f"{each.role} {each.attack}: {each.observed}" for each in proofs if not each.held] == []
    assert tuple(told) == proofs
    assert Counter(each.role for each in proofs) == {role: len(attacks_of(role)) for role in ALL}
    assert len(proofs) > 450
    assert not FOLDER.exists()


def on_the_host(planted: Canaries) -> dict[str, bool]:
    """Tell of everything that was planted whether it is there."""
    named = (*planted.files, planted.sockets[0], f"/run/{planted.name}.socket", f"/dev/shm/{planted.name}")
    tables = {each: Path("/proc/sysvipc", each).read_text(encoding="ascii").split() for each in ("shm", "sem", "msg")}
    numbered = {each: str(planted.key) in words for each, words in tables.items()}
    names = Path("/proc/keys").read_text(encoding="ascii") + Path("/proc/net/unix").read_text(encoding="ascii")
    return {**{path: Path(path).exists() for path in named}, **numbered, "by name": planted.name in names}


def test_canaries_are_there_while_they_should_be_and_gone_afterwards() -> None:
    with canaries() as planted:
        assert all(on_the_host(planted).values()), on_the_host(planted)
        assert all(Path(each).read_text(encoding="ascii") == planted.secret for each in planted.files)
        for address in (planted.sockets[0], f"\0{planted.name}"):
            with socket.socket(socket.AF_UNIX) as client:
                client.connect(address)
        socket.create_connection(("127.0.0.1", planted.port), 1).close()
    deadline = time.monotonic() + 5
    while any(on_the_host(planted).values()) and time.monotonic() < deadline:
        time.sleep(0.05)  # The kernel frees a key a moment later.
    assert not any(on_the_host(planted).values()), on_the_host(planted)
    assert not FOLDER.exists()


def test_a_unit_that_is_as_it_should_be_has_nothing_broken(staged: Stage) -> None:
    assert broken(staged, Role.TESTS) == {}


def test_a_candidate_in_the_machines_network_is_noticed_and_sends_nothing(staged: Stage) -> None:
    outside = Network(reach=Reach.OUTSIDE)
    found = broken(staged, Role.CANDIDATE, role=Role.GATEWAY, network=outside)
    assert found.keys() >= {"own-network", "interfaces", "descriptors", "gate-alone"}
    tried = ("far-addresses", "host-loopback", "abstract-sockets", "resolver", "resolved-names")
    assert {name: found.get(name) for name in tried} == dict.fromkeys(tried, NOT_TRIED)


def test_tests_with_a_candidates_sockets_or_an_inspections_rights_are_noticed(staged: Stage) -> None:
    assert broken(staged, Role.TESTS, role=Role.CANDIDATE).keys() == {"ip-sockets"}
    found = broken(staged, Role.TESTS, role=Role.INSPECTION)
    assert found.keys() >= {"no-capability", "read-output-back"}


def test_a_longer_environment_and_another_argument_are_noticed(staged: Stage) -> None:
    found = broken(staged, Role.DRIVER, environment=(("PROVIDER_KEY", staged.planted.secret),))
    assert found.keys() == {"environment", "secrets-in-sight"}


def test_a_unit_that_does_not_start_is_broken_and_says_why(staged: Stage) -> None:
    found = broken(staged, Role.DRIVER, argv=("/usr/bin/no-such-program",))
    assert set(found.values()) != set()
    assert all("no executable file" in each for each in found.values())
