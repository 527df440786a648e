"""Node as tests have it: the pinned one, put by our own installer into the host's state, or a cache of one's own, once.

The first run on a machine fetches it from the npm registry (51 MB).
"""

import os
from datetime import timedelta
from functools import cache
from pathlib import Path

from evaluators.model import Bench, Node
from runner.documents.nomination import NodeToolchain
from runner.node_lock import parse_node_lock
from runner.node_toolchain import PROGRAM, build_node_toolchain
from runner.npm import registry_of
from runner.package_index import IndexSettings
from runner.settings import DEFAULT_STATE, host_settings
from runner.toolchain_store import TARGET, Toolchain, Workshop
from sandbox.spec import Limits, Mount
from tests.fakes import PlainSandbox

PINNED = NodeToolchain(
    kind="node",
    version="22.23.5",
    integrity="sha512-3jhC+wcoWxKZxcRqF2sUSl0c9HEXFnur/nuIPx6O6CWKV0jOUWQm7Htw5SuXqqlMCEhi0cJqybFPEb5hhcBiMw==",
)


@cache
def pinned_node() -> Toolchain:
    """Install it, or take what is there."""
    state = DEFAULT_STATE if os.geteuid() == 0 else Path.home() / ".cache/cleanroom"
    workshop = Workshop(
        folder=state / "toolchains",
        find_index=lambda: IndexSettings(url="file:///nonexistent"),
        npm=registry_of(host_settings().environ),
    )
    return build_node_toolchain(parse_node_lock(PINNED, None, "test"), workshop)


def node_bench(sandbox: PlainSandbox, wall_seconds: float = 60.0) -> Bench:
    """Give a bench with Node, over a sandbox without walls."""
    return Bench(
        sandbox=sandbox,
        toolchain=(Mount(object=sandbox.adopt(pinned_node().folder), target=TARGET),),
        python_path=(),
        root=".",
        limits=Limits(wall=timedelta(seconds=wall_seconds)),
        node=Node(program=f"{TARGET}/{PROGRAM}"),
    )
