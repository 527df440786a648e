import fnmatch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.documents.facts import path_bytes
from runner.policy import Change, Reason, Rules, Violation, as_fact, check_policy, leaves_tree
from sandbox.tree import Difference, Kind, Leaf

FILE = Leaf(kind=Kind.FILE, executable=False, digest="0" * 64)
OTHER = Leaf(kind=Kind.FILE, executable=False, digest="1" * 64)
PROGRAM = Leaf(kind=Kind.FILE, executable=True, digest="0" * 64)
LINK = Leaf(kind=Kind.LINK, executable=False, digest="2" * 64)


def rules(*allowed: str, **changed: object) -> Rules:
    return Rules(**({"allowed": allowed, "max_files": 100, "max_bytes": 1000} | changed))  # type: ignore[arg-type]  # a shorthand


def differs(path: bytes, before: Leaf | None = FILE, after: Leaf | None = OTHER) -> Difference:
    return Difference(path=path, before=before, after=after)


def reasons(rule: Rules, *differences: Difference, targets: dict[bytes, bytes] | None = None) -> list[Reason]:
    change = Change(differences=differences, targets=targets or {}, patch_bytes=10)
    return [violation.reason for violation in check_policy(change, rule)]


def test_to_change_nothing_is_legal() -> None:
    assert reasons(rules("a")) == []


@pytest.mark.parametrize(
    ("allowed", "path", "legal"),
    [
        ("a.py", b"a.py", True),
        ("a.py", b"A.py", False),
        ("a.py", b"a.py/x", False),
        ("a.py", b"./a.py ", False),
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
        ("src/?.py", b"src//.py", False),
        ("*", b"\xff\xfe", True),
        ("*", b"a/b", False),
        ("caf\u00e9.py", b"cafe\xcc\x81.py", False),
    ],
)
def test_rules_mean_bytes_as_they_are(allowed: str, path: bytes, legal: bool) -> None:  # noqa: FBT001 - a table's column
    assert reasons(rules(allowed), differs(path)) == ([] if legal else [Reason.NOT_ALLOWED])


def test_a_denied_path_is_denied_although_it_is_allowed() -> None:
    rule = rules("src/", deny=("src/conftest.py", "**/*.cfg"))
    assert reasons(rule, differs(b"src/conftest.py")) == [Reason.DENIED]
    assert reasons(rule, differs(b"src/x.cfg")) == [Reason.DENIED]
    assert reasons(rule, differs(b"src/a.py")) == []


@pytest.mark.parametrize(
    ("difference", "changed", "expected"),
    [
        (differs(b"a", FILE, None), {}, []),
        (differs(b"a", FILE, None), {"deletions": False}, [Reason.DELETION]),
        (differs(b"a", FILE, PROGRAM), {}, [Reason.MODE]),
        (differs(b"a", PROGRAM, FILE), {}, [Reason.MODE]),
        (differs(b"a", FILE, PROGRAM), {"modes": True}, []),
        (differs(b"a", None, PROGRAM), {}, []),
        (differs(b"a", None, LINK), {}, [Reason.LINK]),
        (differs(b"a", None, LINK), {"links": True}, []),
        (differs(b"a", FILE, LINK), {}, [Reason.LINK, Reason.TYPE]),
        (differs(b"a", FILE, LINK), {"links": True}, []),
        (differs(b"a", LINK, FILE), {}, [Reason.TYPE]),
        (differs(b"a", LINK, None), {}, []),
    ],
)
def test_what_is_changed_about_a_path_has_rules_of_its_own(
    difference: Difference, changed: dict[str, object], expected: list[Reason]
) -> None:
    assert reasons(rules("a", **changed), difference, targets={b"a": b"b"}) == expected


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
    found = reasons(rules("**", links=True), differs(path, None, LINK), targets={path: target})
    assert found == ([Reason.LINK_OUTSIDE] if leaves else [])


def test_a_link_whose_target_nobody_told_leads_outside() -> None:
    assert reasons(rules("a", links=True), differs(b"a", None, LINK)) == [Reason.LINK_OUTSIDE]


def test_sizes_are_bounded() -> None:
    rule = rules("*", max_files=1)
    change = Change(differences=(differs(b"a"), differs(b"b")), targets={}, patch_bytes=1001)
    found = check_policy(change, rule)
    assert [(each.reason, each.path) for each in found] == [
        (Reason.TOO_MANY_FILES, None),
        (Reason.PATCH_TOO_LARGE, None),
    ]
    assert "at most 1" in found[0].detail


def test_what_a_patch_cannot_carry_breaks_the_policy_wherever_it_lies() -> None:
    findings = tuple(Violation(reason=reason, path=b"a") for reason in (Reason.FIFO, Reason.SET_ID))
    change = Change(differences=(), targets={}, patch_bytes=0, findings=findings)
    assert check_policy(change, rules("a")) == findings


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
    assert (reasons(rules(*allowed), differs(path)) == []) == inside


@given(PATHS)
def test_a_breach_is_told_in_a_form_that_gives_the_bytes_back(path: bytes) -> None:
    fact = as_fact(Violation(reason=Reason.NOT_ALLOWED, path=path))
    assert fact.rule == "not_allowed"
    assert fact.path is not None
    assert path_bytes(fact.path) == path


def test_a_breach_of_the_whole_has_no_path() -> None:
    assert as_fact(Violation(reason=Reason.TOO_MANY_FILES, path=None)).path is None
