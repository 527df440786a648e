"""Proof by removal: each directive and each limit is taken away in real units, and that is noticed.

sandbox/justification.py says how. One that stands behind others is taken away alone (nothing changes), they are taken
away (it still holds), and then all of them (that is noticed).
"""

import errno
import platform
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from sandbox import unit as pumping
from sandbox.api import WorkspaceRequest
from sandbox.justification import JUSTIFIED, Need, Probe, names_of
from sandbox.properties import unit_properties
from sandbox.spec import PYTHON, Role
from sandbox.termination import Cause
from tests.systemd.removal_cases import FRONTS, GUARDS, REMOVALS, Removal, launched
from tests.systemd.removals import LIMITS, Edits, Rooms, unwalled
from tests.unit.sandbox.places import SPECS, place_of

pytestmark = pytest.mark.systemd


@pytest.fixture(scope="module")
def rooms(state: Path) -> Iterator[Rooms]:
    with unwalled(state) as opened:
        yield opened


_ELSEWHERE = {
    "PrivateMounts", "RemoveIPC", "limit disk_bytes", "limit disk_inodes", "limit output_bytes",
}  # fmt: skip
"""What has a test of its own below."""


def test_every_name_has_its_removal() -> None:
    assert {each.name for each in REMOVALS} | _ELSEWHERE == set(JUSTIFIED)
    assert not {each.name for each in REMOVALS} & _ELSEWHERE


def lacks(need: Need, rooms: Rooms) -> bool:
    """Tell whether this host lacks what makes a removal noticed; the lack is looked at, not believed."""
    facts = rooms.sandbox.facts()
    match need:
        case Need.NOTHING:
            return False
        case Need.V2:
            assert (facts.cgroups == "hybrid") == Path("/sys/fs/cgroup/memory/memory.limit_in_bytes").exists()
            return facts.cgroups == "hybrid"
        case Need.V1:
            assert (facts.cgroups == "hybrid") == Path("/sys/fs/cgroup/memory/memory.memsw.limit_in_bytes").exists()
            return facts.cgroups != "hybrid"
        case Need.PRIVATE_MANAGER:
            assert (facts.manager == "system") == Path("/run/systemd/private").exists()
            return facts.manager == "system"
        case Need.TABLE_OF_32_BITS:
            return platform.machine() != "x86_64"


@pytest.mark.parametrize("removal", REMOVALS, ids=lambda each: each.name)
def test_its_removal_is_noticed(rooms: Rooms, removal: Removal) -> None:
    justification = JUSTIFIED[removal.name]
    program = justification.by not in {Probe.LAUNCHER, Probe.GROUP, Probe.START, Probe.END}
    spec = rooms.specs[removal.role]
    if removal.code:
        spec = rooms.running(removal.role, removal.code, removal.wall)
    elif program:
        spec = rooms.probing(removal.role, justification.by, *removal.words)

    def sees(edits: Edits, guards: Sequence[str]) -> object:
        return removal.sees(rooms.see(spec, [*removal.scaled, *edits], [*removal.scaled_guards, *guards]))

    alone = removal.held if removal.alone is None else removal.alone
    assert removal.sees(rooms.see_whole(spec, removal.scaled, removal.scaled_guards)) == alone
    if lacks(justification.needs, rooms):
        assert sees(removal.without, removal.guards) == alone
    elif not justification.behind:
        assert sees(removal.without, removal.guards) == removal.gone
    else:
        whole = rooms.see(spec, [*removal.scaled, *removal.without], removal.guards)
        assert (whole.error, whole.broken) == ("", ())
        assert removal.sees(whole) == alone
        fronts = [edit for name in justification.behind if name not in GUARDS for edit in _front(name)]
        guards = [GUARDS[name] for name in justification.behind if name in GUARDS]
        assert sees(fronts, guards) == removal.held
        assert sees([*fronts, *removal.without], [*guards, *removal.guards]) == removal.gone


def _in_a_candidate() -> Iterator[Removal]:
    """Give those that a launcher or a keeper notices at once, and that a candidate's list has too."""
    names = names_of(unit_properties(SPECS["candidate"], place_of(SPECS["candidate"])))
    for removal in REMOVALS:
        justification = JUSTIFIED[removal.name]
        at_once = justification.by in {Probe.LAUNCHER, Probe.GROUP, Probe.START} and not justification.behind
        scratch = any("/tmp" in str(edit) for edit in removal.edits)  # an image's there, and no file system
        makes_folders = removal.name == "RootDirectory"  # of the host's, for what is bound into a candidate
        if at_once and removal.name in names and removal.role == Role.DRIVER and not scratch and not makes_folders:
            yield removal


@pytest.mark.parametrize("removal", list(_in_a_candidate()), ids=lambda each: each.name)
def test_its_removal_from_a_candidate_keeps_that_from_its_program(rooms: Rooms, removal: Removal) -> None:
    spec = rooms.specs[Role.CANDIDATE]
    whole = rooms.see_whole(spec, (), ())
    assert (whole.error, whole.broken) == ("", ())
    seen = rooms.see(spec, removal.without)
    assert lacks(JUSTIFIED[removal.name].needs, rooms) or seen.error or seen.broken


def _front(name: str) -> Edits:
    return FRONTS.get(name, [["drop", name]])


_TELLS_ITS_NAMESPACE = """
import json, os
said = json.dumps({"mnt": os.readlink("/proc/self/ns/mnt")}).encode()
os.write(1, len(said).to_bytes(4, "big") + said)
os.read(0, 1)
"""


