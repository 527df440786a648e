"""Reading what is shown of an attempt: sealed evidence alone, and nothing that is not what was sealed."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

from runner.artifacts import Sealed, inspect_sealed
from runner.documents.capture import Capture
from runner.documents.evidence import Grading, Host, Policy, PublicTests, Ruling, Submission, UnitEnd, Void
from runner.documents.evidence import Walls as WallsDocument
from runner.documents.ledger import LedgerLine
from runner.documents.manifest import Manifest
from runner.documents.model import Document
from runner.documents.seal import Trial
from runner.documents.telemetry import Preflight, Telemetry
from runner.errors import UsageError, VerificationError
from runner.gateway.recording import BrokenRecordingError, read_recording
from runner.kept import EXCHANGES, FIRST, LOGS, STREAMS
from runner.observed import look
from runner.outcome import outcome
from runner.proof import PROOFS
from runner.reason import reason
from runner.roster import NetworkMode
from runner.showing.steps import Step
from runner.showing.story import Graded, OtherTry, Run, Story, Walls
from runner.showing.streams import streamed
from runner.showing.transcript import transcript
from runner.store import SUBMISSION, VOID, Store, cell_of, grading_folders
from runner.trail import SOLUTION
from runner.verification.attempts import AttemptVerifier, Checked, Planned
from runner.verification.journal import Excerpt, take_apart
from runner.verification.model import Scope
from runner.verification.proofs import read_proofs
from runner.verification.validating import Schemas

D = TypeVar("D", bound=Document)


def read_story(store: Store, manifest: Manifest, trial: Trial, schemas: Schemas) -> Story:
    """Read all that is kept of a try, and hold all of its attempt against itself as `runner verify` does.

    Raises:
        OSError: the store cannot be looked into.
    """
    reader = _Reader(store=replace(store, scribe=None), manifest=manifest, trial=trial)
    checked = _checked(store, manifest, trial, schemas)
    story = Story(
        trial=trial,
        candidate=manifest.candidate(trial.candidate),
        title=manifest.nomination(trial.nomination).spec.title,
        look=look(store, trial, reader.rule),
        folder=str(store.folder(trial)),
        findings=tuple(map(str, checked.findings)),
        unfinished=checked.unfinished,
        others=tuple(reader.others()),
    )
    return reader.told(story)


def _checked(store: Store, manifest: Manifest, trial: Trial, schemas: Schemas) -> Checked:
    scope = Scope(manifest=manifest, schemas=schemas)
    cell = cell_of(trial)
    journal = take_apart(store, (cell,))
    proven = read_proofs(store.root / store.release / PROOFS, schemas)
    verifier = AttemptVerifier(store, scope, proven, journal.last)
    return verifier(Planned(cell=cell, told=journal.excerpts.get(cell, Excerpt())))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Reader:
    """Reads one try."""

    store: Store
    manifest: Manifest
    trial: Trial

    @property
    def folder(self) -> Path:
        return self.store.folder(self.trial)

    @property
    def rule(self) -> str:
        return self.manifest.retry_policy.canonical_grading

    def others(self) -> Iterator[OtherTry]:
        """Say in short how the other tries of the attempt ended."""
        cell = cell_of(self.trial)
        for number in self.store.numbers(cell):
            if number != self.trial.try_:
                facts = look(self.store, self.store.trial(cell, number), self.rule).facts
                yield OtherTry(number=number, outcome=outcome(facts), reason=reason(facts))

    def told(self, story: Story) -> Story:
        """Add what its sealed folders hold."""
        submission, void = (_opened(self.folder / name) for name in (SUBMISSION, VOID))
        sealed = submission or void
        if sealed is None:
            return story
        made, ended = _document(sealed, Submission, "submission.json"), _document(sealed, Void, "void.json")
        begun = made or ended
        gradings = tuple(self._gradings(story))
        return replace(
            story,
            started_ms=None if begun is None else begun.started_ms,
            ended_ms=None if begun is None else begun.ended_ms,
            preflight=_document(sealed, Preflight, "preflight.json"),
            probes=_lines(sealed, "preflight.jsonl"),
            runs=tuple(self._runs(sealed)),
            diff=_text(sealed, "candidate.diff"),
            findings_of_capture=tuple(_capture(sealed)),
            gradings=gradings,
            walls={**_walls(sealed), **self._grading_walls(story)},
            host=_document(sealed, Host, "host.json"),
        )

    def _runs(self, sealed: Sealed) -> Iterator[Run]:
        """Read the runs of the agent: one, or one a shot."""
        first = sealed.holds(f"{FIRST}/ledger.jsonl")
        if first:
            before = sealed.below(FIRST)
            yield replace(self._run(before, "shot 1"), diff=_text(before, "candidate.diff"))
        if sealed.holds("ledger.jsonl") or sealed.holds(f"{STREAMS}/stdout"):
            yield self._run(sealed, "shot 2" if first else "the probe" if self._was_asked_alone(sealed) else "solution")

    def _was_asked_alone(self, sealed: Sealed) -> bool:
        """Whether nothing but the probe was ever asked."""
        found = _document(sealed, Void, "void.json")
        return found is not None and found.facts.unavailable is not None

    def _run(self, sealed: Sealed, name: str) -> Run:
        steps, source, claimed = self._steps(sealed)
        return Run(
            name=name,
            ledger=_lines(sealed, "ledger.jsonl"),
            steps=steps,
            source=source,
            claimed=claimed,
            telemetry=_document(sealed, Telemetry, "telemetry.json"),
            end=_document(sealed, UnitEnd, "termination.json"),
        )

    def _steps(self, sealed: Sealed) -> tuple[tuple[Step, ...], str, bool]:
        """Give a run's steps, where they are from, and whether the agent alone tells them."""
        candidate = self.manifest.candidate(self.trial.candidate)
        if candidate.is_control:
            return (), f"{candidate.agent} asks no model", False
        name = f"{EXCHANGES}/{SOLUTION}.gz"
        if sealed.holds(name):
            try:
                return transcript(read_recording(sealed.bytes(name))), f"recorded by the gateway: {name}", False
            except (VerificationError, BrokenRecordingError) as error:
                return (), f"not shown, for the recording is not what was sealed: {error}", False
        stream = _bytes(sealed, f"{STREAMS}/stdout")
        if candidate.network is NetworkMode.DIRECT and stream is not None:
            source = "told by the agent's own stream alone, for nobody recorded its requests: a claim"
            return streamed(candidate.agent.value, stream), source, True
        return (), "no request was recorded", False

    def _gradings(self, story: Story) -> Iterator[Graded]:
        for place in grading_folders(self.folder):
            sealed = _opened(place)
            grading = None if sealed is None else _document(sealed, Grading, "grading.json")
            if sealed is not None and grading is not None:
                yield _graded(sealed, grading, counts=sealed.digest == story.look.grading_sha256)

    def _grading_walls(self, story: Story) -> Walls:
        """Give the walls around what graded it, in the grading that counts."""
        places = (sealed for place in grading_folders(self.folder) if (sealed := _opened(place)) is not None)
        counted = next((each for each in places if each.digest == story.look.grading_sha256), None)
        return {} if counted is None else {f"grading: {unit}": seen for unit, seen in _walls(counted).items()}


