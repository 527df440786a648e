"""What `runner status` says, to people and to programs. Pure."""

import time
from collections.abc import Mapping

from runner.documents.ticket import Ticket
from runner.running.progress import AtWork, Progress, Spending

_SECOND, _MINUTE, _HOUR = 1_000, 60_000, 3_600_000


def report(progress: Progress, pilots: tuple[Ticket, ...], now_ms: int) -> str:
    """Give the whole of it, a line for each question."""
    rows = [
        ("release", f"{progress.release}: {progress.planned} planned, {progress.done} done, {progress.left} left"),
        ("results", ", ".join(f"{count} {name}" for name, count in progress.results.items()) or "none yet"),
        ("at work", at_work(progress.at_work, now_ms)),
        ("ends", ends(progress, pilots)),
        ("spent", spent(progress.spent)),
        *(("pilot", described(each, is_first=place == 0)) for place, each in enumerate(pilots)),
    ]
    return "".join(f"{name:8} {said}\n" for name, said in rows)


def change(progress: Progress, pilots: tuple[Ticket, ...], now_ms: int) -> str:
    """Give it in one line, for somebody who follows."""
    when = time.strftime("%H:%M:%S", time.gmtime(now_ms / _SECOND))
    done = f"{progress.done} of {progress.planned} done"
    parts = (done, _at_work(progress.at_work), f"spent {spent(progress.spent)}", f"ends {ends(progress, pilots)}")
    return f"{when} UTC: {'; '.join(parts)}"


def live(progress: Progress, now_ms: int) -> str:
    """Give it in one short line, for a place where it changes: what matters most stands first."""
    parts = [f"{progress.done} of {progress.planned} done", at_work(progress.at_work, now_ms)]
    if progress.left:
        parts.append("end unknown" if progress.left_ms is None else f"ends in about {length(progress.left_ms)}")
    money = progress.spent
    if money.requests:
        price = f"{money.usd} USD" if not money.unpriced else f"{money.usd} USD and what is unknown"
        parts.append(f"spent {price} for {_requests(money)}")
    return "; ".join(parts)


def document(progress: Progress, pilots: tuple[Ticket, ...]) -> Mapping[str, object]:
    """Give it for a JSON line; what is not known is null."""
    work, money = progress.at_work, progress.spent
    return {
        "release": progress.release,
        "planned": progress.planned,
        "done": progress.done,
        "left": progress.left,
        "results": dict(progress.results),
        "at_work": work and {**_named(work), "state": work.state, "since_ms": work.since_ms, "begun_ms": work.begun_ms},
        "left_ms": progress.left_ms,
        "spent": {
            "requests": money.requests,
            "usd": None if money.unpriced else money.usd,
            "priced_usd": money.usd,
            "unpriced": money.unpriced,
        },
        "pilots": [
            {
                "number": each.number,
                "release": each.release,
                "waits": place > 0,
                "asked_ms": each.asked_ms,
                "process": each.process,
                "log": each.log,
            }
            for place, each in enumerate(pilots)
        ],
    }


def _named(work: AtWork) -> Mapping[str, object]:
    cell = work.cell
    return {"candidate": cell.candidate, "nomination": cell.nomination, "attempt": cell.attempt, "try": work.try_}


def at_work(work: AtWork | None, now_ms: int) -> str:
    """Say what is being done."""
    return _at_work(work) if work is None else f"{_at_work(work)} for {length(now_ms - work.since_ms)}"


def _at_work(work: AtWork | None) -> str:
    return "nothing is at work" if work is None else f"{work.cell}, try {work.try_}: {work.state}"


def ends(progress: Progress, pilots: tuple[Ticket, ...]) -> str:
    """Say when what is left may be done."""
    if not progress.left:
        return "nothing is left to do"
    if not any(each.release == progress.release for each in pilots):
        return "unknown: no pilot of this release is on its way"
    if progress.left_ms is None:
        return "unknown: what is left is not at work yet, or nothing like it was finished yet"
    return f"in about {length(progress.left_ms)}"


def spent(money: Spending) -> str:
    """Say what was paid, as far as providers told it."""
    if not money.requests:
        return "nothing"
    asked = _requests(money)
    if not money.unpriced:
        return f"{money.usd} USD for {asked}"
    return f"unknown: {asked}, {money.unpriced} without a price; the others cost {money.usd} USD"


def _requests(money: Spending) -> str:
    return f"{money.requests} requests" if money.requests > 1 else "1 request"


def described(pilot: Ticket, *, is_first: bool) -> str:
    """Say who a pilot is and whether it waits."""
    asked = time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime(pilot.asked_ms / _SECOND))
    standing = "has the clean room, or is next" if is_first else "waits in line"
    log = "" if pilot.log is None else f", log {pilot.log}"
    return f"{pilot.number} ({pilot.release}) {standing}; asked {asked}, process {pilot.process}{log}"


def length(ms: int) -> str:
    """Give a length of time in the two units that matter."""
    whole = max(0, ms)
    if whole < _MINUTE:
        return f"{whole // _SECOND} s"
    if whole < _HOUR:
        return f"{whole // _MINUTE} min {whole % _MINUTE // _SECOND} s"
    return f"{whole // _HOUR} h {whole % _HOUR // _MINUTE} min"
