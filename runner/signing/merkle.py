"""Hash trees over a list of leaves, and proofs about them (RFC 6962 section 2.1; verifiers as RFC 9162 section 2.1).

A tree is given as its leaf hashes. Proofs are tuples of 32-byte hashes, lowest first.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

from runner.signing.errors import ProofError

HASH_BYTES = 32

Proof = tuple[bytes, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """What names a whole tree."""

    size: int
    """Leaves."""
    root: bytes


def leaf_hash(data: bytes) -> bytes:
    """Give the hash of a leaf. It can never be that of a node."""
    return hashlib.sha256(b"\x00" + data).digest()


def node_hash(left: bytes, right: bytes) -> bytes:
    """Give the hash of two subtrees."""
    return hashlib.sha256(b"\x01" + left + right).digest()


def root(hashes: Sequence[bytes]) -> bytes:
    """Give the root over leaf hashes; that of no leaves is the hash of nothing."""
    if not hashes:
        return hashlib.sha256(b"").digest()
    level = list(hashes)
    while len(level) > 1:
        # An odd last one moves up as it is: the same as a split at the largest power of two.
        pairs = [node_hash(level[at], level[at + 1]) for at in range(0, len(level) - 1, 2)]
        level = pairs + level[len(pairs) * 2 :]
    return level[0]


def head(leaves: Sequence[bytes]) -> Head:
    """Give size and root of the tree over the leaves' data."""
    return Head(size=len(leaves), root=root([leaf_hash(each) for each in leaves]))


def inclusion(hashes: Sequence[bytes], index: int) -> Proof:
    """Give the proof that a leaf is in a tree."""
    if not 0 <= index < len(hashes):
        raise ValueError(f"a tree of {len(hashes)} leaves has none with the index {index}")
    if len(hashes) == 1:
        return ()
    split = _split(len(hashes))
    left, right = hashes[:split], hashes[split:]
    if index < split:
        return (*inclusion(left, index), root(right))
    return (*inclusion(right, index - split), root(left))


def consistency(hashes: Sequence[bytes], old: int) -> Proof:
    """Give the proof that the first `old` leaves are a tree that this one continues."""
    if not 0 < old <= len(hashes):
        raise ValueError(f"a tree of {len(hashes)} leaves continues none of {old}")
    return _subproof(hashes, old, whole=True)


def _subproof(hashes: Sequence[bytes], old: int, *, whole: bool) -> Proof:
    """`SUBPROOF` of RFC 6962 section 2.1.2; `whole`: the old tree is known to the verifier."""
    if old == len(hashes):
        return () if whole else (root(hashes),)
    split = _split(len(hashes))
    left, right = hashes[:split], hashes[split:]
    if old <= split:
        return (*_subproof(left, old, whole=whole), root(right))
    return (*_subproof(right, old - split, whole=False), root(left))


def check_inclusion(leaf: bytes, index: int, proof: Proof, tree: Head) -> None:
    """Say nothing if a leaf (by its hash) stands at an index of a tree.

    Raises:
        ProofError: this proof does not show it.
    """
    if not 0 <= index < tree.size:
        raise ProofError(file="inclusion", found=f"index {index}", expected=f"one below {tree.size}")
    _check_widths(proof, "inclusion")
    here, last, reached = index, tree.size - 1, leaf
    for each in proof:
        if last == 0:
            raise _length("inclusion")
        if here % 2 or here == last:
            reached = node_hash(each, reached)
            here, last = _climb(here, last)
        else:
            reached = node_hash(reached, each)
        here, last = here // 2, last // 2
    if last:
        raise _length("inclusion")
    if reached != tree.root:
        raise ProofError(file="inclusion", found=f"a root {reached.hex()}", expected=tree.root.hex())


def check_consistency(old: Head, new: Head, proof: Proof) -> None:
    """Say nothing if a tree only added leaves to an older one.

    Raises:
        ProofError: this proof does not show it.
    """
    if not 0 < old.size <= new.size:
        raise ProofError(file="consistency", found=f"{old.size} leaves before", expected=f"1 to {new.size}")
    _check_widths(proof, "consistency")
    if old.size == new.size:
        if proof:
            raise _length("consistency")
        _check_root(new.root, old.root)
        return
    path = proof if old.size & (old.size - 1) else (old.root, *proof)
    if not path:
        raise _length("consistency")
    before, after = _fold(path, old.size - 1, new.size - 1)
    _check_root(before, old.root)
    _check_root(after, new.root)


def _fold(path: Proof, here: int, last: int) -> tuple[bytes, bytes]:
    """Give the two roots that a proof leads to (RFC 9162 section 2.1.4.2)."""
    while here % 2:
        here, last = here // 2, last // 2
    before = after = path[0]
    for each in path[1:]:
        if last == 0:
            raise _length("consistency")
        if here % 2 or here == last:
            before, after = node_hash(each, before), node_hash(each, after)
            here, last = _climb(here, last)
        else:
            after = node_hash(after, each)
        here, last = here // 2, last // 2
    if last:
        raise _length("consistency")
    return before, after


def _climb(here: int, last: int) -> tuple[int, int]:
    """Go up where there is no right neighbour, to where there was a left one."""
    while here and not here % 2:
        here, last = here // 2, last // 2
    return here, last


def _check_root(found: bytes, expected: bytes) -> None:
    if found != expected:
        raise ProofError(file="consistency", found=f"a root {found.hex()}", expected=expected.hex())


def _check_widths(proof: Proof, file: str) -> None:
    if any(len(each) != HASH_BYTES for each in proof):
        raise ProofError(file=file, found="a hash of another length", expected=f"{HASH_BYTES} bytes")


def _length(file: str) -> ProofError:
    return ProofError(file=file, found="a proof of another length", expected="as many hashes as the sizes need")


def _split(size: int) -> int:
    """Give the largest power of two below a size of 2 or more."""
    return 1 << (size - 1).bit_length() - 1
