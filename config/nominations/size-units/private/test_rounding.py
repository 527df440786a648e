"""Hidden: no unit is ever shown 1024 times where a larger one exists."""

import pytest
from sizes import format_size, parse_size

KIB, MIB, GIB, TIB, PIB = (1024**power for power in range(1, 6))


@pytest.mark.parametrize(
    ("count", "shown"),
    [
        (MIB - 1, "1.0 MiB"),
        (GIB - 1, "1.0 GiB"),
        (TIB - 1, "1.0 TiB"),
        (PIB - 1, "1.0 PiB"),
        (MIB - 51, "1.0 MiB"),
        (GIB - 52_000, "1.0 GiB"),
    ],
)
def test_the_next_unit_is_used_in_every_unit(count, shown):
    assert format_size(count) == shown


@pytest.mark.parametrize(
    ("count", "digits", "shown"),
    [
        (MIB - 512, 0, "1 MiB"),
        (MIB - 513, 0, "1023 KiB"),
        (MIB - 1, 2, "1.00 MiB"),
        (MIB - 6, 2, "1023.99 KiB"),
        (MIB - 1, 3, "1023.999 KiB"),
        (GIB - 1, 5, "1.00000 GiB"),
        (GIB - 10_000, 2, "1023.99 MiB"),
    ],
)
def test_it_depends_on_the_digits(count, digits, shown):
    assert format_size(count, digits) == shown


@pytest.mark.parametrize(("count", "shown"), [(MIB - 51, "1.0 MiB"), (MIB - 52, "1023.9 KiB")])
def test_the_limit_is_where_rounding_puts_it(count, shown):
    assert format_size(count) == shown


def test_rounding_is_done_once():
    # 1.04996 MiB; by way of 1075.2 KiB it would become 1.1.
    assert format_size(1_100_964) == "1.0 MiB"


def test_digits_of_the_larger_unit_are_its_own():
    assert format_size(1_127_375_000, 2) == "1.05 GiB"


def test_the_largest_unit_holds_everything():
    assert format_size(1024 * PIB - 1) == "1024.0 PiB"


def test_far_beyond_the_largest_unit():
    assert format_size(5000 * PIB) == "5000.0 PiB"


def test_negative_sizes_behave_alike():
    assert format_size(1 - MIB) == "-1.0 MiB"


def test_negative_sizes_below_the_limit():
    assert format_size(-1536) == "-1.5 KiB"


@pytest.mark.parametrize(("count", "shown"), [(0, "0 B"), (1000, "1000 B"), (1023, "1023 B"), (1024, "1.0 KiB")])
def test_plain_bytes_have_no_digits(count, shown):
    assert format_size(count) == shown


def test_what_is_shown_is_read_back():
    assert parse_size(format_size(MIB - 1)) == 1_048_576
