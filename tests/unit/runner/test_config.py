import json
import os
from collections.abc import Callable, Iterator
from copy import deepcopy
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from runner.config import REMOVED, PrimaryMetric, load_config, parse_config
from runner.documents.model import Shape
from runner.errors import DocumentError, DocumentErrors
from runner.parsing import DOCUMENT_BYTES
from runner.roster import Agent
from tests.unit.runner.written import FILE, config_fields, parsed

Spoil = Callable[[dict[str, Any]], object]


def errors_of(data: bytes) -> tuple[DocumentError, ...]:
    with pytest.raises((DocumentError, DocumentErrors)) as caught:
        parse_config(data, FILE)
    error = caught.value
    assert isinstance(error, DocumentError | DocumentErrors)
    return error.errors if isinstance(error, DocumentErrors) else (error,)


def spoilt(spoil: Spoil) -> tuple[DocumentError, ...]:
    fields: dict[str, Any] = deepcopy(config_fields())
    spoil(fields)
    return errors_of(json.dumps(fields).encode())


def set_at(*path: int | str, value: object) -> Spoil:
    def spoil(fields: dict[str, Any]) -> None:
        here: Any = fields
        for part in path[:-1]:
            here = here[part]
        here[path[-1]] = value

    return spoil


def assert_told(errors: tuple[DocumentError, ...]) -> None:
    assert errors
    for error in errors:
        assert error.file == FILE
        assert error.exit_code == 2
        assert error.found
        assert error.expected
        assert error.mend
        line = str(error)
        assert "\n" not in line
        assert len(line) < 800
        assert line.isprintable()


def test_a_whole_configuration_is_read() -> None:
    config = parsed(config_fields())
    assert config.release == "pilot-1"
    assert config.nomination_ids == ("wordcount", "old-style")
    assert [candidate.agent for candidate in config.candidates] == [
        Agent.ORACLE,
        Agent.NATIVE,
        Agent.CODEX,
        Agent.PATCH,
    ]
    assert config.candidates[1].variant is None
    assert config.analysis.primary_metric is PrimaryMetric.SOLVED_RATE
    assert config.limits.solution.limits().wall == timedelta(seconds=3)
    assert config.limits.public_tests.limits().wall == timedelta(minutes=15)
    assert config.limits.preflight.wall_ms == 5000


def test_the_smallest_configuration_is_read() -> None:
    config = parsed(
        {
            "schema": config_fields()["schema"],
            "release": "r",
            "nominations": ["n"],
            "candidates": [{"id": "nop", "agent": "nop"}],
        }
    )
    assert config.attempts == 1
    assert config.retry_policy.void_tries == 1
    assert config.limits.preflight.wall_ms == 60_000


def test_reading_leaves_nothing_to_change() -> None:
    config = parsed(config_fields())
    with pytest.raises(ValueError, match="frozen"):
        config.release = "other"  # type: ignore[misc]  # that it cannot be done is the law


@pytest.mark.parametrize("key", sorted(REMOVED))
def test_a_removed_key_is_refused_and_told_what_replaces_it(key: str) -> None:
    *above, last = key.split(".")
    errors = spoilt(set_at(*above, last, value="whatever"))
    assert [(error.field, error.mend) for error in errors] == [(key, REMOVED[key])]


