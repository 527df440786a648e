"""A real nomination is frozen: real sdists and wheels from the package index, a real hidden suite, no walls."""

import json
import os
import re
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path

import pytest

from evaluators.model import Bench, Evaluator, Submission
from runner.canonical import canonical
from runner.config import parse_config
from runner.controls import Graded
from runner.errors import ControlError, DocumentError, DocumentErrors
from runner.freezing import Stage, find_records, keep_records, with_controls
from runner.inputs import Inputs, Places
from runner.manifests import load_manifest
from runner.nomination import load_nomination
from runner.preparing import Workbench, open_workbench, prepare
from runner.release import PreparedNomination, PreparedRelease, check_inputs, freeze, write_manifest
from runner.settings import Settings
from runner.toolchain import build_toolchain
from runner.toolchain_store import TARGET, stored
from sandbox import unit
from sandbox.api import WorkspaceRequest
from sandbox.spec import PYTHON, Limits, Role, UnitSpec
from tests.fakes import PlainSandbox
from tests.unit.runner.written import written

OLD = "2d2068fb55115807d3ac77a4ca68fa48803e84ebb0ee2340f858107a36522638"
NEW = "ce71fc5928ede6cd7a60dbe3cb2845e6df8f5598fe435252ea1b31722415fda7"

NOMINATION = f"""\
schema = "cleanroom/nomination/1"
id = "redraw"
version = "1"
title = "Rules of a table drawn again"
class = "code-fix"
tier = "easy"
mode = "agentic"
allowed_changes = ["texttable.py"]

[source]
name = "texttable"
licence = "MIT"

[fixture]
kind = "sdist"
name = "texttable"
version = "1.7.0"
sha256 = "{OLD}"
drop = ["CHANGELOG.md", "setup.py", "setup.cfg", "MANIFEST.in", "tox.ini", ".coveragerc"]

[solution]
kind = "sdist"
version = "1.7.1"
sha256 = "{NEW}"

[toolchain]
requirements = "requirements.txt"

[public_tests]
command = ["{{python}}", "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests.py"]

[[evaluators]]
id = "hidden"
kind = "pytest"
"""

LOCK = """\
pytest==9.2.0 --hash=sha256:07acdcf88ec174f907dc01af70bf52d49b014bbab03faeeade31c96b18c2e588
iniconfig==2.3.1 --hash=sha256:9121e2c1fdb355232495be3194c8dfe87ccc2d5dee45947b78e68f499790d7a7
packaging==26.4 --hash=sha256:81383611a09c1bc0b08b76e0fd5829d7c6824c65b27a6aee339da133f4233ea2
pluggy==1.7.0 --hash=sha256:7dd7b0d8832ba3cb632c306926ded123429211b83641b35dc5c41ad2d34f9bec
pygments==2.21.0 --hash=sha256:2363c69b61c4a97c838da3b130dcd6468f4848992b21a82f2a63ec34377137d9
"""

HIDDEN = """\
from texttable import Texttable


def drawn():
    table = Texttable()
    table.add_rows([["a", "b"], ["1", "2"]])
    table.draw()
    return table


def test_new_characters_are_used_everywhere():
    table = drawn()
    table.set_chars(["=", "|", "+", "-"])
    assert table.draw().splitlines()[0] == "+===+===+"


def test_new_widths_are_used_everywhere():
    table = drawn()
    table.set_cols_width([5, 5])
    assert table.draw().splitlines()[0] == "+-------+-------+"


def test_rows_from_a_generator():
    table = Texttable()
    table.add_rows(row for row in [["h"], ["1"]])
    assert table.draw().splitlines()[1] == "| h |"
"""


CONFIG = {
    "schema": "cleanroom/release-configuration/1",
    "release": "real-1",
    "nominations": ["redraw"],
    "candidates": [{"id": "oracle", "agent": "oracle"}, {"id": "nop", "agent": "nop"}],
}
LIMITS = Limits(wall=timedelta(seconds=60))


@dataclass
class PlainRoom:
    """The clean room without walls; public tests and evaluators are real programs."""

    sandbox: PlainSandbox
    workbench: Workbench

    def stage(self, prepared: PreparedNomination) -> Stage:
        base = (self.sandbox.store(prepared.fixture.pack),)
        assert prepared.lock is not None
        toolchain = stored(build_toolchain(prepared.lock, self.workbench.workshop), self.sandbox)
        bench = Bench(sandbox=self.sandbox, toolchain=(toolchain,), python_path=(TARGET,), root=".", limits=LIMITS)
        command = prepared.nomination.spec.public_tests.command

        def grade(submission: Submission, evaluators: tuple[Evaluator, ...]) -> Graded:
            request = WorkspaceRequest(layers=submission.base, limits=LIMITS, lay=submission.change)
            with self.sandbox.workspace(request) as workspace:
                spec = UnitSpec(
                    role=Role.TESTS,
                    argv=(PYTHON, *command[1:]),
                    limits=LIMITS,
                    environment=(("PYTHONPATH", TARGET), ("PYTHONDONTWRITEBYTECODE", "1")),
                    workspace=workspace,
                    mounts=(toolchain,),
                )
                ended = unit.run(self.sandbox, spec).termination
            verdicts = {each.id: each.judge(submission, bench) for each in evaluators}
            return Graded(public_tests=ended.succeeded, verdicts=verdicts)

        return Stage(base=base, bench=bench, grade=grade)


