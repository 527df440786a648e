"""`runner publish` as a whole: evidence verified, laid out, scanned; then written once, signed and logged."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path

from runner.canonical import sha256
from runner.clock import now_ms
from runner.documents.keys import KeyRole
from runner.documents.manifest import Manifest
from runner.durable import leftovers, read_regular
from runner.errors import UsageError, VerificationError
from runner.freezer import Frozen, load_frozen
from runner.immutable import freeze_folders
from runner.manifests import RELEASES
from runner.publishing.allowing import allow_file, read_allow_list
from runner.publishing.context import scan_context
from runner.publishing.publish import (
    OtherwisePublishedError,
    Ready,
    Scanning,
    is_published,
    make_ready,
    write_release,
)
from runner.reports.aggregate import planned
from runner.settings import Settings
from runner.signing.bundle import NAMES, BundleFiles, Extras, ReleaseContents, Signers, check_bundle, signed_files
from runner.signing.keys import KEYS, KeyStore
from runner.signing.layout import CHECKPOINT, ENVELOPE
from runner.signing.release_log import Logged, ReleaseLog, log_release, published_entry
from runner.signing.signer import Signer
from runner.signing.timestamp import Stamper
from runner.signing.trust import Trust, own_pins
from runner.store import SUBMISSION, VOID, Store, grading_folders, store_for
from runner.verification.rebuilding import Rebuilder
from runner.verify import committed_schemas, verify_release
from sandbox.git import scratch_repository

Tell = Callable[[str], None]

_SHOWN = 5


@dataclass(slots=True, kw_only=True, eq=False)
class OtherReleaseError(UsageError):
    """The configuration is of another release than the one to be published."""

    file: str
    found: str
    expected: str

    def __str__(self) -> str:
        return (
            f"{self.file}: release: found {self.found}; expected {self.expected}, which is to be published; "
            f"name its configuration with --config"
        )


@dataclass(slots=True, kw_only=True, eq=False)
class UnverifiedError(VerificationError):
    """Evidence that is not what it says it is, is not published."""

    release: str
    findings: tuple[str, ...]

    def __str__(self) -> str:
        lines = (f"  {each}" for each in self.findings[:_SHOWN])
        told = f"release {self.release}: found {len(self.findings)} flaws in its evidence; expected none"
        return "\n".join((f"{told}; run: runner verify", *lines))


class End(StrEnum):
    """How a publication ended."""

    WRITTEN = "published"
    UNCHANGED = "already published, unchanged"
    REHEARSED = "nothing was written"


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What was asked for."""

    release: str
    incomplete: str | None = None
    """Why attempts without an end are published as void; None: they are not."""
    sign_with: str | None = None
    """A command that signs with a release key held elsewhere."""
    timestamp_with: str | None = None
    """A command that has the signature stamped (RFC 3161)."""
    dry_run: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Publication:
    """What came of it."""

    end: End
    folder: Path
    ready: Ready
    not_scanned: tuple[str, ...]
    """What could not be looked for."""
    checkpoint: bytes | None = None
    """Of the release's own tree; None where nothing was written."""
    log: Logged | None = None


def publish_release(settings: Settings, wanted: Wanted, tell: Tell) -> Publication:
    """Publish the configured release, or see that it is published as it is.

    Raises:
        OtherReleaseError, UnverifiedError, UnendedError, ScanError, NamesError: it may not be published; nothing is
            written then.
        OtherwisePublishedError, OutrunError: something else stands there.
        SigningError, StorageError: it could not be signed, or written; nothing is visible then.
    """
    with scratch_repository() as scratch:
        frozen = load_frozen(settings, scratch=scratch)
        if frozen.manifest.release != wanted.release:
            raise OtherReleaseError(file=frozen.inputs.file, found=frozen.manifest.release, expected=wanted.release)
        places = frozen.inputs.places
        store = store_for(places.store, frozen.manifest)
        keys = KeyStore(folder=places.state / KEYS, clock=now_ms)
        _verify(store, frozen, keys)
    context = scan_context(frozen.inputs, settings)
    allow = allow_file(settings.config)
    scanning = Scanning(context=context, allow_list=read_allow_list(allow), allow_file=allow)
    ready = make_ready(store, frozen.manifest, scanning, wanted.incomplete)
    folder = places.results / wanted.release
    for left in leftovers(places.results):
        tell(f"note: {left}: left by a publisher that was killed, unless one is at work; remove it")
    told = Publication(end=End.REHEARSED, folder=folder, ready=ready, not_scanned=context.unsearched)
    if wanted.dry_run:
        is_published(places.results, ready)
        return told
    desk = Desk(releases=settings.checkout / RELEASES, keys=keys, tell=tell)
    end = desk.publish(places.results, ready, frozen.manifest, wanted)
    log = desk.log(folder, wanted.release)
    if frozen.inputs.config.clean_room.immutable_evidence:
        done = freeze_folders(sealed_folders(store, frozen.manifest))
        tell(f"{done.paths} sealed files and folders are immutable now" if done.why_not is None else done.why_not)
    return replace(told, end=end, checkpoint=read_regular(folder / CHECKPOINT), log=log)


