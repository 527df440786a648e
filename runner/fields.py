"""The kinds of text that documents written by people hold, each checked when it is read."""

import re
from datetime import date
from typing import Annotated
from urllib.parse import urlsplit

from pydantic import AfterValidator, StringConstraints
from pydantic_core import PydanticCustomError

PATH_BYTES, PART_BYTES = 1024, 255
_NO_PARTS = frozenset({"", ".", ".."})


def refusal(expected: str, mend: str) -> PydanticCustomError:
    """Make an error for a validator to raise; `runner.parsing` turns it into a `DocumentError`."""
    return PydanticCustomError("cleanroom", "{expected}; {mend}", {"expected": expected, "mend": mend})


def is_plain_path(text: str) -> bool:
    """Whether a text is a relative path in its only spelling: no `.`, `..`, empty part or odd letter."""
    parts = text.split("/")
    return (
        0 < len(text.encode("utf-8", "replace")) <= PATH_BYTES
        and "\\" not in text
        and text.isprintable()
        and all(part not in _NO_PARTS and len(part.encode("utf-8", "replace")) <= PART_BYTES for part in parts)
    )


def _is_gits(text: str) -> bool:
    return ".git" in text.lower().split("/")


def _relative(text: str) -> str:
    if not is_plain_path(text) or _is_gits(text):
        raise refusal(
            "a relative path with '/' between its parts and without '.', '..', '.git' or empty parts",
            "write it from the workspace root (or the nomination's folder) down",
        )
    return text


def _folder(text: str) -> str:
    return text if text == "." else _relative(text)


def _rule(text: str) -> str:
    if not is_plain_path(text.removesuffix("/")) or _is_gits(text):
        raise refusal(
            "an exact path, a folder ending in '/', or a glob, relative to the workspace root",
            "write for example 'src/a.py', 'src/' or 'src/**/*.py'",
        )
    if text.endswith("/") and is_glob(text):
        raise refusal("a folder without wildcards before its '/'", "write a glob such as 'src/*/**' instead")
    return text


def is_glob(rule: str) -> bool:
    """Whether a change rule holds wildcards."""
    return re.search(r"[*?\[]", rule) is not None


def _host_path(text: str) -> str:
    if not text.isprintable() or text.startswith("~"):
        raise refusal(
            "a path without control characters that does not begin with '~'",
            "write the whole path, or one relative to the checkout",
        )
    return text


def _base_url(text: str) -> str:
    expected = "an http or https address without user, query or fragment"
    mend = "write for example 'https://openrouter.ai/api/v1' and name the key's variable in 'credential'"
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError:
        raise refusal(expected, mend) from None
    odd = bool(parts.query or parts.fragment) or parts.username is not None or parts.password is not None or port == 0
    if odd or parts.scheme not in {"http", "https"} or not parts.hostname or not re.fullmatch(r"[!-~]+", text):
        raise refusal(expected, mend)
    return text


def _host_port(text: str) -> str:
    host, _, port = text.rpartition(":")
    labels = host.split(".")
    is_name = not labels[-1].isdigit() and all(
        re.fullmatch(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?", each) for each in labels
    )
    if not (is_name or host == "127.0.0.1") or not re.fullmatch(r"[1-9][0-9]{0,4}", port) or int(port) > 65535:  # noqa: PLR2004
        raise refusal("a host's name in lower case and a port", "write for example 'api.example.com:443'")
    return text


def _line(text: str) -> str:
    if not text.isprintable() or text != text.strip():
        raise refusal("one line without control characters or blanks at its ends", "shorten it to one plain line")
    return text


def _date(text: str) -> str:
    try:
        date.fromisoformat(text)
    except ValueError:
        raise refusal("a day of the calendar", "write it as year-month-day") from None
    return text


Line = Annotated[str, StringConstraints(min_length=1, max_length=500), AfterValidator(_line)]
"""One printable line."""

ModelName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9._:/@+~-]{0,199}$")]
"""How a provider calls a model."""

Criterion = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_-]{0,59}$")]

VariableName = Annotated[str, StringConstraints(pattern=r"^[A-Z][A-Z0-9_]{0,79}$")]
"""The name of an environment variable, never its value."""

IsoDate = Annotated[str, StringConstraints(pattern=r"^20[0-9]{2}-[0-9]{2}-[0-9]{2}$"), AfterValidator(_date)]

HeaderName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9-]{1,80}$")]
HeaderValue = Annotated[str, StringConstraints(pattern=r"^[!-~]([ -~]{0,498}[!-~])?$")]

PositiveDecimal = Annotated[
    str, StringConstraints(max_length=40, pattern=r"^(0\.[0-9]*[1-9][0-9]*|[1-9][0-9]*(\.[0-9]+)?)$")
]
"""Money above zero, as a decimal text."""

RelativePath = Annotated[str, AfterValidator(_relative)]
FolderPath = Annotated[str, AfterValidator(_folder)]
"""A relative path, or `.` for the root itself."""

ChangeRule = Annotated[str, AfterValidator(_rule)]
"""Exact path, folder ending in `/`, or glob; relative to the workspace root."""

HostPath = Annotated[str, StringConstraints(min_length=1, max_length=4096), AfterValidator(_host_path)]
"""A path on this host, absolute or relative to the checkout."""

HostPort = Annotated[str, StringConstraints(max_length=200), AfterValidator(_host_port)]
"""A host by its name, with a port. The one address is 127.0.0.1, for tests."""

BaseUrl = Annotated[str, StringConstraints(max_length=500), AfterValidator(_base_url)]
