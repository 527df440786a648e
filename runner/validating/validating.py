"""Validating the nominations of a release configuration, and leaving a certificate with each."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from runner.canonical import canonical
from runner.documents.certificate import Certificate
from runner.durable import replace_file
from runner.errors import UsageError
from runner.freezer import accounts_of
from runner.inputs import load_inputs
from runner.manifests import RELEASES, manifest_path
from runner.preparing import open_workbench, prepare
from runner.release import PreparedNomination
from runner.selection import select
from runner.settings import Settings
from runner.staging import Stages
from runner.validating.certificates import CERTIFICATE, unproven
from runner.validating.surroundings import locales_mount
from runner.validating.validation import ROUNDS, ground, validate
from sandbox.client import open_sandbox
from sandbox.spec import Mount


@dataclass(frozen=True, slots=True, kw_only=True)
class Validated:
    """A certificate, and where it was put."""

    certificate: Certificate
    path: Path


def validate_release(
    settings: Settings,
    wanted: tuple[str, ...],
    repeats: int,
    tell: Callable[[str], None],
    *,
    only_stale: bool = False,
) -> Iterator[Validated]:
    """Validate nominations one after another; each certificate is written as soon as it is there.

    Raises:
        UsageError, DocumentErrors: a name means nothing, or inputs are broken.
        EvaluatorError, SandboxError: a fault.
        StorageError: a certificate cannot be written.
    """
    inputs = load_inputs(settings)
    ids = select(inputs.config.nomination_ids, wanted, lambda name: (name,), "nomination")
    workbench = open_workbench(inputs.places, settings)
    prepared = {each.nomination.id: each for each in prepare(inputs, settings, workbench, {}).nominations}
    todo = [prepared[name] for name in ids if not only_stale or unproven(prepared[name]) is not None]
    if not todo:
        return
    with open_sandbox(inputs.places.state, accounts_of(inputs.config)) as sandbox:
        stages = Stages(sandbox=sandbox, workbench=workbench, limits=inputs.config.limits)
        locales = (locales_mount(sandbox),)
        for each in todo:
            yield prove(each, stages, locales, repeats, tell)


def prove(
    prepared: PreparedNomination,
    stages: Stages,
    locales: tuple[Mount, ...],
    repeats: int,
    tell: Callable[[str], None],
) -> Validated:
    """Validate one nomination in a clean room that is open, and leave its certificate with it.

    Raises:
        UsageError, DocumentErrors: it has no folder, or evaluators that do not work on its solution.
        EvaluatorError, SandboxError: a fault.
        StorageError: the certificate cannot be written.
    """
    path = _place(prepared)
    place = ground(prepared, stages.staged(prepared), stages.workbench.repository, locales)
    certificate = validate(place, repeats, tell)
    replace_file(path, canonical(certificate))
    return Validated(certificate=certificate, path=path)


def prove_release(settings: Settings, tell: Callable[[str], None]) -> None:
    """Leave a certificate of this host's own with each nomination of a release that is not frozen yet.

    Raises:
        As `validate_release`. A nomination that is not proven is no error here: freezing refuses it.
    """
    inputs = load_inputs(settings)
    if not manifest_path(settings.checkout / RELEASES, inputs.config.release).exists():
        for each in validate_release(settings, (), ROUNDS, tell):
            tell(f"{each.certificate.nomination}: certified by {each.path}")


def _place(prepared: PreparedNomination) -> Path:
    nomination = prepared.nomination
    if not (nomination.folder / "nomination.toml").is_file():
        raise UsageError(f"{nomination.id} has no folder of its own for a certificate; write it as a folder")
    return nomination.folder / CERTIFICATE
