import os
import tomllib
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runner.config import InlineNomination
from runner.documents.nomination import NominationSpec
from runner.errors import DocumentError, DocumentErrors
from runner.folder import Caps, list_files
from runner.inline import inline_nomination
from runner.judges import criteria_of
from runner.nomination import PROMPT_BYTES, Nomination, load_nomination, nomination_digest
from runner.parsing import parse_toml, validate
from tests.unit.runner.written import NOMINATION, PATCH, nomination_files, written

Change = dict[str, str | None]


def made(tmp_path: Path, change: Change | None = None, name: str = "wordcount") -> Path:
    """Write a nomination; `change` gives other texts, None for no file."""
    files: Change = {**nomination_files(), **(change or {})}
    return written(tmp_path / name, {path: text for path, text in files.items() if text is not None})


def errors_of(load: Callable[[], object]) -> tuple[DocumentError, ...]:
    with pytest.raises((DocumentError, DocumentErrors)) as caught:
        load()
    error = caught.value
    assert isinstance(error, DocumentError | DocumentErrors)
    errors = error.errors if isinstance(error, DocumentErrors) else (error,)
    for each in errors:
        assert each.file
        assert each.found
        assert each.expected
        assert each.mend
        assert str(each).isprintable()
    return errors


def refused(folder: Path) -> tuple[DocumentError, ...]:
    return errors_of(lambda: load_nomination(folder))


def loaded(tmp_path: Path, change: Change | None = None) -> Nomination:
    return load_nomination(made(tmp_path, change))


def with_toml(old: str, new: str) -> Change:
    assert old in NOMINATION
    return {"nomination.toml": NOMINATION.replace(old, new)}


REQUIRED = 'requirements = "requirements.txt"\n'


def node(version: str, integrity: str = f"sha512-{'A' * 86}==") -> str:
    return f'kind = "node"\nversion = "{version}"\nintegrity = "{integrity}"\n'


def test_a_nomination_is_read(tmp_path: Path) -> None:
    nomination = loaded(tmp_path)
    assert nomination.id == "wordcount"
    assert nomination.prompt.startswith("`count`")
    assert nomination.spec.fixture.kind == "folder"
    assert nomination.spec.loop.turns == 25
    assert not nomination.spec.loop.run
    assert [file.path for file in nomination.below("private")] == ["private/test_hidden.py"]
    assert nomination.solution_patch is not None
    assert nomination.solution_patch.read() == PATCH.encode()
    assert nomination.lock_file is not None


def test_an_evaluators_own_options_are_handed_on(tmp_path: Path) -> None:
    toml = NOMINATION + 'wall_ms = 5\nfiles = ["a"]\n[evaluators.more]\ndeep = true\n'
    (spec,) = loaded(tmp_path, {"nomination.toml": toml}).evaluators
    assert (spec.id, spec.kind) == ("hidden", "pytest")
    assert spec.options == {"wall_ms": 5, "files": ["a"], "more": {"deep": True}}
    assert spec.folder == tmp_path / "wordcount/private"


CRITERION = '[[criteria]]\nid = "tone"\nasks = "Is it kind?"\nanchors = { 0 = "rude", 10 = "kind" }\n'


def test_a_free_text_nomination_has_criteria_of_its_own_each_once(tmp_path: Path) -> None:
    free = NOMINATION.replace('class = "code-fix"', 'class = "free-text"')
    spec = loaded(tmp_path / "one", {"nomination.toml": free.replace("[source]", f"{CRITERION}[source]")}).spec
    assert [criterion.id for criterion in criteria_of(spec.criteria, ("scope",)) if not isinstance(criterion, str)] == [
        "tone"
    ]
    assert criteria_of((), ("scope",)) == ("scope",)
    with pytest.raises((DocumentError, DocumentErrors), match="ids of their own"):
        loaded(tmp_path / "two", {"nomination.toml": free.replace("[source]", f"{2 * CRITERION}[source]")})