@pytest.mark.parametrize(
    ("path", "value", "field"),
    [
        pytest.param(("release",), "Pilot", "release", id="capital"),
        pytest.param(("release",), "../up", "release", id="climbing"),
        pytest.param(("release",), "a\nb", "release", id="line-feed"),
        pytest.param(("release",), "", "release", id="empty"),
        pytest.param(("release",), "a" * 81, "release", id="long"),
        pytest.param(("release",), None, "release", id="null"),
        pytest.param(("schema",), "cleanroom/release-configuration/2", "schema", id="schema"),
        pytest.param(("nominations",), [], "nominations", id="no-nomination"),
        pytest.param(("nominations",), "wordcount", "nominations", id="text-for-list"),
        pytest.param(("nominations", 0), 7, "nominations[0]", id="number-for-nomination"),
        pytest.param(("nominations", 0), "a/b", "nominations[0]", id="path-for-nomination"),
        pytest.param(("nominations", 1, "fixture"), "/etc", "nominations[1].fixture", id="absolute"),
        pytest.param(("nominations", 1, "fixture"), "a/../../b", "nominations[1].fixture", id="inline-climb"),
        pytest.param(("nominations", 1, "allowed_changes", 0), "./a", "nominations[1].allowed_changes[0]", id="dot"),
        pytest.param(("nominations", 1, "test_command"), [], "nominations[1].test_command", id="no-command"),
        pytest.param(("nominations", 1, "id"), "wordcount", "nominations", id="same-nomination-twice"),
        pytest.param(("candidates",), [], "candidates", id="no-candidate"),
        pytest.param(("candidates", 1, "id"), "oracle", "candidates", id="same-candidate-twice"),
        pytest.param(("candidates", 1, "route"), "nowhere", "candidates[1].route", id="unknown-route"),
        pytest.param(("candidates", 1, "nominations"), ["x"], "candidates[1].nominations", id="unknown-nomination"),
        pytest.param(("candidates", 1, "agent"), "gpt", "candidates[1].agent", id="unknown-agent"),
        pytest.param(("candidates", 1, "model"), "a b", "candidates[1].model", id="model-with-blank"),
        pytest.param(("candidates", 1, "model"), None, "candidates[1]", id="agent-without-model"),
        pytest.param(("candidates", 0, "model"), "m", "candidates[0]", id="control-with-model"),
        pytest.param(("candidates", 1, "network"), "direct", "candidates[1]", id="direct-with-route"),
        pytest.param(("candidates", 0, "network"), "direct", "candidates[0]", id="direct-control"),
        pytest.param(("candidates", 1, "hosts"), ["api.example.com:443"], "candidates[1]", id="hosts-of-the-gateway"),
        pytest.param(("candidates", 1, "hosts"), ["192.0.2.1:443"], "candidates[1].hosts[0]", id="address-as-host"),
        pytest.param(("candidates", 1, "hosts"), ["api.example.com"], "candidates[1].hosts[0]", id="host-without-port"),
        pytest.param(("candidates", 1, "hosts"), ["a.example:0"], "candidates[1].hosts[0]", id="port-0"),
        pytest.param(("candidates", 1, "hosts"), ["a.example:70000"], "candidates[1].hosts[0]", id="port-too-high"),
        pytest.param(("candidates", 1, "hosts"), ["*.example:443"], "candidates[1].hosts[0]", id="host-pattern"),
        pytest.param(("candidates", 1, "hosts"), ["A.example:443"], "candidates[1].hosts[0]", id="host-in-capitals"),
        pytest.param(("candidates", 0, "patches"), "p", "candidates[0]", id="patches-without-patch"),
        pytest.param(("candidates", 1, "status"), "retired", "candidates[1]", id="retired-without-reason"),
        pytest.param(("candidates", 1, "budget", "usd"), "0.00", "candidates[1].budget.usd", id="no-money"),
        pytest.param(("candidates", 1, "budget", "usd"), "-1", "candidates[1].budget.usd", id="debt"),
        pytest.param(("candidates", 1, "budget", "usd"), 1, "candidates[1].budget.usd", id="money-as-number"),
        pytest.param(("candidates", 1, "budget", "requests"), 0, "candidates[1].budget.requests", id="no-requests"),
        pytest.param(("candidates", 1, "self_hosted"), "yes", "candidates[1].self_hosted", id="text-for-bool"),
        pytest.param(("candidates", 1, "metadata", "price"), 0.5, "candidates[1].metadata.price", id="float"),
        pytest.param(("candidates", 1, "typo"), 1, "candidates[1].typo", id="unknown-field"),
        pytest.param(("routes", 0, "base_url"), "https://a.example", "routes[0]", id="two-kinds-of-route"),
        pytest.param(("routes", 0, "id"), "real", "routes", id="same-route-twice"),
        pytest.param(("routes", 1, "base_url"), "ftp://a.example", "routes[1].base_url", id="ftp"),
        pytest.param(("routes", 1, "base_url"), "https://[::1", "routes[1].base_url", id="broken-address"),
        pytest.param(("routes", 1, "base_url"), "https://a.example:99999", "routes[1].base_url", id="port"),
        pytest.param(("routes", 1, "credential"), "sk-live-1234", "routes[1].credential", id="key-itself"),
        pytest.param(("routes", 1, "headers"), {"Authorization": "x"}, "routes[1]", id="key-in-header"),
        pytest.param(("routes", 1, "headers"), {"X-A": "a\r\nB: c"}, "routes[1].headers.X-A", id="header-injection"),
        pytest.param(("routes", 1, "headers"), {"X A": "b"}, "routes[1].headers.X A", id="header-name"),
        pytest.param(("routes", 1, "headers"), {"Host": "b"}, "routes[1]", id="gateway's-header"),
        pytest.param(("routes", 1, "extra_body"), {"messages": []}, "routes[1]", id="agent's-key"),
        pytest.param(
            ("candidates", 2, "retired", "date"), "2026-02-30", "candidates[2].retired.date", id="no-such-day"
        ),
        pytest.param(("routes", 1, "amendments"), ["all"], "routes[1].amendments[0]", id="amendment"),
        pytest.param(("limits", "solution", "wall_ms"), 0, "limits.solution.wall_ms", id="no-time"),
        pytest.param(("limits", "solution", "wall_ms"), True, "limits.solution.wall_ms", id="bool-for-number"),
        pytest.param(("limits", "solution", "wall_ms"), "3000", "limits.solution.wall_ms", id="text-for-number"),
        pytest.param(("limits", "coffee"), {}, "limits.coffee", id="unknown-phase"),
        pytest.param(("attempts",), 1, "retry_policy.canonical_attempt", id="canonical-attempt-not-planned"),
        pytest.param(("attempts",), 10**20, "attempts", id="huge"),
        pytest.param(("criteria", 1), "correctness", "criteria", id="same-criterion-twice"),
        pytest.param(("supersedes",), "pilot-1", "supersedes", id="supersedes-itself"),
        pytest.param(("clean_room", "accounts", "last"), 1900000000, "clean_room.accounts", id="no-accounts"),
        pytest.param(("clean_room", "accounts", "first"), 0, "clean_room.accounts.first", id="root"),
        pytest.param(("clean_room", "state_dir"), "~/state", "clean_room.state_dir", id="home"),
        pytest.param(("clean_room", "state_dir"), "a\u0000b", "clean_room.state_dir", id="nul"),
        pytest.param(("clean_room", "login_files", "nop"), "x", "clean_room.login_files.nop", id="login-of-nop"),
        pytest.param(("judges", 0, "agent"), "oracle", "judges[0]", id="judge-without-model"),
        pytest.param(("judges", 0, "route"), None, "judges[0]", id="judge-without-route"),
        pytest.param(("judging", "fallback"), "judge-3", "judging.fallback", id="unknown-fallback"),
        pytest.param(("judging", "control_percent"), 4, "judging.control_percent", id="too-few-controls"),
        pytest.param(("judging", "repeat_percent"), 9, "judging.repeat_percent", id="too-few-repeats"),
        pytest.param(("judging", "show_solution"), "whole", "judging.show_solution", id="whole-solution"),
        pytest.param(("criteria", 1, "anchors"), {"0": "bad"}, "criteria[1].anchors", id="one-anchor"),
        pytest.param(("criteria", 1, "anchors", "11"), "x", "criteria[1].anchors.11", id="anchor-beyond"),
        pytest.param(("criteria", 1, "id"), "correctness", "criteria", id="same-criterion-twice-in-two-forms"),
    ],
)
def test_a_wrong_value_is_told_with_its_field(path: tuple[int | str, ...], value: object, field: str) -> None:
    def spoil(fields: dict[str, Any]) -> None:
        if path == ("attempts",) and value == 1:
            fields["retry_policy"]["canonical_attempt"] = 2
        set_at(*path, value=value)(fields)

    errors = spoilt(spoil)
    assert_told(errors)
    assert field in {error.field for error in errors}


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(b"", id="empty"),
        pytest.param(b"{", id="cut"),
        pytest.param(b"[]", id="list"),
        pytest.param(b'"text"', id="text"),
        pytest.param(b"null", id="null"),
        pytest.param(b"1" * 5000, id="huge-number"),
        pytest.param(b'{"a": ' + b"9" * 5000 + b"}", id="huge-member"),
        pytest.param(b'{"a": 1e999}', id="infinite"),
        pytest.param(b'{"attempts": NaN}', id="nan"),
        pytest.param(b'{"attempts": -Infinity}', id="infinity"),
        pytest.param(b"[" * 500_000, id="deep-list"),
        pytest.param(b'{"a":' * 100_000, id="deep-object"),
        pytest.param(b'{"a": ' + b"[" * 500 + b"]" * 500 + b"}", id="closed-deep-list"),
        pytest.param(b'{"release": "\xff"}', id="not-utf-8"),
        pytest.param("\ufeff{}".encode(), id="byte-order-mark"),
        pytest.param(b'{"release": "a", "release": "b"}', id="key-twice"),
        pytest.param(b'{"clean_room": {"a": 1, "a": 2}}', id="inner-key-twice"),
        pytest.param(b'{"release": "\\ud800"}', id="lone-surrogate"),
        pytest.param(b'{"\\ud800": 1}', id="lone-surrogate-key"),
        pytest.param(b'{"a\\u0000": 1}', id="nul-key"),
        pytest.param(b'{"release": "\\u001b[31m"}', id="escape"),
        pytest.param(b'{"release": "a" /* why */}', id="comment"),
        pytest.param(b"{}", id="nothing"),
        pytest.param(json.dumps({"x" * 100_000: 1}).encode(), id="long-key"),
        pytest.param(json.dumps({f"k{n}": n for n in range(20_000)}).encode(), id="many-keys"),
        pytest.param(json.dumps({"candidates": [None] * 100_000}).encode(), id="many-nulls"),
    ],
)
def test_hostile_bytes_are_told_and_nothing_else(data: bytes) -> None:
    assert_told(errors_of(data))


