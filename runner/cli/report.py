"""`runner report`."""

import json
import time
from pathlib import Path

import click

from runner.cli.names import RELEASE
from runner.errors import VerificationError
from runner.inputs import Places, load_inputs
from runner.parsing import file_name, read_file
from runner.reports.format_check import check_page
from runner.reports.formats import FORMATS
from runner.reports.remembering import kept
from runner.reports.report_gathering import gather, write_report
from runner.reports.report_json import report_rows
from runner.reports.report_words import lede
from runner.settings import host_settings
from runner.verification.model import Finding

_LONGEST = 256 << 20


@click.command()
@click.argument("releases", nargs=-1, type=RELEASE, metavar="[RELEASE]...")
@click.option(
    "--out", type=click.Path(path_type=Path), help="Write there; default: beside the tables of the release, or of all."
)
@click.option(
    "--check", "pages", multiple=True, type=click.Path(path_type=Path), help="Hold a page against its format instead."
)
@click.option(
    "--format",
    "letter",
    type=click.Choice([*FORMATS]),
    help="The format for --check; default: as headings say.",
)
@click.option("--fresh", is_flag=True, help="Read every byte, also of attempts whose documents are as they were.")
@click.option("--json", "as_json", is_flag=True, help="JSON lines.")
@click.pass_obj
def report(  # noqa: PLR0913 - one parameter an option
    config: Path | None,
    *,
    releases: tuple[str, ...],
    out: Path | None,
    pages: tuple[Path, ...],
    letter: str | None,
    fresh: bool,
    as_json: bool,
) -> int:
    """Write who solved what, how surely and at what cost, as a page and as Markdown; or check such a page."""
    if pages:
        return _check(pages, letter, as_json=as_json)
    settings = host_settings(config)
    inputs = load_inputs(settings)
    names = tuple(dict.fromkeys(releases)) or (inputs.config.release,)
    made, gathered = gather(settings.checkout, inputs.places, names, clock=time.time_ns, fresh=fresh)
    for line in filter(None, map(kept, gathered)):
        click.echo(line, err=True)
    page, text = write_report(out or _folder(inputs.places, names), made)
    if as_json:
        for row in report_rows(made):
            click.echo(json.dumps(row))
        return 0
    for sentence in lede(made):
        click.echo(sentence)
    click.echo(f"page: {page}")
    click.echo(f"text: {text}")
    return 0


def _folder(places: Places, names: tuple[str, ...]) -> Path:
    return places.tables / names[0] if len(names) == 1 else places.tables


def _check(pages: tuple[Path, ...], letter: str | None, *, as_json: bool) -> int:
    findings: list[Finding] = []
    for page in pages:
        data = read_file(page, _LONGEST)
        findings += check_page(data.decode("utf-8", errors="replace"), file_name(page), letter)
    for each in findings:
        told = {"file": each.file, "found": each.found, "expected": each.expected}
        click.echo(json.dumps(told) if as_json else str(each))
    if not as_json:
        said = f"{len(findings)} findings" if findings else "each table of results keeps its format"
        click.echo(f"checked {len(pages)} {'page' if len(pages) == 1 else 'pages'}: {said}")
    return VerificationError.exit_code if findings else 0
