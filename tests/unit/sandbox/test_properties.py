"""The list of directives: whole, typed, reasoned, and never one that opens what another closed."""

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox import profiles
from sandbox.bus import encode
from sandbox.errors import SandboxError
from sandbox.properties import (
    CAP_DAC_READ_SEARCH,
    PropertyValue,
    UnitPlace,
    promised_environment,
    promised_writable,
    unit_properties,
)
from sandbox.spec import Network, Reach, UnitSpec, WorkspaceId
from sandbox.syscalls import ALLOWED_CALLS
from tests.unit.sandbox.places import LIMITS, PROGRAM, SPECS, place_of

_GOLDEN = Path(__file__).parents[2] / "golden" / "properties"


def values(spec: UnitSpec, place: UnitPlace | None = None) -> dict[str, Any]:
    return {each.name: each.value for each in unit_properties(spec, place or place_of(spec))}


def written(spec: UnitSpec) -> str:
    rows = [[each.name, each.signature, plain(each.value), each.why] for each in unit_properties(spec, place_of(spec))]
    return "[\n" + ",\n".join(json.dumps(row) for row in rows) + "\n]\n"


def plain(value: PropertyValue) -> object:
    if isinstance(value, tuple):
        return [plain(each) for each in value]
    return list(value) if isinstance(value, bytes) else value


@pytest.mark.parametrize("name", SPECS)
def test_a_roles_whole_list_is_the_one_that_was_looked_at(name: str) -> None:
    golden = _GOLDEN / f"{name}.json"
    assert written(SPECS[name]) == golden.read_text(encoding="ascii"), (
        f"look at the difference, then: PYTHONPATH=. python {Path(__file__).name}"
    )


@pytest.mark.parametrize("name", SPECS)
def test_every_directive_is_named_once_and_has_its_reason(name: str) -> None:
    found = unit_properties(SPECS[name], place_of(SPECS[name]))
    assert [each for each, count in Counter(each.name for each in found).items() if count > 1] == []
    assert all(" " in each.why for each in found)


@pytest.mark.parametrize("name", SPECS)
def test_every_value_is_of_its_signature(name: str) -> None:
    for each in unit_properties(SPECS[name], place_of(SPECS[name])):
        assert encode(each.signature, each.value)


@pytest.mark.parametrize("name", SPECS)
def test_nothing_stands_in_the_list_that_silently_opens_the_host(name: str) -> None:
    found = values(SPECS[name])
    assert not {
        "DynamicUser",
        "PrivateTmp",
        "ReadWritePaths",
        "ReadOnlyPaths",
        "RootDirectoryStartOnly",
    } & set(found)
    assert "/" not in {target for target, _ in found["TemporaryFileSystem"]}
    assert found["RootDirectory"] != "/"
    assert () not in (found.get("BindPaths"), found["BindReadOnlyPaths"])


def test_an_empty_list_of_writable_binds_is_left_out_for_it_would_forget_all_binds() -> None:
    assert "BindPaths" not in values(SPECS["driver"])
    assert "BindPaths" in values(SPECS["tests"])


@pytest.mark.parametrize("name", SPECS)
def test_time_cannot_be_gained(name: str) -> None:
    spec, found = SPECS[name], values(SPECS[name])
    assert (found["Type"], found["Restart"], found["NotifyAccess"]) == ("exec", "no", "none")
    assert found["RuntimeMaxUSec"] == (int(spec.limits.wall.total_seconds()) + 5 + 10) * 1_000_000


@pytest.mark.parametrize("name", SPECS)
def test_only_the_inspection_holds_a_capability_and_only_that_one(name: str) -> None:
    held = CAP_DAC_READ_SEARCH if name == "inspection" else 0
    found = values(SPECS[name])
    assert (found["CapabilityBoundingSet"], found["AmbientCapabilities"]) == (held, held)


@pytest.mark.parametrize(
    ("name", "families", "network"),
    [
        ("candidate", ("AF_UNIX", "AF_INET", "AF_INET6"), "NetworkNamespacePath"),
        ("gateway", ("AF_UNIX", "AF_INET", "AF_INET6"), "NetworkNamespacePath"),
        ("tests", ("AF_UNIX",), "PrivateNetwork"),
        ("submitted", ("AF_UNIX",), "PrivateNetwork"),
        ("driver", ("AF_UNIX",), "PrivateNetwork"),
        ("inspection", ("AF_UNIX",), "PrivateNetwork"),
    ],
)
def test_only_who_has_a_peer_has_internet_sockets(name: str, families: tuple[str, ...], network: str) -> None:
    found = values(SPECS[name])
    assert found["RestrictAddressFamilies"] == (True, families)
    assert {"NetworkNamespacePath", "PrivateNetwork"} & set(found) == {network}


def test_a_network_without_a_namespace_is_refused() -> None:
    spec = SPECS["candidate"]
    with pytest.raises(SandboxError, match="reaches gate"):
        unit_properties(spec, replace(place_of(spec), namespace_path=None))
    with pytest.raises(SandboxError, match="reaches nothing"):
        unit_properties(SPECS["tests"], replace(place_of(SPECS["tests"]), namespace_path="/proc/1/ns/net"))


