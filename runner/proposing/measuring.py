"""A draft tried in the clean room: which of the fix's tests judge, what they say of the base, and what they refuse."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

from evaluators.calibration import FEWEST_TWINS
from evaluators.model import Submission
from evaluators.packing import NOTHING, laid_over, pack_files
from evaluators.private_files import PrivateFiles
from evaluators.public_tests import run_public_tests
from evaluators.pytest_suite import PytestSuite
from evaluators.pytest_survey import Survey, survey, with_modules
from evaluators.twins import Sources, find_twins, twinned
from runner.proposing.draft import Draft, public_command
from runner.proposing.pruning import split_case, without
from runner.proposing.wrong import Repair, Sides, repairs
from runner.staging import Staged, roomy
from sandbox.api import Pack
from sandbox.patch import Repository
from sandbox.tree import Entry, Kind

_MOST_WRONG, _MOST_TRIED = 2, 8

Tell = Callable[[str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ground:
    """Where a draft is tried: its nomination as it was first written, set up."""

    staged: Staged
    repository: Repository
    suite: PytestSuite

    def run(self, suite: PytestSuite, change: Pack) -> Survey:
        """Run hidden tests over a change to the base."""
        submission = self._submission(change)
        return survey(suite, submission, roomy(self.staged.bench, submission))

    def passes_public_tests(self, change: Pack) -> bool:
        """Whether a change passes the public tests."""
        submission = self._submission(change)
        return run_public_tests(self.staged.tests, submission, roomy(self.staged.tests_bench, submission)).passed

    @property
    def solution(self) -> Pack:
        """The reference change."""
        return self.staged.prepared.solution.change

    def _submission(self, change: Pack) -> Submission:
        return self.staged.submission(change, self.staged.prepared.fixture.digest)


def measured(made: Draft, ground: Ground, tell: Tell) -> Draft:
    """Give the draft with the tests that judge, what they say of the base, and repairs that they refuse.

    Raises:
        EvaluatorError, SandboxError: a fault.
    """
    tell(f"{made.asked.id}: the fix's tests on the solution")
    modules, notes = _judging(made.modules, ground)
    made = replace(made.with_notes(*notes), modules=modules)
    if not modules:
        return made.with_notes("No test of the fix judges: write hidden tests in private/.")
    tell(f"{made.asked.id}: the fix's tests on the base")
    suite = with_modules(ground.suite, modules)
    cases, base = ground.run(suite, ground.solution).passed, ground.run(suite, NOTHING)
    kept = base.passed if not base.trouble else frozenset()
    made = replace(made, fail_to_pass=tuple(sorted(cases - kept)), pass_to_pass=tuple(sorted(cases & kept)))
    made = _public(made, ground)
    tell(f"{made.asked.id}: repairs that should be refused")
    made = replace(made, wrong=dict(_refused(made, suite, cases, ground)))
    return made.with_notes(*_advice(made, ground.suite.files))


def _judging(modules: Mapping[str, str], ground: Ground) -> tuple[dict[str, str], list[str]]:
    """Give the modules without tests that do not pass on the solution, and what is said of those that are left out."""
    kept: dict[str, str] = {}
    notes: list[str] = []
    for path, text in modules.items():
        ran = ground.run(with_modules(ground.suite, {path: text}), ground.solution)
        if ran.trouble:
            notes.append(f"{path} does not run on the solution, and was left out: {ran.trouble[-300:]}")
            continue
        bad = sorted({split_case(case)[1] for case in ran.others})
        good = {split_case(case)[1] for case in ran.passed} - set(bad)
        pruned = text if not bad else without(text, bad)
        if not good or pruned is None:
            notes.append(f"No test of {path} passes on the solution as a whole; it was left out.")
            continue
        kept[path] = pruned
        if bad:
            names = ", ".join("::".join(each) for each in bad)
            notes.append(f"{path} lost the tests that do not pass, or are skipped, on the solution: {names}.")
    return kept, notes


def _public(made: Draft, ground: Ground) -> Draft:
    """Leave out what contradicts the solution: public tests that the fix rewrote."""
    if ground.passes_public_tests(ground.solution):
        return made
    rewritten = tuple(path for path in made.fix.sorted.tests if path in made.fix.parent and path.endswith(".py"))
    note = "The solution does not pass the public tests: mend the command, or exclude more in [snapshot]."
    if not rewritten:
        return made.with_notes(note)
    told = f"The solution does not pass all public tests: {', '.join(rewritten)}, which the fix rewrote, were left out."
    left = replace(made.with_notes(told), exclude=(*made.exclude, *rewritten))
    is_same = _command(left) == _command(made)
    gone = tuple(Entry(path=path.encode(), kind=Kind.GONE) for path in rewritten)
    without_them = replace(ground.solution, entries=(*ground.solution.entries, *gone))
    return left.with_notes(note) if is_same and not ground.passes_public_tests(without_them) else left


def _command(made: Draft) -> tuple[str, ...]:
    return public_command(made.asked, made.fixture, made.fix.sorted.sources)


def _refused(made: Draft, suite: PytestSuite, cases: frozenset[str], ground: Ground) -> Iterator[tuple[str, bytes]]:
    """Give patches of repairs of which the hidden tests say in some case that they are wrong, and not in all."""
    prepared, found = ground.staged.prepared, 0
    base = ground.repository.ingest(prepared.fixture.entries, prepared.fixture.contents.get)
    for tried, repair in enumerate(repairs(_sides(made))):
        if found == _MOST_WRONG or tried == _MOST_TRIED:
            return
        change = _repaired(repair, ground.solution)
        ran = ground.run(suite, change)
        if not ran.trouble and ran.passed and ran.passed < cases:
            found += 1
            patch = ground.repository.patch(base, change.entries, change.blobs)
            yield repair.name, f"Proposed: {repair.what}.\n\n".encode() + patch


def _sides(made: Draft) -> dict[str, Sides]:
    sides = {}
    for path in made.fix.sorted.sources:
        after, before = made.fix.after.get(path), made.fix.parent.get(path)
        if after is not None and path.endswith(".py"):
            sides[path] = Sides(before=b"" if before is None else before.data, after=after.data)
    return sides


def _repaired(repair: Repair, solution: Pack) -> Pack:
    """Give the solution with one file as the repair has it; one that is executable stays so."""
    path = repair.path.encode()
    laid = pack_files({repair.path: repair.data})
    executable = any(entry.path == path and entry.executable for entry in solution.entries)
    entries = tuple(replace(entry, executable=executable) for entry in laid.entries)
    return laid_over(solution, Pack(entries=entries, blobs=laid.blobs))


def _advice(made: Draft, files: PrivateFiles) -> Iterator[str]:
    if not made.fail_to_pass:
        yield "No test of the fix tells the base from the solution: write hidden tests that do."
    twins = len(twinned(find_twins(Sources(modules=made.modules, authored=files.sources.authored))))
    if twins < FEWEST_TWINS:
        yield (
            f"{twins} hidden tests have a twin that must fail, and {FEWEST_TWINS} are needed: compare with literals in "
            "more tests, or write private/twins/<same path> with tests of the same names that must fail."
        )
    if not made.wrong:
        yield "No wrong repair was found: write one that the hidden tests must refuse, as wrong/<name>.patch."
    if made.asked.prompt is None:
        yield "prompt.md is a draft: rewrite it, delete its first line, and run 'runner validate' again."
    yield "The hidden tests are those of the fix, which may be public: tests in your own words are harder to know."