@dataclass(frozen=True, kw_only=True)
class Frozen:
    """A checkout whose release was frozen with its controls."""

    checkout: Path
    path: Path
    whole: PreparedRelease

    def inputs(self, *, offline: bool) -> tuple[Inputs, Settings, Workbench]:
        """Load everything anew, as a later command does."""
        return load(self.checkout, offline=offline)


def load(checkout: Path, *, offline: bool) -> tuple[Inputs, Settings, Workbench]:
    nominations = checkout / "config/nominations"
    places = Places(
        state=checkout / "state",
        store=checkout / "store",
        tables=checkout / "tables",
        results=checkout / "results",
        models_test=checkout,
        nominations=nominations,
    )
    inputs = Inputs(
        file="real.json",
        config=parse_config(json.dumps(CONFIG).encode(), "real.json"),
        nominations=(load_nomination(nominations / "redraw"),),
        places=places,
    )
    settings = Settings(checkout=checkout, config=checkout / "real.json", environ=os.environ)
    return inputs, settings, open_workbench(places, settings, offline=offline)


@pytest.fixture(scope="module", name="frozen")
def _frozen(tmp_path_factory: pytest.TempPathFactory) -> Frozen:
    """Freeze once: downloads, a toolchain and nine runs of pytest take their time."""
    checkout = tmp_path_factory.mktemp("checkout")
    files = {
        "nomination.toml": NOMINATION,
        "prompt.md": "A table drawn before keeps its old rules. Mend it.\n",
        "requirements.txt": LOCK,
        "private/test_hidden.py": HIDDEN,
    }
    written(checkout / "config/nominations/redraw", files)
    inputs, settings, workbench = load(checkout, offline=False)
    room = PlainRoom(PlainSandbox(tmp_path_factory.mktemp("room")), workbench)
    whole = with_controls(prepare(inputs, settings, workbench, {}), workbench, room)
    keep_records(inputs.places.store, whole)
    path = write_manifest(checkout / "releases", freeze(whole))
    return Frozen(checkout=checkout, path=path, whole=whole)


def test_a_real_nomination_passes_its_controls(frozen: Frozen) -> None:
    nomination = load_manifest(frozen.path).nomination("redraw")
    assert nomination.evaluators[0].cases == 3
    assert [download.version for download in nomination.downloads] == ["1.7.0", "1.7.1"]
    solution = frozen.whole.nominations[0].solution
    assert [entry.path for entry in solution.change.entries] == [b"texttable.py"]


def test_a_later_run_finds_everything_again_without_an_index(frozen: Frozen) -> None:
    inputs, settings, workbench = frozen.inputs(offline=True)
    manifest = load_manifest(frozen.path)
    records = find_records(inputs.places.store, manifest)
    later = prepare(inputs, settings, workbench, records, manifest)
    check_inputs(manifest, later, str(frozen.path))
    assert canonical(freeze(later)) == frozen.path.read_bytes()
    keep_records(inputs.places.store, later)


def test_a_record_that_was_touched_is_refused(tmp_path: Path, frozen: Frozen) -> None:
    keep_records(tmp_path, frozen.whole)
    (place,) = tmp_path.rglob("record.json")
    data = place.read_bytes()
    place.chmod(0o644)
    place.write_bytes(data.replace(b'"public_tests":true', b'"public_tests":false'))
    with pytest.raises(ControlError, match=re.escape(str(place))):
        find_records(tmp_path, load_manifest(frozen.path))


def test_a_record_that_is_missing_is_told(tmp_path: Path, frozen: Frozen) -> None:
    with pytest.raises(DocumentError, match=r"record\.json"):
        find_records(tmp_path, load_manifest(frozen.path))


def test_an_sdist_that_is_not_the_pinned_one_is_refused_before_it_is_read(frozen: Frozen) -> None:
    inputs, settings, workbench = frozen.inputs(offline=False)
    nomination = inputs.nominations[0]
    fixture = nomination.spec.fixture.model_copy(update={"sha256": "0" * 64})
    other = replace(nomination, spec=nomination.spec.model_copy(update={"fixture": fixture}))
    with pytest.raises(DocumentErrors) as caught:
        prepare(replace(inputs, nominations=(other,)), settings, workbench, {})
    assert OLD in str(caught.value)
    assert "0" * 64 in str(caught.value)