def _verify(store: Store, frozen: Frozen, keys: KeyStore) -> None:
    """Verify all evidence before anything of it is shown.

    Raises:
        UnverifiedError: some of it is not what it says it is.
    """
    rebuild = Rebuilder(frozen.workbench.repository, frozen.base)
    trust = Trust(pins=tuple(own_pins(keys)))
    report = verify_release(store, frozen.manifest, schemas=committed_schemas(), rebuild=rebuild, trust=trust)
    if report.findings:
        raise UnverifiedError(release=store.release, findings=tuple(str(each) for each in report.findings))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Signing:
    """Signs one release: a `Sign`."""

    ready: Ready
    supersedes: str | None
    signers: Signers
    log_checkpoint: bytes | None
    """Of the log of releases, as it is before."""
    extras: Extras

    def __call__(self, digests: Mapping[str, str], leaves: tuple[bytes, ...]) -> Mapping[str, bytes]:
        """Give the signed files."""
        release = self.ready.release
        contents = ReleaseContents(
            release=release,
            origin=f"cleanroom.invalid/release/{self.signers.log.keyid[:16]}/{release}",
            files=digests,
            leaves=leaves,
            supersedes=self.supersedes,
            log_checkpoint=self.log_checkpoint,
        )
        return signed_files(contents, self.signers, self.extras)


@dataclass(frozen=True, slots=True, kw_only=True)
class Desk:
    """Where releases are signed and logged."""

    releases: Path
    keys: KeyStore
    tell: Tell

    def publish(self, results: Path, ready: Ready, manifest: Manifest, wanted: Wanted) -> End:
        """Write a release, or see that it stands there as it is.

        Raises:
            OtherwisePublishedError: what stands there differs, or is not signed as it must be.
            OutrunError, SigningError, StorageError: as `write_release` says.
        """
        if is_published(results, ready):
            self._check(results / ready.release, ready)
            return End.UNCHANGED
        signing = _Signing(
            ready=ready,
            supersedes=manifest.supersedes,
            signers=Signers(
                release=self._release_signer(wanted.sign_with), log=self.keys.ensure(KeyRole.LOG, self.tell)
            ),
            log_checkpoint=ReleaseLog(releases=self.releases).note(),
            extras=Extras(timestamp=None if wanted.timestamp_with is None else Stamper(command=wanted.timestamp_with)),
        )
        write_release(results, ready, signing)
        return End.WRITTEN

    def _release_signer(self, sign_with: str | None) -> Signer:
        if sign_with is None:
            return self.keys.ensure(KeyRole.RELEASE, self.tell)
        return self.keys.signer(KeyRole.RELEASE, sign_with)

    def log(self, folder: Path, release: str) -> Logged:
        """Add a publication to the log of releases, unless it is in it.

        Raises:
            SignatureError, StorageError: as `log_release` says.
        """
        entry = published_entry(release, sha256(read_regular(folder / ENVELOPE)))
        return log_release(self.releases, self.keys, entry, self.tell)

    def _check(self, folder: Path, ready: Ready) -> None:
        """Hold the signed files of what stands there against the keys of this host."""
        signed = {name: read_regular(folder / name) for name in NAMES if (folder / name).is_file()}
        digests = ready.digests | {name: sha256(data) for name, data in signed.items()}
        files = BundleFiles(release=ready.release, digests=digests, signed=signed, leaves=ready.leaves)
        found = tuple(str(each) for each in check_bundle(files, Trust(pins=tuple(own_pins(self.keys)))))
        if found:
            raise OtherwisePublishedError(folder=str(folder), differences=found)


def sealed_folders(store: Store, manifest: Manifest) -> Iterator[Path]:
    """List every sealed folder of a release."""
    for cell in planned(manifest):
        for number in store.numbers(cell):
            folder = store.folder(store.trial(cell, number))
            every = (folder / SUBMISSION, folder / VOID, *grading_folders(folder))
            yield from (each for each in every if each.is_dir())
