"""The package index, found the way pip is configured and read by its simple interface."""

import ast
import json
import ssl
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from html.parser import HTMLParser
from http.client import HTTPException
from pathlib import Path
from typing import TypeGuard
from urllib.error import HTTPError
from urllib.parse import urljoin
from urllib.request import Request, urlopen

from runner.documents.writing import printable
from runner.errors import SupplyError
from runner.npm import fetch_package, package_file, registry_of
from runner.parsing import describe
from runner.sdist import ARCHIVE_BYTES, Pin, normal_name

SCHEMES = ("https://", "http://")
TIMEOUT_SECONDS = 60
PYPI = "https://pypi.org/simple"
PIP_READS = frozenset({"PATH", "HOME", "XDG_CONFIG_HOME", "XDG_CONFIG_DIRS", "VIRTUAL_ENV"})
"""Variables that pip finds its configuration by, besides its own."""

ACCEPTED = "application/vnd.pypi.simple.v1+json, text/html;q=0.5"


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexSettings:
    """What pip would use: where the index is, which others come after it, and whose certificates count."""

    url: str = PYPI
    more: tuple[str, ...] = ()
    certificates: Path | None = None

    def pip_options(self) -> tuple[str, ...]:
        """Give the same settings as options of pip's."""
        more = tuple(f"--extra-index-url={url}" for url in self.more)
        certificates = () if self.certificates is None else (f"--cert={self.certificates}",)
        return (f"--index-url={self.url}", *more, *certificates)


def find_index(environment: Mapping[str, str]) -> IndexSettings:
    """Ask pip where the index is, in the operator's own environment.

    Raises:
        SupplyError: pip does not answer.
    """
    argv = [sys.executable, "-m", "pip", "--disable-pip-version-check", "config", "list"]
    known = {name: environment[name] for name in environment if name in PIP_READS or name.startswith("PIP_")}
    try:
        answer = subprocess.run(argv, env=known, capture_output=True, text=True, timeout=60, check=True)
    except (OSError, subprocess.SubprocessError) as error:
        raise SupplyError(
            file="pip",
            field="config list",
            found=str(error),
            expected="pip's configuration",
            mend="run scripts/setup, which installs pip beside the runner",
        ) from error
    return parse_index(answer.stdout)


