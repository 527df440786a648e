"""The attacks on real units of every role: all are held, a widened unit is noticed, and nothing stays on the host."""

import json
import socket
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from sandbox.api import Running, Sandbox
from sandbox.attacks import attacks_of, proofs_of
from sandbox.canaries import FOLDER, Canaries, canaries, sweep
from sandbox.client import KeeperSandbox
from sandbox.errors import WallsError
from sandbox.probes.sockets import NOT_TRIED
from sandbox.proofs import Proof
from sandbox.proving import AGENT_ROLES, OBJECTIVE_ROLES, prove, stage
from sandbox.proving_stage import Stage
from sandbox.spec import Network, Reach, Role, UnitSpec

pytestmark = pytest.mark.systemd

ROOT = Path(__file__).parents[2]
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
    named = (*planted.files, *planted.sockets[:2], f"/dev/shm/{planted.name}")
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
                client.settimeout(5)
                client.connect(address)
                assert client.recv(1) == b"", "whoever waits for an answer keeps keys in the kernel"
        socket.create_connection(("127.0.0.1", planted.port), 1).close()
    deadline = time.monotonic() + 5
    while any(on_the_host(planted).values()) and time.monotonic() < deadline:
        time.sleep(0.05)  # The kernel frees a key a moment later.
    assert not any(on_the_host(planted).values()), on_the_host(planted)
    assert not FOLDER.exists()


def test_what_a_killed_proving_left_on_the_host_is_removed_by_the_next() -> None:
    code = (
        "import os\nfrom sandbox.canaries import canaries\nwith canaries() as p: print(p.name); os.kill(os.getpid(), 9)"
    )
    killed = subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE, cwd=ROOT, check=False)
    record = json.loads((FOLDER / "planted.json").read_bytes())
    left = (FOLDER / "secret", Path("/dev/shm", record["name"]), Path(f"/run/{record['name']}.socket"))
    assert killed.returncode == -9
    assert all(path.exists() for path in left)
    sweep()
    assert not any(path.exists() for path in left)
    tables = "".join(Path("/proc/sysvipc", each).read_text(encoding="ascii") for each in ("shm", "sem", "msg"))
    assert str(record["key"]) not in tables.split()
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
    assert len(found) == sum(attack.probe.startswith("look/") for attack in attacks_of(Role.DRIVER))
    assert all("no executable file" in each for each in found.values())


class Walled:
    """A sandbox whose units never come to their go."""

    def __init__(self, sandbox: Sandbox) -> None:
        self.store, self.facts = sandbox.store, sandbox.facts
        self.workspace, self.changes, self.gate = sandbox.workspace, sandbox.changes, sandbox.gate

    @contextmanager
    def start(self, spec: UnitSpec) -> Iterator[Running]:
        raise WallsError(f"{spec.role}: a wall is missing")
        yield


def test_a_host_whose_units_lack_a_wall_holds_nothing_and_is_no_error(sandbox: KeeperSandbox) -> None:
    proofs = prove(Walled(sandbox), (Role.DRIVER, Role.GATEWAY))
    assert len(proofs) == len(attacks_of(Role.DRIVER)) + len(attacks_of(Role.GATEWAY))
    assert not any(proof.held for proof in proofs)
    assert all("a wall is missing" in proof.observed for proof in proofs), {proof.observed for proof in proofs}
    assert not FOLDER.exists()
