import pytest

from parse import parse


@pytest.mark.parametrize(
    ("text", "hour"),
    [("10:21:36 pm", 22), ("10:21:36 Pm", 22), ("10:21:36 pM", 22), ("12:05:00 am", 0), ("12:05:00 Am", 0)],
)
def test_time_of_day(text, hour):
    assert parse("{:tt}", text).fixed[0].hour == hour


def test_whole_time():
    assert parse("{:tt}", "10:21:36 pm").fixed[0].isoformat() == "22:21:36"


def test_global_order():
    assert parse("{:tg}", "20/1/1972 10:21:36 pm").fixed[0].isoformat() == "1972-01-20T22:21:36"


def test_american_order():
    assert parse("{:ta}", "1/20/1972 10:21 pm").fixed[0].isoformat() == "1972-01-20T22:21:00"


def test_morning_stays_in_the_morning():
    assert parse("{:tt}", "9:01:02 am").fixed[0].isoformat() == "09:01:02"