def test_all_problems_are_told_at_once() -> None:
    def spoil(fields: dict[str, Any]) -> None:
        fields["release"] = 1
        fields["candidates"][1]["agent"] = "x"
        fields["extra"] = {}

    assert {error.field for error in spoilt(spoil)} == {"release", "candidates[1].agent", "extra"}


@pytest.mark.parametrize(
    "path",
    [
        ("routes", 1, "api_key"),
        ("routes", 1, "credential"),
        ("routes", 1, "base_url"),
        ("routes", 1, "amendments"),
        ("candidates", 1, "model"),
        ("release",),
    ],
)
def test_a_secret_is_never_shown(path: tuple[int | str, ...]) -> None:
    pasted = "sk-live-0123456789abcdef !"
    error = "\n".join(str(error) for error in spoilt(set_at(*path, value=pasted)))
    assert "0123456789" not in error


def test_a_secret_as_a_key_is_never_shown() -> None:
    assert "0123456789" not in str(spoilt(set_at("routes", 1, "sk-live-0123456789", value=1))[0])


def test_what_was_found_is_cut_short() -> None:
    (error,) = spoilt(set_at("release", value="x" * 100_000))
    assert len(error.found) < 100


def places(value: object, above: tuple[int | str, ...] = ()) -> Iterator[tuple[int | str, ...]]:
    yield above
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from places(inner, (*above, key))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from places(inner, (*above, index))


