from decimal import Decimal

from billing.invoice import line, total


def test_one_line():
    assert total([line("10", "0.095")]) == Decimal("0.95")


def test_many_small_lines():
    assert total([line("1", "0.004")] * 10) == Decimal("0.04")
