"""Validating a nomination in the clean room: its controls again and again, mutants, the exploit suite."""

import difflib
import subprocess
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace

from evaluators.model import Bench, Evaluator, Submission, Verdict
from evaluators.mutation import pin_of
from evaluators.packing import laid_over, pack_files
from runner.controls import Trial, calibrate, trials
from runner.documents.certificate import Certificate, Exploit, ProvenControl, ProvenVerdict
from runner.documents.writing import decimal_text
from runner.nomination import nomination_digest
from runner.release import PreparedNomination
from runner.staging import Staged, roomy
from runner.validating.cheats import Cheat, cheats
from runner.validating.javascript_mutants import javascript_mutants
from runner.validating.judging import gains
from runner.validating.mutants import Mutant, mutants
from runner.validating.rates import flakes, upper_bound
from runner.validating.surroundings import variables
from runner.validating.target import base_file, evaluator_digests, target_of
from runner.validating.telling import told_away
from sandbox.api import Pack
from sandbox.patch import Repository
from sandbox.spec import PYTHON, Mount
from sandbox.tree import Entry, Kind

MUTANTS = 24
"""Of one solution; more are thinned out evenly."""

ROUNDS = 3
"""Of all controls, where nobody says how many."""

UNRELATED = "NOTES-ON-NOTHING.md"
_CORES = 2

Tell = Callable[[str], None]
Verdicts = Mapping[str, Verdict]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ground:
    """A nomination set up to be tried."""

    prepared: PreparedNomination
    staged: Staged
    repository: Repository
    evaluators: tuple[Evaluator, ...]
    locales: tuple[Mount, ...] = ()
    """Where units find the locales of the rounds."""

    @property
    def base(self) -> Submission:
        """The base as a candidate leaves it who does nothing."""
        return self.changed(pack_files({}))

    def changed(self, change: Pack, message: str | None = None) -> Submission:
        """Give a change to the base as it is judged; its digest is asked for by no evaluator."""
        return self.staged.submission(change, self.prepared.fixture.digest, message)

    def judge(self, submission: Submission, surroundings: tuple[tuple[str, str], ...] = ()) -> Verdicts:
        """Let every evaluator judge."""
        bench = self._bench(submission, surroundings)
        return {each.id: each.judge(submission, bench) for each in self.evaluators}

    def _bench(self, submission: Submission, surroundings: tuple[tuple[str, str], ...]) -> Bench:
        bench = roomy(self.staged.bench, submission)
        return replace(bench, surroundings=surroundings, toolchain=(*bench.toolchain, *self.locales))


def ground(
    prepared: PreparedNomination, staged: Staged, repository: Repository, locales: tuple[Mount, ...] = ()
) -> Ground:
    """Set a nomination up: evaluators that learn from the solution do it now.

    Raises:
        DocumentErrors: evaluators that do not work on the solution.
        SandboxError: a fault.
    """
    calibrated = calibrate(prepared.nomination, staged.solution(), staged.bench)
    return Ground(
        prepared=prepared, staged=staged, repository=repository, evaluators=calibrated.evaluators, locales=locales
    )


def validate(place: Ground, repeats: int, tell: Tell) -> Certificate:
    """Try everything, and write down what came of it.

    Raises:
        EvaluatorError, SandboxError: a fault.
    """
    prepared = place.prepared
    rounds = [_round(place, number, repeats, tell) for number in range(repeats)]
    controls = tuple(_control(place, trial, [each[trial.name] for each in rounds]) for trial in _trials(place))
    gradings = sum(len(verdicts) for each in rounds for verdicts in each.values())
    changed = sum(flakes(rounds[0], each) for each in rounds[1:])
    tell(f"{prepared.nomination.id}: mutants of the solution")
    made = tuple(_mutants(place))
    survivors = [each for each in made if _survives(place, each)]
    tell(f"{prepared.nomination.id}: the exploit suite")
    base = rounds[0]["base"]
    exploits = tuple(_exploit(place, cheat, base) for cheat in cheats(target_of(prepared)))
    return Certificate(
        nomination=prepared.nomination.id,
        nomination_sha256=nomination_digest(prepared.nomination),
        fixture_sha256=prepared.fixture.digest,
        solution_sha256=prepared.solution.digest,
        evaluators=evaluator_digests(prepared),
        repeats=repeats,
        surroundings=tuple(dict(variables(number)) for number in range(repeats)),
        controls=controls,
        gradings=gradings,
        flakes=changed,
        flake_bound=decimal_text(upper_bound(changed, gradings)),
        mutants=len(made),
        killed=len(made) - len(survivors),
        survivors=tuple(map(str, survivors)),
        leaks=tuple(told_away(prepared.nomination, prepared.fixture, prepared.solution)),
        exploits=exploits,
    )


