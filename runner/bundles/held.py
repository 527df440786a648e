"""The programs that a run's candidates or judges need: checked before anything starts, then shown to their units."""

from collections.abc import Iterable, Mapping
from pathlib import Path

from runner.agents.registry import AGENTS
from runner.bundles.bundle import Bundle, load_bundle
from runner.config import CleanRoom
from runner.documents.facts import RuntimeFact
from runner.documents.runtimes import RuntimeName
from runner.errors import DocumentError
from runner.roster import Participant
from runner.settings import Settings


def needed_runtimes(participants: Iterable[Participant]) -> tuple[RuntimeName, ...]:
    """Name the programs that some participants are reached through, each once."""
    found = (AGENTS[each.agent].runtime for each in participants)
    return tuple(dict.fromkeys(name for name in found if name is not None))


def runtime_root(name: RuntimeName, room: CleanRoom, settings: Settings) -> Path | None:
    """Give where a program lies on this host; None where the configuration does not say."""
    told = {"opencode": room.opencode_root, "codex": room.codex_root, "claude": room.claude_root}[name]
    return None if told is None else settings.path(told)


def load_runtimes(
    participants: Iterable[Participant], room: CleanRoom, settings: Settings, file: str
) -> Mapping[RuntimeName, Bundle]:
    """Hash every program that is needed, once.

    Raises:
        DocumentError: the configuration does not say where one is.
        BundleError: one is not whole, or not what was installed.
    """
    found: dict[RuntimeName, Bundle] = {}
    for name in needed_runtimes(participants):
        root = runtime_root(name, room, settings)
        if root is None:
            raise DocumentError(
                file=file,
                field=f"clean_room.{name}_root",
                found="nothing",
                expected=f"the folder of {name}",
                mend="run scripts/runtimes, and name the folder it tells",
            )
        found[name] = load_bundle(name, root)
    return found


def fact_of(bundle: Bundle) -> RuntimeFact:
    """Give what every attempt tells of the program it was made with."""
    return RuntimeFact(agent=bundle.agent, version=bundle.version, tree_sha256=bundle.digest)
