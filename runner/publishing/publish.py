"""Publication: everything checked first, then written once, whole, signed, and never replaced."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from runner.canonical import canonical, sha256
from runner.disk import DISK, Disk
from runner.documents.manifest import Manifest
from runner.documents.publish_allow import PublishAllow
from runner.documents.published import Allowed, AllowedFinding
from runner.durable import read_regular, settle, settle_name, unfinished, write_file
from runner.errors import SealTakenError, StorageError, UsageError
from runner.publishing.allowing import allowed
from runner.publishing.ends import UnendedError, unended
from runner.publishing.layout import ALLOWED, lay_out
from runner.publishing.model import ScanContext, ScanError
from runner.publishing.scan import scan
from runner.reports.aggregate import planned
from runner.signing.layout import NAMES
from runner.store import Store

Sign = Callable[[Mapping[str, str], tuple[bytes, ...]], Mapping[str, bytes]]
"""Gives the signed files for digests by path, and leaves."""

_SHOWN = 20


@dataclass(slots=True, kw_only=True, eq=False)
class OtherwisePublishedError(UsageError):
    """A release stands already, and is another one than would be written now."""

    folder: str
    differences: tuple[str, ...]

    def __str__(self) -> str:
        shown = [f"  {each}" for each in self.differences[:_SHOWN]]
        rest = len(self.differences) - _SHOWN
        more = [f"  and {rest} more"] if rest > 0 else []
        told = (
            f"{self.folder}: found a published release that differs in {len(self.differences)} files; "
            "expected the same bytes, or none; nothing was written; a release is published once: "
            "restore what was changed, or give a new one a new 'release' id, with 'supersedes'"
        )
        return "\n".join((told, *shown, *more))


@dataclass(slots=True, kw_only=True, eq=False)
class OutrunError(UsageError):
    """Another publisher had the folder first."""

    folder: str

    def __str__(self) -> str:
        return (
            f"{self.folder}: another publisher was quicker; what it wrote stands, and nothing of this one; "
            "run publish again, which compares the two"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Ready:
    """A release that may be published, before it is signed."""

    release: str
    files: Mapping[str, bytes]
    """By their paths below the release's folder."""
    leaves: tuple[bytes, ...]
    allowed: tuple[AllowedFinding, ...]
    incomplete: int
    """Attempts that are published without an end."""

    @property
    def digests(self) -> dict[str, str]:
        """SHA-256 of every file, by path."""
        return {path: sha256(data) for path, data in self.files.items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class Scanning:
    """What is looked for before a byte is written, and what may pass."""

    context: ScanContext
    allow_list: PublishAllow
    allow_file: Path


def make_ready(store: Store, manifest: Manifest, scanning: Scanning, incomplete: str | None) -> Ready:
    """Lay a release out and scan it; nothing is written.

    Raises:
        UnendedError: a planned attempt has no end, and no reason was given to publish without it.
        ScanError: something in it may not be published.
        NamesError, SealBrokenError: as `lay_out` says.
    """
    states = store.states(planned(manifest), manifest.retry_policy.canonical_grading)
    missing = unended(states, manifest.retry_policy)
    if missing and incomplete is None:
        raise UnendedError(release=manifest.release, attempts=missing)
    layout = lay_out(store, manifest, dict.fromkeys(missing, incomplete or ""))
    left, passed = allowed(scan(layout.files, scanning.context), scanning.allow_list)
    document = canonical(Allowed(release=manifest.release, entries=passed))
    left = (*left, *scan({ALLOWED: document}, scanning.context))
    if left:
        raise ScanError(findings=left, allow_list=str(scanning.allow_file))
    return Ready(
        release=manifest.release,
        files={**layout.files, ALLOWED: document},
        leaves=layout.leaves,
        allowed=passed,
        incomplete=len(missing),
    )


def is_published(results: Path, ready: Ready, *, disk: Disk = DISK) -> bool:
    """Whether the release stands there already, byte for byte; its signed files are checked elsewhere.

    Raises:
        OtherwisePublishedError: something else stands there.
    """
    folder = results / ready.release
    if not folder.exists():
        return False
    differences = tuple(_differences(folder, ready))
    if differences:
        raise OtherwisePublishedError(folder=str(folder), differences=differences)
    settle_name(folder, disk=disk)
    return True


def write_release(results: Path, ready: Ready, sign: Sign, *, disk: Disk = DISK) -> Path:
    """Write a release and its signed files, once: it is there whole, or not at all.

    Raises:
        OutrunError: somebody else published it meanwhile.
        StorageError: the disk failed or is full; nothing is visible under the release's name.
    """
    signed = sign(ready.digests, ready.leaves)
    files = {**ready.files, **signed}
    try:
        with unfinished(results, ready.release, disk=disk) as temporary:
            for path in sorted(files):
                write_file(temporary, path, files[path], disk=disk)
            settle(temporary, writable=True, disk=disk)
            _read_back(temporary, files)
    except SealTakenError as error:
        raise OutrunError(folder=str(results / ready.release)) from error
    return results / ready.release


def _read_back(folder: Path, files: Mapping[str, bytes]) -> None:
    """Read every file again before anybody sees it: what is shown cannot be taken back."""
    for path, data in files.items():
        if read_regular(folder / path) != data:
            raise StorageError(file=str(folder / path), found="other bytes than were written")


def _differences(folder: Path, ready: Ready) -> Iterator[str]:
    """Say file by file how a published folder differs from what would be written."""
    found = {path.relative_to(folder).as_posix(): path for path in sorted(folder.rglob("*")) if not path.is_dir()}
    for path, data in ready.files.items():
        if path not in found:
            yield f"{path}: is not there, and would be written"
        elif not found[path].is_file() or found[path].is_symlink():
            yield f"{path}: is no file"
        elif (there := read_regular(found[path])) != data:
            yield f"{path}: is published with sha256 {sha256(there)}, and would have {sha256(data)}"
    for path in found:
        if path not in ready.files and path not in NAMES:
            yield f"{path}: is there, and would not be written"
