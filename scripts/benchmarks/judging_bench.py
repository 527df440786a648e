"""Ten thousand packets of a large release, whole: rendered, scrubbed, scanned, digested and written as prompts.

50 candidates on 20 nominations, each with a change of its own to a module of some 150 lines; each is compared with the
next five, in both orders: 10,000 askings. The view without comments is measured as well.
"""

import time
from pathlib import Path

from figures import Figure, Measured

from runner.documents.judging import Cell, View
from runner.judges import AnchoredCriterion, Ceilings
from runner.judging.changes import Content, FileChange, Look
from runner.judging.identity import identities
from runner.judging.packet import Packet, PublicTests, Submitted, packet_digest
from runner.judging.pairing import circulant
from runner.judging.prompts import Secrets, build_prompt
from runner.judging.render import Shown, render

_ROOT = Path(__file__).resolve().parents[2]
_MODULES = sorted((_ROOT / "runner/agents").glob("*.py"), key=lambda path: len(path.read_bytes()))[-1:]
_CANDIDATES, _NOMINATIONS, _DEGREE = 50, 20, 5
_MOST_MS = 30_000
_SECRETS = Secrets(boundary="b0" * 16, nonce="c1" * 16, canary="d2" * 16)
_CRITERION = AnchoredCriterion(id="scope", asks="Does it do what was asked?", anchors={"0": "no", "10": "all"})


def figures() -> list[Figure]:
    """Measure a whole release's packets in each view."""
    return [
        Figure(
            what=f"judging: 10,000 packets, {view} view",
            ours=Measured(name="packets", seconds=(_timed(view),)),
            most_ms=_MOST_MS,
        )
        for view in View
    ]


def _timed(view: View) -> float:
    template = (_ROOT / "config/judging/pairwise.md").read_text()
    base = _MODULES[0].read_bytes()
    started = time.perf_counter()
    packets = 0
    for nomination in range(_NOMINATIONS):
        look = Look(view=view, ceilings=Ceilings(), known=identities(["vendor/wonder-7b"]), task=f"Task {nomination}.")
        sides = {f"c{number}": render([_change(base, nomination, number)], look) for number in range(_CANDIDATES)}
        for first, second in circulant([_cell(name, nomination) for name in sides], _DEGREE):
            for pair in ((first, second), (second, first)):
                packet = _packet(look, [sides[cell.candidate] for cell in pair])
                packet_digest(packet)
                build_prompt(template, packet, _SECRETS)
                packets += 1
    if packets != _CANDIDATES * _NOMINATIONS * _DEGREE * 2:
        raise SystemExit(f"{packets} packets were made")
    return time.perf_counter() - started


def _packet(look: Look, sides: list[Shown]) -> Packet:
    changes = tuple(Submitted(shown=shown, tests=PublicTests.PASSED) for shown in sides)
    return Packet(task=look.task, criteria=(_CRITERION,), changes=changes, solution=None, view=look.view)


def _change(base: bytes, nomination: int, number: int) -> FileChange:
    lines = base.split(b"\n")
    at = (nomination * 7 + number * 3) % (len(lines) // 2)
    body = [b"    value_%d = %d  # step %d by Claude" % (line, line * number, line) for line in range(30)]
    lines[at : at + 2] = [b"# %d" % number]
    after = b"\n".join([*lines, b"def added_%d() -> int:" % number, *body, b"    return value_0", b""])
    return FileChange(path=b"src/module.py", before=Content(data=base), after=Content(data=after))


def _cell(name: str, nomination: int) -> Cell:
    return Cell(candidate=name, nomination=f"n{nomination}", attempt=1, try_=1, submission_sha256="0" * 64)
