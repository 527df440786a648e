"""Laws of trees: known roots and proofs, every proof accepted, every changed one refused."""

from collections.abc import Iterator

import pytest

from runner.signing.errors import ProofError
from runner.signing.merkle import (
    Head,
    Proof,
    check_consistency,
    check_inclusion,
    consistency,
    head,
    inclusion,
    leaf_hash,
    node_hash,
    root,
)

LEAVES = tuple(
    bytes.fromhex(each)
    for each in (
        "",
        "00",
        "10",
        "2021",
        "3031",
        "40414243",
        "5051525354555657",
        "606162636465666768696a6b6c6d6e6f",
    )
)
ROOTS = (
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
    "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
    "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
    "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
    "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
    "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
    "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
)
"""Of the first n leaves; the reference values of certificate transparency."""
SIZES = range(1, 65)
MANY = [leaf_hash(f"leaf {at}".encode()) for at in range(64)]
HEADS = [Head(size=size, root=root(MANY[:size])) for size in range(65)]


def hexes(proof: Proof) -> list[str]:
    return [each.hex() for each in proof]


@pytest.mark.parametrize("size", range(9))
def test_a_root_is_the_known_one(size: int) -> None:
    assert head(LEAVES[:size]) == Head(size=size, root=bytes.fromhex(ROOTS[size]))


@pytest.mark.parametrize(
    ("size", "index", "expected"),
    [
        pytest.param(
            8,
            5,
            [
                "bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b",
                "ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0",
                "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
            ],
            id="the sixth of eight",
        ),
        pytest.param(
            3, 2, ["fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125"], id="the third of three"
        ),
    ],
)
def test_a_proof_of_inclusion_is_the_known_one(size: int, index: int, expected: list[str]) -> None:
    assert hexes(inclusion([leaf_hash(each) for each in LEAVES[:size]], index)) == expected


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        pytest.param(
            6,
            8,
            [
                "0ebc5d3437fbe2db158b9f126a1d118e308181031d0a949f8dededebc558ef6a",
                "ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0",
                "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
            ],
            id="six then eight",
        ),
        pytest.param(
            2,
            5,
            [
                "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e",
                "bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b",
            ],
            id="two then five",
        ),
    ],
)
def test_a_proof_of_consistency_is_the_known_one(old: int, new: int, expected: list[str]) -> None:
    assert hexes(consistency([leaf_hash(each) for each in LEAVES[:new]], old)) == expected


def mutations(proof: Proof) -> Iterator[Proof]:
    """Give every proof with one hash changed, gone, twice or swapped, and one that goes on."""
    yield (*proof, MANY[0])
    for at, each in enumerate(proof):
        yield (*proof[:at], bytes([each[0] ^ 1]) + each[1:], *proof[at + 1 :])
        yield (*proof[:at], each[:-1] + bytes([each[-1] ^ 0x80]), *proof[at + 1 :])
        yield proof[:at] + proof[at + 1 :]
        yield (*proof[:at], each, *proof[at:])
        yield (*proof[:at], each[:-1], *proof[at + 1 :])
    for at in range(len(proof) - 1):
        yield (*proof[:at], proof[at + 1], proof[at], *proof[at + 2 :])


def refused_inclusion(leaf: bytes, index: int, proof: Proof, tree: Head) -> None:
    with pytest.raises(ProofError):
        check_inclusion(leaf, index, proof, tree)


def test_every_leaf_of_every_tree_up_to_64_is_proven_and_at_no_other_place() -> None:
    for size in SIZES:
        for index in range(size):
            proof = inclusion(MANY[:size], index)
            check_inclusion(MANY[index], index, proof, HEADS[size])
            for other in (index - 1, index + 1, size, -1):
                refused_inclusion(MANY[index], other, proof, HEADS[size])


@pytest.mark.parametrize("size", [1, 2, 3, 7, 8, 11, 33, 64])
def test_a_changed_proof_of_inclusion_is_refused(size: int) -> None:
    for index in range(size):
        proof = inclusion(MANY[:size], index)
        for spoilt in mutations(proof):
            refused_inclusion(MANY[index], index, spoilt, HEADS[size])
        refused_inclusion(MANY[index - 1] if size > 1 else b"\x00" * 32, index, proof, HEADS[size])
        refused_inclusion(MANY[index], index, proof, Head(size=0, root=HEADS[size].root))
        refused_inclusion(MANY[index], index, proof, Head(size=size, root=HEADS[size - 1].root))


def refused_consistency(old: Head, new: Head, proof: Proof) -> None:
    with pytest.raises(ProofError):
        check_consistency(old, new, proof)


def test_every_tree_up_to_64_continues_every_smaller_one() -> None:
    for new in SIZES:
        for old in range(1, new + 1):
            check_consistency(HEADS[old], HEADS[new], consistency(MANY[:new], old))


@pytest.mark.parametrize("new", [1, 2, 3, 7, 8, 11, 33, 64])
def test_a_changed_proof_of_consistency_is_refused(new: int) -> None:
    for old in range(1, new + 1):
        proof = consistency(MANY[:new], old)
        for spoilt in mutations(proof):
            refused_consistency(HEADS[old], HEADS[new], spoilt)
        refused_consistency(Head(size=old, root=HEADS[old - 1].root), HEADS[new], proof)
        refused_consistency(HEADS[old], Head(size=new, root=HEADS[new - 1].root), proof)
        refused_consistency(Head(size=0, root=HEADS[0].root), HEADS[new], proof)
        refused_consistency(Head(size=new + 1, root=HEADS[new].root), HEADS[new], proof)


def test_a_node_never_passes_for_a_leaf() -> None:
    left, right = MANY[:2]
    assert leaf_hash(left + right) != node_hash(left, right)
    refused_inclusion(leaf_hash(left + right), 0, (), HEADS[2])


def test_a_leaf_that_is_not_there_has_no_proof() -> None:
    with pytest.raises(ValueError, match="none with the index 3"):
        inclusion(MANY[:3], 3)
    with pytest.raises(ValueError, match="continues none of 0"):
        consistency(MANY[:3], 0)
