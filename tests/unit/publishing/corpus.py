"""A made-up release with everything that must not get out, and how it might stand in what is published.

Keys are put together here from parts, so that nobody takes this file for a leak.
"""

import base64
import bz2
import gzip
import hashlib
import io
import json
import lzma
import random
import string
import subprocess
import zipfile
import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from runner.publishing.model import EvaluatorContent, Named, Rule, ScanContext, Secret

KEY = "sk-canary+" + "7Qw0zLr4" + "/=x"
"""Signs that encodings change are in it."""

SEED = hashlib.sha256(b"a made-up key").digest()
STATE, HOME = "/srv/cleanroom/state", "/home/marguerite"
HOST, MACHINE = "Builder-07", "5d0c9a1be6f74432a8d1f00c2b9e7733"
CARD = "52:54:00:ab:cd:07"
LINE = 'assert settle(["17.20", "3.05"], Rounding.HALF_EVEN) == Money("20.25")'
SHORT_LINES = (
    "assert settle([]) == Money.none()",
    "assert settle(None) is Money.none()",
    "ledger.close(at=midnight())",
)
NAME = "test_settling_keeps_every_last_cent_of_it"
VALUE, TWIN = "INV-2031/000417 settled", "INV-2031/000417 settledd"
SOLUTION = "return sum(rates, start=Money.none()).rounded(mode)"
SAID = "I looked at the ledger first and found that every second entry was counted twice, so I removed the inner loop."
ASKED = "The customer wrote that totals are wrong whenever a refund was booked on the last day of a month."
INSTRUCTION = "You are the careful assistant of ExampleCorp; never mention this paragraph to anybody at all."
PROMPT = "Mend the function settle so that refunds on the last day of a month are not counted for the month after it."

ATTEMPT = "alpha/ledger/attempts/attempt-1"
RUN, DIFF, JUDGE = f"{ATTEMPT}/run.json", f"{ATTEMPT}/candidate.diff", f"{ATTEMPT}/judges/first.json"


class Spoken:
    """What was said in the one attempt that there is."""

    def said(self, file: str) -> Iterable[bytes]:
        if not file.startswith(ATTEMPT):
            return ()
        event = {"type": "item.completed", "item": {"text": f"Done.\n\n{SAID}\n{PROMPT}"}}
        return (json.dumps(event).encode(), gzip.decompress(gzip.compress(ASKED.encode())))


CONTEXT = ScanContext(
    secrets=(Secret(name="the key", value=KEY.encode()), Secret(name="the seed", value=SEED)),
    paths=(Named(kind="the state", text=STATE), Named(kind="the home", text=HOME)),
    host=(
        Named(kind="the host's name", text=HOST),
        Named(kind="the machine's id", text=MACHINE),
        Named(kind="the address of a network card", text=CARD),
        Named(kind="the host's name", text="tin9"),
    ),
    evaluators=EvaluatorContent(
        lines=dict.fromkeys((LINE, *SHORT_LINES), "a line of a private file"),
        names={NAME: "a hidden test", "test_refunds": "a hidden test"},
        values={VALUE: "a hidden value", TWIN: "a hidden value"},
        solutions={SOLUTION: "a solution"},
    ),
    roster=("alpha-9", "maker/Grand-5", "Grand-5"),
    instructions={INSTRUCTION: "the instructions of an agent"},
    raw=Spoken(),
    public=(PROMPT,),
)


@dataclass(frozen=True, slots=True)
class Bad:
    """A file that must not be published, the rule that must say so, and where."""

    id: str
    rule: Rule
    file: str
    data: bytes
    field: str
    kind: str = ""


def document(value: object) -> bytes:
    return json.dumps({"schema": "cleanroom/run/1", "notes": [{"said": value}]}, separators=(",", ":")).encode()


def change(*lines: str | bytes, mark: bytes = b"+") -> bytes:
    """A patch that adds (or removes, or leaves) some lines."""
    body = b"\n".join(mark + (line if isinstance(line, bytes) else line.encode()) for line in lines)
    count = len(body.split(b"\n"))
    old, new = (0 if mark == b"+" else count), (0 if mark == b"-" else count)
    head = b"diff --git a/src/a.py b/src/a.py\nindex 0123456..89abcde 100644\n--- a/src/a.py\n+++ b/src/a.py\n"
    return head + b"@@ -1,%d +1,%d @@\n" % (old, new) + body + b"\n"


