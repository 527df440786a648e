"""The catalogue of attacks: it holds what real units said, and nothing else at all."""

import ast
import json
import re
from errno import EPERM
from pathlib import Path
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox.answers import answer_named, refused
from sandbox.attacks import ATTACKS, Area, Attack, attacks_of, proofs_of
from sandbox.canaries import local_addresses, socket_paths
from sandbox.probe_bundle import probe_pack
from sandbox.probes import calls, sockets
from sandbox.probes.looking import MODULES
from sandbox.probes.numbers import NUMBERS
from sandbox.probes.probe import PROGRAMS
from sandbox.proofs import proof_of
from sandbox.proving import AGENT_ROLES, OBJECTIVE_ROLES
from sandbox.spec import Role

Members = dict[str, object]
OBSERVED: dict[str, Members] = json.loads(
    Path(__file__).parents[2].joinpath("golden/proving/observations.json").read_bytes()
)
"""What real units of four roles said, on a host where everything held."""
EACH = pytest.mark.parametrize("attack", [pytest.param(attack, id=attack.id) for attack in ATTACKS])


def good(attack: Attack) -> Members:
    """Give what a real unit said, of the first role that is tried and was recorded."""
    role = next(role for role in attack.roles if role.value in OBSERVED)
    return cast("Members", OBSERVED[role.value][attack.probe])


def held(attack: Attack, observation: object) -> bool:
    return proof_of(attack, attack.roles[0], observation).held


def test_every_attack_is_named_once_and_says_what_is_tried_and_expected() -> None:
    assert len({attack.id for attack in ATTACKS}) == len(ATTACKS)
    for attack in ATTACKS:
        assert re.fullmatch(r"[a-z]+(-[a-z]+)*", attack.id)
        assert attack.items
        assert attack.roles
        assert attack.says
        assert attack.expects
        assert "\n" not in attack.says + attack.expects


def test_the_items_of_sandbox_and_network_are_tried_but_for_those_of_another_kind() -> None:
    """Those are of the keeper (40), of tools (28), of a score (45) and of providers (197, 200)."""
    tried = {item for attack in ATTACKS for item in attack.items}
    catalogued = {
        *(1, 2, 3, 4, 6, 8, 10, 11, 12, 13, 14, 15, 17, 18, 19, 20, 22, 23, 24, 26, 27, 28, 29, 30, 31, 34, 35, 36),
        *(37, 38, 39, 40, 41, 44, 45, 194, 195, 196, 197, 200, 201, 204),
    }
    assert catalogued - tried == {28, 40, 45, 197, 200}


@pytest.mark.parametrize("role", Role)
def test_every_role_is_tried_in_every_area_that_it_has(role: Role) -> None:
    areas = {attack.area for attack in attacks_of(role)}
    assert areas >= {Area.SANDBOX, Area.NETWORK, Area.RESOURCE, Area.ARTIFACT}
    assert len(attacks_of(role)) >= 55


def test_the_two_sets_of_roles_are_all_roles() -> None:
    assert sorted((*AGENT_ROLES, *OBJECTIVE_ROLES)) == sorted(Role)


@pytest.mark.parametrize("role", sorted(OBSERVED))
def test_what_real_units_said_is_held(role: str) -> None:
    proofs = proofs_of(Role(role), OBSERVED[role])
    assert len(proofs) == len(attacks_of(Role(role)))
    assert [proof for proof in proofs if not proof.held] == []
    assert all(proof.observed for proof in proofs)


def of_search(seen: Members) -> list[Members]:
    return [{**seen, "found": [*cast("list[object]", seen["found"]), "a stranger"]}, {**seen, "looked": 0}]


def of_sum(seen: Members) -> list[Members]:
    return [{**seen, "answer": 0}, {**seen, "count": -1}, {**seen, "count": cast("int", seen["limit"]) + 1}]


def of_end(seen: Members) -> list[Members]:
    wrong: list[Members] = [
        {"cause": "killed" if seen["cause"] == "exit" else "exit"},
        {"status": 77},
        {"succeeded": not seen["succeeded"]},
    ]
    if "shut" in seen:
        wrong += [{"shut": False}, {"elapsed_ms": 1 << 30}, {"elapsed_ms": -1}, {"limit_ms": None}]
    return [{**seen, **each} for each in wrong]


def of_namespaces(seen: Members) -> list[Members]:
    found: list[Members] = []
    for name in ("ipc", "mnt", "user", "uts", "net"):
        links = cast("list[str]", seen[name])
        wrong = ([links[1], *links[1:]], [links[-1], *links[1:]], links[:2], [*links[:2], None])
        found += [{**seen, name: each} for each in wrong]
    return found


