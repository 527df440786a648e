"""The clock of the shells; rules are handed it, or the time."""

import time


def now_ms() -> int:
    """Give the time in milliseconds since 1970."""
    return time.time_ns() // 1_000_000
