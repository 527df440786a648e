"""Every line of a ledger against the recording: each has its exchange, and each exchange its line."""

from collections import Counter
from collections.abc import Iterable, Iterator

from runner.artifacts import Sealed
from runner.documents.ledger import LedgerLine
from runner.errors import SealBrokenError
from runner.gateway.recording import BrokenRecordingError, Recording, read_recording
from runner.kept import EXCHANGES, FIRST
from runner.verification.model import Finding, Opened

RUN, PROBES = f"{EXCHANGES}/solution.gz", f"{EXCHANGES}/preflight-"
FIRST_RUN = f"{FIRST}/{RUN}"


def check_submission_exchanges(opened: Opened) -> Iterator[Finding]:
    """Hold each ledger of a submission against the recordings of the same runs."""
    probes = [name for name in _recordings(opened.sealed) if name.startswith(PROBES)]
    for ledger, names in (("ledger.jsonl", [RUN]), (f"{FIRST}/ledger.jsonl", [FIRST_RUN]), ("preflight.jsonl", probes)):
        lines = _lines(opened, ledger)
        if lines is not None:
            held = [name for name in names if opened.sealed.holds(name)]
            yield from _check(opened.sealed, ledger, lines, held, whole=True)


def check_void_exchanges(opened: Opened) -> Iterator[Finding]:
    """Hold what ledger there is of a void against all its recordings, which may be further on, and torn."""
    names = list(_recordings(opened.sealed))
    if not names:
        return  # its lines are of a probe that another try made
    ledgers = ("ledger.jsonl", f"{FIRST}/ledger.jsonl", "preflight.jsonl")
    lines = [line for ledger in ledgers for line in _lines(opened, ledger) or ()]
    yield from _check(opened.sealed, "ledger.jsonl", lines, names, whole=False)


def _recordings(sealed: Sealed) -> Iterator[str]:
    return (each.path for each in sealed.seal.files if each.path.endswith(".gz"))


def _lines(opened: Opened, ledger: str) -> tuple[LedgerLine, ...] | None:
    found = opened.documents.get(ledger)
    if not isinstance(found, tuple):
        return None
    return tuple(line for line in found if isinstance(line, LedgerLine))


def _check(
    sealed: Sealed, ledger: str, lines: Iterable[LedgerLine], names: list[str], *, whole: bool
) -> Iterator[Finding]:
    kept: Counter[tuple[int, str]] = Counter()
    for name in names:
        recording = _read(sealed, name)
        if isinstance(recording, Finding):
            yield recording
            return
        if whole and recording.torn:
            yield Finding(file=str(sealed.folder / name), found="a torn end", expected="whole records")
        kept.update((each.sequence, each.asked.sha256) for each in recording.exchanges if each.given is not None)
    for line in lines:
        key = (line.sequence, line.request_sha256)
        if not kept[key]:
            place = sealed.folder / ledger
            yield Finding(file=str(place), found=f"line {line.sequence}", expected="an exchange with the same request")
        else:
            kept[key] -= 1
    for sequence, digest in sorted(+kept) if whole else ():
        found = f"exchange {sequence} with the request {digest[:16]}..."
        yield Finding(file=str(sealed.folder / names[0]), found=found, expected="a line of the ledger for it")


def _read(sealed: Sealed, name: str) -> Recording | Finding:
    try:
        return read_recording(sealed.bytes(name))
    except BrokenRecordingError as error:
        return Finding(file=str(sealed.folder / name), found=str(error), expected="a recording")
    except SealBrokenError as error:
        return Finding(file=error.file, found=error.found, expected=error.expected)
