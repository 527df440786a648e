"""`runner report`, from its words to the files and the exit code; no unit is started."""

import json
from dataclasses import dataclass
from pathlib import Path

import pytest

import runner.cli
from runner.canonical import sha256
from runner.release import write_manifest
from tests.flow.bench import CONFIG, NOMINATION
from tests.unit.runner.evidence_maker import IDLER, SOLVER, Run, a_manifest, a_store, attempt
from tests.unit.runner.written import written

OLD = a_manifest()
NEW = OLD.model_copy(update={"release": "second", "supersedes": "pilot"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkout:
    """A checkout with two frozen releases, the second of which replaces the first."""

    folder: Path
    capsys: pytest.CaptureFixture[str]
    monkeypatch: pytest.MonkeyPatch

    def run(self, *words: str) -> tuple[int, str, str]:
        """Run one command; gives its code and what it said."""
        argv = ["runner", "--config", str(self.folder / "config/pilot.json"), "report", *words]
        self.monkeypatch.setattr("sys.argv", argv)
        with pytest.raises(SystemExit) as ended:
            runner.cli.main()
        said = self.capsys.readouterr()
        return int(ended.value.code or 0), said.out, said.err


@pytest.fixture
def checkout(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Checkout:
    config = {
        **CONFIG,
        "release": "second",
        "private_artifacts_dir": str(tmp_path / "store"),
        "clean_room": {"state_dir": str(tmp_path / "state")},
    }
    written(tmp_path / "config/nominations/clamp", NOMINATION)
    written(tmp_path / "config", {"pilot.json": json.dumps(config)})
    for manifest in (OLD, NEW):
        write_manifest(tmp_path / "releases", manifest)
        attempt(a_store(tmp_path / "store", manifest), SOLVER, Run())
        attempt(a_store(tmp_path / "store", manifest), IDLER, Run(tests=False, hidden=False, cost=None))
    return Checkout(folder=tmp_path, capsys=capsys, monkeypatch=monkeypatch)


def test_a_report_stands_beside_the_table_of_its_release_and_names_its_digest(checkout: Checkout) -> None:
    code, out, _ = checkout.run()
    tables = checkout.folder / "state/tables/second"
    assert code == 0
    assert out.splitlines() == [
        "The solver leads: it solved 1 of 1 attempts (100%; one nomination has no interval).",
        "Not separable from it: The idler.",
        f"page: {tables}/report.html",
        f"text: {tables}/report.md",
    ]
    digest = sha256((tables / "aggregate.json").read_bytes())
    for name in ("report.html", "report.md"):
        assert digest in (tables / name).read_text()


def test_several_releases_stand_in_one_report_and_the_replaced_one_is_marked(checkout: Checkout) -> None:
    code, out, _ = checkout.run("pilot", "second")
    assert code == 0
    page = checkout.folder / "state/tables/report.html"
    assert f"page: {page}" in out
    assert "superseded by second" in page.read_text()
    code, out, _ = checkout.run("pilot", "second", "--json")
    places = [(each["release"], each["rank"]) for each in map(json.loads, out.splitlines())]
    assert places == [("second", 1), ("second", 2), ("pilot", None), ("pilot", None)]


def test_a_replaced_release_is_marked_also_where_it_stands_alone(checkout: Checkout) -> None:
    assert checkout.run("pilot", "--out", str(checkout.folder / "elsewhere"))[0] == 0
    assert "superseded by second" in (checkout.folder / "elsewhere/report.html").read_text()


def test_what_was_written_keeps_its_format_and_what_was_edited_is_named(checkout: Checkout) -> None:
    checkout.run()
    page, text = (checkout.folder / f"state/tables/second/report.{end}" for end in ("html", "md"))
    checked = checkout.run("--check", str(page), "--check", str(text), "--format", "A")
    assert checked == (0, "checked 2 pages: each table of results keeps its format\n", "")
    edited = checkout.folder / "deployed.html"
    edited.write_text(page.read_text().replace(">Channel<", ">Way<"))
    code, out, _ = checkout.run("--check", str(edited))
    assert code == 3
    assert "deployed.html: table 1, headings: found Rank / status | Model" in out
    code, out, _ = checkout.run("--check", str(edited), "--json")
    assert json.loads(out)["expected"].startswith("those of format A")


def test_a_release_that_was_never_frozen_is_named(checkout: Checkout) -> None:
    code, _, told = checkout.run("third")
    assert code == 2
    assert "third" in told


def test_an_edited_byte_of_evidence_is_told_and_scored_for_nobody(checkout: Checkout) -> None:
    for place in checkout.folder.glob("store/second/solver/**/grading.json"):
        place.chmod(0o644)
        place.write_bytes(place.read_bytes().replace(b'"passed"', b'"failed"', 1))
    code, out, _ = checkout.run("--json")
    rows = {each["candidate"]: each for each in map(json.loads, out.splitlines())}
    assert code == 0
    assert (rows["solver"]["status"], rows["solver"]["rate"]) == ("missing artifacts", None)
