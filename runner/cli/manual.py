"""The reference page of the commands, written from the commands themselves."""

import inspect
from collections.abc import Iterator

import click

from runner.cli.app import app

EXIT_CODES = {
    0: "all that was asked is done, whatever the verdicts. `pilot` with nothing to do is 0",
    1: "at least one void in this run, a fault of ours, an index that did not answer, a full disk, a route that lacks "
    "something, a table that is not the expected one, a replay that was another run, or a pilot that was stopped",
    2: "wrong usage or a bad document, a drifted input included",
    3: "verification found something, or a wall did not hold",
    4: "the host is unfit: this account may not start units, another run holds the room, an uncleaned room, a missing "
    "mechanism",
    130: "stopped from the keyboard (a pilot leaves with 1)",
}
"""What each exit code means; the same for every command."""

_HEAD = """\
<!-- Written by scripts/reference from the commands. Change their help, not this page. -->

# Commands

Results go to standard output, progress and notes to standard error. Tables have colours on a terminal alone, and not
with `NO_COLOR`. With `--json`, which every command has, each line of standard output is one JSON value. On a terminal a
pilot has a last line that says how far it is, when it may end and what it cost; elsewhere that is said every five
minutes. On a terminal commands also name the next one.

Bash, zsh and fish complete commands, options and the names of attempts, candidates, nominations and releases, after
`eval "$(_RUNNER_COMPLETE=bash_source runner)"` (`zsh_source`; in fish: `_RUNNER_COMPLETE=fish_source runner | source`).
`runner --version` tells what to say in a report of a problem.

`freeze`, `validate`, `init nomination` (but with `--untried`), `pilot`, `evaluate`, `judge`, `replay` and `doctor
--route` start units: they are for root, and for accounts that the sudo rule of [a real
host](../how-to/real-host.md#other-accounts-than-root) names.
`verify-sandbox`, `verify-objective-sandbox`, `prune` and `host clear` are for root alone. All others need no
privilege; `doctor` sees all as root alone.

Variables that are read: `BENCHMARK_CONFIG`, `NO_COLOR`, `TERM`, the keys that the routes of a configuration name, and,
for the package index, what pip reads (`PIP_INDEX_URL` and the like).
"""


def commands_page() -> str:
    """Write the page: every command with its options, then the exit codes."""
    context = click.Context(app, info_name="runner")
    codes = [f"| {code} | {meaning} |" for code, meaning in EXIT_CODES.items()]
    return "\n".join(
        [_HEAD, *_command(app, context), "## Exit codes", "", "| code | meaning |", "|---|---|", *codes, ""]
    )


def _command(command: click.Command, context: click.Context) -> Iterator[str]:
    """Write a command, and those below it."""
    usage = " ".join([context.command_path, *command.collect_usage_pieces(context)])
    yield from (f"## {context.command_path}", "", inspect.cleandoc(command.help or ""), "", f"    {usage}", "")
    shown = [each for each in command.params if isinstance(each, click.Option) and not each.hidden]
    if shown:
        yield from ("| option | takes | does |", "|---|---|---|")
        yield from (
            f"| {', '.join(f'`{name}`' for name in each.opts)} | {_takes(each)} | {each.help} |" for each in shown
        )
        yield ""
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            below = command.get_command(context, name)
            if below is not None and not below.hidden:
                yield from _command(below, click.Context(below, info_name=name, parent=context))


def _takes(option: click.Option) -> str:
    if option.is_flag:
        return ""
    kind = option.metavar or option.type.name.upper()
    return f"`{kind}`, again and again" if option.multiple else f"`{kind}`"
