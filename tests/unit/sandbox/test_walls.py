"""What a launcher saw against what was promised: recorded reports hold, and each missing wall is named."""

import errno
import json
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sandbox import file_walls
from sandbox.api import LauncherReport
from sandbox.look import OWN_NAMESPACES
from sandbox.properties import UnitPlace, promised_writable
from sandbox.spec import GIB, MIB, UnitSpec
from sandbox.walls import CALLS, HostView, broken_limits, broken_walls
from tests.unit.hostile import TIMES, hostile_documents
from tests.unit.sandbox.places import LIMITS, SPECS, place_of

_GOLDEN = Path(__file__).parents[2] / "golden" / "launcher"
_NUMBERS = {"candidate": 1, "tests": 2, "driver": 3, "inspection": 4, "gateway": 5}
"""Which unit of the recording each was: real ones, of a private systemd 252."""

Report = dict[str, Any]
Change = Callable[[Report], None]


def recorded(name: str) -> Report:
    report: Report = json.loads((_GOLDEN / f"{name}.json").read_bytes())
    del report["view"]
    return report


def view(name: str) -> HostView:
    found = json.loads((_GOLDEN / f"{name}.json").read_bytes())["view"]
    return HostView(namespaces=tuple(found["namespaces"].items()), network=found["network"])


def broken(name: str, report: Report, host: HostView | None = None) -> tuple[str, ...]:
    spec = SPECS[name]
    place = place_of(spec, _NUMBERS[name])
    return broken_walls(LauncherReport(seen=report), spec, place, host or view(name))


@pytest.mark.parametrize("name", _NUMBERS)
def test_a_report_from_a_real_unit_holds(name: str) -> None:
    assert broken(name, recorded(name)) == ()


@pytest.mark.parametrize("name", _NUMBERS)
def test_a_report_from_a_unit_of_another_role_does_not(name: str) -> None:
    for other in set(_NUMBERS) - {name}:
        assert broken(name, recorded(other))


