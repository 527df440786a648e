"""Limits as a control group holds them, read from files like the kernel's."""

import sys
from pathlib import Path

import pytest

from sandbox.groups import UnitGroup, layout


@pytest.mark.parametrize(
    ("said", "swap"),
    [
        pytest.param("0\n", 0, id="none"),
        pytest.param("max\n", sys.maxsize, id="any"),
        pytest.param(None, None, id="a-kernel-without-swapping"),
    ],
)
def test_swap_is_read_back_where_the_layout_bounds_it(tmp_path: Path, said: str | None, swap: int | None) -> None:
    unit = tmp_path / "job.slice" / "one.service"
    unit.mkdir(parents=True)
    for name, text in (("memory.max", "4096\n"), ("pids.max", "7\n"), ("cpu.max", "50000 100000\n")):
        (unit / name).write_text(text, encoding="ascii")
    if said is not None:
        (unit / "memory.swap.max").write_text(said, encoding="ascii")
    held = UnitGroup(layout(tmp_path), "/job.slice", "one.service").held()
    assert (held.memory_bytes, held.tasks, held.cpu_percent, held.swap_bytes) == (4096, 7, 50, swap)