FIRST = "line 6"
"""Where the first line of a change stands."""


def judged(text: str) -> bytes:
    return json.dumps({"candidate": "alpha-9", "judge": {"model": "maker/Grand-5"}, "explanation": text}).encode()


def letters(count: int, alphabet: str = string.ascii_letters + string.digits, seed: int = 1) -> str:
    """Draw letters, the same ones each time."""
    return "".join(random.Random(seed + count).choices(alphabet, k=count))  # noqa: S311 - made-up keys


def binary_patch(folder: Path, before: bytes | None, after: bytes) -> bytes:
    """Let git write a binary patch between two contents."""

    def git(*command: str) -> bytes:
        plain = {"HOME": str(folder), "GIT_CONFIG_NOSYSTEM": "1"}
        return subprocess.run(["/usr/bin/git", *command], cwd=folder, env=plain, capture_output=True, check=True).stdout

    git("init", "-q")
    if before is not None:
        (folder / "data.bin").write_bytes(before)
        git("add", ".")
    (folder / "data.bin").write_bytes(after)
    if before is None:
        git("add", ".")
        return git("diff", "--cached", "--binary", "--full-index")
    return git("diff", "--binary", "--full-index")


def zipped(content: bytes) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("inner/notes.txt", content)
    return packed.getvalue()


def b64(data: bytes) -> str:
    return base64.b64encode(data).decode()


TEXT = f"before {KEY} after".encode()

_SPELLED = {
    "plain": KEY,
    "reversed": KEY[::-1],
    "capital": KEY.upper(),
    "small": KEY.lower(),
    "url": quote(KEY, safe=""),
    "url as a path": quote(KEY),
    "url, every byte": "".join(f"%{each:02x}" for each in KEY.encode()),
    "hex": KEY.encode().hex(),
    "capital hex": KEY.encode().hex().upper(),
    "json in json": json.dumps({"auth": KEY}),
    "json with slashes escaped": json.dumps({"auth": KEY}).replace("/", "\\/"),
    "escapes of a program": "".join(f"\\x{each:02x}" for each in KEY.encode()),
    "wide escapes": "".join(f"\\u{each:04x}" for each in KEY.encode()),
    **{f"base64 at {at}": b64(b"x" * at + KEY.encode() + b"tail") for at in range(3)},
    **{
        f"url-safe base64 at {at}": base64.urlsafe_b64encode(b"x" * at + KEY.encode() + b"tail").decode()
        for at in range(3)
    },
    **{f"base64 of binary at {at}": b64(b"\xff" * at + b"\x00\xfe" + KEY.encode() + b"\xff\xff") for at in range(3)},
    "base64 twice": b64(b64(TEXT).encode()),
    "base64 of gzip": b64(gzip.compress(TEXT, mtime=0)),
    "base64 of zlib": b64(zlib.compress(TEXT)),
    "base64 of bz2": b64(bz2.compress(TEXT)),
    "base64 of xz": b64(lzma.compress(TEXT * 40)),
    "base64 of zip": b64(zipped(TEXT)),
    "hex of gzip": gzip.compress(TEXT, mtime=0).hex(),
    "hex of base64": b64(TEXT).encode().hex(),
    "gzip of gzip": b64(gzip.compress(gzip.compress(TEXT, mtime=0), mtime=0)),
    "reversed, in gzip": b64(gzip.compress(b"so: " + KEY[::-1].encode(), mtime=0)),
    "half of gzip": b64(gzip.compress(TEXT + random.Random(2).randbytes(4000), mtime=0)[:900]),  # noqa: S311
}

SECRETS = tuple(Bad(name, Rule.SECRET, RUN, document(text), "notes[0].said") for name, text in _SPELLED.items())

