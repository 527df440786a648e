"""Laws of tokens and mutants of JavaScript: what only looks like code is none, and each mutant is one small change."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.validating.javascript import What, tokens
from runner.validating.javascript_mutants import javascript_mutants

EVERY = range(1, 100)


def told(text: str) -> list[str]:
    return [each.text for each in tokens(text)]


def changed(text: str) -> set[tuple[str, str]]:
    """Give what is said of each mutant, with its program."""
    return {(each.what, each.source.decode()) for each in javascript_mutants("index.js", text.encode(), EVERY, 1000)}


@pytest.mark.parametrize(
    "text",
    [
        "// a === b && true",
        "/* a === b\n && 5 */",
        "#!/usr/bin/env node --use 5",
        "'a === b' + \"5 && 6\"",
        r"'it\'s 5 < 6'",
        "`a === b ${'&& 5'} < 6`",
        "`one ${`two ${'5 === 6'}`} && 7`",
        "/a===b&&[/5]+/u",
        "x.match(/\"5\" === '6'/g)",
        "if (x) /5 < 6/.test(y)",
        "for (;;) { } /5 && 6/.exec(y)",
        "typeof /5 + 6/",
        "[/5 - 6/, /7 * 8/]",
    ],
)
def test_texts_patterns_and_comments_are_never_changed(text: str) -> None:
    mutants = javascript_mutants("index.js", text.encode(), EVERY, 1000)
    assert {each.what for each in mutants} <= {"+ becomes -", "the condition is turned round"}


@pytest.mark.parametrize(
    ("text", "pattern"),
    [
        ("a / b / c", None),
        ("(a) / 2 / g", None),
        ("a[0] / 2 / g", None),
        ("({}) / 2 / g", None),
        ("x = {} / 2 / g", None),
        ("a++ / 2 / g", None),
        ("this / 2 / g", None),
        ("a.return / 2 / g", None),
        ("`x` / 2 / g", None),
        ("return /2/g", "/2/g"),
        ("a = /2/g", "/2/g"),
        ("a ? /2/g : b", "/2/g"),
        ("() => /2/g", "/2/g"),
        ("if (a) /2/g", "/2/g"),
        ("a.if(b) / 2 / g", None),
        ("{ } /2/g", "/2/g"),
        ("function f() { } /2/g", "/2/g"),
        ("a && /[/]2/g", "/[/]2/g"),
        (r"a = /\/2/g", r"/\/2/g"),
    ],
)
def test_a_slash_divides_or_begins_a_pattern(text: str, pattern: str | None) -> None:
    found = [each.text for each in tokens(text) if each.what is What.PATTERN]
    assert found == ([] if pattern is None else [pattern])


def test_signs_are_read_whole_and_a_template_holds_code() -> None:
    assert told("a>>>=b??c?.d?.5:e**f") == ["a", ">>>=", "b", "??", "c", "?.", "d", "?", ".5", ":", "e", "**", "f"]
    assert told("`x${ {a: 1}.a }y`") == ["`x${", "{", "a", ":", "1", "}", ".", "a", "}y`"]
    assert [each.line for each in tokens("`\n${a}\n` + b")] == [1, 2, 2, 3, 3]


@pytest.mark.parametrize("text", ["'no end", "a = `no end ${b", "/* no end", "a = /no end", '"a\nb"', "\0"])
def test_where_nothing_can_be_told_a_program_is_read_no_further(text: str) -> None:
    assert not {"no", "end"} & set(told(f"first;\n{text}"))
    assert told(f"first;\n{text}")[:2] == ["first", ";"]


@pytest.mark.parametrize(
    ("text", "what", "mutant"),
    [
        ("a === b", "=== becomes !==", "a !== b"),
        ("a<b", "< becomes <=", "a<=b"),
        ("a && b", "&& becomes ||", "a || b"),
        ("a - -b", "- becomes +", "a + -b"),
        ("a += b", "+= becomes -=", "a -= b"),
        ("a = true", "true becomes false", "a = false"),
        ("a = 41", "41 becomes 42", "a = 42"),
        ("a = 0x1F", "0x1F becomes 32", "a = 32"),
        ("a = 1_000n", "1_000n becomes 1001n", "a = 1001n"),
        ("a = 1.5", "1.5 becomes 2.5", "a = 2.5"),
        ("a = 1..b", "1. becomes 2.", "a = 2..b"),
        ("a = 1e3", "1e3 becomes 1001", "a = 1001"),
        ("if (a || (b)) c", "the condition is turned round", "if (!(a || (b))) c"),
        ("return a + b; c", "nothing is returned", "return void ( a + b); c"),
        ("{ return { a: 1 } }", "nothing is returned", "{ return void ( { a: 1 }) }"),
        ("return a ?\n b\n : c\nd()", "nothing is returned", "return void ( a ?\n b\n : c)\nd()"),
        ("return `a${\nb}`\nc", "nothing is returned", "return void ( `a${\nb}`)\nc"),
    ],
)
def test_each_operator_finds_its_place(text: str, what: str, mutant: str) -> None:
    assert (what, mutant) in changed(text)


@pytest.mark.parametrize(
    "text",
    ["a.true", "function* f() {}", "-a", "+a", "export * from 'a'", "return;", "return\na", "a => b", "a++", "a?.b"],
)
def test_what_is_no_operation_has_no_mutant(text: str) -> None:
    assert changed(text) == set()


def test_only_changed_lines_are_mutated_and_at_most_so_many() -> None:
    text = b"a = 1\nb = 2\nc = 3\n"
    assert [each.line for each in javascript_mutants("index.js", text, {2}, 9)] == [2]
    assert javascript_mutants("index.js", text, {99}, 9) == ()
    assert len(javascript_mutants("index.js", text, EVERY, 2)) == 2


@given(st.text("ab01 \n'\"`\\/*+-=<>&|!?:;.,(){}[]$#", max_size=60))
def test_whatever_is_read_tokens_are_parts_of_it_in_order(text: str) -> None:
    end = 0
    for each in tokens(text):
        assert each.start >= end
        assert text[each.start : each.end] == each.text != ""
        assert each.line == 1 + text.count("\n", 0, each.start)
        end = each.end
    for mutant in javascript_mutants("index.js", text.encode(), EVERY, 1000):
        assert mutant.source.decode() != text
