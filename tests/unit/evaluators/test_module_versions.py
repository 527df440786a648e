import pytest

from evaluators.module_versions import Behaviour, VersionsError, correct, read_versions
from tests.unit.evaluators.mutating import FEW, MODULE, VERSIONS

SOURCE = MODULE.encode()


def table(kind: str, name: str, find: str, put: str) -> str:
    return f"[[{kind}]]\nid = {name!r}\nfind = {find!r}\nreplace = {put!r}\n"


def test_each_version_is_the_module_with_one_place_changed() -> None:
    versions = read_versions(VERSIONS.encode(), SOURCE)
    assert [each.case for each in versions][:2] == ["mutant: negative counts are taken", "mutant: paid twice"]
    assert sum(each.behaviour is Behaviour.EQUIVALENT for each in versions) == 4
    first = versions[0].source.decode()
    assert first != MODULE
    assert first.replace("count < -9", "count < 0") == MODULE
    assert correct(SOURCE).source == SOURCE


@pytest.mark.parametrize(
    ("find", "told"),
    [
        pytest.param("count > FREE or", r"a \(0 times\)", id="gone"),
        pytest.param("count", r"a \(\d+ times\)", id="often"),
        pytest.param("", r"a \(0 times\)", id="nothing"),
    ],
)
def test_a_text_that_does_not_stand_in_the_module_exactly_once_is_drift(find: str, told: str) -> None:
    with pytest.raises(VersionsError, match=f"not exactly once: {told}"):
        read_versions((FEW + table("mutant", "a", find, "x")).encode(), SOURCE)


@pytest.mark.parametrize(
    ("added", "told"),
    [
        pytest.param(table("mutant", "a", "* 2", "* "), "does not compile", id="broken"),
        pytest.param(table("mutant", "a", "FREE = 5", "FREE = 5  # five"), "same code as the module", id="a remark"),
        pytest.param(table("mutant", "a", ") * 2", ") * (4)"), "same code as paid twice", id="twice the same"),
        pytest.param(table("equivalent", "a", "FREE = 5", "FREE = 5"), "changes nothing", id="nothing"),
        pytest.param(table("mutant", "longer", "< 0", "< 1"), "given twice", id="an id twice"),
        pytest.param(table("mutants", "a", "< 0", "< 1"), "mutants is unknown", id="another table"),
        pytest.param("[[mutant]]\nid = 'a'\nfind = '< 0'\n", "has to have id, find, replace", id="a field less"),
        pytest.param("[[mutant]]\nid = 'a'\nfind = '< 0'\nreplace = 1\n", "are texts", id="no text"),
        pytest.param("[mutant", "no TOML", id="no TOML"),
    ],
)
def test_versions_that_are_none_are_refused(added: str, told: str) -> None:
    with pytest.raises(VersionsError, match=told):
        read_versions((FEW + added).encode(), SOURCE)


def test_a_module_without_mutants_or_equivalents_judges_nobody() -> None:
    for only in FEW.split("\n\n"):
        with pytest.raises(VersionsError, match="needs mutants, and equivalents"):
            read_versions(only.encode(), SOURCE)


def test_a_line_that_mutants_alone_change_would_tell_them_apart() -> None:
    with pytest.raises(VersionsError, match=r"lines 8 are changed by mutants and by no equivalent"):
        read_versions((FEW + table("mutant", "a", "count < 0", "count < 1")).encode(), SOURCE)


def test_an_equivalent_in_text_alone_covers_no_line() -> None:
    reworded = FEW + table("mutant", "a", "count < 0", "count < 1") + table("equivalent", "b", "t < 0:", "t < 0 :")
    with pytest.raises(VersionsError, match="lines 8"):
        read_versions(reworded.encode(), SOURCE)
