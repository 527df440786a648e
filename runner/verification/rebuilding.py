"""Rebuilding a submission's tree from the frozen base and the patch, with nothing else at hand."""

from collections.abc import Callable

from runner.verification.model import Rebuilt
from sandbox.capture import Base
from sandbox.contents import Contents, MemoryContents
from sandbox.errors import TreeError
from sandbox.patch import Repository
from sandbox.plain_patch import PlainFile, plain_changes
from sandbox.tree import Entry, Kind, apply_change, lookup, node_at, read_node


class Rebuilder:
    """A `Rebuild` over our own repository; `bases` gives the frozen base of a nomination."""

    def __init__(self, repository: Repository, bases: Callable[[str], Base]) -> None:
        self._repository = repository
        self._bases = bases

    def __call__(self, nomination: str, patch: bytes) -> Rebuilt:
        """Apply a patch to a base: a plain one here, any other by git.

        Raises:
            SandboxError: it does not apply.
        """
        base = self._bases(nomination)
        changes = _plainly(patch, base)
        if changes is None:
            changes = self._repository.apply(base.commit, patch).changes
        listings = MemoryContents(base.listings)
        tree = apply_change(base.digest, changes, listings)
        return Rebuilt(
            tree_sha256=tree,
            changes=changes,
            before=lambda path: lookup(base.digest, path, base.listings),
            base=lambda path: _content_at(path, base),
            content=_Contents(self._repository, base, patch),
        )


class _Contents:
    """The contents that a patch leaves, put together by git when one is asked for."""

    def __init__(self, repository: Repository, base: Base, patch: bytes) -> None:
        self._repository, self._base, self._patch = repository, base, patch
        self._known: Contents | None = None

    def __call__(self, digest: str) -> bytes:
        if self._known is None:
            self._known = self._repository.apply(self._base.commit, self._patch).contents
        return self._known.get(digest)


def _content_at(path: bytes, base: Base) -> bytes | None:
    leaf = lookup(base.digest, path, base.listings)
    return base.listings.get(leaf.digest) if leaf is not None and leaf.kind is Kind.FILE else None


def _plainly(patch: bytes, base: Base) -> tuple[Entry, ...] | None:
    return plain_changes(patch, lambda path: _file_at(path, base))


def _file_at(path: bytes, base: Base) -> PlainFile | None:
    """Give a base's file at a path.

    Raises:
        LookupError: what stands there, or above it, is no file, or its content is not at hand.
    """
    parts = path.split(b"/")
    try:
        node = node_at(base.digest, path, base.listings)
        if node is None:
            above = (b"/".join(parts[:depth]) for depth in range(1, len(parts)))
            if any(lookup(base.digest, each, base.listings) is not None for each in above):
                raise LookupError(path)
            return None
        leaf = read_node(node)
        if leaf is None or leaf.kind is not Kind.FILE:
            raise LookupError(path)
        return PlainFile(content=base.listings.get(leaf.digest), executable=leaf.executable)
    except TreeError as error:
        raise LookupError(path) from error
