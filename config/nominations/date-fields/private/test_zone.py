import pytest

from parse import parse


def offset(text):
    return str(parse("{:ti}", text).fixed[0].utcoffset())


def test_small_z():
    assert offset("1972-01-20T10:21:36z") == "0:00:00"


def test_small_z_without_seconds():
    assert offset("1972-01-20T10:21z") == "0:00:00"


@pytest.mark.parametrize("zone", ["+10:75", "-03:60", "+0199"])
def test_minutes_beyond_the_hour(zone):
    try:
        answer = parse("{:ti}", "1972-01-20T10:21:36" + zone)
    except ValueError:
        outcome = "refused"
    else:
        outcome = "refused" if answer is None else "accepted"
    assert outcome == "refused"


def test_minutes_beyond_the_hour_in_a_time():
    with pytest.raises(ValueError):
        parse("{:tt}", "10:21:36 PM +10:75")


def test_the_last_minute_that_is_one():
    assert offset("1972-01-20T10:21:36+10:59") == "10:59:00"