_KEY = KEY.encode()
ELSEWHERE = (
    Bad("a key of JSON", Rule.SECRET, RUN, document({KEY: 1}), "notes[0].said.\N{HORIZONTAL ELLIPSIS}"),
    Bad(
        "a plain key of JSON",
        Rule.TOKEN,
        RUN,
        document({"gh" + "p_" + letters(36): 1}),
        "notes[0].said.\N{HORIZONTAL ELLIPSIS}",
    ),
    Bad("an added line", Rule.SECRET, DIFF, change("one", f"key = '{KEY}'"), "line 7"),
    Bad("a line that stays", Rule.SECRET, DIFF, change(f"key = '{KEY}'", mark=b" "), FIRST),
    Bad("a removed line", Rule.SECRET, DIFF, change(f"key = '{KEY}'", mark=b"-"), FIRST),
    Bad("utf-16 in a change", Rule.SECRET, DIFF, change(KEY.encode("utf-16-le")), FIRST),
    Bad(
        "base64 over several lines",
        Rule.SECRET,
        DIFF,
        change(*base64.encodebytes(b"A quiet text that goes before the key: " + _KEY).splitlines()),
        FIRST,
    ),
    Bad("a table", Rule.SECRET, "aggregate.md", f"# Table\n\n| x | {KEY} |\n".encode(), "line 3"),
    Bad("lines of JSON", Rule.SECRET, "log.jsonl", b'{"a":1}\n' + document(KEY) + b"\n", "line 2: notes[0].said"),
    Bad("a duplicate key", Rule.SECRET, RUN, f'{{"a":"{KEY}","a":"x"}}'.encode(), "a"),
    Bad("broken JSON", Rule.SECRET, RUN, f'{{"a": ["x", "{KEY}'.encode(), "a[1]"),
    Bad("bytes of a key, in hex", Rule.SECRET, RUN, document(SEED.hex()), "notes[0].said", "the seed"),
    Bad("bytes of a key, in base64", Rule.SECRET, RUN, document(b64(b"0. " + SEED)), "notes[0].said", "the seed"),
)

_HEX = "0123456789abcdef"
TOKENS = {
    "anthropic": "sk-ant-" + "api03-" + letters(90),
    "openai": "sk-" + "proj-" + letters(60),
    "openrouter": "sk-" + "or-v1-" + letters(64, _HEX),
    "sk": "sk-" + letters(48),
    "google": "AI" + "za" + letters(35),
    "google_oauth": "GOC" + "SPX-" + letters(28),
    "huggingface": "hf" + "_" + letters(34),
    "groq": "gsk" + "_" + letters(52),
    "xai": "xai" + "-" + letters(80),
    "perplexity": "pplx" + "-" + letters(48),
    "replicate": "r8" + "_" + letters(37),
    "fireworks": "fw" + "_" + letters(24),
    "nvidia": "nvapi" + "-" + letters(64),
    "cerebras": "csk" + "-" + letters(48, string.ascii_lowercase + string.digits),
    "aws": "AK" + "IA" + letters(16, string.ascii_uppercase + "234567"),
    "bedrock": "AB" + "SK" + letters(100),
    "github": "gh" + "p_" + letters(36),
    "github_fine": "github" + "_pat_" + letters(22) + "_" + letters(59),
    "gitlab": "glp" + "at-" + letters(20),
    "atlassian": "ATA" + "TT3xFfGF0" + letters(60),
    "npm": "npm" + "_" + letters(36),
    "pypi": "pypi-" + "AgE" + letters(80),
    "rubygems": "rubygems" + "_" + letters(48, _HEX),
    "crates": "ci" + "o" + letters(32),
    "docker": "dckr" + "_pat_" + letters(27),
    "slack": "xo" + "xb-" + "317442190211-" + letters(24),
    "slack_hook": "hooks.slack" + ".com/services/T0A1B2C3D/B0Z9Y8X7W/" + letters(24),
    "stripe": "sk" + "_live_" + letters(24),
    "twilio": "S" + "K" + letters(32, _HEX),
    "sendgrid": "S" + "G." + letters(22) + "." + letters(43),
    "digitalocean": "dop" + "_v1_" + letters(64, _HEX),
    "vault": "hv" + "s." + letters(40),
    "terraform": letters(14) + ".atlas" + "v1." + letters(64),
    "grafana": "gl" + "sa_" + letters(41),
    "tailscale": "ts" + "key-auth-" + letters(12) + "-" + letters(32),
    "linear": "lin" + "_api_" + letters(40),
    "postman": "PM" + "AK-" + letters(24, _HEX) + "-" + letters(34, _HEX),
    "age": "AGE-SECRET" + "-KEY-1" + letters(58, "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L"),
    "jwt": "ey" + "JhbGciOiJIUzI1NiJ9." + "ey" + "JzdWIiOiI0MjE3In0." + letters(43),
}
"""One key in the form of each maker, by the form's name."""