def _trials(place: Ground) -> tuple[Trial, ...]:
    prepared = place.prepared
    known = trials(prepared.nomination, prepared.fixture, prepared.solution, place.repository)
    note = pack_files({UNRELATED: b"Nothing to see here.\n"})
    nothing = Trial(
        name="unrelated", kind="unrelated", change=note, tree_sha256=known[0].tree_sha256, below=known[0].below
    )
    return (*known[:2], nothing, *known[2:])


def _round(place: Ground, number: int, repeats: int, tell: Tell) -> dict[str, Verdicts]:
    is_last = number == repeats - 1 and repeats > 1
    tell(f"{place.prepared.nomination.id}: round {number + 1} of {repeats}{', under load' if is_last else ''}")
    around = variables(number)
    with _load(is_last):
        return {trial.name: place.judge(trial.submission(place.base.base), around) for trial in _trials(place)}


@contextmanager
def _load(wanted: bool) -> Iterator[None]:  # noqa: FBT001 - one of two rounds
    """Keep every core busy for a while."""
    with ExitStack() as stack:
        for _ in range(_CORES if wanted else 0):
            busy = subprocess.Popen([PYTHON, "-I", "-S", "-c", "while True: pass"], env={})
            stack.callback(busy.wait)
            stack.callback(busy.kill)
        yield


def _control(place: Ground, trial: Trial, rounds: list[Verdicts]) -> ProvenControl:
    patch = place.prepared.nomination.find(trial.name)
    return ProvenControl(
        name=trial.name,
        kind=trial.kind,
        patch_sha256=None if patch is None else patch.sha256,
        verdicts=tuple(_verdict(name, [each[name] for each in rounds]) for name in rounds[0]),
    )


def _verdict(name: str, verdicts: list[Verdict]) -> ProvenVerdict:
    first = verdicts[0]
    return ProvenVerdict(
        evaluator=name,
        passed=sum(each.passed for each in verdicts),
        causes=tuple(sorted({each.cause for each in verdicts})),
        assurance=first.assurance,
        score=None if first.score is None else decimal_text(first.score),
        failed_cases=tuple(case.id for case in first.cases if not case.passed),
    )


def _mutants(place: Ground) -> Iterator[Mutant]:
    """Make mutants of the solution; not where it is a suite, of which a test less is no other work."""
    if any(pin_of(each) is not None for each in place.prepared.nomination.evaluators):
        return
    changed = [each for each in place.prepared.solution.change.entries if _maker(each) is not None]
    for entry in changed:
        after = place.prepared.solution.change.blobs(entry.sha256 or "")
        before = base_file(place.prepared, entry.path)
        make = _maker(entry) or mutants
        yield from make(entry.path.decode(), after, _new_lines(before, after), max(1, MUTANTS // len(changed)))


def _maker(entry: Entry) -> Callable[[str, bytes, Collection[int], int], tuple[Mutant, ...]] | None:
    """Give what makes mutants of a file; None where nothing does."""
    if entry.kind is not Kind.FILE:
        return None
    if entry.path.endswith((b".js", b".mjs", b".cjs")):
        return javascript_mutants
    return mutants if entry.path.endswith(b".py") else None


def _new_lines(before: bytes, after: bytes) -> set[int]:
    matcher = difflib.SequenceMatcher(None, before.splitlines(), after.splitlines(), autojunk=False)
    return {line + 1 for tag, _, _, start, end in matcher.get_opcodes() if tag != "equal" for line in range(start, end)}


def _survives(place: Ground, mutant: Mutant) -> bool:
    solution = place.prepared.solution
    change = laid_over(solution.change, pack_files({mutant.path: mutant.source}))
    return all(each.passed for each in place.judge(place.changed(change, solution.message)).values())


def _exploit(place: Ground, cheat: Cheat, base: Verdicts) -> Exploit:
    verdicts = place.judge(place.changed(cheat.changes))
    return Exploit(
        name=cheat.name,
        scored=any(gains(verdict, base[name].passed, base[name].score) for name, verdict in verdicts.items()),
        causes={name: verdict.cause for name, verdict in verdicts.items()},
    )
