"""Hidden: both switches, every word, blanks, and what is no word."""

import pytest
from service.settings import load_settings


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1", True),
        ("true", True),
        ("yes", True),
        ("on", True),
        ("TRUE", True),
        (" On ", True),
        ("0", False),
        ("false", False),
        ("no", False),
        ("off", False),
        ("False", False),
        ("\tOFF\n", False),
    ],
)
def test_debug_understands_every_word(text, expected):
    assert load_settings({"APP_DEBUG": text}).debug is expected


@pytest.mark.parametrize(
    ("text", "expected"), [("0", False), ("No", False), ("off", False), ("1", True), ("Yes", True)]
)
def test_metrics_understands_the_same_words(text, expected):
    assert load_settings({"APP_METRICS": text}).metrics is expected


@pytest.mark.parametrize("text", ["", " ", "\t"])
def test_a_blank_switch_keeps_the_default_of_debug(text):
    assert load_settings({"APP_DEBUG": text}).debug is False


@pytest.mark.parametrize("text", ["", "  "])
def test_a_blank_switch_keeps_the_default_of_metrics(text):
    assert load_settings({"APP_METRICS": text}).metrics is True


def test_one_switch_does_not_move_the_other():
    settings = load_settings({"APP_METRICS": "off", "APP_DEBUG": "on"})
    assert (settings.debug, settings.metrics) == (True, False)


@pytest.mark.parametrize("name", ["APP_DEBUG", "APP_METRICS"])
def test_another_word_is_refused_by_name(name):
    with pytest.raises(ValueError, match=rf"{name}.*treu|treu.*{name}"):
        load_settings({name: "treu"})


def test_a_number_beyond_one_is_no_word():
    with pytest.raises(ValueError, match="APP_DEBUG"):
        load_settings({"APP_DEBUG": "2"})


def test_workers_are_read_as_before():
    assert load_settings({"APP_WORKERS": "12"}).workers == 12


def test_hosts_are_read_as_before():
    assert load_settings({"APP_HOSTS": "a,b"}).hosts == ("a", "b")