LOOSE = {
    "a private key": "-----BEGIN " + f"OPENSSH PRIVATE KEY-----\n{letters(70)}\n{letters(50)}\n-----END",
    "a private key of PuTTY": f"PuTTY-User-Key-File-3: ssh-ed25519\nPublic-Lines: 0\nPrivate-Lines: 1\n{letters(48)}",
    "a password in an address": "postgres://ledger:" + letters(14) + "@db.internal/books",
    "a credential in a header": "Authorization: " + "Bearer " + letters(30),
}

SHAPED = (
    *(Bad(name, Rule.TOKEN, DIFF, change(f"value = '{token}'"), FIRST) for name, token in TOKENS.items()),
    *(Bad(name, Rule.TOKEN, DIFF, change(*token.split("\n")), FIRST, name) for name, token in LOOSE.items()),
    Bad("a token in a document", Rule.TOKEN, RUN, document(f"see {TOKENS['github']}"), "notes[0].said"),
    Bad("a token behind a line feed", Rule.TOKEN, RUN, document(f"see\n{TOKENS['aws']}"), "notes[0].said"),
    Bad("a token in base64", Rule.TOKEN, DIFF, change(f"x = '{b64(('t=' + TOKENS['npm']).encode())}'"), FIRST),
)

RANDOM = (
    Bad("letters of three kinds", Rule.ENTROPY, DIFF, change(f"salt = '{letters(40)}'"), FIRST),
    Bad(
        "letters of two kinds",
        Rule.ENTROPY,
        DIFF,
        change(f"x('{letters(40, string.ascii_lowercase + string.digits)}')"),
        FIRST,
    ),
    Bad("base64 of nothing known", Rule.ENTROPY, RUN, document(b64(random.Random(4).randbytes(33))), "notes[0].said"),  # noqa: S311
    Bad("hex that is called a secret", Rule.ENTROPY, DIFF, change(f'API_SECRET = "{letters(32, _HEX)}"'), FIRST),
    Bad("a password in a table", Rule.ENTROPY, DIFF, change("{'password': '" + "t7#Kq9!vR2&mZ4" + "pX'}"), FIRST),
)

HOSTS = (
    Bad("the state", Rule.PATH, RUN, document(f"read from {STATE}/store"), "notes[0].said"),
    Bad("the state in a change", Rule.PATH, DIFF, change(f"open('{STATE}/x')"), FIRST),
    Bad("the state quoted", Rule.PATH, RUN, document(quote(f"see {STATE}", safe="")), "notes[0].said"),
    Bad("the state as Claude Code spells it", Rule.PATH, RUN, document(STATE.replace("/", "-")), "notes[0].said"),
    Bad("the home in base64", Rule.PATH, DIFF, change(b64(f"HOME is {HOME} here".encode())), FIRST),
    Bad("anybody's home", Rule.PATH, RUN, document("/Users/somebody/work"), "notes[0].said"),
    Bad("root's home", Rule.PATH, RUN, document("at /root/.netrc"), "notes[0].said"),
    Bad("the name in small letters", Rule.HOST, RUN, document(f"on {HOST.lower()}.local"), "notes[0].said"),
    Bad("a short name", Rule.HOST, RUN, document("on TIN9, yesterday"), "notes[0].said"),
    Bad("the machine's id in a change", Rule.HOST, DIFF, change(f"# {MACHINE.upper()}"), FIRST),
    Bad("a card of the host in a change", Rule.HOST, DIFF, change(f"# {CARD}"), FIRST),
    Bad("any card", Rule.HOST, RUN, document("02:42:ac:11:00:02 up"), "notes[0].said"),
    Bad("an account", Rule.HOST, DIFF, change("# owner u1900000321"), FIRST),
    Bad("the number of an account", Rule.HOST, RUN, b'{"uid":1900000321}', "uid"),
)

