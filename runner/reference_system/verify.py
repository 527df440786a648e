"""Verifying a published release of the reference system, from its folder alone."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from runner.durable import read_regular
from runner.reference_system.attempts import Attempt, check_attempt
from runner.reference_system.documents import Aggregate, Entry, Manifest, Nomination, Preflight
from runner.reference_system.files import AGGREGATE, MANIFEST, PREFLIGHT, RUN, Files, Place
from runner.reference_system.judging import Frozen
from runner.reference_system.tables import check_aggregate, notes_of
from runner.reference_system.values import ForeignJsonError, Value, hash_without, read
from runner.verification.model import Finding

MANIFEST_VERSION, AGGREGATE_VERSION, PREFLIGHT_VERSION = 3, 2, 1

UNSIGNED = (
    "where this comes from: nothing of it is signed, and whoever can change a file can make its hashes again; what is "
    "found here are accidents, and changes by somebody who did not"
)
UNREFERENCED = (
    "whether judges' answers, manual reviews or probes were replaced or taken away: no other file names them by a hash"
)
UNSEEN = (
    "digests of fixtures, prompts, evaluators, the configuration and the output of tests: what they are of is not here"
)
UNAPPLIED = "patches: they were hashed, their paths were held against each run, and they were not applied"
NO_MANIFEST = "no manifest.json, as in early releases: what was planned is not known, and what is here was taken for it"

_NAME = re.compile(r"[^/\x00]+")
_TABLE = "aggregate.md"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReferenceReport:
    """What was found in a release of the reference system, and what was not looked at."""

    release: str
    findings: tuple[Finding, ...]
    """Empty: its files say the same of each other."""
    missing: tuple[str, ...]
    """Planned attempts without artifacts."""
    unchecked: tuple[str, ...]
    """What was not looked at, in words."""
    attempts: int
    files: int


@dataclass(slots=True, kw_only=True)
class _Verification:
    """One verification on its way."""

    files: Files
    attempts: dict[tuple[str, str], Attempt] = field(default_factory=dict)
    """Those that count."""
    count: int = 0
    missing: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def release(self, manifest: Manifest, *, frozen: bool) -> None:
        """Verify every pair of the plan, and find what nobody planned."""
        for entry in manifest.candidates:
            name = str(entry["id"])
            probe = self._probe(name, entry)
            for nomination in manifest.nominations:
                self._pair(manifest, entry, nomination, probe, frozen=frozen)
        if frozen:
            self._strangers(manifest)

    def _probe(self, name: str, entry: Entry) -> Preflight | None:
        path = f"{name}/{PREFLIGHT}"
        if not self.files.holds(path):
            if self.files.holds(name):
                self.notes.append(f"{path}: not there; whether {name} was available is told by its runs alone")
            return None
        legacy = not any(self.files.holds(f"{name}/{each}/attempts") for each in self.files.folders(name))
        probe = self.files.document(path, Preflight, PREFLIGHT_VERSION, legacy=legacy)
        if probe is not None:
            self.files.differ(path, "candidate.id", probe.candidate.get("id"), entry["id"])
            self.files.elapsed(path, probe, "")
        return probe

    def _pair(
        self, manifest: Manifest, entry: Entry, nomination: Nomination, probe: Preflight | None, *, frozen: bool
    ) -> None:
        """Verify the attempts of one candidate on one nomination."""
        rules = manifest.retry_policy
        name = str(entry["id"])
        numbers = []
        for place in self.files.attempts(name, nomination.id):
            known = Frozen(
                manifest=manifest if frozen else None,
                release=manifest.release,
                candidate=entry,
                nomination=nomination if frozen else None,
                preflight=probe,
            )
            found = check_attempt(self.files, place, known)
            self.count += 1
            if place.attempt in numbers:
                self.files.find(place.folder, f"attempt {place.attempt} twice", "one layout")
            numbers.append(place.attempt)
            if place.attempt > 1 and frozen and not rules.allow_retries:
                self.files.find(place.folder, "another attempt", "none: the release allows no retries")
            if found is not None and place.attempt == rules.canonical_attempt:
                self.attempts[name, nomination.id] = found
        if (name, nomination.id) not in self.attempts:
            self.missing.append(f"{name}/{nomination.id}/attempt-{rules.canonical_attempt}: missing_artifacts")

    def _strangers(self, manifest: Manifest) -> None:
        """Find candidates and nominations that the release does not have."""
        candidates = {str(each["id"]) for each in manifest.candidates}
        nominations = {each.id for each in manifest.nominations}
        for candidate in self.files.folders(""):
            if candidate not in candidates:
                self.files.find(candidate, "a candidate that nobody planned", "those of the manifest alone")
                continue
            for nomination in self.files.folders(candidate):
                if nomination not in nominations:
                    place = f"{candidate}/{nomination}"
                    self.files.find(place, "a nomination that nobody planned", "those of the manifest alone")


def is_reference_release(folder: Path) -> bool:
    """Whether a folder holds a release as the reference system publishes them, whole or not."""
    files = Files(folder=folder)
    if any(_has_version(folder / name) for name in (MANIFEST, AGGREGATE)):
        return True
    pairs = ((one, other) for one in files.folders("") for other in files.folders(one))
    places = (place for one, other in pairs for place in files.attempts(one, other))
    return any(_has_version(folder / place.folder / RUN) for place in places)


def verify_reference_release(folder: Path) -> ReferenceReport:
    """Verify a release that `is_reference_release`: every hash, bond and figure that its own files let us derive."""
    files = Files(folder=folder)
    verification = _Verification(files=files)
    frozen = files.holds(MANIFEST)
    manifest = _manifest(files) if frozen else _roster(files)
    if manifest is not None:
        verification.release(manifest, frozen=frozen)
        _table(verification, manifest, frozen=frozen)
    return ReferenceReport(
        release=folder.name if manifest is None else manifest.release,
        findings=tuple(files.findings),
        missing=tuple(verification.missing),
        unchecked=tuple(_unchecked(verification, frozen=frozen)),
        attempts=verification.count,
        files=len(files.seen),
    )


def _manifest(files: Files) -> Manifest | None:
    """Read the frozen plan, and compute its hash again; None where nothing can be held against it."""
    value = files.table(MANIFEST)
    manifest = None if value is None else files.read_as(MANIFEST, value, Manifest, MANIFEST_VERSION)
    if manifest is None or value is None:
        return None
    made = hash_without(value, "spec_hash")
    if manifest.spec_hash != made:
        files.find(MANIFEST, f"spec_hash {manifest.spec_hash}", f"{made}, of what it says")
    files.differ(MANIFEST, "release", manifest.release, files.folder.name)
    names = [str(each.get("id")) for each in manifest.candidates], [each.id for each in manifest.nominations]
    for what, ids in zip(("candidates", "nominations"), names, strict=True):
        odd = [each for each in ids if not _NAME.fullmatch(each) or each in {".", ".."} or ids.count(each) > 1]
        if odd:
            files.find(MANIFEST, f"{what} {odd}", "ids that are folders' names, each once")
            return None
    return manifest


def _roster(files: Files) -> Manifest:
    """Take what is here for the plan, in a release that has none."""
    entries: dict[str, Entry] = {}
    nominations: dict[str, None] = {}
    for candidate in files.folders(""):
        for nomination in files.folders(candidate):
            for place in files.attempts(candidate, nomination):
                entries.setdefault(candidate, _entry(files, place))
                nominations[nomination] = None
    release = files.folder.name
    criteria = (_quiet(files.folder / AGGREGATE) or {}).get("criteria")
    return Manifest(
        schema_version=MANIFEST_VERSION,
        release=release,
        nominations=[Nomination(id=each, allowed_changes=[]) for each in nominations],
        candidates=list(entries.values()),
        criteria=[each for each in criteria if isinstance(each, str)] if isinstance(criteria, list) else [],
        spec_hash="0" * 64,
    )


def _entry(files: Files, place: Place) -> Entry:
    """Give a candidate as its run has it; what cannot be read is found later."""
    entry = (_quiet(files.folder / place.folder / RUN) or {}).get("candidate")
    return {**entry, "id": place.candidate} if isinstance(entry, dict) else {"id": place.candidate}


def _table(verification: _Verification, manifest: Manifest, *, frozen: bool) -> None:
    files = verification.files
    if not files.holds(AGGREGATE):
        verification.notes.append(f"{AGGREGATE}: not there")
        return
    aggregate = files.document(AGGREGATE, Aggregate, AGGREGATE_VERSION)
    if aggregate is None:
        return
    if frozen:
        check_aggregate(files, aggregate, manifest, verification.attempts)
        verification.notes += notes_of(aggregate, manifest, verification.attempts)
    else:
        verification.notes.append(f"{AGGREGATE}: its figures were not derived again without a manifest")


def _has_version(path: Path) -> bool:
    """Whether a file is JSON with the kind of version that the reference system writes."""
    value = _quiet(path) or {}
    return isinstance(value.get("schema_version"), int) and "schema" not in value


def _quiet(path: Path) -> dict[str, Value] | None:
    """Give a file's JSON table; None where it is none."""
    try:
        value = read(read_regular(path))
    except (OSError, ForeignJsonError):
        return None
    return value if isinstance(value, dict) else None


def _unchecked(verification: _Verification, *, frozen: bool) -> Iterator[str]:
    yield from verification.notes
    if not frozen:
        yield NO_MANIFEST
    if verification.files.unhashed:
        yield f"{len(verification.files.unhashed)} artifacts have no hash, the first {verification.files.unhashed[0]}"
    others = [each for each in verification.files.walk() if each not in verification.files.seen]
    for each in others:
        if each != _TABLE:
            yield f"{each}: not known here"
    if _TABLE in others:
        yield f"{_TABLE}: what it says was not held against {AGGREGATE}"
    yield from (UNAPPLIED, UNSEEN, UNREFERENCED, UNSIGNED)
