"""Whether a submission changed only what it may. Pure.

The input is the difference of two trees, leaf by leaf, so that a folder taken away or renamed is judged by
every file that was in it. Names are raw bytes, compared as they are. To change nothing is legal.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum

from runner.documents.facts import Violation as ViolationFact
from runner.documents.facts import path_text
from runner.documents.nomination import NominationSpec
from runner.rules import matcher
from sandbox.tree import Difference, Kind


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """What a capture found."""

    differences: tuple[Difference, ...]
    targets: Mapping[bytes, bytes]
    """Path of a link that is new or changed -> where it points."""
    patch_bytes: int
    findings: tuple[Violation, ...] = ()
    """What the capture met and a patch cannot carry. Each breaks the policy, wherever it lies."""


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


def check_policy(change: Change, rules: Rules) -> tuple[Violation, ...]:
    """List every breach of the rules: of the whole change first, then by path."""
    allowed, denied = matcher(rules.allowed), matcher(rules.deny)
    by_path = list(change.findings)
    for difference in change.differences:
        if denied(difference.path):
            by_path.append(Violation(reason=Reason.DENIED, path=difference.path))
        elif not allowed(difference.path):
            by_path.append(Violation(reason=Reason.NOT_ALLOWED, path=difference.path))
        by_path += (
            Violation(reason=reason, path=difference.path)
            for reason, breaks in _CHECKS
            if breaks(difference, change.targets, rules)
        )
    return (*_sizes(change, rules), *sorted(by_path, key=lambda each: each.path or b""))


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
    files = len(change.differences)
    if files > rules.max_files:
        yield Violation(reason=Reason.TOO_MANY_FILES, path=None, detail=f"{files} paths, at most {rules.max_files}")
    if change.patch_bytes > rules.max_bytes:
        detail = f"{change.patch_bytes} bytes, at most {rules.max_bytes}"
        yield Violation(reason=Reason.PATCH_TOO_LARGE, path=None, detail=detail)


Check = Callable[[Difference, Mapping[bytes, bytes], Rules], bool]


def _is_new_link(difference: Difference) -> bool:
    return difference.after is not None and difference.after.kind is Kind.LINK


def _deletes(difference: Difference, _targets: Mapping[bytes, bytes], rules: Rules) -> bool:
    return difference.after is None and not rules.deletions


def _links(difference: Difference, targets: Mapping[bytes, bytes], rules: Rules) -> bool:
    return _is_new_link(difference) and not rules.links and not _escapes(difference, targets, rules)


def _escapes(difference: Difference, targets: Mapping[bytes, bytes], _rules: Rules) -> bool:
    # A target that nobody told is one that may lead anywhere.
    return _is_new_link(difference) and leaves_tree(difference.path, targets.get(difference.path, b"/"))


def _changes_mode(difference: Difference, _targets: Mapping[bytes, bytes], rules: Rules) -> bool:
    before, after = difference.before, difference.after
    if rules.modes or before is None or after is None or before.kind is not after.kind:
        return False
    return before.executable is not after.executable


def _changes_type(difference: Difference, _targets: Mapping[bytes, bytes], rules: Rules) -> bool:
    before, after = difference.before, difference.after
    return not rules.links and before is not None and after is not None and before.kind is not after.kind


_CHECKS: tuple[tuple[Reason, Check], ...] = (
    (Reason.DELETION, _deletes),
    (Reason.LINK, _links),
    (Reason.LINK_OUTSIDE, _escapes),
    (Reason.MODE, _changes_mode),
    (Reason.TYPE, _changes_type),
)