def of_account(seen: Members) -> list[Members]:
    wrong = ({"uids": [0, 0, 0]}, {"groups": [27]}, {"others": seen["groups"]}, {"others": []}, {"gids": None})
    return [{**seen, **each} for each in wrong]


def of_names(seen: Members) -> list[Members]:
    return [{**seen, name: [*cast("list[str]", listed or []), "a stranger"]} for name, listed in seen.items()]


def of_answers(seen: Members) -> list[Members]:
    return [{**seen, name: wrong} for name, right in seen.items() for wrong in (1 if right == 0 else 0, None, True)]


def of_controls(seen: Members) -> list[Members]:
    return [{**seen, name: wrong} for name in ("shared memory", "semaphores") for wrong in (EPERM, None, True)]


def variants(attack: Attack) -> list[Members]:
    """Change a good observation in every way that this kind of it can be wrong in."""
    seen = good(attack)
    kinds = {
        "looked": of_search,
        "answer": of_sum,
        "cause": of_end,
        "uids": of_account,
        "/dev": of_names,
        "name": of_names,
    }
    if attack.probe.startswith("hold/"):
        return of_controls(seen)
    made = next((make(seen) for member, make in kinds.items() if member in seen), None)
    if attack.probe == "look/namespaces":
        network = attack.id == "own-network"
        return [each for each in of_namespaces(seen) if (each["net"] != seen["net"]) is network]
    return of_answers(seen) if made is None else made


@EACH
def test_a_broken_observation_is_recognised(attack: Attack) -> None:
    broken = variants(attack)
    assert broken
    for observation in broken:
        proof = proof_of(attack, attack.roles[0], observation)
        assert not proof.held, observation
        assert proof.observed


@EACH
def test_a_missing_observation_or_a_part_of_one_is_broken(attack: Attack) -> None:
    assert proof_of(attack, attack.roles[0], None).observed == "not observed"
    assert proof_of(attack, attack.roles[0], "no unit: it did not start").observed == "no unit: it did not start"
    assert not held(attack, "")
    assert not held(attack, {})
    assert not held(attack, [])
    assert not held(attack, [good(attack)])
    assert not held(attack, dict(list(good(attack).items())[: len(good(attack)) // 3]))


GARBAGE = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | st.binary(max_size=4),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8) | st.integers(), inner, max_size=4),
    max_leaves=12,
)


@given(attack=st.sampled_from(ATTACKS), observation=GARBAGE)
def test_no_garbage_is_ever_held_or_raises(attack: Attack, observation: object) -> None:
    proof = proof_of(attack, attack.roles[0], observation)
    assert not proof.held
    assert proof.observed


@given(attack=st.sampled_from(ATTACKS), junk=GARBAGE, data=st.data())
def test_no_member_may_be_garbage(attack: Attack, junk: object, data: st.DataObject) -> None:
    seen = good(attack)
    # Of an end and of namespaces some members are for people, and of the tried some are this host's own.
    name = data.draw(st.sampled_from(sorted(seen)))
    proof = proof_of(attack, attack.roles[0], {**seen, name: [junk, {"odd": junk}]})
    ignored = name in {"told", "least", "cpu_ms", "said"} or attack.probe in {
        "look/namespaces",
        "hold/host",
        "hold/neighbour",
    }
    assert not proof.held or ignored


def test_what_could_not_be_tried_safely_is_broken_and_says_so() -> None:
    observations = {**OBSERVED["candidate"], "look/far-addresses": OBSERVED["gateway"]["look/far-addresses"]}
    (proof,) = [proof for proof in proofs_of(Role.CANDIDATE, observations) if proof.attack == "far-addresses"]
    assert not proof.held
    assert proof.observed == sockets.NOT_TRIED


def test_a_role_in_another_roles_unit_is_noticed() -> None:
    """What the gateway's unit saw is not what a candidate's may see."""
    broken = {proof.attack for proof in proofs_of(Role.CANDIDATE, OBSERVED["gateway"]) if not proof.held}
    assert broken >= {"interfaces", "own-network", "far-addresses", "host-loopback", "abstract-sockets", "gate-alone"}
    broken = {proof.attack for proof in proofs_of(Role.TESTS, OBSERVED["candidate"]) if not proof.held}
    assert broken >= {"ip-sockets", "listeners"}
    broken = {proof.attack for proof in proofs_of(Role.TESTS, OBSERVED["inspection"]) if not proof.held}
    assert broken >= {"no-capability", "read-output-back"}