def parse_index(listing: str) -> IndexSettings:
    """Read `pip config list`: the environment counts first, then a command's section, then the global one."""
    found: dict[str, str] = {}
    for section in ("global", "install", "download", ":env:"):
        for line in listing.splitlines():
            key, _, value = line.partition("=")
            if key.startswith(f"{section}."):
                found[key.removeprefix(f"{section}.").lstrip(".")] = _literal(value)
    certificates = found.get("cert")
    return IndexSettings(
        url=found.get("index-url", PYPI).rstrip("/"),
        more=tuple(found.get("extra-index-url", "").split()),
        certificates=Path(certificates) if certificates else None,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What an index answered, from where in the end."""

    url: str
    content_type: str
    data: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpIndex:
    """A package index over HTTPS. It sends a package's name and nothing else."""

    settings: IndexSettings

    def download(self, pin: Pin) -> bytes:
        """Fetch the pinned file, or, if no file has that digest, the version's only `.tar.gz`.

        Raises:
            SupplyError: no index that is configured has such a file, or none can be reached.
        """
        failed = _unserved(pin, "no index that is read over HTTP")
        for url in (self.settings.url, *self.settings.more):
            if url.startswith(SCHEMES):
                try:
                    return self._download(url.rstrip("/"), pin)
                except SupplyError as error:
                    failed = error
        raise failed

    def _download(self, index: str, pin: Pin) -> bytes:
        page = self._get(f"{index}/{normal_name(pin.name)}/", pin, ACCEPTED)
        link = pick(links(page.content_type, page.data.decode("utf-8", "replace")), pin)
        return self._get(urljoin(page.url, link.url), pin, "*/*").data

    def _get(self, url: str, pin: Pin, accepted: str) -> Answer:
        if not url.startswith(SCHEMES):
            raise _unserved(pin, f"the address {describe(url)}")
        trusted = ssl.create_default_context(cafile=self.settings.certificates)
        request = Request(url, headers={"accept": accepted, "user-agent": "cleanroom-runner"})  # noqa: S310 - the scheme was looked at
        try:
            with urlopen(request, timeout=TIMEOUT_SECONDS, context=trusted) as answer:  # noqa: S310 - as above
                data = answer.read(ARCHIVE_BYTES + 1)
                kind = answer.headers.get("content-type", "")
        except HTTPError as error:
            error.close()
            raise _unserved(pin, f"status {error.code} from {describe(url)}") from error
        except (OSError, HTTPException, ValueError) as error:
            raise _unserved(pin, printable(f"{type(error).__name__}: {error}")) from error
        if len(data) > ARCHIVE_BYTES:
            raise _unserved(pin, f"more than {ARCHIVE_BYTES} bytes")
        return Answer(url=answer.url, content_type=kind, data=data)


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfiguredIndex:
    """The index that pip is configured for; nobody is asked before something is needed."""

    environment: Mapping[str, str]

    def settings(self) -> IndexSettings:
        """Ask pip."""
        return find_index(self.environment)

    def download(self, pin: Pin) -> bytes:
        """Fetch the pinned file from the configured index, or from the npm registry."""
        if pin.kind == "npm":
            address = registry_of(self.environment)
            return fetch_package(f"{address}/{package_file(pin.name, pin.version)}", ARCHIVE_BYTES)
        return HttpIndex(settings=self.settings()).download(pin)


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """One file an index offers."""

    filename: str
    url: str
    sha256: str | None


def links(content_type: str, page: str) -> tuple[Link, ...]:
    """Read a simple page in either of its forms (PEP 503 or PEP 691); what is no file link is left out."""
    if "json" not in content_type:
        reader = _Anchors()
        reader.feed(page)
        return tuple(reader.links)
    try:
        document: object = json.loads(page)
    except ValueError:
        return ()
    files = document.get("files") if isinstance(document, dict) else None
    return tuple(_link(file) for file in files if _is_file(file)) if isinstance(files, list) else ()


def pick(offered: tuple[Link, ...], pin: Pin) -> Link:
    """Choose the pinned file: by digest, else by name and version.

    Raises:
        SupplyError: the version has no `.tar.gz` there.
    """
    for link in offered:
        if link.sha256 == pin.sha256 and link.filename.endswith(".tar.gz"):
            return link
    for link in offered:
        stem = link.filename.removesuffix(".tar.gz")
        name, _, version = stem.rpartition("-")
        if stem != link.filename and normal_name(name) == normal_name(pin.name) and version == pin.version:
            return link
    raise _unserved(pin, f"{len(offered)} files, none of them this version's .tar.gz")


class _Anchors(HTMLParser):
    """Collects a PEP 503 page's links."""

    def __init__(self) -> None:
        super().__init__()
        self.links: list[Link] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Take one anchor."""
        href = dict(attrs).get("href")
        if tag == "a" and href:
            url, _, fragment = href.partition("#")
            digest = fragment.removeprefix("sha256=") if fragment.startswith("sha256=") else None
            self.links.append(Link(filename=url.rpartition("/")[2], url=url, sha256=digest))


def _is_file(file: object) -> TypeGuard[dict[str, object]]:
    return isinstance(file, dict) and isinstance(file.get("filename"), str) and isinstance(file.get("url"), str)


def _link(file: dict[str, object]) -> Link:
    hashes = file.get("hashes")
    digest = hashes.get("sha256") if isinstance(hashes, dict) else None
    return Link(filename=str(file["filename"]), url=str(file["url"]), sha256=digest)


def _literal(value: str) -> str:
    """Read what pip printed: a Python string literal."""
    try:
        read: object = ast.literal_eval(value)
    except (ValueError, SyntaxError):
        return value
    return read if isinstance(read, str) else value


def _unserved(pin: Pin, found: str) -> SupplyError:
    return SupplyError(
        file=f"sdist {pin}",
        field="index",
        found=found,
        expected="its .tar.gz from the package index",
        mend="check name and version, and that the index pip is configured for can be reached",
    )