PLACES = [place for place in places(config_fields()) if place]
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=20)
    | st.sampled_from(["", "..", "/", "\x00", "\x1b[0m", "\ud800", "a" * 5000, "-0", "1e3", "{}", "${HOME}"])
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
)


def mutated(place: tuple[int | str, ...], value: object, act: str) -> dict[str, Any]:
    fields = deepcopy(config_fields())
    here: Any = fields
    for part in place[:-1]:
        here = here[part]
    match act:
        case "set":
            here[place[-1]] = value
        case "remove":
            del here[place[-1]]
        case "double" if isinstance(here, list):
            here.append(here[int(place[-1])])
        case _ if isinstance(here, dict):
            here[f"{place[-1]}x"] = value
        case _:
            here.insert(0, value)
    return fields


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(place=st.sampled_from(PLACES), value=VALUES, act=st.sampled_from(["set", "remove", "add", "double"]))
def test_no_mutation_gives_anything_but_a_value_or_told_problems(
    place: tuple[int | str, ...], value: object, act: str
) -> None:
    fields = mutated(place, value, act)
    data = json.dumps(fields).encode()
    try:
        config = parse_config(data, FILE)
    except DocumentErrors as several:
        assert_told(several.errors)
    except DocumentError as error:
        assert_told((error,))
    else:
        assert config.model_dump_json(by_alias=True)


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=200) | st.text(max_size=200).map(lambda text: text.encode("utf-8", "surrogatepass")))
def test_no_bytes_give_anything_but_told_problems(data: bytes) -> None:
    assert_told(errors_of(data))