def test_who_reads_alone_may_not_write_where_it_looks_whatever_its_binds_promise(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def promised(spec: UnitSpec, place: UnitPlace) -> dict[str, int]:
        return {**promised_writable(spec, place), "/work": spec.limits.disk_bytes}

    report = recorded("inspection")
    report["writing"]["/work"] = 0
    monkeypatch.setattr(file_walls, "promised_writable", promised)
    (sentence,) = (each for each in broken("inspection", report) if "to be read alone" in each)
    assert sentence.endswith("the kernel answered yes")


def set_to(value: object, *keys: str) -> Change:
    def change(report: Report) -> None:
        inner = report
        for key in keys[:-1]:
            inner = inner[key]
        inner[keys[-1]] = value

    return change


def added(value: str, *keys: str) -> Change:
    def change(report: Report) -> None:
        inner: Any = report
        for key in keys:
            inner = inner[key]
        inner.append(value)

    return change


def without(*keys: str) -> Change:
    def change(report: Report) -> None:
        inner = report
        for key in keys[:-1]:
            inner = inner[key]
        del inner[keys[-1]]

    return change


def line(text: str, pattern: str, instead: str) -> Change:
    def change(report: Report) -> None:
        changed, count = re.subn(pattern, instead, report[text], flags=re.MULTILINE)
        assert count == 1
        report[text] = changed

    return change


def mount(target: str, pattern: str, instead: str) -> Change:
    return line("mounts", rf"^(\S+ \S+ \S+ \S+ {re.escape(target)}(?= ).*?){pattern}", rf"\g<1>{instead}")


def more(text: str, added_line: str) -> Change:
    def change(report: Report) -> None:
        report[text] += added_line + "\n"

    return change


MISSING = {
    "program": (set_to("/x is no executable file in here", "program"), "program: /x"),
    "version": (set_to(2, "version"), "report version"),
    "root-uid": (line("status", r"^Uid:.*", "Uid:\t0\t0\t0\t0"), "user: promised"),
    "saved-uid": (line("status", r"^(Uid:.*\t)\d+$", r"\g<1>0"), "user: promised"),
    "gid": (line("status", r"^Gid:.*", "Gid:\t0\t0\t0\t0"), "group: promised"),
    "docker-group": (line("status", r"^(Groups:.*)", r"\g<1>999 "), "groups: promised"),
    "no-groups-line": (line("status", r"^Groups:.*\n", ""), "groups: could not"),
    "bounding": (line("status", r"^CapBnd:.*", "CapBnd:\t000001ffffffffff"), "capabilities (CapBnd)"),
    "effective": (line("status", r"^CapEff:.*", "CapEff:\t0000000000000004"), "capabilities (CapEff)"),
    "ambient": (line("status", r"^CapAmb:.*", "CapAmb:\t0000000000000004"), "capabilities (CapAmb)"),
    "new-privileges": (line("status", r"^NoNewPrivs:.*", "NoNewPrivs:\t0"), "no new privileges"),
    "no-seccomp": (line("status", r"^Seccomp:.*", "Seccomp:\t0"), "system call filter"),
    "umask": (line("status", r"^Umask:.*", "Umask:\t0000"), "umask"),
    "set-id": (set_to(0, "set_id"), "set-id bit"),
    "device": (set_to(0, "device"), "device node"),
    "oom-score": (set_to("0\n", "oom_score_adj"), "out-of-memory score"),
    "terminal": (set_to(0, "terminal"), "terminal"),
    "filter-without-unshare": (set_to(22, "calls", "unshare"), "system call unshare"),
    "setns-by-other-error": (set_to(9, "calls", "setns"), "system call setns"),
    "machine-unknown": (set_to(None, "calls", "keyctl"), "system call keyctl"),
    "call-not-tried": (without("calls", "bpf"), "system call bpf"),
    "netlink": (set_to(0, "families", "AF_NETLINK"), "sockets of AF_NETLINK"),
    "vsock-by-other-error": (set_to(19, "families", "AF_VSOCK"), "sockets of AF_VSOCK"),
    "family-not-tried": (without("families", "AF_ALG"), "sockets of AF_ALG"),
    "namespace-gone": (set_to(None, "namespaces", "ipc"), "ipc namespace"),
    "foreign-interface": (more("interfaces", "  eth0: 1 2 3"), "network interfaces"),
    "route": (more("routes", "eth0\t00000000\t0102A8C0"), "routes"),
    "fourth-descriptor": (set_to("/etc", "descriptors", "3"), "descriptors"),
    "file-as-output": (set_to("/var/log/x", "descriptors", "1"), "descriptors"),
    "terminal-as-input": (set_to("/dev/pts/3", "descriptors", "0"), "descriptors"),
    "root-writable": (mount("/", " ro,", " rw,"), "mount /: promised read-only"),
    "usr-writable": (mount("/usr", " ro,", " rw,"), "mount /usr: promised read-only"),
    "set-id-mount": (mount("/work", "nosuid,", ""), "mount /work: promised nosuid"),
    "device-mount": (mount("/work", "nodev,", ""), "mount /work: promised nodev"),
    "host-folder": (more("mounts", "9 8 0:1 / /srv ro,nosuid - ext4 /dev/x rw"), "mount /srv: never promised"),
    "over-the-launcher": (
        more("mounts", "9 8 0:1 / /opt/launcher rw,nosuid - ext4 /dev/x rw"),
        "mount /opt/launcher: promised read-only",
    ),
    "no-own-shm": (line("mounts", r"^.* /dev/shm .*\n", ""), "mount /dev/shm: promised, not there"),
    "no-own-run": (line("mounts", r"^.* /run .*\n", ""), "mount /run: promised, not there"),
    "dist-packages": (line("mounts", r"^.* /usr/lib/python3/dist-packages .*\n", ""), "not there"),
    "terminals-of-the-host": (line("mounts", r",max=256", ""), "/dev/pts: promised 256 terminals"),
    "terminals-of-another-kind": (mount("/dev/pts", " - devpts", " - tmpfs"), "/dev/pts: promised 256 terminals"),
    "proc-shows-all": (line("mounts", r"hidepid=invisible", "hidepid=default"), "/proc: promised"),
    "proc-of-the-host": (line("mounts", r",subset=pid", ""), "/proc: promised"),
    "foreign-process": (added("1", "listings", "/proc"), "/proc: promised nothing but"),
    "proc-sys": (added("sys", "listings", "/proc"), "/proc: promised nothing but"),
    "etc-written": (set_to(0, "writing", "/etc"), "/etc: promised unwritable"),
    "opt-not-tried": (without("writing", "/opt"), "/opt: promised unwritable"),
    "full-disk-is-no-refusal": (set_to(28, "writing", "/opt"), "/opt: promised unwritable"),
    "elsewhere-written": (set_to(0, "writing", "/somewhere"), "written places"),
    "work-read-only": (set_to(30, "writing", "/work"), "/work: promised writable"),
    "unsized-tmp": (set_to([12 * GIB, 1000], "sizes", "/home/agent"), "size of /home"),
    "files-unbounded": (set_to([GIB, 16_777_216], "sizes", "/work"), "size of /work"),
    "files-uncounted": (set_to([GIB, 0], "sizes", "/work"), "size of /work"),
    "size-unseen": (without("sizes", "/dev/shm"), "size of /dev/shm: could not"),
    "host-root": (added("mnt", "listings", "/"), "what is in /:"),
    "kvm": (added("kvm", "listings", "/dev"), "what is in /dev:"),
    "dbus": (added("dbus", "listings", "/run"), "what is in /run:"),
    "private-socket": (added("private", "listings", "/run/systemd"), "what is in /run/systemd:"),
    "shadow": (added("shadow", "listings", "/etc"), "what is in /etc:"),
    "other-home": (added("operator", "listings", "/home"), "what is in /home:"),
    "local-programs": (added("bin", "listings", "/usr/local"), "what is in /usr/local:"),
    "listing-refused": (set_to(None, "listings", "/run"), "what is in /run: could not"),
    "sys": (set_to(["kernel"], "listings", "/sys"), "/sys: promised inaccessible"),
    "sys-unseen": (without("listings", "/sys"), "/sys: promised inaccessible"),
    "inherited-variable": (added("AWS_SECRET", "environment"), "environment"),
    "lost-variable": (set_to(["PATH"], "environment"), "environment"),
    "file-size": (line("limits", r"^Max file size .*", "Max file size   unlimited  unlimited  bytes"), "Max file"),
    "devices-in-run": (line("mounts", r" /run ro,nosuid,nodev", " /run ro,nosuid"), "mount /run: promised nodev"),
    "core-files": (line("limits", r"^Max core file size .*\n", ""), "Max core file size"),
    "host-group": (line("cgroup", r"(:memory:).*", r"\g<1>/"), "control group memory"),
    "other-units-group": (line("cgroup", r"(:pids:).*", r"\g<1>/s1.slice/u2.service"), "control group pids"),
    "no-cpu-group": (line("cgroup", r".*:cpu:.*\n", ""), "control group cpu"),
}


@pytest.mark.parametrize("wall", MISSING)
def test_a_missing_wall_is_named(wall: str) -> None:
    change, named = MISSING[wall]
    report = recorded("candidate")
    change(report)
    found = broken("candidate", report)
    assert any(named in sentence for sentence in found), found


@pytest.mark.parametrize("family", ["AF_INET", "AF_INET6"])
def test_internet_sockets_are_a_hole_where_none_were_promised(family: str) -> None:
    report = recorded("tests")
    set_to(0, "families", family)(report)
    assert broken("tests", report) == (f"sockets of {family}: promised a refusal, the kernel answered yes",)


@pytest.mark.parametrize("name", OWN_NAMESPACES)
def test_a_namespace_that_is_the_keepers_is_none(name: str) -> None:
    report = recorded("tests")
    keepers = dict(view("tests").namespaces)[name]
    set_to(keepers, "namespaces", name)(report)
    assert any(f"{name} namespace" in sentence for sentence in broken("tests", report))


@pytest.mark.parametrize("name", ["candidate", "gateway"])
def test_another_network_than_the_one_to_join_is_a_broken_wall(name: str) -> None:
    other = replace(view(name), network="net:[1]")
    assert any("network namespace" in sentence for sentence in broken(name, recorded(name), other))
    unknown = replace(view(name), network=None)
    assert any("network namespace" in sentence for sentence in broken(name, recorded(name), unknown))


def test_without_the_keepers_own_view_nothing_is_believed() -> None:
    found = broken("tests", recorded("tests"), HostView())
    assert len([each for each in found if "could not be compared" in each]) == len(OWN_NAMESPACES)


def test_an_inspection_whose_workspace_can_be_written_is_broken() -> None:
    report = recorded("inspection")
    set_to(0, "writing", "/work")(report)
    assert any("/work: promised unwritable" in sentence for sentence in broken("inspection", report))


def test_a_gateway_wants_a_socket_for_its_input() -> None:
    report = recorded("gateway")
    set_to("pipe:[1]", "descriptors", "0")(report)
    assert any("descriptors" in sentence for sentence in broken("gateway", report))


def test_on_unified_groups_the_one_path_must_be_the_units() -> None:
    report = recorded("tests")
    report["cgroup"] = "0::/s2.slice/u2.service\n"
    assert broken("tests", report) == ()
    report["cgroup"] = "0::/\n"
    assert any("control group (unified)" in sentence for sentence in broken("tests", report))


def test_the_kernels_own_fallback_tunnels_are_no_way_out() -> None:
    report = recorded("tests")
    more("interfaces", " tunl0: 0 0 0")(report)
    assert broken("tests", report) == ()


@pytest.mark.parametrize("key", sorted(recorded("candidate")))
def test_a_report_that_lacks_a_part_is_broken(key: str) -> None:
    report = recorded("candidate")
    del report[key]
    assert any(key in sentence for sentence in broken("candidate", report))


@pytest.mark.parametrize("key", sorted(recorded("candidate")))
@pytest.mark.parametrize("value", [None, True, 1.5, "odd", 7, [], {}, [1], {"a": [None]}, ["a", 1]])
def test_a_part_of_another_type_or_content_is_broken(key: str, value: object) -> None:
    report = recorded("candidate")
    if (key, value) == ("terminal", 7):
        return  # Any error number is a refusal.
    report[key] = value
    assert broken("candidate", report)


def test_a_part_nobody_knows_is_broken() -> None:
    assert broken("candidate", {**recorded("candidate"), "extra": 1})


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(st.sampled_from(sorted(recorded("candidate"))), _JSON))
def test_whatever_a_report_says_it_never_raises_and_never_passes(parts: Report) -> None:
    assert broken("candidate", parts)


