"""The page on verifying a release works, to the letter, with the tools of any machine."""

import shutil
from pathlib import Path

import pytest

from runner.publishing.layout import lay_out
from runner.signing.bundle import Signers
from tests.flow import page
from tests.flow.page import COMMANDS, entered, unmet
from tests.unit.publishing.maker import LOG_KEY, RELEASE_KEY, STRANGER, a_release, sign_again, written
from tests.unit.publishing.test_verify_published import Damage, flip, remove, replace, write
from tests.unit.runner.test_shots import RIGHT, WRONG, Said, shooting


@pytest.fixture(scope="module", name="release")
def _release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A published release of seven attempts."""
    folder = tmp_path_factory.mktemp("page")
    store, manifest = a_release(folder / "store")
    return prepared(written(folder / "pilot", lay_out(store, manifest, {}), "pilot"))


def prepared(release: Path) -> Path:
    """Put beside a release what its reader has from elsewhere, and what the page tells him to write."""
    (release.parent / "release.pem").write_bytes(RELEASE_KEY.key.pem)
    (release.parent / "log.pem").write_bytes(LOG_KEY.key.pem)
    return page.prepared(release)


def test_every_command_of_the_page_says_what_the_page_shows(release: Path, tmp_path: Path) -> None:
    folder = tmp_path / "pilot"
    shutil.copytree(release, folder)
    patches = folder.rglob("candidate.diff")
    for patch in patches:
        assert patch.read_bytes() == b"diff --git a/slugs.py b/slugs.py\n"
    assert len(COMMANDS) > 10
    assert [said for said in unmet(prepared(folder)) if "git apply" not in said] == []


def test_git_reads_the_patches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shot = shooting(tmp_path, monkeypatch, Said(WRONG), Said(RIGHT))
    folder = prepared(written(tmp_path / "pilot", lay_out(shot.store, shot.manifest, {}), "pilot"))
    assert unmet(folder) == []
    (line,) = [step.line for step in COMMANDS if "git apply" in step.line]
    assert entered(line, folder).count("wordcount.py") == 2


def add(path: str) -> Damage:
    return write(path, b"more\n")


def drop_last_leaf(folder: Path) -> None:
    lines = (folder / "leaves.jsonl").read_bytes().splitlines(keepends=True)
    (folder / "leaves.jsonl").write_bytes(b"".join(lines[:-1]))


@pytest.mark.parametrize(
    ("damage", "command"),
    [
        pytest.param(flip("SHA256SUMS"), "-in SHA256SUMS -sigfile", id="sums"),
        pytest.param(flip("SHA256SUMS"), "ssh-keygen -Y verify", id="sums-ssh"),
        pytest.param(flip("solver/slugs/attempts/attempt-1/run.json"), "-c SHA256SUMS", id="flipped"),
        pytest.param(remove("aggregate.md"), "-c SHA256SUMS", id="removed"),
        pytest.param(add("solver/more.txt"), "find . ! -type d", id="added"),
        pytest.param(add("SHA256SUMSx/more.txt"), "find . ! -type d", id="added-under-a-like-name"),
        pytest.param(lambda folder: (folder / "a").symlink_to("SHA256SUMS"), "find . ! -type d", id="link"),
        pytest.param(flip("release.dsse.json"), "-in ../signed", id="statement"),
        pytest.param(flip("manifest.json"), "for file in SHA256SUMS manifest.json", id="plan"),
        pytest.param(drop_last_leaf, "as many leaves as planned", id="missing-attempt"),
        pytest.param(flip("solver/slugs/attempts/attempt-1/run.json"), "every leaf is of its", id="run"),
        pytest.param(drop_last_leaf, "the tree is the one that was signed", id="tree"),
        pytest.param(replace("checkpoint", b"\n7\n", b"\n6\n"), "-in ../note", id="checkpoint"),
        pytest.param(
            lambda folder: sign_again(folder, Signers(release=STRANGER, log=STRANGER)),
            "-in SHA256SUMS -sigfile",
            id="other-key",
        ),
    ],
)
def test_damage_makes_the_page_say_no(release: Path, tmp_path: Path, damage: Damage, command: str) -> None:
    folder = tmp_path / "pilot"
    shutil.copytree(release, folder)
    prepared(folder)
    damage(folder)
    at = next(at for at, step in enumerate(COMMANDS) if command in step.line)
    for step in COMMANDS[max(0, at - 3) : at]:
        entered(step.line, folder)
    assert not COMMANDS[at].is_met(entered(COMMANDS[at].line, folder))