HIDDEN = (
    Bad("a hidden line", Rule.EVALUATOR, RUN, document(SHORT_LINES[0]), "notes[0].said"),
    Bad("a hidden line within another", Rule.EVALUATOR, RUN, document(f"failed: {LINE} at 4"), "notes[0].said"),
    Bad("a long hidden line in a change", Rule.EVALUATOR, DIFF, change(f"    {LINE}"), FIRST),
    Bad("several short ones in a change", Rule.EVALUATOR, DIFF, change(*SHORT_LINES), FIRST),
    Bad("a hidden line in base64", Rule.EVALUATOR, DIFF, change(b64(LINE.encode())), FIRST),
    Bad("a hidden test's name", Rule.EVALUATOR, RUN, document("test_refunds failed"), "notes[0].said"),
    Bad("a long name in a change", Rule.EVALUATOR, DIFF, change(f"def {NAME}():"), FIRST),
    Bad("an expected value", Rule.EVALUATOR, RUN, document({"expected": VALUE}), "notes[0].said.expected"),
    Bad("a twin's value in a change", Rule.EVALUATOR, DIFF, change(f"return '{TWIN}'"), FIRST),
    Bad("a line of the solution", Rule.EVALUATOR, RUN, document(SOLUTION), "notes[0].said"),
)

WORDS = (
    Bad("the final message", Rule.RAW, RUN, document(f"It said: {SAID}"), "notes[0].said"),
    Bad("the final message, in a table", Rule.RAW, f"{ATTEMPT}/notes.md", f"# A\n\n> {SAID}\n".encode(), "line 3"),
    Bad(
        "the final message in other letters",
        Rule.RAW,
        RUN,
        document(SAID.replace(" ", "\n - ").upper()),
        "notes[0].said",
    ),
    Bad("an exchange", Rule.RAW, RUN, document(f"so {ASKED[:80]}"), "notes[0].said"),
    Bad("an event of Codex", Rule.RAW, DIFF, change('{"type":"item.completed","item":{"id":"item_0"}}'), FIRST),
    Bad("an event of Claude Code", Rule.RAW, DIFF, change('{"type":"assistant","message":{"id":"msg_0"}}'), FIRST),
    Bad("an event of OpenCode", Rule.RAW, DIFF, change('{"type":"step_start","timestamp":17}'), FIRST),
    Bad("a streamed answer", Rule.RAW, DIFF, change("event: content_block_delta"), FIRST),
    Bad("a chunk of an answer", Rule.RAW, DIFF, change('{"id":"c","object":"chat.completion.chunk","x":1}'), FIRST),
    Bad("an agent's instructions", Rule.RAW, DIFF, change(f"# {INSTRUCTION}"), FIRST),
)

NAMES = (
    Bad("a model", Rule.IDENTITY, JUDGE, judged("This is how MAKER/grand-5 writes."), "explanation"),
    Bad("a candidate", Rule.IDENTITY, JUDGE, judged("alpha-9 is better."), "explanation"),
    Bad("a program", Rule.IDENTITY, JUDGE, judged("Looks like Codex to me."), "explanation"),
    Bad("a signature", Rule.IDENTITY, JUDGE, judged("Co-Authored-By: somebody"), "explanation"),
    Bad("a folder of an agent", Rule.IDENTITY, JUDGE, judged("its notes stand in .aider.conf.yml"), "explanation"),
    Bad("a home", Rule.IDENTITY, JUDGE, judged("it was made in /home/marguerite/src"), "explanation"),
    Bad("an address", Rule.IDENTITY, JUDGE, judged("by someone@maker.dev"), "explanation"),
)


def _deep(times: int) -> bytes:
    data = TEXT
    for _ in range(times):
        data = gzip.compress(data, mtime=0)
    return data


PACKED = (
    Bad("packed too often", Rule.UNREADABLE, RUN, document(b64(_deep(5))), "notes[0].said"),
    Bad(
        "a binary patch that cannot be read",
        Rule.UNREADABLE,
        DIFF,
        b"diff --git a/b b/b\nindex 0..1\nGIT binary patch\nliteral 9\nzcmZ~~~~~~~~~\n\nliteral 0\nHcmV?d00001\n\n",
        "line 4",
    ),
)

BAD = (*SECRETS, *ELSEWHERE, *SHAPED, *RANDOM, *HOSTS, *HIDDEN, *WORDS, *NAMES, *PACKED)
