"""What looks like a leak and is none: it must not stop a publication."""

import hashlib
import json
import random
import struct
import uuid
import zlib
from dataclasses import dataclass

from tests.unit.publishing.corpus import (
    ATTEMPT,
    DIFF,
    JUDGE,
    NAME,
    PROMPT,
    RUN,
    SAID,
    SHORT_LINES,
    SOLUTION,
    b64,
    change,
    document,
    judged,
    letters,
)


@dataclass(frozen=True, slots=True)
class Good:
    """A file that may be published as it is."""

    id: str
    file: str
    data: bytes


def _digest(kind: str, text: str = "x") -> str:
    return hashlib.new(kind, text.encode()).hexdigest()


def _raw_digest(kind: str) -> str:
    return b64(hashlib.new(kind, b"content of a package").digest())


def _png() -> bytes:
    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = b"".join(b"\0" + random.Random(row).randbytes(48) for row in range(16))  # noqa: S311 - a picture
    head = struct.pack(">IIBBBBB", 16, 16, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


UUID = str(uuid.UUID(int=random.Random(6).getrandbits(128), version=4))  # noqa: S311 - test data

_LOCK = json.dumps(
    {
        "node_modules/left-pad": {
            "version": "1.3.0",
            "resolved": "https://registry.npmjs.org/left-pad/-/left-pad-1.3.0.tgz",
            "integrity": f"sha512-{_raw_digest('sha512')}",
        }
    },
    indent=2,
)

_MINIFIED = (
    "!function(e,t){'object'==typeof exports&&'undefined'!=typeof module?module.exports=t():e.Qx=t()}(this,function(){"
    "var n='undefined'!=typeof Symbol&&Symbol.iterator,r=Object.getOwnPropertyDescriptors||function(e){for(var t="
    "Object.keys(e),i={},a=0;a<t.length;a++)i[t[a]]=Object.getOwnPropertyDescriptor(e,t[a]);return i}});"
)

CHANGES: dict[str, tuple[str | bytes, ...]] = {
    "sha256 in a test": (f'assert digest == "{_digest("sha256")}"',),
    "sha1 of a commit": (f"# see https://github.com/python/cpython/commit/{_digest('sha1')}/Lib/ast.py",),
    "md5": (f'ETAG = "{_digest("md5")}"',),
    "capital digest": (f'CHECK = "{_digest("sha256").upper()}"',),
    "uuid": (f'ID = "{UUID}"', f"urn:uuid:{UUID}"),
    "package-lock.json": tuple(_LOCK.splitlines()),
    "requirements.lock": (f"click==8.1.7 --hash=sha256:{_digest('sha256')}",),
    "go.sum": (f"golang.org/x/text v0.14.0 h1:{_raw_digest('sha256')}",),
    "Cargo.lock": (f'checksum = "{_digest("sha256", "c")}"',),
    "subresource integrity": (f'<script integrity="sha384-{_raw_digest("sha384")}"></script>',),
    "a public key of ssh": (f"ssh-ed25519 {b64(b'ssh-ed25519' + random.Random(8).randbytes(40))} me",),  # noqa: S311
    "a picture in an address": (f"background: url(data:image/png;base64,{b64(_png())})",),
    "minified script": (_MINIFIED,),
    "a map of sources": (
        '{"version":3,"mappings":"AAAA,SAASA,GAAGC,EAAEC,GAAG,OAAOD,EAAIC,CAAC,CAAC,GAAGC,IAAIC,KAAKC"}',
    ),
    "a long name": ("def test_getElementsByTagNameNS_returns_nodes_of_HTML5_and_SVG11_alike(): ...",),
    "long camel case": ("AbstractSingletonProxyFactoryBean2.setPostInterceptorsForJDK17(HttpRequestV2)",),
    "long constants": ("TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256 = PKIX_RSA_PKCS1V15_4096_SHA256",),
    "a long path": ("from 'packages/core/src/v2/components/TableHeader3/useColumnWidths2.ts'",),
    "an alphabet": ('BASE = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"',),
    "an alphabet of base 58": ('B58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"',),
    "placeholders": ("OPENAI_API_KEY=sk-" + "x" * 48, "export GH=gh" + "p_" + "X" * 36),
    "a key of the documentation": ("aws_access_key_id = AK" + "IAIOSFODNN7EXAMPLE",),
    "words about keys": ("token = get_token(session, 'refresh_token_for_this_session')", "secret = 'correct horse'"),
    "a template of a key": ('api_key="{settings.api_key_of_the_2nd_account}"',),
    "an address with a user": ("git clone https://user@example.org/repository.git",),
    "an address with a variable": ("DATABASE_URL=postgres://app:${DB_PASSWORD}@localhost/app",),
    "an example in a header": ("curl -H 'Authorization: Bearer YOUR_TOKEN_GOES_RIGHT_HERE'",),
    "numbers": ("3.14159265358979323846264338327950288419716939937510", "1900000321 + 19000003210"),
    "a time of 2030": ("datetime.fromtimestamp(1900000321, UTC)",),
    "a card in a test": ('assert parse_mac("00:1b:63:84:45:e6") == 0x001B638445E6',),
    "an address of version 6": ("2001:0db8:85a3:0000:0000:8a2e:0370:7334",),
    "somebody's home in a test": ('assert expand("~/x") == "/home/user/x"', 'Path("/root/.cache")'),
    "the unit's own folders": ("cd /work && HOME=/home/agent python3 -m pytest /tmp/x",),
    "base64 of words": (f'assert decode("{b64(b"Many hands make light work, they say.")}")',),
    "one short line that is hidden too": (SHORT_LINES[0],),
    "two short lines that are hidden too": SHORT_LINES[:2],
    "a short name that is hidden too": ("def test_refunds(): ...",),
    "the solution": (f"    {SOLUTION}",),
    "what the agent said": (f'"""{SAID}"""',),
    "a type in JSON": ('{"type": "text", "text": "hello"}', '{"type": "object", "properties": {}}'),
    "regular expressions": (r"re.compile(r'(?P<a>\\\\{2,}|[^\\\"]*)\\n\\x41\\u00e9')",),
    "percent signs": ("'%s is %d%% of %(name)s' % (a, b)", "100%25 of %C3%A9t%C3%A9"),
    "bytes that are no text": (bytes(range(128, 256)) * 4,),
    "a very long line of base64": (b64(random.Random(9).randbytes(3000)),),  # noqa: S311
    "ascii art": ("=" * 60, "+-----------+------------+-----------+", "_" * 40 + "/" * 40),
    "roman numbers and units": ("MMMDCCCLXXXVIII 1024KiB/2048MiB/4096GiB/8192TiB", "rgba(255,255,255,0.87)"),
    "a version string": ("cpython-311-x86_64-linux-gnu-manylinux2014_x86_64.manylinux_2_17_x86_64.whl",),
    "dna": ("ACGTACGTTAGCTAGCATCGATCGATCGATTACGATCGACTAGCTACG",),
}

DOCUMENTS: dict[str, tuple[str, bytes]] = {
    "digests": (RUN, json.dumps({"a": [_digest("sha256", str(n)) for n in range(9)], "b": _digest("sha1")}).encode()),
    "sizes and times": (RUN, b'{"memory_peak_bytes":1900000321,"started_at":1753000000000,"disk_bytes":1048576}'),
    "ids": (RUN, document("alpha:ledger:attempt-1 of public-tests-only-with-a-long-name-2")),
    "a path of a change": (RUN, document("src/caf%C3%A9/%F0%9F%98%80.py")),
    "the prompt": (RUN, document(PROMPT)),
    "a sentence of our own": (
        RUN,
        document("forbidden: tests/a.py is protected; public tests passed, no hidden check"),
    ),
    "signatures": (
        "release.dsse.json",
        json.dumps({"payload": b64(b'{"_type":"x"}'), "signatures": [{"sig": b64(bytes(range(99, 163)))}]}).encode(),
    ),
    "a checkpoint": (
        "checkpoint",
        f"origin/x\n10000\n{_raw_digest('sha256')}\n\n\u2014 origin/x {b64(hashlib.sha512(b'').digest())}\n".encode(),
    ),
    "a judge about nobody": (JUDGE, judged("It removes the inner loop and keeps the order; the names are plain.")),
    "a hidden word within a word": (RUN, document(f"x{NAME}y and atest_refunds2")),
    "a host's name within a word": (RUN, document("Builder-0745 of satin9")),
    "a table": (
        "aggregate.md",
        b"| Rank / status | Model | Public |\n|---|---|---|\n| 1 | scripted/right-repair | Pass |\n",
    ),
}

GOOD = (
    *(Good(name, DIFF, change(*lines)) for name, lines in CHANGES.items()),
    *(Good(name, file, data) for name, (file, data) in DOCUMENTS.items()),
    Good("a token that the fixture has", DIFF, change("t = 'gh" + f"p_{letters(36)}'", mark=b" ")),
    Good("a hidden line that was there", DIFF, change(*SHORT_LINES, mark=b"-")),
    Good("an empty change", DIFF, b""),
    Good("a name in a folder", f"{ATTEMPT}/judges/second.json", b"{}"),
)
