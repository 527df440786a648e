"""What of a prepared nomination a certificate is about: its evaluators, and the files where work is expected. Pure."""

from evaluators.mutation import pin_of
from evaluators.registry import build
from runner.release import PreparedNomination
from runner.validating.cheats import Target
from sandbox.tree import Kind


def evaluator_digests(prepared: PreparedNomination) -> dict[str, str]:
    """Give each evaluator's digest before it has seen the solution."""
    return {spec.id: build(spec).digest() for spec in prepared.nomination.evaluators}


def target_of(prepared: PreparedNomination) -> Target:
    """Give where a nomination's work is expected: what its solution changes, and what it names."""
    spec, changed = prepared.nomination.spec, prepared.solution.change.entries
    paths = {each.path for each in changed if each.kind is Kind.FILE} | {each.encode() for each in spec.target_files}
    files = {path.decode("utf-8", "surrogateescape"): base_file(prepared, path) for path in sorted(paths)}
    is_timed = any(each.kind == "speedup" for each in prepared.nomination.evaluators)
    pinned = [str(pin.module) for each in prepared.nomination.evaluators if (pin := pin_of(each)) is not None]
    tested = {module: base_file(prepared, module.encode()) for module in pinned}
    return Target(files=files, root=spec.root, is_timed=is_timed, tested=tested)


def base_file(prepared: PreparedNomination, path: bytes) -> bytes:
    """Give a file of the base; nothing where there is none."""
    fixture = prepared.fixture
    found = next((each for each in fixture.entries if each.path == path and each.sha256 is not None), None)
    return b"" if found is None else fixture.contents.get(found.sha256 or "")
