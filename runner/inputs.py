"""All that a release is made from: its configuration, its nominations, and where this host keeps what."""

from dataclasses import dataclass
from pathlib import Path

from runner.config import ReleaseConfig, load_config
from runner.errors import DocumentError, DocumentErrors
from runner.inline import inline_nomination
from runner.nomination import Nomination, load_nomination
from runner.parsing import file_name
from runner.settings import Settings

NOMINATIONS = Path("config/nominations")


@dataclass(frozen=True, slots=True, kw_only=True)
class Places:
    """Folders of this host; they are never frozen with a release."""

    state: Path
    store: Path
    """Private evidence."""
    tables: Path
    """What `runner aggregate` makes: a folder a release, derived from private evidence and never published as it is."""
    results: Path
    """Published releases, in the public checkout."""
    models_test: Path
    nominations: Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """A loaded release, before anything was downloaded, built or run."""

    file: str
    """What errors call the configuration."""
    config: ReleaseConfig
    nominations: tuple[Nomination, ...]
    """In the configuration's order."""
    places: Places

    def nomination(self, name: str) -> Nomination:
        """Give a nomination by its id, which the configuration has."""
        return next(nomination for nomination in self.nominations if nomination.id == name)


def load_inputs(settings: Settings) -> Inputs:
    """Read the configuration that the settings name, and its nominations.

    Raises:
        DocumentError, DocumentErrors: with the problems of all nominations together.
    """
    config = load_config(settings.config)
    places = find_places(config, settings)
    file = file_name(settings.config)
    return Inputs(file=file, config=config, nominations=_nominations(config, places, file), places=places)


def find_places(config: ReleaseConfig, settings: Settings) -> Places:
    """Give the folders that a configuration means on this host."""
    state = settings.state_dir(config.clean_room.state_dir)
    store = config.private_artifacts_dir
    return Places(
        state=state,
        store=state / "store" if store is None else settings.path(store),
        tables=state / "tables",
        results=settings.path(config.models_test) / config.results_dir,
        models_test=settings.path(config.models_test),
        nominations=settings.checkout / NOMINATIONS,
    )


def _nominations(config: ReleaseConfig, places: Places, file: str) -> tuple[Nomination, ...]:
    loaded: list[Nomination] = []
    problems: list[DocumentError] = []
    for entry in config.nominations:
        try:
            if isinstance(entry, str):
                loaded.append(load_nomination(places.nominations / entry))
            else:
                loaded.append(inline_nomination(entry, places.models_test, file))
        except DocumentErrors as several:
            problems += several.errors
        except DocumentError as error:
            problems.append(error)
    if problems:
        raise DocumentErrors(errors=tuple(problems))
    return tuple(loaded)