def differing(before: Report, after: Report) -> list[tuple[str, str | None]]:
    """Name the parts of two reports that differ, and the keys in them where both are tables."""
    found: list[tuple[str, str | None]] = []
    for part in before.keys() | after.keys():
        one, other = before.get(part), after.get(part)
        if isinstance(one, dict) and isinstance(other, dict):
            missing = object()
            found += [
                (part, key) for key in one.keys() | other.keys() if one.get(key, missing) != other.get(key, missing)
            ]
        elif one != other:
            found.append((part, None))
    return found


REFUSED = {errno.EPERM, errno.ENOSYS, errno.ENOENT, errno.EACCES, errno.ENOTDIR, errno.EROFS, -1}


def shows_no_less(name: str, good: Report, spoilt: Report, place: tuple[str, str | None]) -> bool:
    """Tell whether a report that differs from a good one in this place still shows every promised wall."""
    part, key = place
    if key is None:
        outside = name == "gateway" and part in {"interfaces", "routes"}
        return outside or (part == "terminal" and spoilt[part] != 0)
    before, after = good[part].get(key), spoilt[part].get(key)
    if key not in good[part]:
        return part != "writing" or after != 0  # what nobody asks for, or another refusal
    writable = promised_writable(SPECS[name], place_of(SPECS[name], _NUMBERS[name]))
    tolerated = {
        "calls": lambda: after in REFUSED,
        "families": lambda: key in {"AF_UNIX", "AF_INET", "AF_INET6"},
        "listings": lambda: after is None or set(after) <= set(before or ()),
        "namespaces": lambda: key not in OWN_NAMESPACES or after not in {None, dict(view(name).namespaces)[key]},
        "sizes": lambda: key not in writable or all(0 < new < old * 2 for new, old in zip(after, before, strict=True)),
        "writing": lambda: after is None or after in REFUSED,
    }
    return part in tolerated and tolerated[part]()


