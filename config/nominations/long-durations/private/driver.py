"""What `parse` must give, asked from outside: no expected number stands where the submission runs."""

import math

from cleanroom_driver import case, same, submitted

parse = submitted("./index.js:default")


def near(found: object, wanted: float) -> bool:
    """Say whether a number is as near as the order of a few roundings leaves it."""
    return type(found) in (int, float) and math.isclose(found, wanted, rel_tol=1e-12)


def all_same(table: dict[tuple[object, ...], object]) -> bool:
    """Say whether every call gives exactly what stands beside it."""
    return all(same(parse(*args), wanted) for args, wanted in table.items())


with case("twenty digits of milliseconds"):
    assert near(parse("10000000000000000000ms"), 1e19)
    assert near(parse("98765432109876543210 ms"), 98765432109876543210.0)
with case("seventeen digits of seconds"):
    assert near(parse("12345678901234567s"), 12345678901234567000.0)
    assert near(parse("-12345678901234567s"), -12345678901234567000.0)
with case("many decimals"):
    assert near(parse("0.12345678901234567h"), 444444.44044444436)
    assert near(parse(".33333333333333333333 s"), 333.3333333333333)
with case("twenty digits of days"):
    assert near(parse("99999999999999999999 d"), 8.64e27)
with case("more digits than a number holds"):
    assert near(parse("1" + "0" * 60 + "ms"), 1e60)
    assert near(parse("1." + "0" * 60 + "1 s"), 1000.0)
with case("an output unit in capitals"):
    assert all_same({("1h", "H"): 1, ("1h", "M"): 60, ("2 days", "DAY"): 2})
with case("an output unit in the plural"):
    assert all_same({("90 minutes", "hours"): 1.5, ("1h", "minutes"): 60})
with case("an output unit in capitals and the plural"):
    assert all_same({("90 minutes", "Hours"): 1.5, ("5 days", "Days"): 5, ("2 h", "MINUTES"): 120})
with case("a number without a unit in an output unit"):
    assert all_same({("3600", "S"): 3600, ("1500", "Seconds"): 1500, ("2", "Hour"): 2})
with case("short numbers as before"):
    assert all_same({("1h",): 3600000, ("1.5h",): 5400000, ("1e3ms",): 1000, ("123456789012345ms",): 123456789012345})
with case("units in the text as before"):
    assert all_same({("1h 30m",): 5400000, ("1h30",): 5400000, ("2 HOURS",): 7200000, ("3 Days",): 259200000})
    assert all_same({("-5s",): -5000, ("1,000ms",): 1000})
with case("output units as before"):
    assert all_same({("90 minutes", "h"): 1.5, ("90 minutes", "m"): 90, ("5", "s"): 5, ("2 months", "mo"): 2})
with case("what is no duration"):
    assert all_same({("abc",): None, ("",): None, (): None})
with case("an unknown output unit"):
    assert all_same({("1h", "nope"): 3600000})
with case("separators as before"):
    assert near(parse("27,681 ns"), 0.027681)
    assert all_same({("1 000 ms",): 1000, ("1h:20min",): 4800000, ("-1hr 40mins",): -6000000})
