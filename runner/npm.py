"""The npm registry: where it is, where a package's file lies, and fetching it. Nothing of a package is ever run."""

import base64
import hashlib
from collections.abc import Mapping
from http.client import HTTPException
from urllib.error import HTTPError
from urllib.request import Request, urlopen

from runner.documents.writing import printable
from runner.errors import SupplyError

REGISTRY = "https://registry.npmjs.org"
REGISTRY_VARIABLE = "NPM_CONFIG_REGISTRY"
_SECONDS = 120


def registry_of(environ: Mapping[str, str]) -> str:
    """Give the npm registry's address, as npm itself is told it."""
    return (environ.get(REGISTRY_VARIABLE, "").strip() or REGISTRY).rstrip("/")


def package_file(name: str, version: str) -> str:
    """Give where a package's file lies, from the registry's address on."""
    return f"{name}/-/{name.rpartition('/')[2]}-{version}.tgz"


def integrity_of(data: bytes) -> str:
    """Give the digest that the registry would (W3C Subresource Integrity)."""
    return "sha512-" + base64.b64encode(hashlib.sha512(data).digest()).decode()


def fetch_package(url: str, most: int) -> bytes:
    """Fetch a package's file whole; whether it is the pinned one is not its business.

    Raises:
        SupplyError: the registry does not have it, or it is larger than `most` bytes.
    """
    if not url.startswith(("https://", "http://")):
        raise unserved(url, "an address of another kind")
    try:
        request = Request(url, headers={"user-agent": "npm"})  # noqa: S310 - the scheme was looked at
        with urlopen(request, timeout=_SECONDS) as answer:  # noqa: S310 - as above
            data: bytes = answer.read(most + 1)
    except HTTPError as error:
        error.close()
        raise unserved(url, f"status {error.code}") from error
    except (OSError, HTTPException, ValueError) as error:
        raise unserved(url, printable(str(error)) or type(error).__name__) from error
    if len(data) > most:
        raise unserved(url, f"more than {most} bytes")
    return data


def unserved(url: str, found: str) -> SupplyError:
    """Give the error for a file that the registry does not give."""
    return SupplyError(
        file=url,
        field="",
        found=found,
        expected="the pinned package file",
        mend=f"see that the npm registry can be reached, or name another by {REGISTRY_VARIABLE}",
    )
