"""Laws of what counts as a comment: code is never touched, and every comment of Python is found."""

import ast
import io
import tokenize
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.judging.languages import Language, language_of, line_comment, prose, without

ROOT = Path(__file__).parents[3]
SOURCES = sorted((ROOT / "runner/judging").glob("*.py"))


def bare(language: Language, text: str) -> str:
    return without(text, prose(language, text))


UNSEEN = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}


def tokens(text: str) -> list[tokenize.TokenInfo]:
    return [token for token in tokenize.generate_tokens(io.StringIO(text).readline) if token.type not in UNSEEN]


def docstrings(text: str) -> set[tuple[int, int]]:
    """Give where strings stand that are statements of their own, by Python's parser."""
    alone = [node.value for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Expr)]
    return {(each.lineno, each.col_offset) for each in alone if isinstance(each, ast.Constant)}


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.name)
def test_of_our_own_sources_every_token_of_code_stays_and_no_comment_does(path: Path) -> None:
    text = path.read_text()
    shown = bare(Language.PYTHON, text)
    documents = docstrings(text)
    assert [each.string for each in tokens(shown)] == [
        each.string for each in tokens(text) if each.start not in documents
    ]
    assert "#" not in {each.string[:1] for each in tokenize.generate_tokens(io.StringIO(shown).readline)}


@pytest.mark.parametrize(
    ("path", "text", "left"),
    [
        pytest.param("a.py", 'x = "# no"  # yes\n', 'x = "# no"\n', id="python-quoted"),
        pytest.param("a.py", '"""doc\n# in\n"""\nx = """a\n# b"""\n', 'x = """a\n# b"""\n', id="python-docstring"),
        pytest.param("a.py", "def f():\n    'doc'  # c\n    return 1\n", "def f():\n    return 1\n", id="python-body"),
        pytest.param("a.py", "x = [\n    'a'\n]\n", "x = [\n    'a'\n]\n", id="python-string-on-its-own-line"),
        pytest.param("a.js", "a = '//'; // b\n/* c\n d */ e()\n", "a = '//';\n e()\n", id="slashes"),
        pytest.param("a.ts", "x = `// ${y} /*`\n/* open", "x = `// ${y} /*`", id="slashes-open"),
        pytest.param("run.sh", "echo $# '# no' # yes\n# all\n", "echo $# '# no'\n", id="hash"),
        pytest.param("a.sql", "select '--' -- c\n", "select '--'\n", id="dashes"),
        pytest.param("a.html", "<p><!-- c\n --></p>\n", "<p>\n</p>\n", id="markup"),
        pytest.param("README.md", "all of it\n", "", id="document"),
        pytest.param("a.json", '{"a": "// b # c"}\n', '{"a": "// b # c"}\n', id="plain"),
        pytest.param("a.xyz", "# what // is /* it\n", "# what // is /* it\n", id="unknown"),
    ],
)
def test_what_is_taken_out(path: str, text: str, left: str) -> None:
    assert bare(language_of(path), text) == left


@pytest.mark.parametrize("path", ["a.xyz", "LICENSE.bin"])
def test_what_is_not_known_is_not_sure(path: str) -> None:
    assert prose(language_of(path), "x").sure is (language_of(path) is not Language.UNKNOWN)


def test_a_python_file_that_cannot_be_read_is_read_by_the_simple_rule_and_not_sure() -> None:
    found = prose(Language.PYTHON, 'x = (  # c\n"""open\n')
    assert not found.sure
    assert bare(Language.PYTHON, 'x = (  # c\n"""open\n') == 'x = (\n"""open\n'


@given(st.sampled_from(list(Language)), st.text(alphabet="ab'\"`\\/*-#<!> \n\r\t()[:", max_size=60))
def test_spans_are_in_order_and_within_whatever_the_text_is(language: Language, text: str) -> None:
    spans = prose(language, text).spans
    places = [place for span in spans for place in (span.start, span.end)]
    assert places == sorted(places)
    assert all(0 <= place <= len(text) for place in places)
    assert without(text, prose(language, text)).count("\n") <= text.count("\n")


@pytest.mark.parametrize("language", [Language.PYTHON, Language.SLASHES, Language.HASH, Language.DASHES])
def test_a_line_comment_of_ours_is_one(language: Language) -> None:
    comment = line_comment(language, "idle")
    assert comment is not None
    assert bare(language, f"{comment}\nx\n") == "x\n"
