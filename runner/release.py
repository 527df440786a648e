"""Freezing a release into its manifest, and holding later inputs against it."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from evaluators.model import Evaluator
from evaluators.norm_scale import VERSION
from runner.agents.login import with_hosts
from runner.artifacts import new_folder
from runner.canonical import canonical, sha256
from runner.config import ReleaseConfig
from runner.disk import DISK, Disk
from runner.documents.controls import ControlsRecord
from runner.documents.manifest import (
    Download,
    FrozenEvaluator,
    FrozenFile,
    FrozenFolder,
    FrozenNomination,
    FrozenNorms,
    FrozenToolchain,
    LockedPackage,
    Manifest,
    PlannedAttempt,
    Probe,
)
from runner.documents.nomination import LaterSolution, NpmFixture, SdistFixture
from runner.drift import compare
from runner.durable import settle_name
from runner.errors import DriftError, SealTakenError
from runner.fixture import Fixture
from runner.folder import StoredFile
from runner.manifests import MANIFEST, load_manifest, manifest_path
from runner.node_lock import NodeLock
from runner.nomination import PRIVATE, PUBLIC, Nomination, nomination_digest
from runner.norms import solution_lines
from runner.roster import Candidate, Status
from runner.single_shot import told
from runner.solution import Solution
from runner.toolchains import AnyLock
from runner.tools import tools_lock

HOST_SETTINGS = frozenset(
    {"models_test", "results_dir", "private_artifacts_dir", "private_evaluators_dir", "clean_room"}
)
"""Fields of a configuration that say where this host keeps what. They are not frozen."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PreparedNomination:
    """One nomination with everything that is made of its files."""

    nomination: Nomination
    fixture: Fixture
    solution: Solution
    lock: AnyLock | None
    evaluators: tuple[Evaluator, ...]
    """Calibrated if, and only if, `controls` is there."""
    controls: ControlsRecord | None
    certificate: str | None = None
    """Digest of the certificate that proves the nomination; None: it is not proven."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PreparedRelease:
    """Everything that a release freezes, ready (see runner.preparing)."""

    config: ReleaseConfig
    nominations: tuple[PreparedNomination, ...]
    """In the configuration's order."""
    folders: tuple[FrozenFolder, ...] = ()
    judge_prompts: tuple[FrozenFile, ...] = ()


def freeze(prepared: PreparedRelease) -> Manifest:
    """Give the plan that these inputs make; the same inputs give the same bytes."""
    config = prepared.config
    return Manifest(
        release=config.release,
        supersedes=config.supersedes,
        configuration_sha256=configuration_digest(config),
        candidates=tuple(with_hosts(each) for each in config.candidates),
        nominations=tuple(_nomination(each, norms=config.norms) for each in prepared.nominations),
        judges=config.judges,
        judging=config.judging,
        judge_prompts=prepared.judge_prompts,
        criteria=config.criteria,
        routes=config.routes,
        folders=prepared.folders,
        limits=config.limits,
        retry_policy=config.retry_policy,
        budget=config.budget,
        analysis=config.analysis,
        norms=FrozenNorms(version=VERSION, tools=_toolchain(tools_lock())) if config.norms else None,
        probe=Probe(),
        attempts=config.attempts,
        planned=tuple(planned_attempts(config)),
        controls="ran" if all(each.controls for each in prepared.nominations) else "not run",
    )


def configuration_digest(config: ReleaseConfig) -> str:
    """Give the SHA-256 over what a release freezes of its configuration, in canonical form."""
    whole = config.model_dump(mode="json", by_alias=True, exclude=set(HOST_SETTINGS))
    return sha256(canonical(whole))


def planned_attempts(config: ReleaseConfig) -> Iterator[PlannedAttempt]:
    """List the attempts in order: candidate by candidate, nomination by nomination, attempt by attempt."""
    for candidate in config.candidates:
        for nomination in _nominations_of(candidate, config):
            for attempt in range(1, config.attempts + 1):
                yield PlannedAttempt(candidate=candidate.id, nomination=nomination, attempt=attempt)


def write_manifest(releases: Path, manifest: Manifest, *, disk: Disk = DISK) -> Path:
    """Put a manifest under its release's id, once; writing the same again changes nothing.

    Raises:
        DriftError: the id is used and some input differs; each is named.
        StorageError: the disk failed; nothing is there then.
    """
    path = manifest_path(releases, manifest.release)
    if not path.exists():
        try:
            new_folder(releases, manifest.release, {MANIFEST: canonical(manifest)}, disk=disk)
        except SealTakenError:
            # Another freeze was quicker; or the folder is none of ours.
            if not path.exists():
                raise
        else:
            return path
    check_same(load_manifest(path), manifest, str(path))
    settle_name(path.parent, disk=disk)
    return path


