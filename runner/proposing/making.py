"""`runner init nomination` as a whole: read the fix, draft, try, write, prove."""

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from evaluators.calibration import FEWEST_TWINS
from evaluators.pytest_suite import PytestSuite
from evaluators.twins import Sources, find_twins, twinned
from runner.config import ReleaseConfig, load_config
from runner.errors import UsageError
from runner.freezer import accounts_of
from runner.history.clone import CLONE
from runner.inputs import find_places
from runner.leaks import test_names
from runner.members import Member
from runner.nomination import load_nomination
from runner.preparing import Workbench, open_workbench, prepare_nomination
from runner.proposing.draft import Draft, helpers_of, hidden_tests, nomination_members
from runner.proposing.fix import Asked, Fix, read_fix
from runner.proposing.locking import PROJECT, given_lock, lock_for, needs_of
from runner.proposing.measuring import Ground, measured
from runner.replacing import new_tree
from runner.settings import Settings
from runner.staging import Stages
from runner.validating.surroundings import locales_mount
from runner.validating.telling import brought
from runner.validating.validating import Validated, prove
from sandbox.client import open_sandbox
from sandbox.contents import MemoryContents
from sandbox.patch import Repository
from sandbox.scratch import scratch_folder
from sandbox.tree import Entry, Kind

Tell = Callable[[str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """A nomination that was proposed."""

    folder: Path
    draft: Draft
    validated: Validated | None
    """None where it was not tried, or could not be proven as it is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Desk:
    """What a nomination is made with."""

    asked: Asked
    config: ReleaseConfig
    workbench: Workbench
    folder: Path
    tell: Tell


def make_nomination(settings: Settings, asked: Asked, repeats: int | None, tell: Tell) -> Made:
    """Make a nomination of a fix, try it, and prove it in so many rounds; in none it is only tried.

    Without a number of rounds nothing is run, and what its tests say is not known.

    Raises:
        UsageError: the name is taken, or there is no fix of any source.
        FixtureError: history does not have it.
        SupplyError: its needs could not be locked.
        EvaluatorError, SandboxError: a fault.
        StorageError: it cannot be written.
    """
    config = load_config(settings.config)
    places = find_places(config, settings)
    folder = places.nominations / asked.id
    if os.path.lexists(folder):
        raise UsageError(f"{folder} is there already, and is left as it is; choose another --id, or remove it")
    workbench = open_workbench(places, settings)
    tell(f"{asked.id}: reading the fix")
    fix = read_fix(asked, places.state / CLONE)
    tell(f"{asked.id}: its packages")
    desk = _Desk(asked=asked, config=config, workbench=workbench, folder=folder, tell=tell)
    draft = _first(desk, fix)
    if repeats is None or not draft.modules:
        return _written(desk, _untried(draft))
    with open_sandbox(places.state, accounts_of(config)) as sandbox:
        draft = _tried(desk, draft, Stages(sandbox=sandbox, workbench=workbench, limits=config.limits))
        made = _written(desk, draft)
        if not repeats or not _can_be_proven(draft):
            return made
        stages = Stages(sandbox=sandbox, workbench=workbench, limits=config.limits)
        prepared = prepare_nomination(load_nomination(folder), workbench)
        return Made(
            folder=folder, draft=draft, validated=prove(prepared, stages, (locales_mount(sandbox),), repeats, tell)
        )


def _first(desk: _Desk, fix: Fix) -> Draft:
    asked = desk.asked
    modules, odd = hidden_tests(fix)
    helpers, seen = helpers_of(fix, modules)
    notes = [f"{path} is no UTF-8, and was left out." for path in odd]
    notes += [f"{path} stays public and was left out of private/: tests that read it there fail." for path in seen]
    if asked.requirements is None:
        project = fix.parent.get(PROJECT)
        needs = needs_of(None if project is None else project.data)
        lock = lock_for(needs, desk.workbench.workshop.find_index())
    else:
        lock = given_lock(asked.requirements)
    return Draft(
        asked=asked,
        fix=fix,
        lock=lock,
        solution=_patch(fix, desk.workbench.repository),
        modules=modules,
        helpers=helpers,
        telling=frozenset(_telling(fix, modules)),
        notes=tuple(notes),
    )


def _patch(fix: Fix, repository: Repository) -> bytes:
    contents = MemoryContents()
    base = repository.ingest([_entry(member, contents) for member in fix.before.members], contents.get)
    changes = []
    for path in fix.sorted.sources:
        member = fix.after.get(path)
        changes.append(Entry(path=path.encode(), kind=Kind.GONE) if member is None else _entry(member, contents))
    return repository.patch(base, changes, contents.get)


def _entry(member: Member, contents: MemoryContents) -> Entry:
    sha256, size = contents.put(member.data), len(member.data)
    return Entry(path=member.path, kind=Kind.FILE, executable=member.executable, sha256=sha256, size=size)


def _telling(fix: Fix, modules: dict[str, str]) -> Iterator[str]:
    """Give names that a prompt must not say: what the fix brings into the code, hidden tests and their files."""
    yield from brought(
        (member.data for member in fix.before.members),
        (fix.after[path].data for path in fix.sorted.sources if path in fix.after),
    )
    shown = {name for member in fix.before.members for name in test_names(member.data)}
    for path, text in modules.items():
        name = path.rpartition("/")[2]
        yield from (name, name.removesuffix(".py"), *(test_names(text.encode()) - shown))


def _tried(desk: _Desk, draft: Draft, stages: Stages) -> Draft:
    """Set the draft up as it is, in a folder of its own, and try it there."""
    with scratch_folder(None) as scratch:
        folder = scratch / desk.asked.id
        new_tree(folder, nomination_members(draft))
        prepared = prepare_nomination(load_nomination(folder), desk.workbench)
        suite = prepared.evaluators[0]
        if not isinstance(suite, PytestSuite):
            raise TypeError("a draft is judged by a suite of pytest")
        staged = stages.staged(prepared)
        return measured(draft, Ground(staged=staged, repository=desk.workbench.repository, suite=suite), desk.tell)


def _untried(draft: Draft) -> Draft:
    if draft.modules:
        note = "Nothing was run: list fail_to_pass and pass_to_pass, write wrong repairs, and run 'runner validate'."
    else:
        note = (
            "The fix brings no tests for pytest: write hidden tests in private/, or a driver (docs/how-to/release.md)."
        )
    return draft.with_notes(note)


def _written(desk: _Desk, draft: Draft) -> Made:
    new_tree(desk.folder, nomination_members(draft))
    desk.tell(f"{desk.asked.id}: written to {desk.folder}")
    return Made(folder=desk.folder, draft=draft, validated=None)


def _can_be_proven(draft: Draft) -> bool:
    twins = twinned(find_twins(Sources(modules=draft.modules, authored={})))
    return bool(draft.fail_to_pass) and len(twins) >= FEWEST_TWINS
