"""`runner review`, from its words to the file and the exit code; no unit is started."""

import json
from dataclasses import dataclass
from pathlib import Path

import pytest

import runner.cli
from runner.release import write_manifest
from tests.flow.bench import CONFIG, NOMINATION, listing
from tests.unit.judging.test_reviews import MANIFEST, foreign
from tests.unit.runner.evidence_maker import SOLVER, Run, a_store, attempt
from tests.unit.runner.written import written

ATTEMPT = "solver/slugs/attempt-1"
POINTS = ("--points", "clarity=7", "--points", "scope=9")


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkout:
    """A checkout with a frozen release and one graded attempt."""

    folder: Path
    capsys: pytest.CaptureFixture[str]
    monkeypatch: pytest.MonkeyPatch

    @property
    def tried(self) -> Path:
        return self.folder / "store/pilot/solver/slugs/attempt-1/try-1"

    def run(self, *words: str) -> tuple[int, str, str]:
        """Run one command; gives its code and what it said."""
        argv = ["runner", "--config", str(self.folder / "config/pilot.json"), *words]
        self.monkeypatch.setattr("sys.argv", argv)
        with pytest.raises(SystemExit) as ended:
            runner.cli.main()
        said = self.capsys.readouterr()
        return int(ended.value.code or 0), said.out, said.err


@pytest.fixture
def checkout(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Checkout:
    config = {**CONFIG, "release": "pilot", "private_artifacts_dir": str(tmp_path / "store")}
    written(tmp_path / "config/nominations/clamp", NOMINATION)
    written(tmp_path / "config", {"pilot.json": json.dumps(config)})
    write_manifest(tmp_path / "releases", MANIFEST)
    attempt(a_store(tmp_path / "store", MANIFEST), SOLVER, Run())
    return Checkout(folder=tmp_path, capsys=capsys, monkeypatch=monkeypatch)


def test_a_review_is_kept_once_changes_no_sealed_byte_and_is_verified(checkout: Checkout) -> None:
    before = listing(checkout.tried)
    words = ("review", "add", ATTEMPT, "--reviewer", "ann", "--blind", "yes", *POINTS)
    file = checkout.tried / "manual-reviews/ann.json"
    assert checkout.run(*words) == (0, f"kept: {file}\n", "")
    code, _, told = checkout.run(*words)
    assert code == 2
    assert "found a review of ann; expected none" in told
    after = listing(checkout.tried)
    assert {path: after[path] for path in before} == before
    assert set(after) - set(before) == {"manual-reviews/ann.json"}
    assert checkout.run("review", "check") == (0, "checked 1 reviews: each is what it says it is\n", "")
    assert checkout.run("verify", "--no-rebuild")[0] == 0


def test_a_foreign_review_is_brought_in_under_its_own_scale(checkout: Checkout) -> None:
    written(checkout.folder, {"old.json": json.dumps(foreign())})
    source = ("--from", str(checkout.folder / "old.json"), "--scale", "1-10")
    code, said, told = checkout.run("review", "add", f"{ATTEMPT}/try-1", *source)
    assert (code, told) == (0, "")
    kept = json.loads(Path(said.removeprefix("kept: ").rstrip()).read_bytes())
    assert (kept["scale"], kept["blind"], kept["results_known"]) == ("1-10", False, True)
    assert checkout.run("review", "check", ATTEMPT)[0] == 0


def test_a_review_of_other_bytes_is_found_by_check_and_by_verify(checkout: Checkout) -> None:
    checkout.run("review", "add", ATTEMPT, "--reviewer", "ann", "--blind", "no", *POINTS)
    file = checkout.tried / "manual-reviews/ann.json"
    text = json.dumps(
        {**json.loads(file.read_bytes()), "submission_sha256": "0" * 64}, separators=(",", ":"), sort_keys=True
    )
    file.unlink()
    file.write_text(text)
    for command in (("review", "check"), ("review", "check", ATTEMPT, "--json"), ("verify", "--no-rebuild")):
        code, said, _ = checkout.run(*command)
        assert code == 3
        assert f"submission_sha256 {'0' * 64}" in said


@pytest.mark.parametrize(
    ("words", "told"),
    [
        pytest.param(("--blind", "yes", *POINTS), "needs --reviewer and --blind", id="nobody"),
        pytest.param(("--reviewer", "ann", *POINTS), "needs --reviewer and --blind", id="undeclared"),
        pytest.param(("--reviewer", "ann", "--blind", "no", "--scale", "1-10"), "--scale is for --from", id="scale"),
        pytest.param(
            ("--reviewer", "ann", "--blind", "no", "--points", "clarity=many"), "'clarity=many'", id="no number"
        ),
        pytest.param(("--reviewer", "ann", "--blind", "no", "--points", "clarity=3"), "none for scope", id="one lacks"),
        pytest.param(("--reviewer", "ann", "--blind", "no", *POINTS, *POINTS), "each criterion once", id="twice"),
        pytest.param(("--from", "/dev/null"), "add --scale 0-10 or 1-10", id="no scale"),
        pytest.param(("--from", "/nowhere", "--scale", "1-10"), "/nowhere", id="no file"),
        pytest.param(("--from", "x", "--scale", "1-10", *POINTS), "leave --points", id="two reviews"),
    ],
)
def test_a_review_that_is_none_is_refused_with_what_mends_it(
    checkout: Checkout, words: tuple[str, ...], told: str
) -> None:
    code, said, err = checkout.run("review", "add", ATTEMPT, *words)
    assert (code, said) == (2, "")
    assert told in err
    assert not (checkout.tried / "manual-reviews").exists()
