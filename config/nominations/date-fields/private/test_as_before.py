from parse import parse


def test_capitals():
    assert parse("{:tt}", "10:21:36 PM").fixed[0].isoformat() == "22:21:36"
    assert parse("{:tt}", "12:05:00 AM").fixed[0].isoformat() == "00:05:00"
    assert parse("{:tt}", "12:05:00 PM").fixed[0].isoformat() == "12:05:00"


def test_zones():
    assert str(parse("{:ti}", "1972-01-20T10:21:36Z").fixed[0].utcoffset()) == "0:00:00"
    assert str(parse("{:ti}", "1972-01-20T10:21:36+10:30").fixed[0].utcoffset()) == "10:30:00"


def test_plain_dates():
    assert parse("{:ti}", "1972-01-20").fixed[0].isoformat() == "1972-01-20T00:00:00"
    assert parse("{:%Y-%m-%d}", "2023-11-23").fixed[0].isoformat() == "2023-11-23"


def test_times_without_zone():
    assert parse("{:%H:%M} {:d}", "10:20 5").fixed[1] == 5


def test_names_after_a_zone_with_colon():
    found = parse("{:%Y-%m-%d %H:%M%z} {name} {n:d}", "2024-01-02 10:20+01:00 bob 5")
    assert found.named == {"name": "bob", "n": 5}
