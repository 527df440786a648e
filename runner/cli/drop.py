"""`runner drop`."""

import json
from datetime import UTC, datetime
from pathlib import Path

import click

from runner.cli.names import CANDIDATE
from runner.dropping import Dropped, Dropping
from runner.dropping import drop as retire
from runner.parsing import validate
from runner.roster import Retirement
from runner.settings import host_settings


@click.command()
@click.argument("candidate", type=CANDIDATE)
@click.option("--reason", required=True, metavar="TEXT", help="Why it takes part no more; one line.")
@click.option("--date", metavar="YYYY-MM-DD", help="Since when; default: today, UTC.")
@click.option("--release", metavar="ID", help="Where this release is frozen: the id of the next, which supersedes it.")
@click.option("--json", "as_json", is_flag=True, help="One JSON line.")
@click.pass_obj
def drop(
    config: Path | None, *, candidate: str, reason: str, date: str | None, release: str | None, as_json: bool
) -> None:
    """Retire a CANDIDATE: it stays in the roster, with reason and date, and is planned no more.

    The configuration's file is changed in these members alone; every other byte of it stays. What is frozen or sealed
    is never changed.
    """
    since = date or datetime.now(UTC).date().isoformat()
    why = validate(Retirement, {"reason": reason, "date": since}, "runner drop")
    dropped = retire(host_settings(config), Dropping(candidate=candidate, why=why, release=release))
    click.echo(json.dumps(_facts(dropped)) if as_json else _said(dropped))


def _said(dropped: Dropped) -> str:
    gone = dropped.candidate.retired
    since = "" if gone is None else f" since {gone.date}: {gone.reason}"
    lines = (
        f"{dropped.candidate.id} is retired{since}",
        f"  {dropped.file}: release {dropped.release}, {dropped.left} candidates are left",
        "  next: runner lint, runner freeze",
    )
    return "\n".join(lines)


def _facts(dropped: Dropped) -> dict[str, object]:
    gone = dropped.candidate.retired
    return {
        "candidate": dropped.candidate.id,
        "retired": None if gone is None else gone.model_dump(),
        "file": str(dropped.file),
        "release": dropped.release,
        "left": dropped.left,
    }
