"""`runner init`: a bench, and nominations from git history."""

import json
import re
import shlex
from pathlib import Path

import click

from runner.cli.privilege import need_keeper
from runner.cli.telling import hint, tell
from runner.cli.validate import show
from runner.errors import UsageError
from runner.nomination import PROMPT_BYTES
from runner.parsing import decode, file_name, read_file
from runner.proposing.fix import Asked
from runner.proposing.making import Made, make_nomination
from runner.proposing.starting import begin_bench
from runner.settings import host_settings, own_checkout
from runner.validating.validation import ROUNDS

_BENCH = "bench"
_ID = re.compile(r"[a-z0-9][a-z0-9._-]{0,79}")


class _Init(click.Group):
    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Take a word that is no command for the folder of a bench."""
        known = bool(args) and (args[0] in self.commands or args[0].startswith("-"))
        return super().resolve_command(ctx, args if known else [_BENCH, *args])


@click.group(cls=_Init)
def init() -> None:
    """Begin a bench in a folder (`runner init DIR`), or a nomination from a repository's history."""


@init.command(_BENCH)
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="JSON lines.")
def bench(folder: Path, *, as_json: bool) -> None:
    """Write a bench that runs: a configuration, a small nomination, judges' templates, README.

    `runner init DIR` is the same. Nothing that is there is ever replaced.
    """
    begun = begin_bench(folder, own_checkout())
    if as_json:
        told = {"config": str(begun.config), "written": [*map(str, begun.written)], "kept": [*map(str, begun.kept)]}
        click.echo(json.dumps(told))
        return
    for path in begun.written:
        click.echo(f"written: {path}")
    for path in begun.kept:
        click.echo(f"left as it is: {path}")
    hint(f"runner --config {shlex.quote(str(begun.config))} lint")


@init.command()
@click.option("--from-git", "origin", nargs=2, required=True, metavar="REPO FIX_COMMIT", help="A fix in a repository.")
@click.option("--id", "name", help="The nomination's id; default: the repository's name and the commit's first digits.")
@click.option(
    "--path", "paths", multiple=True, metavar="RULE", help="What of the repository is wanted: path, folder/, glob."
)
@click.option("--exclude", multiple=True, metavar="GLOB", help="What is left out of it: *.lock, docs/, a/b.py.")
@click.option("--strip", type=click.IntRange(0, 20), default=0, help="Leading parts that paths lose.")
@click.option("--source", "sources", multiple=True, metavar="RULE", help="Which changed files are the fix.")
@click.option("--tests", "command", help="The public tests' command, such as '{python} -m pytest -q tests'.")
@click.option("--requirements", type=click.Path(path_type=Path), help="A hash-pinned lock, with pytest in it.")
@click.option("--prompt", type=click.Path(path_type=Path), help="The task in your own words, instead of a draft.")
@click.option("--licence", help="Of the repository, such as MIT.")
@click.option(
    "--repeats", type=click.IntRange(0, 1000), default=ROUNDS, show_default=True, help="Rounds of validation; 0: none."
)
@click.option("--untried", is_flag=True, help="Run nothing: what the tests say is then not known. Needs no privilege.")
@click.option("--json", "as_json", is_flag=True, help="JSON lines.")
@click.pass_obj
def nomination(  # noqa: PLR0913 - each is an option of the command
    config: Path | None,
    *,
    origin: tuple[str, str],
    name: str | None,
    paths: tuple[str, ...],
    exclude: tuple[str, ...],
    strip: int,
    sources: tuple[str, ...],
    command: str | None,
    requirements: Path | None,
    prompt: Path | None,
    licence: str | None,
    repeats: int,
    untried: bool,
    as_json: bool,
) -> int:
    """Make a nomination of a fix, and prove it.

    The fixture is what stood before the fix, the solution its sources, the hidden tests its tests: as far as they fail
    on the base or guard what works. The repository is read as data. README.md in the nomination says what is left to
    do. It ends with 0 if the nomination is proven, and with 1 if it is not yet.
    """
    repository = Path(origin[0])
    if name is not None and not _ID.fullmatch(name):
        raise UsageError(f"{name!r} is no id: small letters, digits and . _ -, with a letter or digit first")
    asked = Asked(
        id=name or _usual(repository, origin[1]),
        repository=repository,
        commit=origin[1],
        paths=paths,
        exclude=exclude,
        strip=strip,
        sources=sources,
        command=tuple(shlex.split(command or "")),
        requirements=requirements,
        prompt=None if prompt is None else decode(read_file(prompt, PROMPT_BYTES), file_name(prompt)),
        licence=licence,
    )
    if not untried:
        need_keeper()
    made = make_nomination(host_settings(config), asked, None if untried else repeats, tell)
    proven = made.validated is not None and show(made.validated, as_json=as_json)
    _show_made(made, as_json=as_json)
    return 0 if proven or untried or not repeats else 1


def _usual(repository: Path, commit: str) -> str:
    stem = re.sub(r"[^a-z0-9._-]+", "-", repository.resolve().name.lower().removesuffix(".git")).strip("-._")
    mark = re.sub(r"[^a-z0-9]+", "-", commit.lower())[:8].strip("-")
    if not stem or not mark:
        raise UsageError("the repository's name makes no id; give one: --id")
    return f"{stem}-{mark}"


def _show_made(made: Made, *, as_json: bool) -> None:
    draft = made.draft
    if as_json:
        told: dict[str, object] = {"nomination": draft.asked.id, "folder": str(made.folder), "fix": draft.fix.commit}
        told |= {"fail_to_pass": list(draft.fail_to_pass), "pass_to_pass": list(draft.pass_to_pass)}
        click.echo(json.dumps(told | {"wrong": list(draft.wrong), "notes": list(draft.to_do)}))
        return
    click.echo(f"nomination {draft.asked.id}: {made.folder}")
    if draft.is_measured:
        click.echo(f"  {len(draft.fail_to_pass)} cases fail on the base alone, {len(draft.pass_to_pass)} never")
    for note in draft.to_do:
        click.echo(f"  to do: {note}")
    hint("runner lint")
