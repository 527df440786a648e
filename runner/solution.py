"""A nomination's reference change, and the changes it must accept or refuse."""

from dataclasses import dataclass

from runner.documents.nomination import LaterSolution
from runner.errors import FixtureError
from runner.fixture import Fixture, build_later
from runner.folder import StoredFile
from runner.nomination import Nomination, parted
from runner.rules import Matcher, matcher
from runner.sdist import Downloads
from sandbox.api import Pack
from sandbox.contents import MemoryContents
from sandbox.errors import PatchError, TreeError
from sandbox.patch import Repository
from sandbox.tree import Entry, Kind, apply_change, differences, snapshot


@dataclass(frozen=True, slots=True, kw_only=True)
class Solution:
    """A change to a fixture."""

    change: Pack
    digest: str
    """Tree digest of fixture + change."""
    message: str | None = None
    """The final message that goes with it: what stands before the diff in its patch file."""


def build_solution(nomination: Nomination, fixture: Fixture, downloads: Downloads, repository: Repository) -> Solution:
    """Give the nomination's reference change.

    Raises:
        FixtureError: it changes nothing, or does not fit the fixture.
        SupplyError: a pinned file is not here and cannot be fetched.
    """
    source = nomination.spec.solution
    if isinstance(source, LaterSolution):
        return _later_version(nomination, source, fixture, downloads)
    patch = nomination.solution_patch
    if patch is None:
        raise _unfit(nomination.file, "no patch in solution/", "one patch", "add solution/<name>.patch")
    return patched(fixture, patch, repository)


def patched(fixture: Fixture, patch: StoredFile, repository: Repository) -> Solution:
    """Give the change that a patch file makes of the fixture.

    Raises:
        FixtureError: it does not apply exactly, or changes nothing.
        PatchError: our own repository failed.
    """
    origin = str(patch.place)
    message, diff = parted(patch.read())
    base = repository.ingest(fixture.entries, fixture.contents.get)
    try:
        applied = repository.apply(base, diff)
    except PatchError as error:
        mend = "make it anew on the fixture with 'git diff --binary --full-index --no-renames'"
        raise _unfit(origin, f"a patch that does not apply ({error})", "one that fits the fixture", mend) from error
    if not applied.changes:
        raise _unfit(origin, "a patch that changes nothing", "at least one change", "make it anew, or remove it")
    contents = MemoryContents(below=fixture.contents)
    for entry in applied.changes:
        if entry.sha256 is not None:
            contents.put(applied.contents.get(entry.sha256))
    digest = apply_change(fixture.digest, applied.changes, contents)
    change = Pack(entries=applied.changes, blobs=contents.get)
    return Solution(change=change, digest=digest, message=message)


def projected(fixture: Fixture, later: Fixture, allowed: Matcher, origin: str) -> Solution:
    """Make a solution of what a later tree changes at the allowed paths; all else stays the fixture's.

    Raises:
        FixtureError: at the allowed paths the two are the same, or the change is half of one.
    """
    contents = MemoryContents(below=fixture.contents)
    for entry in later.entries:
        if entry.sha256 is not None:
            contents.put(later.contents.get(entry.sha256))
    snapshot(later.entries, contents)
    wanted = {entry.path: entry for entry in later.entries}
    change = tuple(
        wanted.get(difference.path, Entry(path=difference.path, kind=Kind.GONE))
        for difference in differences(fixture.digest, later.digest, contents)
        if allowed(difference.path)
    )
    mend = "name the version that holds the fix, or widen the solution's paths"
    if not change:
        found = "no difference at the allowed paths"
        raise _unfit(origin, found, "a later version that changes at least one of them", mend)
    try:
        digest = apply_change(fixture.digest, change, contents)
    except TreeError as error:
        raise _unfit(origin, f"half of a change ({error})", "paths that hold the whole change", mend) from error
    return Solution(change=Pack(entries=change, blobs=contents.get), digest=digest)


def _later_version(nomination: Nomination, source: LaterSolution, fixture: Fixture, downloads: Downloads) -> Solution:
    later = build_later(nomination, source.version, source.sha256, downloads)
    allowed, narrowed = matcher(nomination.spec.allowed_changes), matcher(source.paths)
    denied = matcher(nomination.spec.policy.deny)
    return projected(
        fixture,
        later,
        lambda path: allowed(path) and not denied(path) and (not source.paths or narrowed(path)),
        nomination.file,
    )


def _unfit(origin: str, found: str, expected: str, mend: str) -> FixtureError:
    return FixtureError(file=origin, field="solution", found=found, expected=expected, mend=mend)
