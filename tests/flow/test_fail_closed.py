"""Privilege, controllers and seccomp really taken away: the doctor names it, and nothing runs behind what is left."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from sandbox.groups import layout
from sandbox.host import machine_runs_systemd
from tests.flow.bench import RUNNER, Bench, own_folder

pytestmark = pytest.mark.systemd

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
STATES = Path("/var/lib/cleanroom")
CAPABILITY = ("/usr/bin/setpriv", "--bounding-set", "-sys_admin", "--inh-caps", "-sys_admin", "--")


def taken(what: str, folder: Path = Path("/")) -> tuple[str, ...]:
    """Give how a command is run that lacks something, or whose managers do."""
    return (sys.executable, "-I", "-B", str(HERE / "taken.py"), what, str(folder), "--")


def tried(within: tuple[str, ...], state: Path) -> dict[str, str | None]:
    """Try to run one unit; its program would leave `ran` in the state, if there were no walls."""
    state.mkdir()
    state.chmod(0o777)
    argv = [*within, sys.executable, str(HERE / "refusing.py"), str(state)]
    environment = {"PYTHONPATH": str(ROOT), "PATH": "/usr/bin"}
    done = subprocess.run(argv, env=environment, capture_output=True, text=True, timeout=300, check=True, cwd="/")
    assert not (state / "ran").exists(), "a program ran outside of its walls"
    told: dict[str, str | None] = json.loads(done.stdout)
    return told


LACKS: dict[str, tuple[tuple[str, ...], str, set[str]]] = {
    "capability": (CAPABILITY, "CAP_SYS_ADMIN", {"machine: root", "namespaces: mount", "namespaces: net"}),
    "seccomp": (taken("seccomp"), "no seccomp filters", {"filters: seccomp"}),
}
"""Within what a command lacks it, what refuses it, and the doctor's lines."""

LAMED: dict[str, tuple[str | None, tuple[str, ...]]] = {
    "nothing": (None, ("No such file or directory",)),
    "sys_admin": ("UnitStartError", ("status 226",)),
    "seccomp": ("WallsError", ("system call keyctl: promised a refusal", "sockets of AF_INET: promised a refusal")),
}
"""What a manager was started without, how its unit is refused, and why."""

if not layout().v2:  # Hierarchies that can be unmounted one by one.
    LACKS |= {
        "memory": (taken("memory"), "no controller memory", {"control groups: controller memory"}),
        "pids": (taken("pids"), "no controller pids", {"control groups: controller pids"}),
        "cpu": (taken("cpu"), "no controller cpu", {"control groups: controller cpu"}),
        "unified": (taken("unified"), "no control group v2", {"control groups: layout"}),
    }
    LAMED |= {
        "memory": ("WallsError", ("control group memory: promised the unit's own",)),
        "pids": ("WallsError", ("control group pids: promised the unit's own",)),
        "quota": ("WallsError", ("limit cpu_percent: promised 200, the control group holds",)),
    }


@pytest.mark.parametrize("lack", LACKS)
def test_a_keeper_refuses_a_host_that_lacks_it_and_starts_nothing(lack: str) -> None:
    within, words, _ = LACKS[lack]
    with own_folder(STATES, "lack") as folder:
        told = tried(within, folder / "state")
        assert not (folder / "state" / "run").exists(), "it was refused before anything was made"
    assert told["refused"] == "HostUnfitError"
    assert words in str(told["said"])


@pytest.mark.parametrize("lack", LACKS)
def test_the_doctor_names_what_is_lacking_what_is_lost_and_what_mends_it(lack: str) -> None:
    within, _, expected = LACKS[lack]
    argv = [*within, str(RUNNER), "doctor", "--json"]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=100, check=False, cwd="/")
    assert (done.returncode, done.stderr) == (4, "")
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    bad = {f"{line['topic']}: {line['name']}": line for line in lines if not line["ok"]}
    assert expected <= set(bad)
    assert all(line["found"] and line["lost"] and line["mend"] for line in bad.values())
    if lack != "capability":
        assert set(bad) == expected


@pytest.mark.parametrize("lack", [name for name in ("capability", "memory", "seccomp") if name in LACKS])
def test_a_pilot_on_such_a_host_ends_with_4_and_a_sentence_and_runs_nothing(bench: Bench, lack: str) -> None:
    within, words, _ = LACKS[lack]
    said = bench.run("pilot", "--candidate", "oracle", within=within)
    assert (said.code, said.out) == (4, "")
    assert said.err.splitlines()[-1].startswith("runner: this host cannot hold ")
    assert words in said.err
    assert not bench.attempt("oracle").exists()


@pytest.mark.parametrize("what", ["nothing"] if machine_runs_systemd() else LAMED)
def test_a_manager_that_builds_a_wall_less_is_found_out_before_the_go(what: str) -> None:
    """No word of it comes from systemd: the unit starts, and what its launcher or its group shows is refused."""
    refused, words = LAMED[what]
    with own_folder(STATES, "lame") as folder:
        within = () if machine_runs_systemd() else taken(f"manager-{what}", folder)
        told = tried(within, folder / "state")
    assert told["refused"] == refused, told
    assert [word for word in words if word not in str(told["said"])] == []
