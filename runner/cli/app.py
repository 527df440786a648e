"""The commands. Heavy parts are imported by the command that needs them, so that `--help` is quick."""

from difflib import get_close_matches
from importlib import import_module
from pathlib import Path

import click
from click.shell_completion import CompletionItem

_COMMANDS = {
    "init": ("runner.cli.init", "Begin a bench, or a nomination from a repository's history."),
    "snapshot": ("runner.cli.snapshot", "Make fixtures again, from their repository's history."),
    "doctor": ("runner.cli.doctor", "Say line by line what this host can hold."),
    "lint": ("runner.cli.plan", "Check a release configuration and its nominations."),
    "validate": ("runner.cli.validate", "Prove nominations before money is spent on them."),
    "gold-size": ("runner.cli.gold_size", "Say how large the reference solutions are."),
    "freeze": ("runner.cli.plan", "Run the controls and write the release's manifest."),
    "pilot": ("runner.cli.run", "Run the planned attempts of a frozen release."),
    "judge": ("runner.cli.judge", "Let judges look at sealed submissions, without names."),
    "evaluate": ("runner.cli.evaluate", "Grade sealed submissions again, as new gradings."),
    "status": ("runner.cli.watch", "Say how far a release has come, and what its pilots do."),
    "stop": ("runner.cli.watch", "End a release's pilots, after their current attempt or now."),
    "list": ("runner.cli.list", "List candidates, nominations, releases, attempts and more."),
    "drop": ("runner.cli.drop", "Retire a candidate, with reason and date."),
    "prune": ("runner.cli.prune", "Give disk back: say what may go, ask, and remove it."),
    "show": ("runner.cli.show", "Show what happened in an attempt, or what two differ in."),
    "replay": ("runner.cli.replay", "Run an attempt's agent again, against its recording."),
    "verify": ("runner.cli.evidence", "Check a release's evidence from its files alone."),
    "aggregate": ("runner.cli.aggregate", "Make the table from sealed evidence, and print it."),
    "report": ("runner.cli.report", "Write who solved what, how surely and at what cost, as a page."),
    "review": ("runner.cli.review", "Keep people's reviews beside the submissions that they are of."),
    "publish": ("runner.cli.publish", "Write what may be seen of a release, once, signed."),
    "verify-sandbox": ("runner.cli.walls", "Try the walls around agents, from inside real units."),
    "verify-objective-sandbox": ("runner.cli.walls", "Try the walls around tests and evaluators, likewise."),
    "keys": ("runner.cli.keys", "Make, show, replace and revoke the keys that sign."),
    "host": ("runner.cli.host", "Look after this machine's clean room."),
}
"""Each command's module, and what the list of commands says of it."""


class _Lazy(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:
        """Name every command without importing it."""
        del ctx
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import a command's module when it is asked for."""
        del ctx
        if cmd_name not in _COMMANDS:
            return None
        found = vars(import_module(_COMMANDS[cmd_name][0])).values()
        return next((each for each in found if isinstance(each, click.Command) and each.name == cmd_name), None)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command, or name those that are called alike."""
        if args and args[0] not in _COMMANDS and not args[0].startswith("-"):
            near = get_close_matches(args[0], _COMMANDS, n=2, cutoff=0.6)
            hint = f"did you mean {' or '.join(near)}?" if near else "see: runner --help"
            ctx.fail(f"no command is called {args[0][:100]!r}; {hint}")
        return super().resolve_command(ctx, args)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Offer commands without importing them, and options as usual."""
        if incomplete.startswith("-"):
            return super().shell_complete(ctx, incomplete)
        return [CompletionItem(name, help=said) for name, (_, said) in _COMMANDS.items() if name.startswith(incomplete)]

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands without importing them."""
        del ctx
        with formatter.section("Commands"):
            formatter.write_dl([(name, said) for name, (_, said) in _COMMANDS.items()])


def _tell_versions(context: click.Context, _option: click.Parameter, wanted: object) -> None:
    """Say what runs here, a fact a line, and leave."""
    if wanted and not context.resilient_parsing:
        for name, said in import_module("runner.versions").versions():
            click.echo(f"{name:8} {said}")
        context.exit()


@click.group(cls=_Lazy, context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_tell_versions,
    help="Say what runs here: this code and its commit, Python, kernel, systemd, PID 1.",
)
@click.option(
    "--config",
    type=click.Path(path_type=Path),
    help="Release configuration; default: $BENCHMARK_CONFIG, then config/pilot.json.",
)
@click.pass_context
def app(context: click.Context, config: Path | None) -> None:
    """Run coding-agent evaluations in clean rooms, and prove what came of them."""
    context.obj = config