def test_a_unit_that_said_nothing_holds_nothing_and_the_reason_is_told() -> None:
    assert not any(proof.held for proof in proofs_of(Role.TESTS, {}))
    proofs = proofs_of(Role.TESTS, {"look": "no observation: it is gone", "end": "no observation: neither is this"})
    assert {proof.observed for proof in proofs} == {
        "no observation: it is gone",
        "no observation: neither is this",
        "not observed",
    }


def test_the_kernels_answers_have_names() -> None:
    assert [answer_named(each) for each in (0, EPERM, -31, 9999, None, True)] == [
        "done",
        "EPERM",
        "killed by SIGSYS",
        "error 9999",
        "not tried",
        "not tried",
    ]


def test_an_operator_reads_what_was_reached_first() -> None:
    judge = refused(("a", "b", "c", "d", "e"), EPERM)
    assert judge({"a": 0, "b": EPERM}).observed == "a: done; c: not tried; d: not tried; and 1 more"
    assert judge(dict.fromkeys("abcde", EPERM)).observed == "all 5: EPERM 5"
    assert refused(("a",), EPERM)({"a": EPERM}).observed == "a: EPERM"


def test_what_is_judged_is_what_is_probed() -> None:
    probed = {f"look/{name}" for module in MODULES.values() for name in module.PROBES}
    judged = {attack.probe for attack in ATTACKS if attack.probe.startswith("look/")}
    assert judged == probed


@pytest.mark.parametrize(
    ("attack", "tried"),
    [("kernel-calls", calls.KERNEL_CALLS), ("key-rings", calls.KEY_CALLS), ("address-families", calls.FAMILIES)],
)
def test_no_call_of_the_list_may_be_missing(attack: str, tried: dict[str, object]) -> None:
    (found,) = [each for each in ATTACKS if each.id == attack]
    for name in tried:
        assert not held(found, {other: good(found)[other] for other in tried if other != name})


def test_calls_are_known_by_number_on_both_machines() -> None:
    wanted = {*calls.KERNEL_CALLS, *calls.KEY_CALLS, "clone", "unshare", "setns", "tgkill", "shmget", "mq_open"}
    assert wanted <= NUMBERS["x86_64"].keys()
    assert wanted <= NUMBERS["aarch64"].keys()


def test_probes_use_the_standard_library_alone() -> None:
    for file in Path(calls.__file__).parent.glob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                assert not any(name.name.startswith(("sandbox", "runner", "evaluators")) for name in node.names)
            elif isinstance(node, ast.ImportFrom):
                assert node.level == 1 or not (node.module or "").startswith(("sandbox", "runner", "evaluators"))
                assert node.level < 2


def test_every_program_of_the_bundle_is_where_its_entry_looks_for_it() -> None:
    paths = {entry.path.decode().rpartition(".")[0] for entry in probe_pack().entries}
    assert {"__main__", "probes/probe", *(f"probes/{module}" for module in PROGRAMS.values())} <= paths


TRIE = """Main:
  +-- 0.0.0.0/0 3 0 5
     |-- 127.0.0.1
        /32 host LOCAL
     |-- 192.0.2.7
        /32 host LOCAL
     |-- 192.0.2.255
        /32 link BROADCAST
Local:
     |-- 192.0.2.7
        /32 host LOCAL
"""
SIXTH = """00000000000000000000000000000001 01 80 10 80       lo
20010db8000000000000000000000007 02 40 00 82     eth0
fe8000000000000000fc00fffe000001 04 40 20 80     eth0
"""


def test_the_hosts_addresses_are_read_from_the_kernels_tables() -> None:
    assert local_addresses(TRIE, SIXTH) == ("192.0.2.7", "2001:db8::7")
    assert local_addresses("", "") == ()


def test_the_hosts_sockets_are_read_from_the_kernels_table() -> None:
    table = (
        "Num       RefCount Protocol Flags    Type St Inode Path\n"
        "0000: 00000002 00000000 00010000 0001 01 100 /run/a.sock\n"
        "0000: 00000002 00000000 00010000 0001 01 101 @abstract\n"
        "0000: 00000002 00000000 00000000 0002 01 102\n"
        f"0000: 00000002 00000000 00010000 0001 01 103 /{'x' * 120}\n"
    )
    assert socket_paths(table) == ("/run/a.sock",)
