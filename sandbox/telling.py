"""How the keeper tells what it swept: one line on standard error, which is the runner's."""

import sys
from collections.abc import Collection


def tell(found: Collection[str]) -> None:
    """Name what an earlier keeper left; where it left nothing, nothing is said."""
    if found:
        sys.stderr.write(f"keeper: an earlier run was killed; ended or removed what it left: {', '.join(found)}\n")
