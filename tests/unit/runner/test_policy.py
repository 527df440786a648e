import fnmatch
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.documents.facts import path_bytes
from runner.policy import Change, Reason, Rules, Violation, as_fact, check_policy, leaves_tree
from sandbox.findings import Finding, FindingKind
from sandbox.tree import Entry, Kind, Leaf

FILE = Leaf(kind=Kind.FILE, executable=False, digest="0" * 64)
OTHER = Leaf(kind=Kind.FILE, executable=False, digest="1" * 64)
PROGRAM = Leaf(kind=Kind.FILE, executable=True, digest="0" * 64)
LINK = Leaf(kind=Kind.LINK, executable=False, digest="2" * 64)


def rules(*allowed: str, **changed: object) -> Rules:
    return Rules(**({"allowed": allowed, "max_files": 100, "max_bytes": 1000} | changed))  # type: ignore[arg-type]  # a shorthand


@dataclass(frozen=True)
class Differs:
    """One path, before and after."""

    path: bytes
    before: Leaf | None = FILE
    after: Leaf | None = OTHER
    target: bytes = b"b"

    def entry(self) -> Entry:
        if self.after is None:
            return Entry(path=self.path, kind=Kind.GONE)
        if self.after.kind is Kind.LINK:
            return Entry(path=self.path, kind=Kind.LINK, target=self.target)
        return Entry(path=self.path, kind=Kind.FILE, sha256=self.after.digest, executable=self.after.executable)


def breaches(
    rule: Rules, *differences: Differs, patch_bytes: int = 10, findings: tuple[Finding, ...] = ()
) -> list[Violation]:
    change = Change(entries=tuple(each.entry() for each in differences), patch_bytes=patch_bytes, findings=findings)
    before = {each.path: each.before for each in differences}
    return list(check_policy(change, before.get, rule))


def reasons(rule: Rules, *differences: Differs) -> list[Reason]:
    return [violation.reason for violation in breaches(rule, *differences)]


def test_to_change_nothing_is_legal() -> None:
    assert reasons(rules("a")) == []


@pytest.mark.parametrize(
    ("allowed", "path", "legal"),
    [
        ("a.py", b"a.py", True),
        ("a.py", b"A.py", False),
        ("a.py", b"a.py/x", False),
        ("a.py", b"a.py ", False),
        ("src/", b"src/deep/a.py", True),
        ("src/", b"srcs/a.py", False),
        ("src/", b"src", False),
        ("src/*.py", b"src/a.py", True),
        ("src/*.py", b"src/deep/a.py", False),
        ("src/*.py", b"src/a.py\n", False),
        ("src/**/*.py", b"src/a.py", True),
        ("src/**/*.py", b"src/deep/er/a.py", True),
        ("src/**", b"src/deep/a", True),
        ("src/**", b"src", False),
        ("src/?.py", b"src/a.py", True),
        ("src/?.py", b"src/ab.py", False),
        ("src/?.py", b"src/.py", False),
        ("*", b"\xff\xfe", True),
        ("*", b"a/b", False),
        ("caf\u00e9.py", b"cafe\xcc\x81.py", False),
    ],
)
def test_rules_mean_bytes_as_they_are(allowed: str, path: bytes, legal: bool) -> None:  # noqa: FBT001 - a table's column
    assert reasons(rules(allowed), Differs(path)) == ([] if legal else [Reason.NOT_ALLOWED])


def test_a_denied_path_is_denied_although_it_is_allowed() -> None:
    rule = rules("src/", deny=("src/conftest.py", "**/*.cfg"))
    assert reasons(rule, Differs(b"src/conftest.py")) == [Reason.DENIED]
    assert reasons(rule, Differs(b"src/x.cfg")) == [Reason.DENIED]
    assert reasons(rule, Differs(b"src/a.py")) == []


@pytest.mark.parametrize(
    ("difference", "changed", "expected"),
    [
        (Differs(b"a", FILE, None), {}, []),
        (Differs(b"a", FILE, None), {"deletions": False}, [Reason.DELETION]),
        (Differs(b"a", FILE, PROGRAM), {}, [Reason.MODE]),
        (Differs(b"a", PROGRAM, FILE), {}, [Reason.MODE]),
        (Differs(b"a", FILE, PROGRAM), {"modes": True}, []),
        (Differs(b"a", None, PROGRAM), {}, []),
        (Differs(b"a", None, LINK), {}, [Reason.LINK]),
        (Differs(b"a", None, LINK), {"links": True}, []),
        (Differs(b"a", FILE, LINK), {}, [Reason.LINK, Reason.TYPE]),
        (Differs(b"a", FILE, LINK), {"links": True}, []),
        (Differs(b"a", LINK, FILE), {}, [Reason.TYPE]),
        (Differs(b"a", LINK, None), {}, []),
    ],
)
def test_what_is_changed_about_a_path_has_rules_of_its_own(
    difference: Differs, changed: dict[str, object], expected: list[Reason]
) -> None:
    assert reasons(rules("a", **changed), difference) == expected


