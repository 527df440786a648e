"""Running an attempt's agent again, against what was recorded of it in its provider's place. Writes no evidence."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from runner import __version__
from runner.agents.registry import AGENTS
from runner.artifacts import Sealed
from runner.bundles.bundle import Bundle
from runner.bundles.held import fact_of, load_runtimes
from runner.clock import now_ms
from runner.documents.evidence import Submission
from runner.documents.runtimes import RuntimeName
from runner.documents.seal import SealKind, Trial
from runner.errors import UsageError, VerificationError
from runner.freezer import Frozen
from runner.gateway.divergence import Comparison, compare
from runner.gateway.recording import BrokenRecordingError, Recording, read_recording
from runner.kept import EXCHANGES, FIRST
from runner.keyless import keyless_room
from runner.naming import named_try
from runner.roster import NetworkMode
from runner.settings import Settings
from runner.store import Store, Try, cell_of
from runner.trail import LEDGER, SOLUTION, Trail, left_recordings
from runner.verification.exchanges import check_submission_exchanges
from runner.verification.folders import Reader, open_folder
from runner.verify import model_schemas

Tell = Callable[[str], None]

RUNS = (f"{FIRST}/{EXCHANGES}/{SOLUTION}.gz", f"{EXCHANGES}/{SOLUTION}.gz")
"""The recordings of an agent's work, in order; the first is of a first shot."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Replayed:
    """What came of a replay."""

    trial: Trial
    comparisons: tuple[Comparison, ...]
    """One a run of the agent; none where it asks no model."""
    tree_sha256: str
    sealed_sha256: str
    ended: str
    notes: tuple[str, ...]
    """What was not as it had been, though it need not matter."""

    @property
    def divergences(self) -> tuple[str, ...]:
        """Give every way in which it was another run, the first one first."""
        return tuple(found.says for each in self.comparisons for found in each.divergences)

    @property
    def is_same(self) -> bool:
        """Whether the same was asked, and the same tree was reached."""
        return not self.divergences and self.tree_sha256 == self.sealed_sha256


def find_try(store: Store, frozen: Frozen, wanted: str) -> Try:
    """Give the try that `candidate/nomination/attempt-N`, or one of its tries, names.

    Raises:
        UnknownNameError: none is called so, with near matches.
        UsageError: it left nothing to replay.
        SealBrokenError: its evidence is not what was sealed.
    """
    trial = named_try(store, frozen.manifest, wanted)
    found = next(each for each in store.tries(cell_of(trial)) if each.trial == trial)
    if found.submission is None:
        raise UsageError(f"{wanted} left no submission, so that there is no tree to reach; name another try")
    candidate = frozen.manifest.candidate(trial.candidate)
    if candidate.network is NetworkMode.DIRECT:
        raise UsageError(
            f"{trial.candidate} reached its hosts by itself, so that nothing of it was recorded; name another candidate"
        )
    if not AGENTS[candidate.agent].needs_gateway:
        raise UsageError(f"{trial.candidate} asks no model, so that nothing of it was recorded; name another candidate")
    return found


def replay(settings: Settings, frozen: Frozen, store: Store, wanted: str, tell: Tell) -> Replayed:
    """Run an attempt's agent again with its recording in the provider's place.

    Raises:
        UsageError: there is no such attempt, or nothing of it to replay.
        VerificationError: its evidence, or its recording, is not what was sealed.
        SandboxError, GatewayError: a fault.
    """
    found = find_try(store, frozen, wanted)
    sealed = _evidence(found)
    before = {name: _recording(sealed, name) for name in RUNS if sealed.holds(name)}
    candidate = frozen.manifest.candidate(found.trial.candidate)
    bundles = load_runtimes((candidate,), frozen.inputs.config.clean_room, settings, frozen.inputs.file)
    with TemporaryDirectory() as scratch, keyless_room(frozen, store, tell, bundles=bundles) as attempts:
        folder = Path(scratch)
        trail = Trail(
            trial=found.trial,
            candidate=candidate,
            started_ms=now_ms(),
            ledger=folder / LEDGER,
            played=sealed.folder,
        )
        prepared = next(each for each in frozen.prepared.nominations if each.nomination.id == found.trial.nomination)
        captured = attempts.solve(trail, attempts.stages.staged(prepared))
        after = {name: read_recording(path.read_bytes()) for name, path in left_recordings(folder).items()}
    document = sealed.document(Submission, "submission.json")
    return Replayed(
        trial=found.trial,
        comparisons=_compared(before, after),
        tree_sha256=captured.tree_digest,
        sealed_sha256=document.tree_sha256,
        ended=_ended(trail),
        notes=tuple(_notes(document, bundles)),
    )


def _evidence(found: Try) -> Sealed:
    """Give a submission whose ledger and recordings belong together.

    Raises:
        VerificationError: they do not.
    """
    if found.submission is None:
        raise UsageError("there is no submission")
    opened, findings = open_folder(found.submission.folder, SealKind.SUBMISSION, found.trial, Reader(model_schemas()))
    findings += () if opened is None else tuple(check_submission_exchanges(opened))
    if findings:
        raise VerificationError("\n".join(str(each) for each in findings))
    return found.submission


def _recording(sealed: Sealed, name: str) -> Recording:
    try:
        return read_recording(sealed.bytes(name))
    except BrokenRecordingError as error:
        raise VerificationError(f"{sealed.folder / name}: {error}") from error


def _compared(before: Mapping[str, Recording], after: Mapping[str, Recording]) -> tuple[Comparison, ...]:
    nothing = read_recording(b"")
    names = [name for name in RUNS if name in before or name in after]
    return tuple(compare(before.get(name, nothing), after.get(name, nothing)) for name in names)


def _ended(trail: Trail) -> str:
    """Say how the agent's unit ended."""
    if trail.ran is None:
        return "never"
    end = trail.ran.result.termination
    return f"{end.cause}" if end.status is None else f"{end.cause} {end.status}"


def _notes(document: Submission, bundles: Mapping[RuntimeName, Bundle]) -> Iterator[str]:
    """Say what surrounds the agent that is not as it was."""
    origin = document.origin
    if origin.runner != __version__:
        yield f"recorded by runner {origin.runner}, replayed by {__version__}"
    facts = [fact_of(bundle) for bundle in bundles.values()]
    if origin.runtime is not None and origin.runtime not in facts:
        yield f"the agent's program is not the recorded one ({origin.runtime.tree_sha256})"