@pytest.mark.parametrize(
    ("old", "new", "field"),
    [
        pytest.param('id = "wordcount"', 'id = "other"', "id", id="another-id-than-the-folder"),
        pytest.param('id = "wordcount"', 'id = "../x"', "id", id="climbing-id"),
        pytest.param('class = "code-fix"', 'class = "magic"', "class", id="class"),
        pytest.param('class = "code-fix"', "", "class", id="no-class"),
        pytest.param('tier = "easy"', "tier = 1", "tier", id="tier"),
        pytest.param('tier = "easy"', "tier = 1.5", "tier", id="float"),
        pytest.param('tier = "easy"', "tier = 2026-11-29", "tier", id="date"),
        pytest.param('tier = "easy"', 'tier = "easy"\ntypo = 1', "typo", id="unknown"),
        pytest.param('mode = "agentic"', 'mode = "single-shot"\naxes = ["taste"]', "axes[0]", id="axis"),
        pytest.param('["wordcount.py"]\n\n', '["../wordcount.py"]\n\n', "allowed_changes[0]", id="climbing"),
        pytest.param('["wordcount.py"]\n\n', '["/work/a.py"]\n\n', "allowed_changes[0]", id="absolute"),
        pytest.param('["wordcount.py"]\n\n', '[".git/"]\n\n', "allowed_changes[0]", id="git"),
        pytest.param('["wordcount.py"]\n\n', '["a//b"]\n\n', "allowed_changes[0]", id="double-slash"),
        pytest.param('["wordcount.py"]\n\n', '["a\\\\b"]\n\n', "allowed_changes[0]", id="backslash"),
        pytest.param('["wordcount.py"]\n\n', '["/"]\n\n', "allowed_changes[0]", id="root"),
        pytest.param('["wordcount.py"]\n\n', '["s*/"]\n\n', "allowed_changes[0]", id="glob-folder"),
        pytest.param('["wordcount.py"]\n\n', "[]\n\n", "allowed_changes", id="nothing-allowed"),
        pytest.param('["wordcount.py"]\n\n', "[1]\n\n", "allowed_changes[0]", id="number-for-path"),
        pytest.param('["{python}", "-m", "pytest", "-q", "tests"]', "[]", "public_tests.command", id="no-command"),
        pytest.param('["{python}", "-m", "pytest", "-q", "tests"]', '["pytest"]', "public_tests", id="bare-program"),
        pytest.param('"requirements.txt"', '"other.txt"', "toolchain.requirements", id="no-requirements"),
        pytest.param('"requirements.txt"', '"../../x.txt"', "toolchain.requirements", id="outside"),
        pytest.param(REQUIRED, node("22.14.0"), "toolchain.version", id="old-node"),
        pytest.param(REQUIRED, node("22"), "toolchain.version", id="any-node"),
        pytest.param(REQUIRED, node("22.23.5", "sha512-x"), "toolchain.integrity", id="no-integrity"),
        pytest.param(REQUIRED, f'{node("22.23.5")}packages = "x.json"\n', "toolchain.packages", id="no-lock"),
        pytest.param(REQUIRED, f"{node('22.23.5')}{REQUIRED}", "toolchain.requirements", id="both"),
        pytest.param(REQUIRED, 'kind = "deno"\n', "toolchain", id="toolchain-kind"),
        pytest.param('["{python}", "-m", "pytest", "-q", "tests"]', '["{node}", "--test"]', "", id="node-without-node"),
        pytest.param('id = "hidden"\n', "", "evaluators[0].id", id="evaluator-without-id"),
        pytest.param('id = "hidden"\n', 'id = "hidden"\nw = 0.5\n', "evaluators[0].w", id="float-option"),
        pytest.param(
            'kind = "pytest"\n',
            'kind = "pytest"\n[[evaluators]]\nid = "hidden"\nkind = "x"\n',
            "",
            id="same-id",
        ),
        pytest.param("[source]", f"{CRITERION}[source]", "", id="criteria-of-another-class"),
        pytest.param("[source]", '[[criteria]]\nid = "a"\nasks = "b"\n[source]', "criteria[0].anchors", id="bare"),
        pytest.param("[source]", '[fixture]\nkind = "folder"\npath = "x"\n[source]', "fixture.path", id="folder-path"),
        pytest.param("[source]", '[fixture]\nkind = "git"\n[source]', "fixture", id="fixture-kind"),
        pytest.param("[source]", '[fixture]\nname = "x"\n[source]', "fixture", id="no-fixture-kind"),
        pytest.param("[source]", '[fixture]\nkind = "files"\n[fixture.files]\na = "x"\n[source]', "fixture", id="two"),
        pytest.param(
            "[source]",
            '[fixture]\nkind = "files"\n[fixture.files]\n"../a" = "x"\n[source]',
            "fixture.files.../a",
            id="seeded-climbing",
        ),
        pytest.param(
            "[source]",
            '[fixture]\nkind = "sdist"\nname = "a"\nversion = "1"\nsha256 = "x"\n[source]',
            "fixture.sha256",
            id="no-digest",
        ),
        pytest.param(
            "[source]",
            f'[solution]\nkind = "sdist"\nversion = "1"\nsha256 = "{"0" * 64}"\n[source]',
            "",
            id="sdist-solution-of-a-folder",
        ),
        pytest.param("[source]", "[policy]\nmax_files = 0\n[source]", "policy.max_files", id="no-files"),
        pytest.param("[source]", "[loop]\nturns = 0\n[source]", "loop.turns", id="no-turns"),
        pytest.param('name = "written by us"', 'name = "a\\nb"', "source.name", id="two-lines"),
        pytest.param('name = "written by us"', 'name = "a\\u0000b"', "source.name", id="nul"),
    ],
)
def test_a_wrong_value_is_told_with_its_field(tmp_path: Path, old: str, new: str, field: str) -> None:
    assert field in {error.field for error in refused(made(tmp_path, with_toml(old, new)))}


