import pytest

from sizes import format_size, parse_size


@pytest.mark.parametrize(
    ("count", "shown"),
    [(0, "0 B"), (1023, "1023 B"), (1024, "1.0 KiB"), (1536, "1.5 KiB"), (5 * 1024**2, "5.0 MiB")],
)
def test_sizes_are_shown(count, shown):
    assert format_size(count) == shown


def test_just_below_a_mebibyte():
    assert format_size(1_048_575) == "1.0 MiB"


def test_digits_can_be_chosen():
    assert format_size(1_600_000, digits=3) == "1.526 MiB"


@pytest.mark.parametrize(("text", "count"), [("12", 12), ("1.5 KiB", 1536), ("2mib", 2 * 1024**2)])
def test_sizes_are_read(text, count):
    assert parse_size(text) == count


def test_what_is_no_size_is_refused():
    with pytest.raises(ValueError, match="not a size"):
        parse_size("twelve")
