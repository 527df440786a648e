"""Reading and building everything that a release freezes: fixtures, solutions, locks, evaluators, folders."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from evaluators import registry
from evaluators.errors import EvaluatorError, OptionError
from evaluators.model import Evaluator, EvaluatorSpec
from runner.documents.controls import ControlsRecord
from runner.documents.manifest import FrozenFile, FrozenFolder, Manifest
from runner.errors import DocumentError, DocumentErrors, SupplyError
from runner.fixture import build_fixture, check_fixture
from runner.folder import list_files
from runner.inputs import Inputs, Places
from runner.judges import IN_DEPTH
from runner.nomination import Nomination
from runner.npm import registry_of
from runner.package_index import ConfiguredIndex
from runner.release import PreparedNomination, PreparedRelease
from runner.sdist import Downloads
from runner.settings import Settings
from runner.single_shot import told
from runner.solution import build_solution
from runner.toolchain_store import Workshop
from runner.toolchains import read_lock
from sandbox.patch import Repository

DOWNLOADS, REPOSITORY, TOOLCHAINS = "downloads", "bases.git", "toolchains"
"""Folders of the state; each can be removed and comes back."""

JUDGE_PROMPTS = "config/judging"
"""What judges are told, in the checkout."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Workbench:
    """Where fixtures, solutions and toolchains are made."""

    downloads: Downloads
    repository: Repository
    workshop: Workshop
    helm: Path | None = None
    """The program that evaluators of kind `helm` run; None: this host names none."""


def open_workbench(places: Places, settings: Settings, *, offline: bool = False) -> Workbench:
    """Give the workbench of a host's state. Nothing is made or asked before it is needed."""
    index = ConfiguredIndex(environment=settings.environ)
    return Workbench(
        downloads=Downloads(folder=places.state / DOWNLOADS, index=None if offline else index),
        repository=Repository(places.state / REPOSITORY),
        workshop=Workshop(
            folder=places.state / TOOLCHAINS, find_index=index.settings, npm=registry_of(settings.environ)
        ),
        helm=settings.helm,
    )


def prepare(
    inputs: Inputs,
    settings: Settings,
    workbench: Workbench,
    records: Mapping[str, ControlsRecord],
    frozen: Manifest | None = None,
) -> PreparedRelease:
    """Make everything a release freezes; `records` are those of the controls that ran, by nomination.

    With the manifest of an earlier freeze, a drifted fixture is told before what no longer fits it.

    Raises:
        DocumentErrors: with the problems of all nominations together.
        SupplyError: a pinned file is not here and cannot be fetched.
    """
    known = {} if frozen is None else {each.id: each.fixture_sha256 for each in frozen.nominations}
    prepared: list[PreparedNomination] = []
    problems: list[DocumentError] = []
    for nomination in inputs.nominations:
        try:
            name = nomination.id
            prepared.append(prepare_nomination(nomination, workbench, records.get(name), known.get(name)))
        except SupplyError:
            raise
        except DocumentErrors as several:
            problems += several.errors
        except DocumentError as error:
            problems.append(error)
    if problems:
        raise DocumentErrors(errors=tuple(problems))
    return PreparedRelease(
        config=inputs.config,
        nominations=tuple(prepared),
        folders=tuple(_folders(inputs, settings)),
        judge_prompts=_prompts(inputs, settings),
    )


def prepare_nomination(
    nomination: Nomination,
    workbench: Workbench,
    record: ControlsRecord | None = None,
    frozen_fixture: str | None = None,
) -> PreparedNomination:
    """Make everything of one nomination that a release freezes.

    Raises:
        DocumentError: something of it cannot be made or told, or its fixture is not the frozen one.
    """
    fixture = build_fixture(nomination, workbench.downloads)
    if frozen_fixture is not None:
        check_fixture(fixture, frozen_fixture, nomination.file)
    if nomination.is_single_shot:
        told(nomination, fixture)
    return PreparedNomination(
        nomination=nomination,
        fixture=fixture,
        solution=build_solution(nomination, fixture, workbench.downloads, workbench.repository),
        lock=read_lock(nomination),
        evaluators=build_evaluators(nomination, record),
        controls=record,
    )


def build_evaluators(nomination: Nomination, record: ControlsRecord | None) -> tuple[Evaluator, ...]:
    """Build a nomination's evaluators, calibrated as the record of its controls says.

    Raises:
        DocumentError: a kind is unknown, or options, private files or calibration are wrong.
    """
    learned = {} if record is None else {each.id: each.calibration for each in record.evaluators}
    return tuple(_built(nomination, spec, learned.get(spec.id)) for spec in nomination.evaluators)


def _built(nomination: Nomination, spec: EvaluatorSpec, calibration: object) -> Evaluator:
    try:
        return registry.build(spec, calibration)
    except OptionError as error:
        raise DocumentError(
            file=nomination.file,
            field=f"evaluators[{spec.id}].{error.field}",
            found=error.found,
            expected=error.expected,
            mend="mend the evaluator's table",
        ) from error
    except EvaluatorError as error:
        raise DocumentError(
            file=nomination.file,
            field=f"evaluators[{spec.id}]",
            found=str(error),
            expected="an evaluator that can be built",
            mend="mend its table or its private files",
        ) from error


def _prompts(inputs: Inputs, settings: Settings) -> tuple[FrozenFile, ...]:
    """Give what judges are told; what is told in depth, where somebody is."""
    judges = inputs.config.judges
    files = _files(settings.checkout / JUDGE_PROMPTS) if judges else ()
    return tuple(each for each in files if each.path != IN_DEPTH or any(judge.in_depth for judge in judges))


def _folders(inputs: Inputs, settings: Settings) -> Iterator[FrozenFolder]:
    for route in inputs.config.routes:
        if route.scripted is not None:
            yield FrozenFolder(owner=route.id, use="scenarios", files=_files(settings.path(route.scripted)))
    for candidate in inputs.config.candidates:
        if candidate.patches is not None:
            files = _files(settings.path(candidate.patches))
            yield FrozenFolder(owner=candidate.id, use="patches", files=files)


def _files(folder: Path) -> tuple[FrozenFile, ...]:
    return tuple(
        FrozenFile(path=file.path, sha256=file.sha256, executable=file.executable) for file in list_files(folder)
    )
