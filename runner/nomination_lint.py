"""What can be said against a nomination before anything is downloaded, built or run."""

import difflib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from evaluators.calibration import FEWEST_TWINS
from evaluators.errors import EvaluatorError
from evaluators.model import Assurance, EvaluatorSpec
from evaluators.private_files import read_private_files
from evaluators.registry import assurance_of, build
from evaluators.twins import find_twins, twinned
from runner.documents.nomination import NpmFixture, SdistFixture, SeededFixture
from runner.errors import ToolchainError
from runner.finding import Finding, Subject
from runner.fixture import never_in_a_fixture
from runner.leaks import leaks
from runner.node_lock import NodeLock
from runner.nomination import DRAFT, FIXTURE, PROBES, PUBLIC, SOLUTION, Nomination, parted
from runner.parsing import file_name
from runner.pins import pins
from runner.rules import matcher
from runner.sdist import normal_name
from runner.toolchain import Lock
from runner.toolchains import read_lock
from sandbox.errors import PatchError
from sandbox.patch_text import named_paths
from sandbox.spec import WORKSPACE_ROOT

_PYTEST = frozenset({"mutation", "pytest"})
"""Kinds that run it."""
_ANYWHERE = (b"a", b".a", b"a/b.py", b"tests/test_a.py", b"a/b/c/d.txt", b"setup.cfg")
_TEST_SETTINGS = (
    b"conftest.py",
    b"pytest.ini",
    b"tox.ini",
    b"setup.cfg",
    b"pyproject.toml",
    b"sitecustomize.py",
)


