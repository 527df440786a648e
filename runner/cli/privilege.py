"""What only root may do, and what to tell others."""

import os

from runner.errors import HostError


def need_root(what: str) -> None:
    """Say nothing to root.

    Raises:
        HostError: everybody else is told how to become it.
    """
    if os.geteuid() != 0:
        raise HostError(
            f"{what} starts the keeper, which needs root; run it as root. A sudo rule for it must name a root-owned "
            "copy, such as 'USER ALL=(root) /opt/cleanroom/.venv/bin/runner pilot *', and never a checkout that "
            "somebody else can write: whoever may start the keeper counts as root"
        )
