"""Published values that other implementations gave, and keys that everybody knows."""

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from runner.signing.signer import LocalSigner

RFC_8032_1 = LocalSigner(
    private=Ed25519PrivateKey.from_private_bytes(
        bytes.fromhex("9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60")
    )
)
"""Test 1 of RFC 8032 section 7.1."""


def signer(number: int) -> LocalSigner:
    """Give a key that a number names."""
    return LocalSigner(private=Ed25519PrivateKey.from_private_bytes(bytes([number]) * 32))
