"""The clean room without a provider and without a key: for what works on sealed evidence."""

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager

from runner.attempt import Attempts
from runner.bundles.bundle import Bundle
from runner.clock import now_ms
from runner.documents.runtimes import RuntimeName
from runner.errors import UsageError
from runner.freezer import Frozen, accounts_of
from runner.gateway.routes import NOWHERE
from runner.gateway.serving import gateway_unit
from runner.host_proofs import Prover, digests, host_now, keep_copies
from runner.roster import Candidate
from runner.runtime import Runtime
from runner.solution import Solution
from runner.staging import Staged, Stages
from runner.store import Store
from sandbox.client import open_sandbox


@contextmanager
def keyless_room(
    frozen: Frozen,
    store: Store,
    tell: Callable[[str], None],
    *,
    bundles: Mapping[RuntimeName, Bundle] | None = None,
) -> Iterator[Attempts]:
    """Open the clean room; with the agents' own programs there is a gateway too, and no provider behind it.

    Raises:
        WallsBrokenError: a wall of this host does not hold.
        SandboxError: the host cannot hold a clean room.
    """
    with ExitStack() as stack:
        folder = frozen.inputs.places.state
        sandbox = stack.enter_context(open_sandbox(folder, accounts_of(frozen.inputs.config)))
        host = host_now(sandbox.facts())
        prover = Prover(sandbox=sandbox, host=host, state=folder, clock=now_ms, may_prove=os.geteuid() == 0)
        proofs = prover.required(tell)
        keep_copies(store.root / store.release, proofs)
        yield Attempts(
            store=store,
            manifest=frozen.manifest,
            runtime=Runtime(
                sandbox=sandbox,
                gateway=None if bundles is None else stack.enter_context(gateway_unit(sandbox)),
                routes={route.id: route for route in frozen.manifest.routes},
                base_urls={route.id: NOWHERE for route in frozen.manifest.routes},
                credential=lambda _name: None,
                bundles=bundles or {},
            ),
            stages=Stages(
                sandbox=sandbox,
                workbench=frozen.workbench,
                limits=frozen.manifest.limits,
                norms=frozen.manifest.norms is not None,
            ),
            proofs=digests(proofs),
            patches=_no_patches,
            clock=now_ms,
        )


def _no_patches(candidate: Candidate, _staged: Staged) -> Solution:
    raise UsageError(f"{candidate.id} applies a patch, and is not run again")