def test_private_mounts_hold_where_nothing_else_makes_a_namespace(rooms: Rooms) -> None:
    """A plain program tells its namespace: the launcher is out of sight, and would try to write to the host."""
    spec = rooms.specs[Role.DRIVER]
    fronts: list[Sequence[object]] = [
        ["drop", name] for name in (*JUSTIFIED["PrivateMounts"].behind, "WorkingDirectory")
    ]
    fronts += launched((PYTHON, "-I", "-S", "-c", _TELLS_ITS_NAMESPACE))
    alone = rooms.see(spec, [["drop", "PrivateMounts"]])
    assert (alone.error, alone.broken) == ("", ())
    behind, bare = rooms.see(spec, fronts), rooms.see(spec, [*fronts, ["drop", "PrivateMounts"]])
    assert behind.error == bare.error == ""
    assert behind.report["mnt"] != dict(behind.host.namespaces)["mnt"]
    assert bare.report["mnt"] == dict(bare.host.namespaces)["mnt"]


def test_what_a_unit_leaves_in_memory_goes_with_it_even_without_a_namespace_of_its_own(rooms: Rooms) -> None:
    def is_found(edits: Edits) -> object:
        made = rooms.see(rooms.probing(Role.DRIVER, "make_memory"), edits, ["leftovers"])
        assert made.said["make_memory"] == 0
        return rooms.see(rooms.probing(Role.DRIVER, Probe.FIND_MEMORY), edits, ["leftovers"]).said[Probe.FIND_MEMORY]

    assert is_found([]) is False
    assert is_found([["drop", "RemoveIPC"]]) is False
    assert is_found([["drop", "PrivateIPC"]]) is False
    assert is_found([["drop", "PrivateIPC"], ["drop", "RemoveIPC"]]) is True


_TRIES_TO_CHANGE = """
import errno, json, os
def tried(act):
    try:
        act()
    except OSError as error:
        return errno.errorcode[error.errno]
    return "yes"
print(json.dumps({
    "write": tried(lambda: open("/work/a.py", "a")),
    "make": tried(lambda: open("/work/new", "x")),
    "remove": tried(lambda: os.unlink("/work/a.py")),
    "rename": tried(lambda: os.rename("/work/a.py", "/work/b.py")),
    "mode": tried(lambda: os.chmod("/work/a.py", 0o777)),
    "home": tried(lambda: open("/home/agent/new", "x")),
}))
"""


def test_a_judge_changes_nothing_where_it_looks_and_one_that_could_never_begins(rooms: Rooms) -> None:
    spec = rooms.running(Role.JUDGE, _TRIES_TO_CHANGE, 5.0)
    seen = rooms.see(spec)
    assert (seen.error, seen.broken) == ("", ())
    assert seen.said == {**dict.fromkeys(("write", "make", "rename", "mode", "remove"), "EROFS"), "home": "yes"}
    assert seen.report["writing"]["/work"] == errno.EROFS
    without = rooms.see(spec, [["move", "BindReadOnlyPaths", "/work", "BindPaths"]])
    assert without.said["make"] == "yes"
    assert without.broken == (
        "mount /work: promised read-only, seen ['nodev', 'nosuid', 'relatime', 'rw']",
        "/work: promised to be read alone, seen ['nodev', 'nosuid', 'relatime', 'rw'], the kernel answered yes",
        "/work: promised unwritable, the kernel answered yes",
        "written places: promised nothing but ['/dev/shm', '/home/agent', '/tmp', '/var/tmp'], seen ['/work'] as well",
    )


@pytest.mark.parametrize("limit", ["disk_bytes", "disk_inodes"])
def test_a_larger_disk_than_promised_is_noticed(rooms: Rooms, limit: str) -> None:
    def broken(guards: Sequence[str]) -> bool:
        rooms.tell(guards=guards)
        with rooms.sandbox.workspace(request) as workspace:
            seen = rooms.see(replace(rooms.specs[Role.CANDIDATE], workspace=workspace))
        assert seen.error == ""
        return any(JUSTIFIED[f"limit {limit}"].seen in sentence for sentence in seen.broken)

    layer = rooms.specs[Role.CANDIDATE].mounts[0].object
    request = WorkspaceRequest(layers=(layer,), limits=LIMITS)
    assert not broken([])
    assert broken([limit])


def test_a_flood_is_not_ended_where_nobody_counts(rooms: Rooms, monkeypatch: pytest.MonkeyPatch) -> None:
    code = "import sys\nfor _ in range(100): sys.stdout.write('x' * 10_000)"
    spec = rooms.running(Role.DRIVER, code, 5.0)
    spec = replace(spec, limits=replace(spec.limits, output_bytes=100_000))
    found = pumping.run(rooms.sandbox, spec)
    assert (found.termination.cause, len(found.stdout)) == (Cause.OUTPUT_LIMIT, 100_000)
    monkeypatch.setattr(pumping._Sink, "take", lambda self, data: self.kept.extend(data) or True)
    found = pumping.run(rooms.sandbox, spec)
    assert (found.termination.cause, len(found.stdout)) == (Cause.EXIT, 1_000_000)


def test_no_signal_is_ignored_though_no_directive_says_so(rooms: Rooms) -> None:
    """IgnoreSIGPIPE=no was in the list, and nobody noticed its removal: the launcher mends what Python ignores."""
    spec = replace(rooms.specs[Role.DRIVER], argv=("/usr/bin/grep", "SigIgn", "/proc/self/status"))
    assert rooms.see(spec).output == b"SigIgn:\t0000000000000000\n"
