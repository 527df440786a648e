"""Base64 as strict as signatures need it: one text for one value."""

import base64
import binascii


def b64(data: bytes) -> str:
    """Write bytes in the standard alphabet, padded (RFC 4648 section 4)."""
    return base64.b64encode(data).decode("ascii")


def unb64(text: str, *, url_too: bool = False) -> bytes:
    """Read them back; with `url_too` the URL-safe alphabet is taken as well.

    Raises:
        ValueError: it is no padded base64, or not the one text of its value.
    """
    plain = text.replace("-", "+").replace("_", "/") if url_too else text
    try:
        data = base64.b64decode(plain, validate=True)
    except binascii.Error as error:
        raise ValueError(f"no base64: {error}") from error
    if b64(data) != plain:
        raise ValueError("base64 with idle bits")
    return data
