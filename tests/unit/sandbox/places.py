"""A spec of each role with the place a keeper would resolve for it, as tests/golden was recorded with."""

from datetime import timedelta

from sandbox.api import Gate
from sandbox.profiles import Program, candidate, driver, gateway, inspection, judge, submitted, tests
from sandbox.properties import UnitPlace
from sandbox.spec import GATE_PORT, Limits, NamespaceId, UnitSpec, WorkspaceId

LIMITS = Limits(wall=timedelta(seconds=60))
PROGRAM = Program(argv=("/usr/bin/true",))
_WORKSPACE = WorkspaceId("w")
_GATE = Gate(namespace=NamespaceId("n"), listener=-1, port=GATE_PORT)

SPECS = {
    "candidate": candidate(PROGRAM, LIMITS, _WORKSPACE, _GATE),
    "tests": tests(PROGRAM, LIMITS, _WORKSPACE),
    "submitted": submitted(PROGRAM, LIMITS, _WORKSPACE),
    "judge": judge(PROGRAM, LIMITS, _WORKSPACE, _GATE),
    "driver": driver(PROGRAM, LIMITS),
    "inspection": inspection(PROGRAM, _WORKSPACE),
    "gateway": gateway(PROGRAM),
}


def place_of(spec: UnitSpec, number: int = 1, *, home: bool = True) -> UnitPlace:
    """Resolve a spec as the keeper does: folders of one image where there is a workspace."""
    folder = f"/run/lab/{number}"
    image = None if spec.workspace is None else f"{folder}/img"
    reads_only = spec.role == "inspection"
    return UnitPlace(
        unit=f"u{number}",
        slice=f"s{number}.slice",
        account=f"u{1_900_100_000 + number}",
        uid=1_900_100_000 + number,
        root=f"{folder}/root",
        empty=f"{folder}/empty",
        terminals=f"{folder}/terminals",
        workspace=image and f"{image}/ws",
        home=image and f"{image}/home" if home and not reads_only else None,
        tmp=image and f"{image}/tmp" if not reads_only else None,
        vartmp=image and f"{image}/vartmp" if not reads_only else None,
        namespace_path=None if spec.network.reach == "nothing" else "/proc/7/fd/9",
    )