def count_twins(spec: EvaluatorSpec) -> int | None:
    """Count the hidden tests that have a twin; None for a kind that needs none.

    Raises:
        EvaluatorError: its kind, options or private files are not what they must be.
    """
    build(spec)
    if spec.kind != "pytest":
        return None
    return len(twinned(find_twins(read_private_files(spec.folder).sources)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Aids:
    """What lint asks of the rest of the house."""

    credential: Callable[[str], str | None]
    twins: Callable[[EvaluatorSpec], int | None] = count_twins
    copies: Mapping[str, tuple[Path, ...]]
    """Of distributions on this host, by name: `runner.host_copies`."""
    helm: bool = True
    """Whether this host names a program of Helm."""


def fixed_distributions(nomination: Nomination) -> tuple[str, ...]:
    """Name the distributions whose code a nomination's candidates are to mend."""
    fixture = nomination.spec.fixture
    return (fixture.name,) if isinstance(fixture, SdistFixture | NpmFixture) else ()


def fixture_paths(nomination: Nomination) -> frozenset[bytes] | None:
    """Give the workspace paths of the fixture and the public files; None where they are not known yet."""
    root = "" if nomination.spec.root == "." else f"{nomination.spec.root}/"
    match nomination.spec.fixture:
        case SdistFixture() | NpmFixture():
            return None
        case SeededFixture(files=files):
            own = {f"{root}{path}" for path in files}
        case _:
            own = {f"{root}{file.path.removeprefix(f'{FIXTURE}/')}" for file in nomination.below(FIXTURE)}
    own |= {file.path.removeprefix(f"{PUBLIC}/") for file in nomination.below(PUBLIC)}
    return frozenset(path.encode() for path in own)


def lint_nomination(nomination: Nomination, aids: Aids) -> Iterator[Finding]:
    """Yield everything that is wrong or odd about one nomination."""
    yield from _evaluators(nomination, aids)
    yield from _helm(nomination, aids)
    yield from leaks(nomination)
    yield from pins(nomination)
    yield from _draft(nomination)
    yield from _rules(nomination)
    yield from _steering(nomination)
    yield from _program(nomination)
    yield from _targets(nomination)
    yield from _patches(nomination)
    yield from _toolchain(nomination, aids)
    yield from _origin(nomination)
    yield from _orders(nomination)


def _evaluators(nomination: Nomination, aids: Aids) -> Iterator[Finding]:
    subject = Subject(file=nomination.file)
    if nomination.spec.is_free_text:
        if nomination.evaluators:
            mend = "remove its [[evaluators]], or write another class"
            yield subject.error("evaluators", "judges alone say how good an answer of class free-text is", mend)
        return
    if not nomination.evaluators:
        yield subject.error("evaluators", "nothing judges the work", "add an [[evaluators]] table of kind 'pytest'")
    for index, spec in enumerate(nomination.evaluators):
        field = f"evaluators[{index}]"
        try:
            twins = aids.twins(spec)
        except EvaluatorError as error:
            yield subject.error(field, str(error), "mend the evaluator's table or its private files")
            continue
        if assurance_of(spec) is Assurance.EXIT_CODE:
            yield subject.warning(field, *_believed(spec))
        if twins is not None and twins < FEWEST_TWINS:
            mend = "compare with literals in more tests, or add pairs in private/twins/"
            yield subject.error(
                field, f"{twins} hidden tests have a twin that must fail; it needs {FEWEST_TWINS}", mend
            )


def _helm(nomination: Nomination, aids: Aids) -> Iterator[Finding]:
    for index, spec in enumerate(nomination.evaluators):
        if spec.kind == "helm" and not aids.helm:
            found = "this host names no Helm, so that nothing can be judged here"
            mend = "name Helm's program by its whole path in $HELM"
            yield Subject(file=nomination.file).warning(f"evaluators[{index}]", found, mend)


def _believed(spec: EvaluatorSpec) -> tuple[str, str]:
    """Say what is believed of submitted code, and what mends that."""
    if spec.kind == "speedup":
        return "the speed-up is what a program says of itself", "write a plan, and time it by protocol 'paired-v2'"
    mend = "write a driver ('program') that reaches the submission through an adapter"
    return "submitted code can end with status 0 whenever it likes", mend


def _draft(nomination: Nomination) -> Iterator[Finding]:
    if nomination.prompt.lstrip().startswith(DRAFT):
        mend = "rewrite it in your own words, and delete that line"
        yield Subject(file=nomination.file).error("prompt", f"its first line says {DRAFT}", mend)


def _rules(nomination: Nomination) -> Iterator[Finding]:
    subject, spec = Subject(file=nomination.file), nomination.spec
    allowed, denied = matcher(spec.allowed_changes), matcher(spec.policy.deny)
    mend = "name the files or folders where the work belongs"
    if all(allowed(path) for path in _ANYWHERE):
        yield subject.error("allowed_changes", "it allows every path", mend)
    if set(spec.allowed_changes) <= set(spec.policy.deny) or all(denied(path) for path in _ANYWHERE):
        yield subject.error("policy.deny", "what is left of allowed_changes is nothing", "deny less")
    if spec.root != "." and f"{spec.root}/" in spec.allowed_changes:
        yield subject.warning("allowed_changes", "it allows every file of the fixture", mend)
    paths = fixture_paths(nomination)
    for index, rule in enumerate(spec.allowed_changes):
        means = matcher((rule,))
        if paths is not None and not any(means(path) and not denied(path) for path in paths):
            near = _near(rule, paths)
            hint = f"did you mean {near}?" if near else "mend it, unless only new files are wanted there"
            yield subject.warning(f"allowed_changes[{index}]", f"{rule} means no file of the fixture", hint)


def _steering(nomination: Nomination) -> Iterator[Finding]:
    """Find allowed changes to what judges the work, or steers what does."""
    subject, spec = Subject(file=nomination.file), nomination.spec
    allowed, denied = matcher(spec.allowed_changes), matcher(spec.policy.deny)
    public = {file.path.removeprefix(f"{PUBLIC}/").encode() for file in nomination.below(PUBLIC)}
    for path in sorted(public | (fixture_paths(nomination) or frozenset())):
        if not allowed(path) or denied(path):
            continue
        if path in public:
            message, mend = (
                f"it allows {path.decode()}, which is restored for judging",
                "deny it in policy.deny",
            )
            yield subject.warning("allowed_changes", message, mend)
        elif path.rpartition(b"/")[2] in _TEST_SETTINGS:
            message, mend = f"it allows {path.decode()}, which steers tests", "deny it in policy.deny"
            yield subject.warning("allowed_changes", message, mend)


def _program(nomination: Nomination) -> Iterator[Finding]:
    """Yield a test program that a submission could take away: a unit without its program is a fault of ours."""
    program = nomination.spec.public_tests.command[0]
    path = f"{PUBLIC}/{program.removeprefix(f'{WORKSPACE_ROOT}/')}"
    if program.startswith(f"{WORKSPACE_ROOT}/") and path not in {file.path for file in nomination.below(PUBLIC)}:
        message = f"{program} would be the submission's own"
        mend = f"put it into {PUBLIC}/, which is laid over each submission, or call an interpreter first"
        yield Subject(file=nomination.file).error("public_tests.command", message, mend)


def _near(rule: str, paths: frozenset[bytes]) -> str | None:
    names = sorted(path.decode() for path in paths)
    return next(iter(difflib.get_close_matches(rule, names, n=1, cutoff=0.7)), None)


def _targets(nomination: Nomination) -> Iterator[Finding]:
    subject, spec = Subject(file=nomination.file), nomination.spec
    if not spec.target_files:
        yield subject.warning("target_files", "it is empty", "name the files where the work is expected")
    allowed, denied, paths = (
        matcher(spec.allowed_changes),
        matcher(spec.policy.deny),
        fixture_paths(nomination),
    )
    for index, target in enumerate(spec.target_files):
        field, path = f"target_files[{index}]", target.encode()
        if not allowed(path) or denied(path):
            yield subject.error(field, f"{target} may not be changed", "add it to allowed_changes")
        if paths is not None and path not in paths:
            near = _near(target, paths)
            mend = f"did you mean {near}?" if near else "mend the path; it counts from the workspace root"
            yield subject.error(field, f"{target} is not in the fixture", mend)


def _patches(nomination: Nomination) -> Iterator[Finding]:
    subject, spec = Subject(file=nomination.file), nomination.spec
    if spec.solution.kind == "patch" and nomination.solution_patch is None:
        yield subject.error("solution", "there is none", "write the nomination as a folder with solution/")
    if not nomination.below("wrong"):
        mend = "add repairs that must be refused"
        yield subject.warning("wrong/", "no wrong repair shows what the evaluators refuse", mend)
    allowed, denied = matcher(spec.allowed_changes), matcher(spec.policy.deny)
    for folder in (SOLUTION, *PROBES):
        for file in nomination.below(folder):
            try:
                touched = named_paths(parted(file.read())[1])
            except PatchError as error:
                yield Subject(file=file_name(file.place)).error("", str(error), "make the patch with git again")
                continue
            strays = sorted(path for path in touched if denied(path) or not allowed(path))
            if strays and folder not in {"wrong", "half"}:
                name, mend = (
                    ascii(strays[0].decode("utf-8", "replace")),
                    "widen allowed_changes, or mend the patch",
                )
                yield Subject(file=file_name(file.place)).error("", f"it changes {name}, which is not allowed", mend)


def _toolchain(nomination: Nomination, aids: Aids) -> Iterator[Finding]:
    try:
        lock = read_lock(nomination) or Lock(text="", requirements=())
    except ToolchainError as error:
        yield Subject(file=error.file).error(error.field, f"found {error.found}; expected {error.expected}", error.mend)
        return
    if isinstance(lock, NodeLock):
        yield from _node(nomination, lock)
    else:
        yield from _python(nomination, lock, aids)


def _node(nomination: Nomination, lock: NodeLock) -> Iterator[Finding]:
    subject = Subject(file=nomination.file)
    for name in sorted({*fixed_distributions(nomination)} & {*lock.distributions}):
        mend = "lock packages that do not depend on it"
        yield subject.error("toolchain.packages", f"it holds {name}, which is to be mended", mend)
    for index, spec in enumerate(nomination.evaluators):
        if spec.kind in _PYTEST:
            mend = "write the hidden tests for kind 'node-test', or a driver for 'command'"
            yield subject.error(f"evaluators[{index}].kind", "pytest cannot be had beside Node", mend)
        if spec.kind == "speedup" and assurance_of(spec) is not Assurance.EXIT_CODE:
            mend = "write the fixture in Python, or measure it in a driver for 'checks'"
            yield subject.error(f"evaluators[{index}].kind", "only Python can be timed", mend)


def _python(nomination: Nomination, lock: Lock, aids: Aids) -> Iterator[Finding]:
    subject = Subject(file=nomination.file)
    for index, spec in enumerate(nomination.evaluators):
        if spec.kind == "node-test":
            mend = "add a [toolchain] of kind 'node'"
            yield subject.error(f"evaluators[{index}].kind", "node-test needs Node", mend)
    needs_pytest = "pytest" in nomination.spec.public_tests.command or any(
        spec.kind in _PYTEST for spec in nomination.evaluators
    )
    if needs_pytest and "pytest" not in lock.distributions:
        mend = "add pytest and what it needs, with hashes, to the requirements"
        yield subject.error("toolchain.requirements", "the tests need pytest, which is not in it", mend)
    for name in fixed_distributions(nomination):
        if normal_name(name) in lock.distributions:
            mend = "lock packages that do not depend on it"
            yield subject.error("toolchain.requirements", f"it installs {name}, which is to be mended", mend)
        for copy in aids.copies.get(name, ()):
            mend = "remove that package from the host, or choose another fixture"
            yield subject.error("fixture.name", f"a unit could find a copy of {name} in {copy}", mend)


def _origin(nomination: Nomination) -> Iterator[Finding]:
    if nomination.spec.source is not None:
        return
    subject, mend = Subject(file=nomination.file), "add a [source] table with name and licence"
    if isinstance(nomination.spec.fixture, SdistFixture | NpmFixture):
        yield subject.error("source", "foreign code stands without its source and licence", mend)
    else:
        yield subject.warning("source", "nothing says where the fixture comes from", mend)


def _orders(nomination: Nomination) -> Iterator[Finding]:
    """Find what coding agents would read as orders, and caches; freezing leaves both out of fixtures."""
    subject = Subject(file=nomination.file)
    for path in sorted(fixture_paths(nomination) or {name.path.encode() for name in nomination.below(PUBLIC)}):
        if never_in_a_fixture(path):
            mend = "remove it from the nomination"
            yield subject.error("fixture", f"{path.decode()} would speak to agents, or is a cache", mend)
