"""The package index: found the way pip is configured, and held to what was pinned."""

import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from runner.errors import SupplyError
from runner.package_index import (
    PYPI,
    HttpIndex,
    IndexSettings,
    Link,
    find_index,
    links,
    parse_index,
    pick,
)
from runner.sdist import Pin

DIGEST = "ab" * 32
PIN = Pin(name="Some.Package", version="1.2", sha256=DIGEST)


@pytest.mark.parametrize(
    ("listing", "expected"),
    [
        pytest.param("", IndexSettings(), id="nothing-configured"),
        pytest.param(
            "global.index-url='https://mirror.example/simple/'\n",
            IndexSettings(url="https://mirror.example/simple"),
            id="global",
        ),
        pytest.param(
            "global.index-url='https://a.example'\ninstall.index-url='https://b.example'\n"
            "global.timeout='5'\n:env:.index-url='https://c.example'\n",
            IndexSettings(url="https://c.example"),
            id="environment-counts-first",
        ),
        pytest.param(
            "global.cert='/etc/ca.crt'\nglobal.extra-index-url='https://a.example\\nfile:///b'\n",
            IndexSettings(more=("https://a.example", "file:///b"), certificates=Path("/etc/ca.crt")),
            id="more",
        ),
        pytest.param(
            "index-url\n=\nglobal.index-url=https://plain.example\n",
            IndexSettings(url="https://plain.example"),
            id="odd-lines",
        ),
    ],
)
def test_pips_listing_is_read(listing: str, expected: IndexSettings) -> None:
    assert parse_index(listing) == expected


def test_the_index_is_the_one_that_pip_is_configured_for() -> None:
    environment = {"PATH": "/usr/bin:/bin", "HOME": "/nonexistent", "PIP_CONFIG_FILE": "/dev/null"}
    assert find_index(environment).url == PYPI
    own = environment | {"PIP_INDEX_URL": "https://own.example/simple"}
    assert find_index(own).url == "https://own.example/simple"


def test_both_forms_of_a_page_give_the_same_links() -> None:
    page = f'<html><a href="../x/some_package-1.2.tar.gz#sha256={DIGEST}">x</a><a name="y">y</a></html>'
    document = {
        "files": [
            {
                "filename": "some_package-1.2.tar.gz",
                "url": "../x/some_package-1.2.tar.gz",
                "hashes": {"sha256": DIGEST},
            },
            {"filename": 3},
        ]
    }
    expected = (Link(filename="some_package-1.2.tar.gz", url="../x/some_package-1.2.tar.gz", sha256=DIGEST),)
    assert links("text/html; charset=utf-8", page) == expected
    assert links("application/vnd.pypi.simple.v1+json", json.dumps(document)) == expected
    assert links("application/json", "[") == ()
    assert links("application/json", "[1]") == ()


def test_the_pinned_file_is_picked_by_digest_and_else_by_name() -> None:
    wheel = Link(filename="some_package-1.2-py3-none-any.whl", url="w", sha256=DIGEST)
    other = Link(filename="some_package-1.1.tar.gz", url="o", sha256=None)
    named = Link(filename="some_package-1.2.tar.gz", url="n", sha256="cd" * 32)
    exact = Link(filename="Some-Package-1.2.tar.gz", url="e", sha256=DIGEST)
    assert pick((wheel, other, named, exact), PIN) == exact
    assert pick((wheel, other, named), PIN) == named
    with pytest.raises(SupplyError, match="2 files, none of them"):
        pick((wheel, other), PIN)


@contextmanager
def served(pages: Mapping[str, tuple[str, bytes]]) -> Iterator[tuple[str, list[str]]]:
    """Serve pages by path on this machine alone; give the address and what was asked."""
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            kind, data = pages.get(self.path, ("", b""))
            self.send_response(200 if kind else 404)
            self.send_header("content-type", kind)
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", asked
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def test_a_file_is_fetched_by_its_page() -> None:
    page = b'<a href="/files/some_package-1.2.tar.gz">x</a>'
    pages = {
        "/simple/some-package/": ("text/html", page),
        "/files/some_package-1.2.tar.gz": ("application/gzip", b"bytes"),
    }
    with served(pages) as (address, asked):
        index = HttpIndex(settings=IndexSettings(url=f"{address}/simple"))
        assert index.download(PIN) == b"bytes"
    assert asked == list(pages)


def test_what_is_not_served_is_told_with_its_cause() -> None:
    with served({}) as (address, _):
        index = HttpIndex(settings=IndexSettings(url=f"{address}/simple"))
        with pytest.raises(SupplyError, match="404"):
            index.download(PIN)
    with pytest.raises(SupplyError, match="refused"):
        index.download(PIN)
