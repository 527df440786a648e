"""The page's colours can be read, in light and in dark."""

import re
from importlib.resources import files

import pytest

CSS = files("runner.reports").joinpath("report_page.css").read_text("utf-8")
LIGHT, DARK = (
    dict(re.findall(r"--([a-z-]+): (#[0-9a-f]{3,6})", block)) for block in CSS.split("* {")[0].split("@media")
)
ENOUGH = 4.5
"""Contrast that small text needs (WCAG 2.2, 1.4.3)."""
PAIRS = [
    ("text", "page"), ("text", "card"), ("quiet", "page"), ("quiet", "card"), ("accent", "page"), ("text", "soft"),
    ("good", "good-soft"), ("bad", "bad-soft"), ("odd", "odd-soft"), ("none", "none-soft"), ("text", "odd-soft"),
]  # fmt: skip


def light(colour: str) -> float:
    """Give the relative luminance."""
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (each / 12.92 if each <= 0.04045 else ((each + 0.055) / 1.055) ** 2.4 for each in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@pytest.mark.parametrize("scheme", [LIGHT, DARK], ids=["light", "dark"])
@pytest.mark.parametrize(("front", "back"), PAIRS)
def test_text_stands_out(scheme: dict[str, str], front: str, back: str) -> None:
    low, high = sorted(light(scheme[each]) for each in (front, back))
    assert (high + 0.05) / (low + 0.05) >= ENOUGH


@pytest.mark.parametrize("scheme", [LIGHT, DARK], ids=["light", "dark"])
@pytest.mark.parametrize("mark", ["accent", "quiet"])
def test_marks_of_figures_stand_out(scheme: dict[str, str], mark: str) -> None:
    low, high = sorted(light(scheme[each]) for each in (mark, "page"))
    assert (high + 0.05) / (low + 0.05) >= 3