@settings(max_examples=300 * TIMES, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.sampled_from(sorted(_NUMBERS)), st.data())
def test_a_spoilt_report_passes_only_where_it_shows_no_less_than_a_good_one(name: str, data: st.DataObject) -> None:
    good = recorded(name)
    spoilt = data.draw(hostile_documents(good))
    if not broken(name, spoilt):
        assert [each for each in differing(good, spoilt) if not shows_no_less(name, good, spoilt, each)] == []


@given(
    st.sampled_from(["status", "limits", "mounts", "cgroup", "interfaces", "routes", "oom_score_adj"]),
    st.text(st.sampled_from("Uid: \n\t0179-/,rwo\\"), max_size=60),
)
def test_garbled_texts_of_the_kernel_never_raise_and_never_pass(key: str, text: str) -> None:
    report = recorded("candidate")
    report[key] = text
    assert broken("candidate", report)


def test_every_call_that_must_be_refused_is_one_the_launcher_tries() -> None:
    assert set(CALLS) == set(recorded("candidate")["calls"])


@dataclass(frozen=True)
class Held:
    memory_bytes: int | None = LIMITS.memory_bytes
    tasks: int | None = LIMITS.tasks
    cpu_percent: int | None = LIMITS.cpu_percent
    swap_bytes: int | None = None


