from service.settings import load_settings


def test_defaults():
    settings = load_settings({})
    assert settings.debug is False
    assert settings.metrics is True
    assert settings.workers == 4
    assert settings.hosts == ("localhost",)


def test_debug_is_switched_on():
    assert load_settings({"APP_DEBUG": "true"}).debug is True


def test_debug_is_switched_off():
    assert load_settings({"APP_DEBUG": "false"}).debug is False


def test_several_hosts():
    assert load_settings({"APP_HOSTS": "a.example,b.example"}).hosts == ("a.example", "b.example")
