"""Nominations set up in the clean room: once a run, and candidates alone see the workspace's repository."""

from pathlib import Path

from runner.config import PhaseLimits, ReleaseLimits
from runner.fixture import build_fixture
from runner.nomination import load_nomination
from runner.package_index import ConfiguredIndex
from runner.preparing import Workbench
from runner.release import PreparedNomination
from runner.sdist import Downloads
from runner.solution import build_solution
from runner.staging import Stages
from runner.toolchain_store import Workshop
from sandbox.patch import Repository
from tests.fakes import PlainSandbox
from tests.unit.runner.test_controls import WRONG
from tests.unit.runner.written import nomination_files, written


def set_up(folder: Path) -> tuple[Stages, PreparedNomination, PlainSandbox]:
    nomination = load_nomination(
        written(folder / "wordcount", nomination_files() | {"wrong/one.patch": WRONG}),
    )
    workbench = Workbench(
        downloads=Downloads(folder=folder / "downloads", index=None),
        repository=Repository(folder / "bases.git"),
        workshop=Workshop(folder=folder / "toolchains", find_index=ConfiguredIndex(environment={}).settings),
    )
    fixture = build_fixture(nomination, workbench.downloads)
    prepared = PreparedNomination(
        nomination=nomination,
        fixture=fixture,
        solution=build_solution(nomination, fixture, workbench.downloads, workbench.repository),
        lock=None,
        evaluators=(),
        controls=None,
    )
    sandbox = PlainSandbox(folder / "sandbox")
    sandbox.folder.mkdir()
    limits = ReleaseLimits(public_tests=PhaseLimits(wall_ms=1_000), evaluators=PhaseLimits(wall_ms=2_000))
    return Stages(sandbox=sandbox, workbench=workbench, limits=limits), prepared, sandbox


def test_a_nomination_is_staged_once(tmp_path: Path) -> None:
    stages, prepared, _ = set_up(tmp_path)
    assert stages.staged(prepared) is stages.staged(prepared)
    assert stages.inspection() is stages.inspection()


def test_the_candidate_alone_sees_the_workspaces_repository(tmp_path: Path) -> None:
    stages, prepared, sandbox = set_up(tmp_path)
    staged = stages.staged(prepared)
    objects = sandbox.folder / "objects"
    assert staged.layers == (staged.git, staged.fixture)
    assert [path.name for path in (objects / staged.git).iterdir()] == [".git"]
    assert not (objects / staged.fixture / ".git").exists()
    assert staged.solution().base == (staged.fixture,)
    shown = {path.name for path in (objects / staged.fixture).rglob("*") if path.is_file()}
    assert shown == {"wordcount.py", "test_public.py"}


def test_each_phase_has_its_own_limits(tmp_path: Path) -> None:
    stages, prepared, _ = set_up(tmp_path)
    staged = stages.staged(prepared)
    assert staged.tests_bench.limits.wall.total_seconds() == 1
    assert staged.bench.limits.wall.total_seconds() == 2
    assert staged.toolchain == ()


def test_the_base_of_captures_is_the_frozen_fixture(tmp_path: Path) -> None:
    stages, prepared, _ = set_up(tmp_path)
    base = stages.staged(prepared).base
    assert base.digest == prepared.fixture.digest
    solution = prepared.solution.change.entries
    assert stages.workbench.repository.ingest(prepared.fixture.entries, prepared.fixture.contents.get) == base.commit
    assert [entry.path for entry in solution] == [b"wordcount.py"]


def test_what_a_candidate_runs_leaves_no_caches_of_tests_behind(tmp_path: Path) -> None:
    stages, prepared, _ = set_up(tmp_path)
    environment = dict(stages.staged(prepared).environment)
    assert environment["PYTEST_ADDOPTS"] == "-p no:cacheprovider"
    assert environment["PYTHONDONTWRITEBYTECODE"] == "1"
    assert environment["PYTHONPATH"] == "/work"