@pytest.mark.parametrize(
    ("held", "named"),
    [
        pytest.param(Held(), "", id="all"),
        pytest.param(Held(memory_bytes=LIMITS.memory_bytes - 4096), "", id="rounded-to-a-page"),
        pytest.param(Held(memory_bytes=None), "memory_bytes", id="no-memory-limit"),
        pytest.param(Held(memory_bytes=LIMITS.memory_bytes + 1), "memory_bytes", id="more-memory"),
        pytest.param(Held(memory_bytes=9_223_372_036_854_771_712), "memory_bytes", id="v1-unlimited"),
        pytest.param(Held(memory_bytes=64 * MIB), "memory_bytes", id="less-memory"),
        pytest.param(Held(tasks=None), "tasks", id="no-task-limit"),
        pytest.param(Held(tasks=LIMITS.tasks - 1), "tasks", id="fewer-tasks"),
        pytest.param(Held(cpu_percent=None), "cpu_percent", id="no-cpu-limit"),
        pytest.param(Held(cpu_percent=400), "cpu_percent", id="more-cpu"),
        pytest.param(Held(swap_bytes=0), "", id="no-swap"),
        pytest.param(Held(swap_bytes=1 << 30), "swap_bytes", id="swap"),
    ],
)
def test_limits_count_only_as_the_control_group_holds_them(held: Held, named: str) -> None:
    found = broken_limits(held, LIMITS)
    assert [named] == [sentence.split(":")[0].removeprefix("limit ") for sentence in found] if named else not found