def test_a_configuration_written_back_reads_the_same() -> None:
    config = parsed(config_fields())
    again = parse_config(config.model_dump_json(by_alias=True).encode(), FILE)
    assert again == config


def shapes(model: type[Shape]) -> Iterator[type[Shape]]:
    for child in model.__subclasses__():
        yield child
        yield from shapes(child)


def test_no_field_of_any_shape_is_a_float() -> None:
    assert not [
        (shape, name)
        for shape in shapes(Shape)
        for name, field in shape.model_fields.items()
        if "float" in repr(field.annotation)
    ]


def load_error(path: Path) -> DocumentError:
    with pytest.raises(DocumentError) as caught:
        load_config(path)
    return caught.value


def test_a_missing_file_is_told_and_how_to_name_another(tmp_path: Path) -> None:
    error = load_error(tmp_path / "none.json")
    assert error.found == "no such file or directory"
    assert "BENCHMARK_CONFIG" in error.mend


@pytest.mark.parametrize("name", ["a" * 300, "a\0b", "a\nb\x1b[0m\udcff", "file/x"])
def test_an_impossible_path_is_told(tmp_path: Path, name: str) -> None:
    (tmp_path / "file").touch()
    assert str(load_error(tmp_path / name)).isprintable()


@pytest.mark.parametrize("kind", ["folder", "link", "fifo", "huge", "loop"])
def test_what_is_no_plain_file_is_told(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "release.json"
    match kind:
        case "folder":
            path.mkdir()
        case "link":
            (tmp_path / "real.json").write_text(json.dumps(config_fields()))
            path.symlink_to("real.json")
        case "loop":
            path.symlink_to(path.name)
        case "fifo":
            os.mkfifo(path)
        case _:
            path.write_bytes(b" " * (DOCUMENT_BYTES + 1))
    assert str(load_error(path)).isprintable()


def test_a_file_is_read(tmp_path: Path) -> None:
    path = tmp_path / "release.json"
    path.write_text(json.dumps(config_fields()))
    assert load_config(path).release == "pilot-1"