def _graded(sealed: Sealed, grading: Grading, *, counts: bool) -> Graded:
    tests = _document(sealed, PublicTests, "public-tests.json")
    names = sorted(name for name in sealed.files if name.startswith("evaluators/"))
    rulings = (ruling for name in names if (ruling := _document(sealed, Ruling, name)) is not None)
    order = {name: at for at, name in enumerate(grading.facts.planned_evaluators)}
    return Graded(
        grading=grading,
        counts=counts,
        policy=_document(sealed, Policy, "policy.json"),
        tests=tests,
        tests_output=None if tests is None or tests.passed else _printed(sealed, tests),
        rulings=tuple(sorted(rulings, key=lambda each: order.get(each.id, len(order)))),
    )


def _printed(sealed: Sealed, tests: PublicTests) -> str | None:
    """Give what the public tests printed: both streams, where they were kept."""
    digests = dict.fromkeys((tests.stdout_sha256, tests.stderr_sha256))
    texts = [text for digest in digests if (text := _text(sealed, f"{LOGS}/{digest}"))]
    return "\n".join(texts) if texts else None


def _opened(place: Path) -> Sealed | None:
    """Open a sealed folder by its seal; each file is believed only if it is what was sealed."""
    return inspect_sealed(place)[0] if place.exists() else None


def _bytes(sealed: Sealed, name: str) -> bytes | None:
    try:
        return sealed.bytes(name) if sealed.holds(name) else None
    except VerificationError:
        return None


def _text(sealed: Sealed, name: str) -> str | None:
    data = _bytes(sealed, name)
    return None if data is None else data.decode("utf-8", "surrogateescape")


def _document(sealed: Sealed, model: type[D], name: str) -> D | None:
    try:
        return sealed.document(model, name) if sealed.holds(name) else None
    except (UsageError, VerificationError):
        return None


def _lines(sealed: Sealed, name: str) -> tuple[LedgerLine, ...]:
    try:
        return sealed.documents(LedgerLine, name) if sealed.holds(name) else ()
    except (UsageError, VerificationError):
        return ()


def _walls(sealed: Sealed) -> Walls:
    found = _document(sealed, WallsDocument, "launcher.json")
    return {} if found is None else found.units


def _capture(sealed: Sealed) -> Iterator[str]:
    found = _document(sealed, Capture, "capture.json")
    for each in () if found is None else found.findings:
        place = f" {each.path}" if each.path else ""
        yield f"{each.kind}{place}{f': {each.detail}' if each.detail else ''}"


__all__ = ["read_story"]