def test_a_role_without_internet_sockets_cannot_be_given_a_gate() -> None:
    spec = replace(SPECS["tests"], network=SPECS["candidate"].network)
    with pytest.raises(SandboxError, match="tests has no network"):
        unit_properties(spec, place_of(spec))


@pytest.mark.parametrize(
    "target",
    [
        "/usr/lib/x", "/work/x", "/work", "/home/agent/x", "/", "", "opt/x", "/opt", "/opt/", "/opt/a/b",
        "/opt/..", "/opt/.a", "/opt/a\n", "/opt/launcher", "/etc/passwd", "/run/x", "/proc/self",
    ],
)  # fmt: skip
def test_a_mount_over_the_system_or_below_a_workspace_is_refused(target: str) -> None:
    place = replace(place_of(SPECS["tests"]), mounts=(("/s", target),))
    with pytest.raises(SandboxError, match="nothing can be mounted"):
        unit_properties(SPECS["tests"], place)


def test_two_mounts_on_one_place_are_refused() -> None:
    place = replace(place_of(SPECS["tests"]), mounts=(("/s", "/opt/a"), ("/t", "/opt/a")))
    with pytest.raises(SandboxError, match="/opt/a"):
        unit_properties(SPECS["tests"], place)


def test_stored_folders_are_only_ever_read() -> None:
    place = replace(place_of(SPECS["tests"]), mounts=(("/s", "/opt/toolchain"),))
    found = values(SPECS["tests"], place)
    assert ("/s", "/opt/toolchain", False, 0) in found["BindReadOnlyPaths"]
    assert "/opt/toolchain" not in str(found["BindPaths"])


def test_an_inspection_reads_its_workspace_and_writes_nowhere_but_to_scratch() -> None:
    spec = SPECS["inspection"]
    place = place_of(spec)
    assert (place.workspace, "/work", False, 0) in values(spec)["BindReadOnlyPaths"]
    assert sorted(promised_writable(spec, place)) == ["/dev/shm", "/tmp", "/var/tmp"]


@given(st.lists(st.text(st.characters(exclude_categories=["Cs", "Cc"])), max_size=4))
def test_arguments_arrive_as_they_are_and_nothing_is_expanded(arguments: list[str]) -> None:
    spec = profiles.tests(replace(PROGRAM, argv=("/usr/bin/true", *arguments)), LIMITS, WorkspaceId("w"))
    ((path, argv, flags),) = values(spec)["ExecStartEx"]
    assert (path, flags) == ("/usr/bin/python3", ("no-env-expand",))
    assert argv[-len(arguments) - 1 :] == ("/usr/bin/true", *arguments)


def test_the_environment_is_four_names_and_what_the_spec_adds() -> None:
    spec = replace(SPECS["tests"], environment=(("USER", "x"), ("PATH", "/opt/a")))
    given_names = promised_environment(spec, place_of(spec))
    assert given_names == {
        "PATH": "/opt/a",
        "HOME": "/home/agent",
        "LANG": "C.UTF-8",
        "TMPDIR": "/tmp",
        "USER": "x",
    }
    assert "USER" not in values(spec)["UnsetEnvironment"]
    assert "LOGNAME" in values(spec)["UnsetEnvironment"]


def test_home_is_scratch_where_there_is_no_agent_home() -> None:
    spec = SPECS["tests"]
    assert promised_environment(spec, place_of(spec, home=False))["HOME"] == "/tmp"


@pytest.mark.parametrize("name", SPECS)
def test_every_ceiling_of_the_spec_is_set(name: str) -> None:
    limits, found = SPECS[name].limits, values(SPECS[name])
    assert found["MemoryMax"] == limits.memory_bytes
    assert (found["MemorySwapMax"], found["LimitCORE"]) == (0, 0)
    assert found["TasksMax"] == found["LimitNPROC"] == limits.tasks
    assert found["CPUQuotaPerSecUSec"] == limits.cpu_percent * 10_000
    assert (found["LimitFSIZE"], found["LimitNOFILE"]) == (limits.file_bytes, limits.descriptors)
    sized = dict(found["TemporaryFileSystem"])
    assert f"size={limits.tmp_bytes}," in sized["/dev/shm"]
    assert {"/tmp", "/var/tmp"} <= set(sized) or SPECS[name].workspace is not None


def test_the_system_calls_named_in_the_attack_catalogue_are_not_allowed() -> None:
    closed = {
        "process_vm_readv", "process_vm_writev", "userfaultfd", "io_uring_setup", "io_uring_enter",
        "io_uring_register", "kcmp", "name_to_handle_at", "keyctl", "add_key", "request_key", "ptrace", "bpf",
        "perf_event_open", "mount", "@keyring", "@privileged", "@resources", "@setuid", "@ipc", "@aio",
        "@system-service",
    }  # fmt: skip
    assert not closed & set(ALLOWED_CALLS)
    assert len(set(ALLOWED_CALLS)) == len(ALLOWED_CALLS)


def test_a_network_that_reaches_outside_is_the_gateways_alone() -> None:
    with pytest.raises(SandboxError, match="may not reach outside"):
        replace(SPECS["candidate"], network=Network(reach=Reach.OUTSIDE))


if __name__ == "__main__":
    for role, one in SPECS.items():
        (_GOLDEN / f"{role}.json").write_text(written(one), encoding="ascii")
