"""A certificate is no more than a claim: a freeze holds it against what it finds, and tries some cheats again."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from evaluators.model import Evaluator, Submission
from runner.canonical import canonical
from runner.cli.plan import freeze
from runner.controls import Graded
from runner.documents.certificate import Certificate
from runner.errors import DocumentErrors
from runner.freezing import Stage, with_controls
from runner.inputs import Places
from runner.nomination import load_nomination
from runner.preparing import Workbench, prepare_nomination
from runner.release import PreparedNomination, PreparedRelease
from runner.settings import Settings
from runner.staging import Stages
from runner.validating import rechecking
from runner.validating.certificates import CERTIFICATE, unproven, with_certificates
from runner.validating.validation import ground, validate
from tests.fakes import PlainSandbox
from tests.unit.runner.test_release import workbench
from tests.unit.runner.written import parsed, written

DOCUMENT = """\
schema = "cleanroom/nomination/1"
id = "sums"
version = "1"
title = "Add up"
class = "mechanical"
tier = "easy"
mode = "agentic"
target_files = ["answer.json"]
allowed_changes = ["answer.json"]

[source]
name = "written by us"
licence = "MIT"

[fixture]
kind = "folder"

[solution]
kind = "patch"

[public_tests]
command = ["{python}", "-c", "pass"]

