"""Limits as a control group holds them, read from files like the kernel's."""

from pathlib import Path

import pytest

from sandbox.groups import UNBOUNDED, UnitGroup, layout


@pytest.mark.parametrize(
    ("said", "swap"),
    [
        pytest.param("0\n", 0, id="none"),
        pytest.param("max\n", UNBOUNDED, id="any"),
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


def older(tmp_path: Path) -> Path:
    """Make groups of the older layout, and give where the unit's memory is."""
    (tmp_path / "unified").mkdir()
    unit = tmp_path / "memory" / "job.slice" / "one.service"
    unit.mkdir(parents=True)
    return unit


def test_socket_buffers_are_bounded_where_the_older_layout_counts_them_apart(tmp_path: Path) -> None:
    limit = older(tmp_path) / "memory.kmem.tcp.limit_in_bytes"
    limit.write_text("9223372036854771712", encoding="ascii")
    assert UnitGroup(layout(tmp_path), "/job.slice", "one.service").bound_sockets(1 << 20)
    assert limit.read_text(encoding="ascii") == "1048576"


def test_a_bound_on_sockets_that_cannot_be_set_is_none(tmp_path: Path) -> None:
    limit = older(tmp_path) / "memory.kmem.tcp.limit_in_bytes"
    limit.symlink_to("/dev/null")  # What is written is not what is read back.
    assert not UnitGroup(layout(tmp_path), "/job.slice", "one.service").bound_sockets(1 << 20)
    limit.unlink()
    limit.mkdir()
    assert not UnitGroup(layout(tmp_path), "/job.slice", "one.service").bound_sockets(1 << 20)


def test_on_the_newer_layout_memory_is_memory_and_nothing_is_written(tmp_path: Path) -> None:
    assert UnitGroup(layout(tmp_path), "/job.slice", "one.service").bound_sockets(1 << 20)
    assert not list(tmp_path.iterdir())


def test_no_swap_is_left_beside_the_memory_limit_where_systemd_cannot_bound_it(tmp_path: Path) -> None:
    unit = older(tmp_path)
    group = UnitGroup(layout(tmp_path), "/job.slice", "one.service")
    (unit / "memory.limit_in_bytes").write_text("4096\n", encoding="ascii")
    group.bound_swap()
    assert group.held().swap_bytes is None, "a kernel that does not count swap"
    (unit / "memory.memsw.limit_in_bytes").write_text("9223372036854771712\n", encoding="ascii")
    assert group.held().swap_bytes == 9223372036854771712 - 4096
    group.bound_swap()
    assert group.held().swap_bytes == 0


@pytest.mark.parametrize(
    ("texts", "held"),
    [
        pytest.param(("max", "max", "max 100000"), (UNBOUNDED, UNBOUNDED, UNBOUNDED), id="no-limit"),
        pytest.param((None, None, None), (None, None, None), id="no-controller"),
    ],
)
def test_no_limit_is_told_from_no_controller(
    tmp_path: Path, texts: tuple[str | None, ...], held: tuple[int | None, ...]
) -> None:
    unit = tmp_path / "job.slice" / "one.service"
    unit.mkdir(parents=True)
    for name, text in zip(("memory.max", "pids.max", "cpu.max"), texts, strict=True):
        if text is not None:
            (unit / name).write_text(text, encoding="ascii")
    found = UnitGroup(layout(tmp_path), "/job.slice", "one.service").held()
    assert (found.memory_bytes, found.tasks, found.cpu_percent) == held
