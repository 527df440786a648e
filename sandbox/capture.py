"""The clean-room line: what a program left behind becomes a proven change to the frozen base."""

from dataclasses import dataclass, field, replace
from pathlib import Path

from sandbox.api import Changes, LauncherReport, Pack, Sandbox
from sandbox.bytecode import program_bytes
from sandbox.contents import Contents, MemoryContents, digest_of
from sandbox.errors import CaptureError, PatchError, TreeError
from sandbox.findings import Finding, findings_of
from sandbox.inspected import (
    CaptureLimits,
    Inspection,
    InspectionReader,
    entry_of,
    outermost,
    request,
    tree_changes,
)
from sandbox.listing import EMPTY_TREE, MAGIC
from sandbox.patch import Repository
from sandbox.profiles import Program, inspection
from sandbox.spec import PYTHON, WORKSPACE_ROOT, Mount, WorkspaceId
from sandbox.tree import Difference, Entry, Kind, apply_change, differences
from sandbox.unit import run

HARNESS = "inspection.py"


@dataclass(frozen=True, slots=True, kw_only=True)
class Base:
    """A frozen tree: its digest, its commit in our repository, and the store of its listings."""

    digest: str
    commit: str
    listings: Contents


@dataclass(frozen=True, slots=True, kw_only=True)
class Capture:
    """What was left behind, proven: base and `patch` give the tree of `tree_digest`."""

    base_digest: str
    tree_digest: str
    changes: tuple[Entry, ...]
    """Every path that differs from the base, in order; GONE for each file and link that is no more."""
    patch: bytes
    findings: tuple[Finding, ...]
    contents: Contents = field(repr=False, compare=False)
    """The bytes of the changed files."""
    report: LauncherReport | None = field(default=None, repr=False, compare=False)
    """What the inspection unit's launcher saw."""

    def pack(self) -> Pack:
        """Give the changes as they are laid over the base."""
        return Pack(entries=self.changes, blobs=self.contents.get)


def harness_pack() -> Pack:
    """Give the harness as a tree to be stored; the mount that `capture` takes shows this folder."""
    content = program_bytes(Path(__file__).with_name(HARNESS))
    entry = Entry(path=HARNESS.encode(), kind=Kind.FILE, sha256=digest_of(content), size=len(content))
    return Pack(entries=(entry,), blobs=lambda _: content)


def capture(
    sandbox: Sandbox,
    workspace: WorkspaceId,
    base: Base,
    repository: Repository,
    limits: CaptureLimits,
    harness: Mount,
) -> Capture:
    """Read what a workspace's ended units left, as a change to its base, and prove it.

    Raises:
        CaptureError: the inspection failed, or base and patch do not give the tree that was seen.
        PatchError: git failed. No state of a workspace leads to either.
    """
    contents = MemoryContents()
    with sandbox.changes(workspace) as (view, listed):
        changes = outermost(listed)
        reader = InspectionReader(changes, limits, contents)
        seen, report = _inspect(sandbox, view, harness, reader, request(changes, limits))
    return replace(settle(seen, changes, base, repository, contents), report=report)


def settle(seen: Inspection, changes: Changes, base: Base, repository: Repository, contents: Contents) -> Capture:
    """Make the change that was seen a patch, and prove it by applying that to the base.

    Raises:
        CaptureError: base and patch do not give the tree that was seen.
    """
    listings = MemoryContents(base.listings)
    listings.put(MAGIC)
    try:
        start = EMPTY_TREE if b"" in changes.whole else base.digest
        digest = apply_change(start, tree_changes(seen, changes), listings)
        changed = _changed(seen, differences(base.digest, digest, listings))
        patch = repository.patch(base.commit, changed, contents.get) if changed else b""
        applied = repository.apply(base.commit, patch)
        proven = apply_change(base.digest, applied.changes, listings)
    except (TreeError, PatchError) as error:
        raise CaptureError("what was seen could not be made a patch") from error
    if proven != digest or applied.changes != changed:
        raise CaptureError(f"base and patch give tree {proven}, what was seen is tree {digest}")
    return Capture(
        base_digest=base.digest,
        tree_digest=digest,
        changes=changed,
        patch=patch,
        findings=findings_of(seen, git_touched=changes.git_touched),
        contents=contents,
    )


def _inspect(
    sandbox: Sandbox, view: WorkspaceId, harness: Mount, reader: InspectionReader, asked: bytes
) -> tuple[Inspection, LauncherReport]:
    argv = PYTHON, "-I", "-S", "-B", f"{harness.target}/{HARNESS}", WORKSPACE_ROOT
    # It goes there itself, with its capability: a workspace that nobody may enter would keep a unit from starting.
    spec = inspection(Program(argv=argv, mounts=(harness,), working_directory="/"), view)
    result = run(sandbox, spec, stdin=asked, on_stdout=reader.feed)
    if not result.termination.succeeded:
        end = result.termination
        raise CaptureError(f"the inspection ended by {end.cause} {end.status}: {result.stderr[-500:]!r}")
    return reader.finish(), result.report


def _changed(seen: Inspection, found: tuple[Difference, ...]) -> tuple[Entry, ...]:
    told = {each.path: each for each in seen.seen if each.content is not None}
    return tuple(
        Entry(path=each.path, kind=Kind.GONE) if each.after is None else entry_of(told[each.path]) for each in found
    )
