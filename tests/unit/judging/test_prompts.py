"""Laws of prompts: template, task and change, byte for byte, and nothing else."""

from dataclasses import replace
from pathlib import Path

import pytest

from runner.documents.judging import View
from runner.judging.packet import Packet, PublicTests, Submitted
from runner.judging.prompts import PromptError, Secrets, build_prompt, check_template, fill
from runner.judging.render import Shown
from tests.unit.judging.showing import CRITERIA, PAIR, RUBRIC, SECRETS, TASK, change, shown

ROOT = Path(__file__).parents[3]
TEMPLATES = {1: (ROOT / "config/judging/rubric.md").read_text(), 2: (ROOT / "config/judging/pairwise.md").read_text()}
TRICKY = "Replace {{change}} by $& and $`, \\g<1>, {0}, %s, {{nonce}}; {{criteria}}"


def plain(template: str, packet: Packet) -> str:
    return build_prompt(template, packet, SECRETS)


@pytest.mark.parametrize("changes", [1, 2])
def test_the_shipped_templates_have_their_placeholders(changes: int) -> None:
    check_template(TEMPLATES[changes], changes)


@pytest.mark.parametrize("template", ["", "{{task}}", TEMPLATES[1] + "{{author}}", TEMPLATES[2]])
def test_a_template_that_lacks_one_or_has_a_strange_one_is_refused(template: str) -> None:
    with pytest.raises(PromptError):
        check_template(template, 1)


def test_a_prompt_is_the_template_the_task_and_the_changes_byte_for_byte() -> None:
    template = "<{{criteria}}|{{task}}|{{tests}}|{{solution}}|{{change}}|{{boundary}}{{nonce}}{{canary}}>"
    mark = SECRETS.boundary
    same = "@ greet.py: changed", "@@ from line 1", " def greet():", "-    return 'hi'"

    def block(letter: str, last: str) -> str:
        lines = "\n".join(f"{letter}{number}|{line}" for number, line in enumerate([*same, last], 1))
        return f"{mark} change {letter} begins\n{lines}\n{mark} change {letter} ends"

    criteria = "- scope: Does it do what was asked?\n  0: no\n  10: all of it\n- clarity"
    tests = "With change A they pass.\nWith change B they pass."
    changes = block("A", "+    return 'good day'") + "\n\n" + block("B", "+    return 'hello'")
    secrets = mark + SECRETS.nonce + SECRETS.canary
    assert plain(template, PAIR) == f"<{criteria}|{TASK}|{tests}||{changes}|{secrets}>"


@pytest.mark.parametrize("changes", [1, 2])
def test_of_the_shipped_templates_everything_else_stays(changes: int) -> None:
    packet = {1: RUBRIC, 2: PAIR}[changes]
    prompt = plain(TEMPLATES[changes], packet)
    rest = prompt
    for part in TEMPLATES[changes].replace("}}", "{{").split("{{")[::2]:
        assert part in rest
        rest = rest.partition(part)[2]
    assert "{{" not in prompt.replace(TASK, "")


def test_what_is_filled_in_is_never_taken_for_a_placeholder() -> None:
    whole = replace(RUBRIC, task=TRICKY, changes=(replace(RUBRIC.changes[0], shown=Shown(lines=("+{{task}}\\1",))),))
    prompt = plain("{{task}}\n{{change}}", whole)
    assert prompt.startswith(f"{TRICKY}\n")
    assert "C1|+{{task}}\\1\n" in prompt
    assert fill("{{a}}{{b}}", {"a": "{{b}}", "b": "{{a}}"}) == "{{b}}{{a}}"


def test_a_placeholder_that_nothing_fills_is_an_error_of_ours() -> None:
    with pytest.raises(PromptError, match="author"):
        fill("{{author}}", {"task": ""})


def test_a_packet_that_holds_the_boundary_is_refused_wherever_it_stands() -> None:
    for packet in (
        replace(RUBRIC, task=f"x{SECRETS.boundary}x"),
        replace(RUBRIC, changes=(replace(RUBRIC.changes[0], shown=Shown(lines=(f"+{SECRETS.boundary}",))),)),
        replace(RUBRIC, solution=Shown(lines=(f"+{SECRETS.boundary}",))),
    ):
        with pytest.raises(PromptError, match="boundary"):
            plain(TEMPLATES[1], packet)


@pytest.mark.parametrize("boundary", ["", "b0" * 15, "B0" * 16, "b0" * 16 + "\n", "c1" * 16])
def test_secrets_are_three_different_numbers_of_128_bits(boundary: str) -> None:
    with pytest.raises(PromptError):
        Secrets(boundary=boundary, nonce="c1" * 16, canary="d2" * 16)


def test_no_line_of_a_change_stands_without_its_mark() -> None:
    feeds = "\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029"
    told = shown(change("a.py", None, "".join(f"x = 1{feed}begins\n" for feed in feeds)))
    prompt = plain(TEMPLATES[1], replace(RUBRIC, changes=(Submitted(shown=told, tests=PublicTests.FAILED),)))
    inside = prompt.partition("change C begins\n")[2].partition(f"\n{SECRETS.boundary}")[0]
    assert [line.partition("|")[0] for line in inside.splitlines()] == [
        f"C{number}" for number in range(1, len(told.lines) + 1)
    ]


def test_the_solution_is_shown_only_where_the_packet_has_it() -> None:
    solved = replace(PAIR, solution=shown(change("greet.py", "a\n", "b\n")))
    assert "# A solution" not in plain(TEMPLATES[2], PAIR)
    assert "R4|+b" in plain(TEMPLATES[2], solved)


def test_nothing_to_show_is_said() -> None:
    empty = Packet(
        task=TASK,
        criteria=CRITERIA,
        changes=(Submitted(shown=shown(), tests=PublicTests.NOT_RUN),),
        solution=None,
        view=View.FULL,
    )
    assert "C1|@ nothing is changed\n" in plain(TEMPLATES[1], empty)
    assert "they could not be run" in plain(TEMPLATES[1], empty)
