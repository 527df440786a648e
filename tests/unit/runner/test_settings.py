from pathlib import Path

import pytest

from runner.config import parse_config
from runner.errors import DocumentError
from runner.inputs import find_places
from runner.settings import HIDDEN, Settings, host_settings, is_hidden, load_settings, own_checkout
from tests.unit.runner.written import config_fields, parsed

CHECKOUT = Path("/srv/cleanroom")


def settings_of(checkout: Path = CHECKOUT, **environ: str) -> Settings:
    return load_settings(environ, checkout=checkout)


def test_the_default_configuration_is_the_checkouts_pilot() -> None:
    assert settings_of().config == CHECKOUT / "config/pilot.json"


def test_the_variable_names_another_and_the_option_counts_before_it() -> None:
    environ = {"BENCHMARK_CONFIG": "/a.json"}
    assert load_settings(environ).config == Path("/a.json")
    assert load_settings(environ, config=Path("b.json")).config == Path("b.json")
    assert load_settings({"BENCHMARK_CONFIG": ""}, checkout=CHECKOUT).config == CHECKOUT / "config/pilot.json"


def test_the_checkout_is_where_this_code_is() -> None:
    assert (own_checkout() / "runner" / "settings.py").is_file()
    assert host_settings().checkout == own_checkout()


def test_a_configuration_in_a_config_folder_belongs_to_the_checkout_around_it(tmp_path: Path) -> None:
    config = tmp_path / "elsewhere" / "config" / "mine.json"
    assert load_settings({}, config=config).checkout == tmp_path / "elsewhere"
    assert load_settings({"BENCHMARK_CONFIG": str(config)}).checkout == tmp_path / "elsewhere"
    assert load_settings({}, config=tmp_path / "mine.json").checkout == own_checkout()


def test_a_folder_that_is_a_link_to_itself_is_no_traceback(tmp_path: Path) -> None:
    (tmp_path / "config").symlink_to(tmp_path / "config")
    assert load_settings({}, config=tmp_path / "config" / "mine.json").checkout == tmp_path


def test_colours_are_allowed_unless_the_environment_forbids_them() -> None:
    assert settings_of().colour
    assert settings_of(NO_COLOR="").colour
    assert not settings_of(NO_COLOR="1").colour


def test_a_credential_is_given_by_name_and_never_shown() -> None:
    settings = settings_of(EXAMPLE_API_KEY=" sk-secret\n")
    assert settings.credential("EXAMPLE_API_KEY") == "sk-secret"
    assert settings.credential("OTHER_API_KEY") is None
    assert "sk-secret" not in repr(settings)


@pytest.mark.parametrize("value", ["", " ", "\n\t"])
def test_a_blank_credential_is_none(value: str) -> None:
    assert settings_of(EXAMPLE_API_KEY=value).credential("EXAMPLE_API_KEY") is None


@pytest.mark.parametrize("value", ["sk-secret\r\nX: y", "sk-secret two", "sk-sécret", "sk-secret\x1b[0m"])
def test_a_credential_that_no_header_can_carry_is_refused_without_showing_it(value: str) -> None:
    with pytest.raises(DocumentError, match="EXAMPLE_API_KEY") as caught:
        settings_of(EXAMPLE_API_KEY=value).credential("EXAMPLE_API_KEY")
    assert "sk-s" not in str(caught.value)


def test_later_changes_of_the_environment_change_nothing() -> None:
    environ = {"EXAMPLE_API_KEY": "one"}
    settings = load_settings(environ)
    environ["EXAMPLE_API_KEY"] = "two"
    assert settings.credential("EXAMPLE_API_KEY") == "one"


@pytest.mark.parametrize(
    ("checkout", "configured", "state"),
    [
        (CHECKOUT, None, "/var/lib/cleanroom"),
        (CHECKOUT, ".cleanroom", "/srv/cleanroom/.cleanroom"),
        (CHECKOUT, "/data/state", "/data/state"),
        (CHECKOUT, "a/../b", "/srv/cleanroom/b"),
        (HIDDEN[0] / "c", None, "/var/lib/cleanroom"),
        (HIDDEN[0] / "c", "/data/state", "/data/state"),
        (Path("/runner/c"), ".cleanroom", "/runner/c/.cleanroom"),
    ],
)
def test_where_the_state_is(checkout: Path, configured: str | None, state: str) -> None:
    settings = Settings(checkout=checkout, config=checkout / "x.json")
    assert settings.state_dir(configured) == Path(state)


@pytest.mark.parametrize("hidden", [folder / "user/c" for folder in HIDDEN])
def test_the_state_of_a_hidden_checkout_stands_elsewhere(hidden: Path) -> None:
    settings = Settings(checkout=hidden, config=Path("x.json"))
    state = settings.state_dir(".cleanroom")
    assert state.parent == Path("/var/lib/cleanroom")
    assert state.name.startswith("demo-")
    assert not is_hidden(state)
    assert state == settings.state_dir("./.cleanroom")
    assert state != settings.state_dir("other")
    assert state != Settings(checkout=hidden / "d", config=Path("x.json")).state_dir(".cleanroom")


def test_paths_of_a_configuration_count_from_the_checkout() -> None:
    places = find_places(parsed(config_fields()), settings_of())
    assert places.state == CHECKOUT / ".cleanroom"
    assert places.store == CHECKOUT / ".cleanroom/store"
    assert places.results == CHECKOUT / "results"
    assert places.nominations == CHECKOUT / "config/nominations"


def test_a_store_of_its_own_counts_before_the_state() -> None:
    places = find_places(parsed({**config_fields(), "private_artifacts_dir": "/data/store"}), settings_of())
    assert places.store == Path("/data/store")


def test_configuration_errors_never_read_the_environment() -> None:
    with pytest.raises(DocumentError):
        parse_config(b"$HOME", "x.json")
