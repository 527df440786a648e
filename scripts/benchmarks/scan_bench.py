"""The scan before publication: 10,000 attempts, about 100 MB of documents and changes."""

import hashlib
import json
import random
import time
from collections.abc import Iterator

from figures import Figure, Measured

from runner.publishing.model import EvaluatorContent, Named, ScanContext, Secret
from runner.publishing.scan import scan

_ATTEMPTS, _LINES, _SECRETS = 10_000, 5_000, 20
_MOST_MS = 60_000
_SYLLABLES = ("ba", "ce", "di", "fo", "gu", "ka", "le", "mi", "no", "pu", "ra", "se", "ti", "vo", "zu")


def figures() -> list[Figure]:
    """Measure a whole scan; nothing is found, as in a release that may be published."""
    lot = random.Random(5)  # noqa: S311 - made-up texts
    files = dict(_release(lot))
    context = _context(lot)
    size = sum(map(len, files.values()))
    start, began = time.perf_counter(), time.process_time()
    found = scan(files, context)
    took, used = time.perf_counter() - start, time.process_time() - began
    print(f"bench: scan: {len(files)} files, {size / 1e6:.0f} MB, {used:.1f} s of one core", flush=True)
    if found:
        raise SystemExit(f"bench: scan: found {found[0]}, where nothing is")
    return [Figure(what="scan: 10,000 attempts", ours=Measured(name="scan", seconds=(took,)), most_ms=_MOST_MS)]


def _words(lot: random.Random, count: int) -> str:
    return " ".join("".join(lot.choices(_SYLLABLES, k=lot.randint(1, 4))) for _ in range(count))


def _digest(lot: random.Random) -> str:
    return hashlib.sha256(lot.randbytes(8)).hexdigest()


def _release(lot: random.Random) -> Iterator[tuple[str, bytes]]:
    for number in range(_ATTEMPTS):
        folder = f"candidate-{number % 50}/task-{number % 40}/attempts/attempt-{number}"
        yield f"{folder}/run.json", _run(lot, number)
        yield f"{folder}/test-result.json", json.dumps({"stdout_sha256": _digest(lot), "passed": True}).encode()
        yield f"{folder}/candidate.diff", _change(lot)


def _run(lot: random.Random, number: int) -> bytes:
    changes = [
        {"path": f"src/{_words(lot, 1)}/{_words(lot, 1)}.py", "sha256": _digest(lot), "size": lot.randrange(1 << 16)}
        for _ in range(16)
    ]
    document = {
        "attempt": number,
        "changes": changes,
        "evidence": [_digest(lot) for _ in range(12)],
        "reason": f"public tests passed, hidden checks passed ({_words(lot, 3)})",
        "started_at": 1_700_000_000_000 + number,
    }
    return json.dumps(document, sort_keys=True, separators=(",", ":")).encode()


def _change(lot: random.Random) -> bytes:
    lines = ["diff --git a/src/a.py b/src/a.py", "--- a/src/a.py", "+++ b/src/a.py", "@@ -1,40 +1,80 @@"]
    for at in range(120):
        name = "_".join(_words(lot, 3).split())
        lines.append(f'{"+" if at % 3 else " "}    {name} = compute("{_words(lot, 2)}\\n", {at})  # {_words(lot, 3)}')
    return "\n".join(lines).encode() + b"\n"


def _context(lot: random.Random) -> ScanContext:
    return ScanContext(
        secrets=tuple(Secret(name=f"key {at}", value=f"sk-{_digest(lot)}".encode()) for at in range(_SECRETS)),
        paths=(Named(kind="the state", text="/var/lib/cleanroom"), Named(kind="the home", text="/home/operator")),
        host=(Named(kind="the host's name", text="builder-07"), Named(kind="the machine's id", text=_digest(lot)[:32])),
        evaluators=EvaluatorContent(
            lines={f"assert {_words(lot, 6)} == {at}": "a line of a private file" for at in range(_LINES)},
            names={f"test_{_words(lot, 4).replace(' ', '_')}_{at}": "a name" for at in range(_LINES // 5)},
        ),
    )
