"""Laws of `runner keys`."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import click
import pytest

from runner.cli.app import app
from runner.config import load_config
from runner.documents.keys import KeyRole
from runner.errors import DocumentErrors, UsageError
from runner.inputs import find_places
from runner.settings import load_settings
from runner.signing.keys import KEYS
from runner.signing.trust import read_trust
from tests.unit.runner.signing.known import signer

ROOT = Path(__file__).parents[4]
Runner = Callable[..., int | None]


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """Give a checkout with a release of its own."""
    shutil.copytree(ROOT / "config", tmp_path / "config")
    config = tmp_path / "config/smoke.json"
    fields = json.loads(config.read_text())
    fields["clean_room"]["state_dir"] = str(tmp_path / "state")
    config.write_text(json.dumps(fields))
    return tmp_path


@pytest.fixture
def runner(checkout: Path) -> Runner:
    def run(*argv: str) -> int | None:
        code: int | None = app(["--config", str(checkout / "config/smoke.json"), *argv], standalone_mode=False)
        return code

    return run


def shown(capsys: pytest.CaptureFixture[str]) -> list[str]:
    return capsys.readouterr().out.splitlines()


def test_keys_are_made_shown_replaced_and_revoked(
    runner: Runner, checkout: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    runner("keys", "show")
    assert capsys.readouterr().err == f"no key was made yet in {checkout}/state/keys\n"
    runner("keys", "new", "--role", "release")
    runner("keys", "new", "--role", "log")
    first = shown(capsys)[0].split()[2].removesuffix(",")
    runner("keys", "rotate", "--role", "release")
    statement = Path(shown(capsys)[1].rpartition(" ")[2])
    assert statement.parent == checkout / "state/keys/rotations"
    runner("keys", "revoke", first[:12], "--reason", "lost", "--since", "2026-01-31T12:00:00Z")
    capsys.readouterr()
    runner("keys", "show", "--role", "release")
    old, new = shown(capsys)
    assert old.startswith(f"release  {first}  revoked since 2026-01-31T12:00:00Z (lost), here, in ")
    assert new.split()[2] == "active"


def test_what_is_shown_for_others_is_what_they_can_pin(
    runner: Runner, checkout: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for role in KeyRole:
        runner("keys", "new", "--role", role.value)
    made = [line.split()[2].removesuffix(",") for line in shown(capsys)]
    runner("keys", "show", "--json")
    (checkout / "keys.json").write_text(capsys.readouterr().out)
    trust = read_trust((checkout / "keys.json",))
    assert [trust.keys(role)[0].keyid for role in KeyRole] == made
    runner("keys", "show", "--pem")
    (checkout / "release.pem").write_text(capsys.readouterr().out)
    assert read_trust((checkout / "release.pem",)).keys(KeyRole.RELEASE)[0].keyid == made[1]
    runner("keys", "show", "--ssh")
    assert shown(capsys)[0].startswith('release namespaces="cleanroom-release" ssh-ed25519 AAAA')


def test_a_key_held_elsewhere_is_registered_by_its_public_part(
    runner: Runner, checkout: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (checkout / "release.pem").write_bytes(signer(7).key.pem)
    runner("keys", "new", "--role", "release", "--public", str(checkout / "release.pem"))
    assert shown(capsys) == [f"release key {signer(7).keyid}, elsewhere"]
    assert list((checkout / "state/keys").glob("*.pem")) == []


@pytest.mark.parametrize(
    "argv",
    [
        pytest.param(("keys", "show", "--pem"), id="no key to print"),
        pytest.param(("keys", "rotate", "--role", "log"), id="no key to replace"),
        pytest.param(("keys", "revoke", "ab", "--reason", "lost"), id="no key to revoke"),
        pytest.param(("keys", "new", "--role", "release", "--public", "/nowhere.pem"), id="no file"),
    ],
)
def test_what_cannot_be_done_is_told_with_what_mends_it(runner: Runner, argv: tuple[str, ...]) -> None:
    with pytest.raises(UsageError, match=r"; expected .*; "):
        runner(*argv)


def test_a_time_that_is_none_is_told(runner: Runner) -> None:
    runner("keys", "new", "--role", "log")
    with pytest.raises(click.BadParameter, match="'yesterday' is no time"):
        runner("keys", "revoke", "", "--reason", "lost", "--since", "yesterday")


def test_no_release_can_be_called_as_the_log_is(checkout: Path) -> None:
    config = checkout / "config/smoke.json"
    config.write_text(config.read_text().replace('"smoke-1"', '"log"'))
    with pytest.raises(DocumentErrors, match="the log of releases is called so"):
        load_config(config)


def test_keys_lie_below_the_state_alone(checkout: Path, runner: Runner) -> None:
    runner("keys", "new", "--role", "runner")
    config = load_config(checkout / "config/smoke.json")
    places = find_places(config, load_settings({}, config=checkout / "config/smoke.json"))
    (key,) = checkout.rglob("*.pem")
    assert key.parent == places.state / KEYS
