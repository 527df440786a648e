"""The names that a shell offers where a command takes one, each with a word beside it. Where nothing is, none."""

from collections.abc import Callable, Iterator
from pathlib import Path

from runner.config import load_config
from runner.errors import RunnerError
from runner.manifests import MANIFEST, RELEASES
from runner.reports.aggregate import planned
from runner.sealed import find_sealed
from runner.settings import Settings, host_settings

Names = tuple[tuple[str, str], ...]


def attempts(config: Path | None) -> Names:
    """Give the attempts that were begun; the tries of those that have several."""
    return _quietly(_attempts, config)


def candidates(config: Path | None) -> Names:
    """Give the configured candidates."""
    return _quietly(_candidates, config)


def nominations(config: Path | None) -> Names:
    """Give the configured nominations."""
    return _quietly(_nominations, config)


def releases(config: Path | None) -> Names:
    """Give the releases that were frozen in this checkout."""
    return _quietly(_releases, config)


def _quietly(known: Callable[[Settings], Iterator[tuple[str, str]]], config: Path | None) -> Names:
    """Ask for names; a shell that completes a word is no place for an error."""
    try:
        return tuple(known(host_settings(config)))
    except (RunnerError, OSError):
        return ()


def _attempts(settings: Settings) -> Iterator[tuple[str, str]]:
    manifest, store = find_sealed(settings)
    for cell in planned(manifest):
        numbers = store.numbers(cell)
        if numbers:
            yield str(cell), f"{len(numbers)} tries" if len(numbers) > 1 else ""
        if len(numbers) > 1:
            yield from ((f"{cell}/try-{number}", "") for number in numbers)


def _candidates(settings: Settings) -> Iterator[tuple[str, str]]:
    for each in load_config(settings.config).candidates:
        yield each.id, each.label or each.model or each.agent.value


def _nominations(settings: Settings) -> Iterator[tuple[str, str]]:
    yield from ((name, "") for name in load_config(settings.config).nomination_ids)


def _releases(settings: Settings) -> Iterator[tuple[str, str]]:
    folder = settings.checkout / RELEASES
    for place in sorted(folder.glob(f"*/{MANIFEST}")):
        yield place.parent.name, ""