def check_inputs(manifest: Manifest, prepared: PreparedRelease, file: str) -> None:
    """Say nothing if these are the inputs that the manifest froze.

    Raises:
        DriftError: some differ; each is named.
    """
    # A certificate is provenance: a nomination that was proven again since is the same.
    held = {each.id: each.certificate for each in manifest.nominations}
    nominations = tuple(replace(each, certificate=held.get(each.nomination.id)) for each in prepared.nominations)
    check_same(manifest, freeze(replace(prepared, nominations=nominations)), file)


def check_same(frozen: Manifest, found: Manifest, file: str) -> None:
    """Say nothing if two manifests are the same.

    Raises:
        DriftError: they are not; each field that differs is named.
    """
    drifts = tuple(compare(frozen.model_dump(mode="json", by_alias=True), found.model_dump(mode="json", by_alias=True)))
    # The plan and the configuration's digest follow from fields that say better what changed.
    telling = tuple(each for each in drifts if not each.field.startswith(("planned", "configuration_sha256")))
    if drifts:
        raise DriftError(
            file=file,
            drifts=telling or drifts,
            mend="restore what changed, or give the configuration a new 'release' id",
        )


def _nominations_of(candidate: Candidate, config: ReleaseConfig) -> tuple[str, ...]:
    if candidate.status is Status.RETIRED:
        return ()
    if candidate.nominations is None:
        return config.nomination_ids
    return tuple(name for name in config.nomination_ids if name in candidate.nominations)


def _nomination(prepared: PreparedNomination, *, norms: bool = False) -> FrozenNomination:
    nomination, lock = prepared.nomination, prepared.lock
    return FrozenNomination(
        id=nomination.id,
        spec=nomination.spec,
        nomination_sha256=nomination_digest(nomination),
        prompt_sha256=sha256(nomination.prompt.encode()),
        told_sha256=sha256(told(nomination, prepared.fixture).encode()) if nomination.is_single_shot else None,
        fixture_sha256=prepared.fixture.digest,
        public=tuple(_file(file) for file in nomination.below(PUBLIC)),
        private_sha256=files_digest(nomination.below(PRIVATE)),
        solution_sha256=prepared.solution.digest,
        solution_lines=solution_lines(prepared.fixture, prepared.solution) if norms else None,
        toolchain=None if lock is None else _toolchain(lock),
        downloads=tuple(downloads_of(nomination)),
        evaluators=tuple(_evaluators(prepared)),
        validation=None if prepared.controls is None else sha256(canonical(prepared.controls)),
        certificate=prepared.certificate,
    )


def files_digest(files: tuple[StoredFile, ...]) -> str:
    """Give the SHA-256 over names, modes and digests of some files."""
    whole = {file.path: {"sha256": file.sha256, "executable": file.executable} for file in files}
    return sha256(canonical(whole))


def _evaluators(prepared: PreparedNomination) -> Iterator[FrozenEvaluator]:
    learned = {} if prepared.controls is None else {each.id: each for each in prepared.controls.evaluators}
    for spec, evaluator in zip(prepared.nomination.evaluators, prepared.evaluators, strict=True):
        calibrated = learned.get(spec.id)
        yield FrozenEvaluator(
            id=spec.id,
            kind=spec.kind,
            sha256=evaluator.digest(),
            cases=None if calibrated is None else len(calibrated.cases),
            cases_sha256=None if calibrated is None else sha256(canonical({"cases": list(calibrated.cases)})),
        )


def _toolchain(lock: AnyLock) -> FrozenToolchain:
    if isinstance(lock, NodeLock):
        files = tuple(
            LockedPackage(name=each.name, version=each.version, integrity=each.integrity) for each in lock.files
        )
        return FrozenToolchain(kind="node", lock_sha256=lock.digest, packages=files)
    packages = tuple(
        LockedPackage(name=each.name, version=each.version, sha256=each.sha256) for each in lock.requirements
    )
    return FrozenToolchain(lock_sha256=lock.digest, packages=packages)


def downloads_of(nomination: Nomination) -> Iterator[Download]:
    """List the files of the package index that a nomination is made from."""
    fixture, solution = nomination.spec.fixture, nomination.spec.solution
    if isinstance(fixture, SdistFixture | NpmFixture):
        yield Download(name=fixture.name, version=fixture.version, sha256=fixture.sha256)
        if isinstance(solution, LaterSolution):
            yield Download(name=fixture.name, version=solution.version, sha256=solution.sha256)


def _file(file: StoredFile) -> FrozenFile:
    return FrozenFile(path=file.path, sha256=file.sha256, executable=file.executable)
