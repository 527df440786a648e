"""`runner publish`."""

import json
from collections.abc import Iterator
from pathlib import Path

import click

from runner.canonical import sha256
from runner.cli.names import RELEASE
from runner.cli.telling import tell
from runner.publishing.publication import End, Publication, Wanted, publish_release
from runner.settings import host_settings
from runner.signing.merkle import head


@click.command()
@click.argument("release", type=RELEASE)
@click.option("--dry-run", is_flag=True, help="Verify, lay out and scan everything; write nothing.")
@click.option("--sign-with", metavar="CMD", help="Have this command sign: the release key is held elsewhere.")
@click.option("--timestamp-with", metavar="CMD", help="Have the signature stamped by this command (RFC 3161).")
@click.option("--incomplete", metavar="REASON", help="Publish attempts without an end as void, for this reason.")
@click.option("--json", "as_json", is_flag=True, help="JSON lines.")
@click.pass_obj
def publish(  # noqa: PLR0913 - one parameter an option
    config: Path | None,
    *,
    release: str,
    dry_run: bool,
    sign_with: str | None,
    timestamp_with: str | None,
    incomplete: str | None,
    as_json: bool,
) -> int:
    """Write what may be seen of a RELEASE to the public checkout: once, scanned, signed and logged."""
    wanted = Wanted(
        release=release,
        incomplete=incomplete,
        sign_with=sign_with,
        timestamp_with=timestamp_with,
        dry_run=dry_run,
    )
    done = publish_release(host_settings(config), wanted, tell)
    for line in _json(done) if as_json else _lines(done):
        click.echo(line)
    return 0


def _lines(done: Publication) -> Iterator[str]:
    ready = done.ready
    if done.end is End.REHEARSED:
        for path, data in sorted(ready.files.items()):
            yield f"{sha256(data)}  {path}"
    yield f"release {ready.release}: {done.end}"
    size = sum(len(data) for data in ready.files.values())
    yield f"  {done.folder}: {len(ready.files)} files, {size} bytes, and the signed files"
    yield f"  tree of {len(ready.leaves)} planned attempts, root {head(ready.leaves).root.hex()}"
    if ready.incomplete:
        yield f"  {ready.incomplete} attempts without an end stand in it as void"
    yield from (f"  let pass: {each.file}: {each.field}: {each.rule}: {each.reason}" for each in ready.allowed)
    yield from (f"  not looked for: {each}" for each in done.not_scanned)
    if done.log is not None:
        yield from done.log.lines()
        yield "nothing was committed or pushed"


def _json(done: Publication) -> Iterator[str]:
    ready = done.ready
    told = {
        "release": ready.release,
        "end": done.end.name.lower(),
        "folder": str(done.folder),
        "files": len(ready.files),
        "attempts": len(ready.leaves),
        "root": head(ready.leaves).root.hex(),
        "incomplete": ready.incomplete,
        "allowed": [each.model_dump(mode="json") for each in ready.allowed],
        "not_scanned": list(done.not_scanned),
        "checkpoint": None if done.checkpoint is None else done.checkpoint.decode(),
        "log_checkpoint": None if done.log is None else done.log.note.decode(),
    }
    yield json.dumps(told)
