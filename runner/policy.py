"""Whether a submission changed only what it may. Pure.

A change comes leaf by leaf, so that a folder taken away or renamed is judged by every file that was in it. Names are
raw bytes, compared as they are. To change nothing is legal.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum

from runner.documents.facts import Violation as ViolationFact
from runner.documents.facts import path_text
from runner.documents.nomination import NominationSpec
from runner.rules import matcher
from sandbox.findings import Finding, FindingKind
from sandbox.tree import Entry, Kind, Leaf


class Reason(StrEnum):
    """Which rule a change breaks."""

    NOT_ALLOWED = "not_allowed"
    DENIED = "denied"
    DELETION = "deletion"
    MODE = "mode"
    TYPE = "type"
    """A file became a link, or a link a file."""
    LINK = "link"
    LINK_OUTSIDE = "link_outside"
    """Its target may lie outside the tree; never allowed."""
    TOO_MANY_FILES = "too_many_files"
    PATCH_TOO_LARGE = "patch_too_large"
    FIFO = "fifo"
    SOCKET = "socket"
    DEVICE = "device"
    SET_ID = "set_id"
    NAME = "name"
    """A name that a patch cannot carry."""
    FILE_TOO_LARGE = "file_too_large"
    UNREADABLE = "unreadable"


@dataclass(frozen=True, slots=True, kw_only=True)
class Violation:
    """One breach; `path` is None where it is of the change as a whole."""

    reason: Reason
    path: bytes | None
    detail: str = ""


Base = Callable[[bytes], Leaf | None]
"""What stands at a path of the frozen tree."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """What a capture gives: every file and link that differs, GONE for each one that is no more."""

    entries: tuple[Entry, ...]
    findings: tuple[Finding, ...]
    patch_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """What a nomination lets a submission change. A path that is denied is not allowed."""

    allowed: tuple[str, ...]
    max_files: int
    max_bytes: int
    deny: tuple[str, ...] = ()
    links: bool = False
    modes: bool = False
    deletions: bool = True


def rules_of(spec: NominationSpec) -> Rules:
    """Give a nomination's rules."""
    return Rules(
        allowed=spec.allowed_changes,
        deny=spec.policy.deny,
        links=spec.policy.links,
        modes=spec.policy.modes,
        deletions=spec.policy.deletions,
        max_files=spec.policy.max_files,
        max_bytes=spec.policy.max_bytes,
    )


def check_policy(change: Change, base: Base, rules: Rules) -> tuple[Violation, ...]:
    """List every breach of the rules: of the whole change first, then by path."""
    allowed, denied = matcher(rules.allowed), matcher(rules.deny)
    found = [*_sizes(change, rules), *(_carried(finding) for finding in change.findings if finding.violates)]
    for entry in change.entries:
        if denied(entry.path):
            found.append(Violation(reason=Reason.DENIED, path=entry.path))
        elif not allowed(entry.path):
            found.append(Violation(reason=Reason.NOT_ALLOWED, path=entry.path))
        before = base(entry.path)
        found += (
            Violation(reason=reason, path=entry.path) for reason, breaks in _CHECKS if breaks(entry, before, rules)
        )
    return tuple(sorted(found, key=lambda each: each.path or b""))


def as_fact(violation: Violation) -> ViolationFact:
    """Give a violation as documents tell it."""
    path = None if violation.path is None else path_text(violation.path)
    return ViolationFact(rule=violation.reason.value, path=path, detail=violation.detail)


def leaves_tree(path: bytes, target: bytes) -> bool:
    """Whether a link may point outside the tree it stands in.

    Every `..` must come first and climb no further than the link's own folder is deep: behind another link, `..`
    leads nobody knows where.
    """
    parts = target.split(b"/")
    climbs = 0
    while climbs < len(parts) and parts[climbs] in {b"..", b"."}:
        climbs += 1
    ups = parts[:climbs].count(b"..")
    return target.startswith(b"/") or not target or b".." in parts[climbs:] or ups > path.count(b"/")


def _sizes(change: Change, rules: Rules) -> Iterator[Violation]:
    files = len(change.entries)
    if files > rules.max_files:
        detail = f"{files} paths, at most {rules.max_files}"
        yield Violation(reason=Reason.TOO_MANY_FILES, path=None, detail=detail)
    if change.patch_bytes > rules.max_bytes:
        detail = f"{change.patch_bytes} bytes, at most {rules.max_bytes}"
        yield Violation(reason=Reason.PATCH_TOO_LARGE, path=None, detail=detail)


def _carried(finding: Finding) -> Violation:
    """Give the breach that a finding is, wherever it lies."""
    reason = _FOUND.get(finding.kind) or _SPECIAL.get(finding.detail, Reason.DEVICE)
    return Violation(reason=reason, path=finding.path or None, detail=finding.detail)


_FOUND = {
    FindingKind.SET_ID: Reason.SET_ID,
    FindingKind.UNCAPTURABLE: Reason.NAME,
    FindingKind.TOO_DEEP: Reason.NAME,
    FindingKind.TOO_LARGE: Reason.FILE_TOO_LARGE,
    FindingKind.UNREADABLE: Reason.UNREADABLE,
    FindingKind.INCOMPLETE: Reason.TOO_MANY_FILES,
}
_SPECIAL = {"FIFO": Reason.FIFO, "socket": Reason.SOCKET}


def _deletes(entry: Entry, _before: Leaf | None, rules: Rules) -> bool:
    return entry.kind is Kind.GONE and not rules.deletions


def _links(entry: Entry, _before: Leaf | None, rules: Rules) -> bool:
    return entry.target is not None and not rules.links and not leaves_tree(entry.path, entry.target)


def _escapes(entry: Entry, _before: Leaf | None, _rules: Rules) -> bool:
    return entry.target is not None and leaves_tree(entry.path, entry.target)


def _changes_mode(entry: Entry, before: Leaf | None, rules: Rules) -> bool:
    both_files = before is not None and before.kind is entry.kind is Kind.FILE
    return not rules.modes and both_files and before is not None and before.executable is not entry.executable


def _changes_type(entry: Entry, before: Leaf | None, rules: Rules) -> bool:
    gone = before is None or entry.kind is Kind.GONE
    return not rules.links and not gone and before is not None and before.kind is not entry.kind


Check = Callable[[Entry, Leaf | None, Rules], bool]

_CHECKS: tuple[tuple[Reason, Check], ...] = (
    (Reason.DELETION, _deletes),
    (Reason.LINK, _links),
    (Reason.LINK_OUTSIDE, _escapes),
    (Reason.MODE, _changes_mode),
    (Reason.TYPE, _changes_type),
)
