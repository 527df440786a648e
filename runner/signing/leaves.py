"""leaves.jsonl: one line a planned attempt, in the plan's order; the leaves of a release's tree."""

from collections import Counter
from collections.abc import Iterator, Sequence

from runner.canonical import canonical
from runner.errors import DocumentError
from runner.parsing import parse_json
from runner.signing.errors import SignatureError
from runner.signing.layout import LEAVES
from runner.verification.model import Finding


def leaf(attempt: str, run_sha256: str, void: str | None = None) -> bytes:
    """Give an attempt's leaf; `attempt` is `<candidate>/<nomination>/attempt-<n>`, `void` why it has no result."""
    whole = {"attempt": attempt, "run_sha256": run_sha256}
    return canonical(whole if void is None else {**whole, "void": void})


def leaf_lines(leaves: Sequence[bytes]) -> bytes:
    """Give the file."""
    return b"".join(each + b"\n" for each in leaves)


def parse_leaves(data: bytes, file: str) -> tuple[bytes, ...]:
    """Read the leaves; what is in them is held against the evidence, not believed.

    Raises:
        SignatureError: a line is not whole.
    """
    if data and not data.endswith(b"\n"):
        raise SignatureError(file=file, found="a last line without its end", expected="whole lines")
    return tuple(data.split(b"\n")[:-1])


def compare_leaves(listed: Sequence[bytes], derived: Sequence[bytes]) -> Iterator[Finding]:
    """Find every leaf that is not the one that follows from plan and evidence."""
    names, planned = [_name(each) for each in listed], [_name(each) for each in derived]
    for name, times in Counter(names).items():
        if name not in planned:
            yield Finding(file=LEAVES, found=f"attempt {name}", expected="no attempt that the plan does not have")
        elif times > 1:
            yield Finding(file=LEAVES, found=f"attempt {name} {times} times", expected="each attempt once")
    for name in planned:
        if name not in names:
            yield Finding(file=LEAVES, found=f"no attempt {name}", expected="every attempt of the plan")
    if sorted(names) == sorted(planned):
        yield from _in_order(listed, derived, names, planned)


def _in_order(
    listed: Sequence[bytes], derived: Sequence[bytes], names: Sequence[str], planned: Sequence[str]
) -> Iterator[Finding]:
    """Compare leaf by leaf what names the same attempts."""
    astray = next((at for at, name in enumerate(names) if name != planned[at]), None)
    if astray is not None:
        found = f"attempt {names[astray]} as number {astray + 1}"
        yield Finding(file=LEAVES, found=found, expected=f"{planned[astray]}, which the plan has there")
    wanted = dict(zip(planned, derived, strict=True))
    for name, each in zip(names, listed, strict=True):
        if each != wanted[name]:
            found, expected = each.decode("utf-8", "replace"), wanted[name].decode()
            yield Finding(file=LEAVES, found=found, expected=f"{expected}, as follows from the attempt's run.json")


def _name(data: bytes) -> str:
    """Give the attempt that a leaf is about; where it tells none, the leaf itself."""
    try:
        name = parse_json(data, LEAVES).get("attempt")
    except DocumentError:
        name = None
    return name if isinstance(name, str) else data.decode("utf-8", "replace")