@pytest.mark.parametrize(
    "text",
    ["", "a = ", "[[[", "\ufeff", "a = 1\na = 2", 'a = "\x01"', "a = " + "[" * 5000, "a = " + "9" * 5000],
)
def test_a_document_that_is_none_is_told(tmp_path: Path, text: str) -> None:
    refused(made(tmp_path, {"nomination.toml": text}))


@pytest.mark.parametrize(
    ("change", "part"),
    [
        pytest.param({"nomination.toml": None}, "nomination.toml", id="no-document"),
        pytest.param({"prompt.md": None}, "prompt.md", id="no-prompt"),
        pytest.param({"prompt.md": " \n"}, "prompt.md", id="blank-prompt"),
        pytest.param({"prompt.md": "a\x1b[0m"}, "prompt.md", id="escape-in-prompt"),
        pytest.param({"prompt.md": "a\u202eb"}, "prompt.md", id="turned-text-in-prompt"),
        pytest.param({"prompt.md": "a" * (PROMPT_BYTES + 1)}, "prompt.md", id="long-prompt"),
        pytest.param({"fixture/wordcount.py": None}, "no file in fixture/", id="no-fixture"),
        pytest.param({"solution/solution.patch": None}, "0 files in solution/", id="no-solution"),
        pytest.param({"solution/two.patch": PATCH}, "2 files in solution/", id="two-solutions"),
        pytest.param({"solution/solution.patch": "--- a\n+++ b\n"}, "no patch in git's form", id="no-git-patch"),
        pytest.param({"wrong/one.patch": None, "wrong/one.txt": PATCH}, "wrong/one.txt", id="patch-suffix"),
        pytest.param({"fixtures/a": "x"}, "fixtures/a", id="misspelt-folder"),
        pytest.param({"notes.txt": "x"}, "notes.txt", id="unknown-file"),
    ],
)
def test_files_that_do_not_belong_together_are_told(tmp_path: Path, change: Change, part: str) -> None:
    assert any(part in str(error) for error in refused(made(tmp_path, change)))


def test_a_missing_folder_is_told(tmp_path: Path) -> None:
    (error,) = refused(tmp_path / "none")
    assert error.found == "no such file or directory"


@pytest.mark.parametrize("place", ["fixture/link", "private/link", "link", "prompt.md", "nomination.toml", "fixture"])
def test_a_link_anywhere_is_refused(tmp_path: Path, place: str) -> None:
    folder = made(tmp_path)
    link = folder / place
    if link.is_dir():
        link.rename(tmp_path / "elsewhere")
    link.unlink(missing_ok=True)
    link.symlink_to(tmp_path / "elsewhere")
    assert "a symbolic link" in {error.found for error in refused(folder)}


def test_a_nomination_that_is_a_link_is_refused(tmp_path: Path) -> None:
    folder = made(tmp_path, name="real")
    (tmp_path / "wordcount").symlink_to(folder)
    assert "a symbolic link" in {error.found for error in refused(tmp_path / "wordcount")}


