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
            f"{what} starts the keeper, which needs root; run it as root, or allow this account a root-owned copy "
            "of it by a sudo rule such as: USER ALL=(root) NOPASSWD: /usr/local/lib/cleanroom/keeper"
        )
