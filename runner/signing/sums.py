"""SHA256SUMS: every published file by its digest, as `sha256sum --check` reads it."""

import re
from collections.abc import Iterator, Mapping

from runner.publishing.names import PLAIN_PATH, check_names
from runner.signing.errors import SignatureError
from runner.signing.layout import LEAVES, SUMS
from runner.verification.model import Finding

_LINE = re.compile(rf"(?P<sha256>[0-9a-f]{{64}})  (?P<path>{PLAIN_PATH.pattern})")


def sums(digests: Mapping[str, str]) -> bytes:
    """Give the file for paths and their SHA-256 in hex, in the order of `LC_ALL=C sort`.

    Raises:
        NamesError: a path is none that every tool reads alike, or stands in the way of another.
    """
    check_names(path for path in digests if path != LEAVES)
    return "".join(f"{digests[path]}  {path}\n" for path in sorted(digests)).encode()


def parse_sums(data: bytes, file: str) -> dict[str, str]:
    """Read paths and digests; one file has one form.

    Raises:
        SignatureError: a line is none, stands twice or out of order.
    """
    if data and not data.endswith(b"\n"):
        raise SignatureError(file=file, found="a last line without its end", expected="whole lines")
    listed: dict[str, str] = {}
    for number, line in enumerate(data.decode("utf-8", "replace").split("\n")[:-1], 1):
        found = _LINE.fullmatch(line)
        if found is None:
            raise SignatureError(file=f"{file}:{number}", found="another form", expected="a digest and a plain path")
        path, last = found["path"], next(reversed(listed), "")
        if path in listed:
            raise SignatureError(file=f"{file}:{number}", found=f"{path} once more", expected="each file once")
        if path < last:
            raise SignatureError(file=f"{file}:{number}", found=f"{path} after {last}", expected="the order of C")
        listed[path] = found["sha256"]
    return listed


def compare(listed: Mapping[str, str], found: Mapping[str, str]) -> Iterator[Finding]:
    """Find every file that changed, is gone, has another name, or was never listed."""
    gone = sorted(listed.keys() - found.keys())
    added = sorted(found.keys() - listed.keys())
    for path in sorted(listed.keys() & found.keys()):
        if listed[path] != found[path]:
            yield Finding(file=path, found=f"sha256 {found[path]}", expected=f"{listed[path]}, as {SUMS} lists it")
    for path in gone:
        other = next((each for each in added if found[each] == listed[path]), None)
        if other is None:
            yield Finding(file=path, found="no such file", expected=f"the file that {SUMS} lists")
        else:
            added.remove(other)
            yield Finding(file=other, found=f"what {SUMS} lists as {path}", expected=f"the name {path}")
    for path in added:
        yield Finding(file=path, found="a file", expected=f"nothing, for {SUMS} does not list it")