def test_a_special_file_is_refused_and_does_not_hold_us_up(tmp_path: Path) -> None:
    folder = made(tmp_path)
    os.mkfifo(folder / "fixture/pipe")
    assert "a special file" in {error.found for error in refused(folder)}


@pytest.mark.parametrize("name", [b"a\nb", b"\xff", b"a\\b", b"a\x1bb"])
def test_an_odd_name_is_refused(tmp_path: Path, name: bytes) -> None:
    folder = made(tmp_path)
    Path(os.fsdecode(os.fsencode(folder / "fixture") + b"/" + name)).write_text("")
    refused(folder)


def test_caches_are_passed_over(tmp_path: Path) -> None:
    before = nomination_digest(loaded(tmp_path))
    folder = written(tmp_path / "wordcount", {"private/__pycache__/x.pyc": "x", "fixture/.pytest_cache/y": "y"})
    assert nomination_digest(load_nomination(folder)) == before


@pytest.mark.parametrize("caps", [Caps(files=2), Caps(file_bytes=3), Caps(total_bytes=4)])
def test_a_folder_has_bounds(tmp_path: Path, caps: Caps) -> None:
    written(tmp_path, {"a": "aaaa", "b": "b", "c": "c"})
    errors_of(lambda: list_files(tmp_path, caps=caps))


def test_a_file_that_changes_after_it_was_hashed_is_refused(tmp_path: Path) -> None:
    (file,) = list_files(written(tmp_path, {"a": "one"}))
    (tmp_path / "a").write_text("two")
    errors_of(file.read)
    (tmp_path / "a").write_text("longer than before")
    errors_of(file.read)


@pytest.mark.parametrize(
    "change",
    [
        pytest.param({"prompt.md": "Another task.\n"}, id="prompt"),
        pytest.param({"private/test_hidden.py": "x = 1\n"}, id="hidden-test"),
        pytest.param({"private/new.txt": ""}, id="empty-private-file"),
        pytest.param({"public/tests/test_public.py": "x = 1\n"}, id="public-test"),
        pytest.param({"fixture/new.py": ""}, id="fixture"),
        pytest.param({"requirements.txt": "x==1 --hash=sha256:0\n"}, id="requirements"),
        pytest.param({"solution/solution.patch": f"{PATCH}\n"}, id="solution"),
        pytest.param(with_toml('tier = "easy"', 'tier = "hard"'), id="document"),
        pytest.param(with_toml('kind = "pytest"\n', 'kind = "pytest"\nx = 1\n'), id="option"),
    ],
)
def test_whatever_changes_a_result_changes_the_digest(tmp_path: Path, change: Change) -> None:
    before = nomination_digest(load_nomination(made(tmp_path / "before")))
    assert nomination_digest(load_nomination(made(tmp_path / "after", change))) != before


@pytest.mark.parametrize(
    "change",
    [
        pytest.param({"records/validation.json": "{}"}, id="validation"),
        pytest.param({"README.md": "why"}, id="readme"),
        pytest.param({"wrong/two.patch": PATCH}, id="wrong-repair"),
        pytest.param({"alternative/one.patch": PATCH}, id="other-right-repair"),
        pytest.param({"nomination.toml": f"# a comment\n{NOMINATION}"}, id="comment"),
        pytest.param(with_toml("[source]", 'root = "."\n[source]'), id="default-written-out"),
    ],
)
def test_provenance_does_not_change_the_digest(tmp_path: Path, change: Change) -> None:
    before = nomination_digest(load_nomination(made(tmp_path / "before")))
    assert nomination_digest(load_nomination(made(tmp_path / "after", change))) == before


def test_an_executable_bit_changes_the_digest(tmp_path: Path) -> None:
    folder = made(tmp_path)
    before = nomination_digest(load_nomination(folder))
    (folder / "fixture/wordcount.py").chmod(0o755)
    assert nomination_digest(load_nomination(folder)) != before


SEEDED = """\
[fixture]
kind = "files"
executable = ["a.py"]
[fixture.files]
"a.py" = "x"
"b/c.py" = "y"
[source]"""
SDIST = f"""\
[fixture]
kind = "sdist"
name = "texttable"
version = "1.7.0"
sha256 = "{"2" * 64}"
drop = ["docs/"]
[source]"""