@pytest.mark.parametrize(
    ("path", "target", "leaves"),
    [
        (b"a", b"b", False),
        (b"a", b"./b/c", False),
        (b"d/a", b"../b", False),
        (b"d/e/a", b"./../../b", False),
        (b"a", b"../b", True),
        (b"d/a", b"../../b", True),
        (b"a", b"/etc/passwd", True),
        (b"d/a", b"b/..", True),
        (b"d/a", b"../b/../c", True),
        (b"a", b"", True),
        (b"a", b"..", True),
        (b"d/a", b"..", False),
    ],
)
def test_a_link_that_may_lead_outside_is_never_allowed(path: bytes, target: bytes, leaves: bool) -> None:  # noqa: FBT001 - a table's column
    assert leaves_tree(path, target) is leaves
    found = reasons(rules("**", links=True), Differs(path, None, LINK, target))
    assert found == ([Reason.LINK_OUTSIDE] if leaves else [])


def test_sizes_are_bounded() -> None:
    found = breaches(rules("*", max_files=1), Differs(b"a"), Differs(b"b"), patch_bytes=1001)
    assert [(each.reason, each.path) for each in found] == [
        (Reason.TOO_MANY_FILES, None),
        (Reason.PATCH_TOO_LARGE, None),
    ]
    assert "at most 1" in found[0].detail


@pytest.mark.parametrize("kind", FindingKind)
def test_what_a_patch_cannot_carry_breaks_the_policy_wherever_it_lies(kind: FindingKind) -> None:
    finding = Finding(kind=kind, path=b"a")
    found = breaches(rules("a"), findings=(finding,))
    assert [each.path for each in found] == ([b"a"] if finding.violates else [])


@pytest.mark.parametrize(
    ("detail", "reason"), [("FIFO", Reason.FIFO), ("socket", Reason.SOCKET), ("device", Reason.DEVICE)]
)
def test_special_files_are_called_by_their_name(detail: str, reason: Reason) -> None:
    found = breaches(rules("a"), findings=(Finding(kind=FindingKind.SPECIAL, path=b"a", detail=detail),))
    assert [each.reason for each in found] == [reason]


def test_what_was_not_looked_at_whole_is_no_legal_change() -> None:
    found = breaches(rules("a"), findings=(Finding(kind=FindingKind.INCOMPLETE, path=b"", detail="after 9 entries"),))
    assert [(each.reason, each.path) for each in found] == [(Reason.TOO_MANY_FILES, None)]


PATHS = st.lists(
    st.binary(min_size=1, max_size=6).filter(lambda part: not {b"/"[0], 0} & set(part) and part not in {b".", b".."})
    | st.sampled_from([b"src", b"a.py", b"A.PY", b"src ", b"*", b"a\n", b"\xff"]),
    min_size=1,
    max_size=4,
).map(b"/".join)
PARTS = st.sampled_from(["src", "a.py", "*", "**", "?.py", "*.py", "a*"])
RULES = st.lists(st.lists(PARTS, min_size=1, max_size=3).map("/".join), min_size=1, max_size=3)


def means(rule: list[str], path: list[str]) -> bool:
    """A second, plainly recursive reading of a glob."""
    if not rule:
        return not path
    if rule[0] == "**":
        if len(rule) == 1:
            return bool(path)
        return any(means(rule[1:], path[skipped:]) for skipped in range(len(path) + 1))
    return bool(path) and fnmatch.fnmatchcase(path[0], rule[0]) and means(rule[1:], path[1:])


@given(RULES, PATHS)
def test_no_path_outside_the_rules_passes_whatever_its_bytes(allowed: list[str], path: bytes) -> None:
    parts = path.decode("latin-1").split("/")
    inside = any(means(rule.split("/"), parts) or rule.encode() == path for rule in allowed)
    assert (reasons(rules(*allowed), Differs(path)) == []) == inside


@given(PATHS)
def test_a_breach_is_told_in_a_form_that_gives_the_bytes_back(path: bytes) -> None:
    fact = as_fact(Violation(reason=Reason.NOT_ALLOWED, path=path))
    assert fact.rule == "not_allowed"
    assert fact.path is not None
    assert path_bytes(fact.path) == path


def test_a_breach_of_the_whole_has_no_path() -> None:
    assert as_fact(Violation(reason=Reason.TOO_MANY_FILES, path=None)).path is None