[[evaluators]]
id = "hidden"
kind = "json-match"
file = "answer.json"
expected = "expected.json"
"""
PATCH = """\
diff --git a/answer.json b/answer.json
--- a/answer.json
+++ b/answer.json
@@ -1 +1 @@
-{"sum": 0}
+{"sum": %s}
"""
FILES = {
    "nomination.toml": DOCUMENT,
    "prompt.md": "Add up 1 and 2, and write the sum into answer.json.\n",
    "fixture/answer.json": '{"sum": 0}\n',
    "private/expected.json": '{"sum": 3}\n',
    "solution/solution.patch": PATCH % 3,
    "wrong/four.patch": PATCH % 4,
    "alternative/three.patch": PATCH % "3  ",
}
"""A nomination whose evaluator runs nothing, so that all of it is tried in a moment."""
EMPTY = PATCH.replace('+{"sum": %s}', "+[]")


@dataclass(frozen=True, kw_only=True)
class House:
    """A release of one nomination, and a place to try it without walls."""

    folder: Path
    workbench: Workbench
    stages: Stages

    def prepared(self, certificate: Certificate | None = None) -> PreparedNomination:
        """Prepare the nomination with a certificate in its folder."""
        if certificate is not None:
            (self.folder / CERTIFICATE).parent.mkdir(exist_ok=True)
            (self.folder / CERTIFICATE).write_bytes(canonical(certificate))
        return prepare_nomination(load_nomination(self.folder), self.workbench)

    def validated(self) -> Certificate:
        """Prove it, as `runner validate` does."""
        prepared = self.prepared()
        return validate(ground(prepared, self.stages.staged(prepared), self.workbench.repository), 3, str)

    def frozen(self, certificate: Certificate) -> PreparedRelease:
        """Freeze it with a certificate."""
        release = PreparedRelease(config=CONFIG, nominations=(self.prepared(certificate),))
        return with_controls(with_certificates(release, unproven_too=False), self.workbench, self)

    def stage(self, prepared: PreparedNomination) -> Stage:
        staged = self.stages.staged(prepared)
        return Stage(base=(staged.fixture,), bench=staged.bench, grade=self.grade)

    def grade(self, submission: Submission, evaluators: tuple[Evaluator, ...]) -> Graded:
        bench = next(iter(self.stages._known.values())).bench
        return Graded(public_tests=True, verdicts={each.id: each.judge(submission, bench) for each in evaluators})


CONFIG = parsed(
    {
        "schema": "cleanroom/release-configuration/1",
        "release": "pilot-1",
        "results_dir": "results",
        "nominations": ["sums"],
        "candidates": [{"id": "oracle", "agent": "oracle"}],
    }
)


def house(folder: Path, files: Mapping[str, str] | None = None) -> House:
    nominations = folder / "config/nominations"
    places = Places(
        state=folder / "state",
        store=folder / "store",
        tables=folder / "tables",
        results=folder / "results",
        models_test=folder,
        nominations=nominations,
    )
    bench = workbench(places, Settings(checkout=folder, config=folder / "pilot.json"))
    sandbox = PlainSandbox(folder / "sandbox")
    sandbox.folder.mkdir(parents=True)
    return House(
        folder=written(nominations / "sums", files or FILES),
        workbench=bench,
        stages=Stages(sandbox=sandbox, workbench=bench, limits=CONFIG.limits),
    )


@pytest.fixture(scope="module")
def proven(tmp_path_factory: pytest.TempPathFactory) -> tuple[House, Certificate]:
    """A nomination, and the certificate that it was proven by."""
    held = house(tmp_path_factory.mktemp("proven"))
    return held, held.validated()


def test_a_nomination_is_validated_whole_and_a_freeze_finds_the_same(proven: tuple[House, Certificate]) -> None:
    held, certificate = proven
    assert unproven(held.prepared(certificate)) is None
    assert [(each.name, each.patch_sha256 is None) for each in certificate.controls] == [
        ("base", True),
        ("solution", True),
        ("unrelated", True),
        ("wrong/four.patch", False),
        ("alternative/three.patch", False),
    ]
    assert len({each["LC_ALL"] for each in certificate.surroundings}) == 3
    assert len(certificate.exploits) > 20
    assert certificate.scored == ()
    assert held.frozen(certificate).nominations[0].controls is not None


def told(caught: pytest.ExceptionInfo[DocumentErrors]) -> str:
    return "; ".join(each.found for each in caught.value.errors)


def test_a_control_that_ends_otherwise_than_its_certificate_says_is_refused(
    proven: tuple[House, Certificate],
) -> None:
    held, certificate = proven
    base = certificate.controls[0]
    better = replace_score(certificate, base.name, "0.5")
    better = replace_score(better, "unrelated", "0.5")
    with pytest.raises(DocumentErrors) as caught:
        held.frozen(better)
    assert told(caught) == "base, judged by hidden: not passed, score 0.5"


def replace_score(certificate: Certificate, name: str, score: str) -> Certificate:
    controls = tuple(
        each.model_copy(update={"verdicts": (each.verdicts[0].model_copy(update={"score": score}),)})
        if each.name == name
        else each
        for each in certificate.controls
    )
    return certificate.model_copy(update={"controls": controls})


def test_cheats_that_score_and_are_said_not_to_are_found_by_lot(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The key is what one cheat writes, and the certificate is that of another key with its digests forged."""
    plain = {path: text for path, text in FILES.items() if not path.startswith("alternative/")}
    honest = house(tmp_path / "honest", plain).validated()
    weak = house(tmp_path / "weak", {**plain, "private/expected.json": "[]\n", "solution/solution.patch": EMPTY})
    true = weak.validated()
    assert [each.name for each in true.scored] == ["an empty list"]
    digests = {name: getattr(true, name) for name in ("nomination_sha256", "solution_sha256", "evaluators", "controls")}
    forged = honest.model_copy(update=digests)
    assert unproven(weak.prepared(forged)) is None
    monkeypatch.setattr(rechecking, "LOT", 1000)
    with pytest.raises(DocumentErrors) as caught:
        weak.frozen(forged)
    assert told(caught) == "the cheat 'an empty list' scores: hidden"


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"exploits": 1}, "was never tried"),
        ({"surroundings": 1}, "fewer than 3 values of TZ"),
        ({"controls": 4}, "alternative/three.patch was never tried"),
    ],
)
def test_a_certificate_that_says_less_proves_nothing(
    proven: tuple[House, Certificate], changes: Mapping[str, int], why: str
) -> None:
    held, certificate = proven
    less = {name: getattr(certificate, name)[:count] for name, count in changes.items()}
    error = unproven(held.prepared(certificate.model_copy(update=less)))
    assert error is not None
    assert why in error.found


def test_a_prompt_that_tells_is_found_whatever_its_certificate_says(tmp_path: Path) -> None:
    held = house(tmp_path, {**FILES, "prompt.md": "Write what commit 1234abcd5678 did into answer.json.\n"})
    certificate = held.validated()
    assert certificate.leaks
    error = unproven(held.prepared(certificate.model_copy(update={"leaks": ()})))
    assert error is not None
    assert "1234abcd5678, which looks like a commit" in error.found


@pytest.mark.parametrize("other", ["--unproven", "--no-controls"])
def test_whoever_asks_for_a_proof_cannot_do_without_one(other: str) -> None:
    with pytest.raises(click.UsageError, match="--prove goes with neither"):
        CliRunner().invoke(freeze, ["--prove", other], obj=None, standalone_mode=False, catch_exceptions=False)