@pytest.mark.parametrize("fixture", [SEEDED, SDIST])
def test_a_fixture_from_elsewhere_needs_no_folder(tmp_path: Path, fixture: str) -> None:
    nomination = loaded(tmp_path, {**with_toml("[source]", fixture), "fixture/wordcount.py": None})
    assert nomination.spec.fixture.kind in {"files", "sdist"}


def test_a_solution_from_a_later_sdist_needs_no_patch(tmp_path: Path) -> None:
    sdist = SDIST.replace("[source]", f'[solution]\nkind = "sdist"\nversion = "1.7.1"\nsha256 = "{"3" * 64}"\n[source]')
    change: Change = {"fixture/wordcount.py": None, "solution/solution.patch": None}
    nomination = loaded(tmp_path, {**with_toml("[source]", sdist), **change})
    assert nomination.solution_patch is None


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8) | st.floats(allow_nan=False),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=5), inner, max_size=2),
    max_leaves=6,
)


@settings(max_examples=120, deadline=None)
@given(st.data(), VALUES)
def test_no_mutation_of_a_document_gives_anything_but_a_value_or_told_problems(
    data: st.DataObject, value: object
) -> None:
    fields: dict[str, Any] = deepcopy(tomllib.loads(NOMINATION))
    here: Any = fields
    while True:
        key: Any = data.draw(st.sampled_from(sorted(here) if isinstance(here, dict) else range(len(here))))
        if not (isinstance(here[key], dict | list) and here[key]) or data.draw(st.booleans()):
            break
        here = here[key]
    here[key] = value
    try:
        spec = validate(NominationSpec, fields, "nomination.toml")
    except DocumentErrors as several:
        told = all(error.found and error.expected and error.mend for error in several.errors)
    else:
        told = bool(spec.model_dump_json(by_alias=True))
    assert told


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=80))
def test_no_text_gives_anything_but_a_table_or_told_problems(text: str) -> None:
    try:
        table = parse_toml(text.encode("utf-8", "surrogatepass"), "nomination.toml")
    except DocumentError as error:
        table = {"told": str(error)}
    assert isinstance(table, dict)


def inline(tmp_path: Path, **change: object) -> Nomination:
    files = {"old/src/a.py": "x = 1\n", "old/test_a.py": "", "prompts/old.md": "Mend it.\n"}
    written(tmp_path, files)
    fields: dict[str, object] = {
        "id": "old-style",
        "fixture": "old",
        "prompt": "prompts/old.md",
        "test_command": ["python3", "-m", "unittest", "discover", "old"],
        "allowed_changes": ["old/src", "old/test_a.py"],
        **change,
    }
    return inline_nomination(validate(InlineNomination, fields, "release.json"), tmp_path, "release.json")


def test_an_inline_nomination_becomes_the_same_value(tmp_path: Path) -> None:
    nomination = inline(tmp_path)
    assert nomination.spec.root == "old"
    assert nomination.spec.public_tests.command[0] == "{python}"
    assert nomination.spec.allowed_changes == ("old/src/", "old/test_a.py")
    assert [file.path for file in nomination.below("fixture")] == ["fixture/src/a.py", "fixture/test_a.py"]
    assert nomination.prompt == "Mend it.\n"
    assert nomination.evaluators == ()
    assert len(nomination_digest(nomination)) == 64


@pytest.mark.parametrize(
    ("change", "field"),
    [
        (
            {"objective_evaluator": {"id": "e", "path": "e.mjs", "source": "old/src/a.py"}},
            "objective_evaluator",
        ),
        ({"test_command": ["npm", "test"]}, "test_command"),
        ({"fixture": "none"}, ""),
        ({"prompt": "none.md"}, ""),
        ({"prompt": "old"}, ""),
    ],
)
def test_an_inline_nomination_that_cannot_be_used_is_told(
    tmp_path: Path, change: dict[str, object], field: str
) -> None:
    assert field in {error.field for error in errors_of(lambda: inline(tmp_path, **change))}


@pytest.mark.parametrize("change", [{"fixture": "way/old"}, {"prompt": "way/prompts/old.md"}, {"fixture": "loop/x"}])
def test_no_link_leads_an_inline_nomination_elsewhere(tmp_path: Path, change: dict[str, object]) -> None:
    (tmp_path / "way").symlink_to(tmp_path)
    (tmp_path / "loop").symlink_to("loop")
    errors_of(lambda: inline(tmp_path, **change))
