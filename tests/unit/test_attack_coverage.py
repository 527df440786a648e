"""docs/attacks.md names, for every attack of eight classes, where it is tried; and what it names is there."""

import re
from pathlib import Path

import pytest

from sandbox.attacks import ATTACKS

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs/attacks.md"
NUMBERS = {
    "The unit": (
        *(1, 2, 3, 4, 6, 8, 10, 11, 12, 13, 14, 15, 17, 18, 19, 20, 22, 23, 24, 26, 27, 28, 29, 30, 31, 34, 35, 36),
        *(37, 38, 39, 40, 41, 44, 45),
    ),
    "The capture": (
        *(46, 49, 50, 51, 52, 53, 55, 56, 57, 58, 60, 61, 62, 63, 64, 65, 66, 67, 68, 69, 70, 72, 73, 75, 76),
    ),
    "Evidence": (155, 156, 157, 159, 160, 161, 162, 163, 164, 165, 166, 167, 168, 169, 170),
    "The machine": (171, 172, 173, 174, 175, 176, 177, 178, 179, 181, 182, 184, 185, 187, 188, 189, 190, 191, 192),
    "The network": (194, 195, 196, 197, 200, 201, 204),
    "The grader": (
        *(77, 78, 79, 80, 81, 84, 86, 87, 88, 89, 91, 92, 94, 95, 96, 97, 98, 99, 100, 101, 102, 103),
        *(105, 107, 108, 109, 110, 111, 112, 113, 114, 116),
    ),
    "Timing": (117, 118, 119, 120, 121, 122, 123, 124, 125, 126, 127, 130),
    "The judge": (
        *(131, 132, 134, 135, 137, 138, 139, 140, 141, 142, 144, 145, 146, 147, 148, 149, 150, 151, 152, 153),
    ),
}
"""The catalogue's numbers by class: sandbox, workspace-capture, artifact, resource, network, grader, timing, judge."""
CONTROLS = {
    "tests/flow/test_validate.py": "test_every_shipped_nomination_is_proven",
    "tests/systemd/test_driven.py": "test_right_code_passes_in_two_units_of_two_accounts",
    "tests/systemd/test_pytest_suite.py": "test_a_right_submission_passes_and_an_honest_wrong_one_fails",
    "tests/unit/evaluators/test_attacks_by_kind.py": (
        "test_planted_files_neither_help_what_is_wrong_nor_harm_what_is_right_and_none_is_run"
    ),
    "tests/unit/evaluators/test_driven.py": "test_right_code_passes_and_the_two_sides_share_nothing",
    "tests/unit/evaluators/test_forgeries.py": "test_a_right_submission_passes",
    "tests/unit/evaluators/test_json_match.py": "test_the_expected_answer_passes_in_any_writing",
    "tests/unit/evaluators/test_node.py": ("test_cases_are_learned_from_the_solution_and_the_two_sides_share_nothing"),
    "tests/systemd/test_speedup.py": "test_a_quick_repair_gets_the_top_bucket_and_the_base_itself_nothing",
    "tests/unit/evaluators/test_speed_attacks.py": "test_a_lazy_answer_is_none_and_a_plain_one_has_paid",
    "tests/unit/evaluators/test_speed_policy.py": "test_honest_algorithms_pass",
    "tests/unit/evaluators/test_speed_ruling.py": "test_the_low_end_is_credited_and_never_the_middle",
    "tests/unit/evaluators/test_speed_session.py": "test_a_candidate_that_is_quick_gets_the_bucket_of_its_low_end",
    "tests/unit/evaluators/test_speedup.py": "test_the_first_protocol_times_both_in_one_process",
    "tests/unit/evaluators/test_small_kinds.py": "test_what_is_granted_is_seen_whole_and_an_honest_grant_passes",
    "tests/unit/evaluators/test_plain.py": "test_what_is_plain_comes_back_as_it_was_through_json",
}
"""Where attacks on graders and on times are tried: the test beside them in which honest work keeps its due."""
ROW = re.compile(r"\| (\d+) \| ([^|]+) \| ([^|]+) \| ([^|]+) \|")
TEST = re.compile(r"(tests/[\w/]+\.py)::(\w+)")


def rows() -> dict[int, tuple[str, str]]:
    """Give, by number, the class it stands in and where it is tried."""
    found: dict[int, tuple[str, str]] = {}
    heading = ""
    for line in PAGE.read_text().splitlines():
        if line.startswith("## "):
            heading = line.removeprefix("## ")
        elif row := ROW.fullmatch(line):
            number = int(row[1])
            assert number not in found, f"{number} has two rows"
            found[number] = heading, row[4]
    return found


def test_every_attack_of_the_catalogue_has_its_row() -> None:
    assert {number: heading for number, (heading, _) in rows().items()} == {
        number: heading for heading, numbers in NUMBERS.items() for number in numbers
    }


@pytest.mark.parametrize("number", [number for numbers in NUMBERS.values() for number in numbers])
def test_every_row_names_what_tries_it_or_why_nothing_does(number: int) -> None:
    _, tried = rows()[number]
    if re.match(r"(not applicable|later: issue \d+): \w+", tried):
        return
    named = re.findall(r"`([^`]+)`", tried)
    assert named, f"{number} is tried by nothing"
    ids = {attack.id for attack in ATTACKS}
    for name in named:
        test = TEST.fullmatch(name)
        assert test or name in ids, f"{number}: {name} is neither a test nor an attack"
        if test:
            assert f"def {test[2]}(" in (ROOT / test[1]).read_text(), f"{number}: there is no {name}"


def test_every_attack_that_is_tried_on_a_host_stands_in_a_row_of_its_numbers() -> None:
    tried = {number: set(re.findall(r"`([^`]+)`", where)) for number, (_, where) in rows().items()}
    for attack in ATTACKS:
        assert any(attack.id in tried.get(number, ()) for number in attack.items), attack.id


@pytest.mark.parametrize("number", [*NUMBERS["The grader"], *sorted(set(NUMBERS["Timing"]) - {127})])
def test_every_attack_on_a_grader_or_a_clock_is_tried_beside_an_honest_control(number: int) -> None:
    _, tried = rows()[number]
    modules = {module for module, _ in TEST.findall(tried)}
    if not tried.startswith("not applicable"):
        assert modules & CONTROLS.keys(), f"{number}: no control is named for {sorted(modules)}"


@pytest.mark.parametrize(("module", "control"), CONTROLS.items())
def test_every_honest_control_is_there(module: str, control: str) -> None:
    assert f"def {control}(" in (ROOT / module).read_text()
