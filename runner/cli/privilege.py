"""What only root may do, or who may start the keeper, and what to tell others."""

import os

from runner.errors import HostError
from sandbox.installed import keeper_command


def need_root(what: str) -> None:
    """Say nothing to root.

    Raises:
        HostError: everybody else is told to become it.
    """
    if os.geteuid() != 0:
        raise HostError(f"{what} needs root; run it as root")


def need_keeper() -> None:
    """Say nothing to who may start a keeper: root, and who has the sudo rule that scripts/host writes.

    Raises:
        HostUnfitError: everybody else is told how to become one of them.
    """
    keeper_command()
