"""The judging of a release: what was sealed is shown to judges, and what they say is kept beside it. Nothing else."""

import os
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

from runner.bundles.bundle import Bundle
from runner.bundles.held import load_runtimes
from runner.clock import now_ms
from runner.documents.judging import UnscoredWhy
from runner.documents.manifest import Manifest
from runner.documents.runtimes import RuntimeName
from runner.errors import DocumentError, UsageError
from runner.freezer import accounts_of
from runner.gateway.serving import address, gateway_unit
from runner.host_proofs import Prover, host_now, keep_copies
from runner.journal import sole_writer
from runner.judging.archive import Archive, all_tries
from runner.judging.caching import judge_settings
from runner.judging.calling import Booth
from runner.judging.opening import Hearing, Wanted
from runner.judging.ruling import Binding
from runner.judging.sitting import Sitting, Tally, Tell, by_asking
from runner.roster import Judge
from runner.settings import Settings
from sandbox.client import open_sandbox


class JudgedError(UsageError):
    """Judges were asked before, and nobody said that the rest is wanted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """What a judging did."""

    calls: int
    verdicts: int
    unscored: Mapping[UnscoredWhy, int]
    left: int
    """Askings that have not come to an end: their judge fell silent."""
    skipped: int
    """Askings of the plan that no judge may answer."""
    askings: int
    """Of the plan that were asked for here, those with an end included."""

    @property
    def is_whole(self) -> bool:
        """Whether everything that was asked for has an end, and each judge gave some answer."""
        return self.left == 0 and UnscoredWhy.PROVIDER not in self.unscored

    @property
    def is_idle(self) -> bool:
        """Whether nothing was left to ask."""
        return self.calls == 0 and self.left == 0 and not self.unscored


def hold(settings: Settings, hearing: Hearing, wanted: Wanted, tell: Tell) -> Done:
    """Ask what was not asked yet, and keep what is answered.

    Raises:
        JudgedError: judges were asked before, without --resume.
        DocumentError: a key is not set.
        WallsBrokenError: a wall of this host does not hold; nobody was asked.
        SandboxError, GatewayError: a fault; what was kept stays.
        StorageError: the disk failed or is full.
    """
    archive = Archive(store=hearing.store)
    tries = all_tries(hearing.store, hearing.frozen.manifest)
    sitting = _sitting(hearing, archive, tell)
    sitting.known = by_asking(archive.answers(tries))
    if sitting.known and not wanted.resume:
        raise JudgedError("judges of this release were asked before; run again with --resume, which asks nothing twice")
    todo = [question for question in hearing.questions if not sitting.is_over(question)]
    if todo:
        judges = {question.judge.id: question.judge for question in todo}
        _check_keys(settings, hearing.frozen.manifest, judges)
        inputs = hearing.frozen.inputs
        bundles = load_runtimes(judges.values(), inputs.config.clean_room, settings, inputs.file)
        top = hearing.store.root / hearing.store.release
        with _booth(settings, hearing, judges, bundles, tell) as booth, sole_writer(top, wait=True):
            # Again, now that the lock is ours: until then another run may have asked the same.
            sitting.known = by_asking(archive.answers(tries))
            archive.keep_plan(hearing.plan.document)
            sitting.asks = booth
            sitting.sit(todo)
    return _done(hearing, sitting.tally)


def _sitting(hearing: Hearing, archive: Archive, tell: Tell) -> Sitting:
    manifest = hearing.frozen.manifest
    return Sitting(
        archive=archive,
        show=hearing.show,
        key=hearing.key,
        binding=Binding(release=manifest.release, manifest_sha256=hearing.store.manifest_sha256),
        settings=judge_settings(manifest),
        tell=tell,
    )


def _check_keys(settings: Settings, manifest: Manifest, judges: Mapping[str, Judge]) -> None:
    routes = {route.id: route for route in manifest.routes}
    for judge in judges.values():
        name = None if judge.route is None else routes[judge.route].credential
        if name is not None and settings.credential(name) is None:
            raise DocumentError(
                file="the environment",
                field=name,
                found="nothing",
                expected=f"the key of route {judge.route}",
                mend=f"set {name}, or select other judges with --judge",
            )


@contextmanager
def _booth(
    settings: Settings,
    hearing: Hearing,
    judges: Mapping[str, Judge],
    bundles: Mapping[RuntimeName, Bundle],
    tell: Tell,
) -> Iterator[Booth]:
    """Open the clean room, see that its walls hold, and open the gateway and the providers that are needed."""
    frozen, store = hearing.frozen, hearing.store
    routes = {route.id: route for route in frozen.manifest.routes}
    used = {judge.route: routes[judge.route] for judge in judges.values() if judge.route is not None}
    with ExitStack() as stack:
        folder = frozen.inputs.places.state
        sandbox = stack.enter_context(open_sandbox(folder, accounts_of(frozen.inputs.config)))
        host = host_now(sandbox.facts())
        prover = Prover(sandbox=sandbox, host=host, state=folder, clock=now_ms, may_prove=os.geteuid() == 0)
        keep_copies(store.root / store.release, prover.required(tell))
        yield Booth(
            sandbox=sandbox,
            gateway=stack.enter_context(gateway_unit(sandbox)),
            routes=routes,
            base_urls={name: stack.enter_context(address(settings, route)) for name, route in used.items()},
            credential=settings.credential,
            limits=frozen.manifest.limits.judges.limits(),
            bundles=bundles,
        )


def _done(hearing: Hearing, tally: Tally) -> Done:
    return Done(
        calls=tally.calls,
        verdicts=tally.verdicts,
        unscored=dict(tally.unscored),
        left=tally.left,
        skipped=len(hearing.plan.document.skipped),
        askings=len(hearing.questions),
    )
