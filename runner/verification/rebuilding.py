"""Rebuilding a submission's tree from the frozen base and the patch, with nothing else at hand."""

from collections.abc import Callable

from runner.verification.model import Rebuilt
from sandbox.capture import Base
from sandbox.contents import MemoryContents
from sandbox.patch import Repository
from sandbox.tree import apply_change, lookup


class Rebuilder:
    """A `Rebuild` over our own repository; `bases` gives the frozen base of a nomination."""

    def __init__(self, repository: Repository, bases: Callable[[str], Base]) -> None:
        self._repository = repository
        self._bases = bases

    def __call__(self, nomination: str, patch: bytes) -> Rebuilt:
        """Apply a patch to a base.

        Raises:
            SandboxError: it does not apply.
        """
        base = self._bases(nomination)
        applied = self._repository.apply(base.commit, patch)
        listings = MemoryContents(base.listings)
        tree = apply_change(base.digest, applied.changes, listings)
        return Rebuilt(
            tree_sha256=tree,
            changes=applied.changes,
            before=lambda path: lookup(base.digest, path, base.listings),
        )
