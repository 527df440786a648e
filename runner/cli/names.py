"""Names as arguments: a shell that knows `runner` completes them from what is configured, frozen and begun."""

from collections.abc import Callable, Iterable
from pathlib import Path

import click
from click.shell_completion import CompletionItem

from runner.completing import attempts, candidates, nominations, releases


class Name(click.ParamType[str]):
    """A text that a shell can complete; nothing is checked here, for whoever takes it says more of what is wrong."""

    def __init__(self, name: str, known: Callable[[Path | None], Iterable[tuple[str, str]]]) -> None:
        self.name = name
        self._known = known

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Take the text as it is."""
        del param, ctx
        return value

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """Give the names that begin so, each with a word of help; of a list with commas, its last name."""
        before, comma, begun = incomplete.rpartition(",") if param.multiple else ("", "", incomplete)
        config = ctx.find_root().params.get("config")
        names = self._known(config if isinstance(config, Path) else None)
        return [CompletionItem(f"{before}{comma}{name}", help=said) for name, said in names if name.startswith(begun)]


ATTEMPT = Name("attempt", attempts)
CANDIDATE = Name("candidate", candidates)
NOMINATION = Name("nomination", nominations)
RELEASE = Name("release", releases)
