r"""The byte layout of one folder's listing: what a tree digest is made of.

The tree digest is the SHA-256 of the root's listing, in hex. A listing describes one folder:

    listing = magic child*        magic = the 17 bytes "cleanroom tree 1\n"
    child   = length name mark digest
    length  = 2 bytes, big endian: how many bytes the name has (1 to 65535)
    name    = raw bytes without NUL and "/", neither "." nor ".."
    mark    = 1 byte: "f" file, "x" executable file, "l" symbolic link, "d" folder
    digest  = 32 raw bytes: SHA-256 of the file's bytes, of the link's text, or of the sub-folder's listing

Children stand in ascending order of their names' bytes, each name once. Only the root may be without
children: an empty folder is not in a tree, nor are owners, times, other mode bits and extended attributes.
Every field has one place and one length, so two trees share a digest only if they share every name, kind,
mode and byte.
"""

import hashlib

from sandbox.errors import TreeError

MAGIC = b"cleanroom tree 1\n"
FOLDER_MARK = ord("d")

EMPTY_TREE = hashlib.sha256(MAGIC).hexdigest()
"""The digest of the tree without entries."""

_NODE = 33


def encode_listing(children: dict[bytes, bytes]) -> bytes:
    """Lay out one folder's listing from its children's marks and digests (33 bytes each)."""
    parts = [MAGIC]
    for name in sorted(children):
        parts += (len(name).to_bytes(2, "big"), name, children[name])
    return b"".join(parts)


def decode_listing(listing: bytes) -> dict[bytes, bytes]:
    """Read a listing back, refusing every layout that `encode_listing` would not have made.

    Raises:
        TreeError: the bytes are no listing.
    """
    children: dict[bytes, bytes] = {}
    at, last = len(MAGIC), b""
    while at < len(listing):
        start = at + 2
        end = start + int.from_bytes(listing[at:start], "big")
        name, node = listing[start:end], listing[end : end + _NODE]
        if name <= last or len(node) != _NODE or node[0] not in b"fxld":
            raise TreeError("the bytes are no listing of a folder")
        children[name] = node
        at, last = end + _NODE, name
    if not listing.startswith(MAGIC):
        raise TreeError("the bytes are no listing of a folder")
    return children
