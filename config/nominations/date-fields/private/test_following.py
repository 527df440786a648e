from parse import parse


def test_one_number():
    assert parse("{:%H:%M:%S%z} {:d}", "10:20:30+0100 5").fixed[1] == 5


def test_two_numbers():
    assert parse("{:%d/%m/%Y %H:%M%z} {:d} {:d}", "02/01/2024 10:20-0330 4 5").fixed[1:] == (4, 5)


def test_a_word_and_a_number():
    assert parse("{:%H:%M%z}|{:w}|{:d}", "10:20+0530|abc|7").fixed[1:] == ("abc", 7)


def test_the_zone_itself():
    assert str(parse("{:%H:%M%z} {:d}", "10:20+0530 1").fixed[0].utcoffset()) == "5:30:00"


def test_the_date_before_it():
    found = parse("{:%d/%m/%Y %H:%M%z} {:d} {:d}", "02/01/2024 10:20-0330 4 5").fixed[0]
    assert found.isoformat() == "2024-01-02T10:20:00-03:30"
