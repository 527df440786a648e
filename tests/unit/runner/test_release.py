"""Manifests: the same inputs give the same bytes, and every changed input is named."""

import json
import os
import random
import threading
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from runner.canonical import canonical, sha256
from runner.config import parse_config
from runner.documents.controls import CalibratedEvaluator, ControlsRecord
from runner.documents.manifest import Manifest
from runner.drift import compare
from runner.errors import DocumentError, DocumentErrors, Drift, DriftError, SealTakenError
from runner.inputs import Inputs, Places
from runner.manifests import load_manifest, manifest_digest, manifest_path
from runner.nomination import load_nomination, nomination_digest
from runner.preparing import Workbench, open_workbench, prepare
from runner.release import PreparedRelease, check_inputs, freeze, write_manifest
from runner.settings import Settings
from tests.unit.runner.written import config_fields, nomination_files, written


def plain_fields() -> dict[str, Any]:
    """Give a configuration whose nominations all have folders."""
    fields: dict[str, Any] = config_fields()
    fields["nominations"] = ["wordcount"]
    return fields


def prepared(
    checkout: Path,
    *,
    fields: Mapping[str, Any] | None = None,
    files: Mapping[str, str] | None = None,
    records: Mapping[str, ControlsRecord] | None = None,
    frozen: Manifest | None = None,
) -> PreparedRelease:
    """Write a checkout and prepare its release."""
    nominations = checkout / "config/nominations"
    written(nominations / "wordcount", files or nomination_files())
    written(checkout / "config/scenarios", {"right.json": "{}"})
    written(checkout / "config/judging", {"pairwise.md": "Which is better?\n"})
    written(checkout / "config/patches", {"wordcount.patch": "diff --git a/x b/x\n"})
    config = parse_config(json.dumps(fields or plain_fields()).encode(), "pilot.json")
    places = Places(
        state=checkout / "state",
        store=checkout / "store",
        tables=checkout / "tables",
        results=checkout / "results",
        models_test=checkout,
        nominations=nominations,
    )
    inputs = Inputs(
        file="pilot.json",
        config=config,
        nominations=tuple(load_nomination(nominations / name) for name in config.nomination_ids),
        places=places,
    )
    surroundings = Settings(checkout=checkout, config=checkout / "pilot.json")
    return prepare(inputs, surroundings, workbench(places, surroundings), records or {}, frozen)


def workbench(places: Places, surroundings: Settings) -> Workbench:
    return open_workbench(places, surroundings, offline=True)


def record(checkout: Path, cases: tuple[str, ...] = ("test_hidden.py::test_hidden_two",)) -> ControlsRecord:
    nomination = load_nomination(checkout / "config/nominations/wordcount")
    return ControlsRecord(
        nomination="wordcount",
        nomination_sha256=nomination_digest(nomination),
        fixture_sha256="0" * 64,
        evaluators=(
            CalibratedEvaluator(
                id="hidden",
                kind="pytest",
                sha256="0" * 64,
                cases=cases,
                calibration={"cases": list(cases), "twins": []},
            ),
        ),
        controls=(),
    )


def fields_of(error: DriftError) -> list[str]:
    return [drift.field for drift in error.drifts]


def test_a_manifest_holds_the_whole_plan(tmp_path: Path) -> None:
    manifest = freeze(prepared(tmp_path))
    assert manifest.controls == "not run"
    assert [candidate.id for candidate in manifest.candidates] == ["oracle", "right", "gone", "recorded"]
    assert [(each.candidate, each.nomination, each.attempt) for each in manifest.planned] == [
        *(("oracle", "wordcount", attempt) for attempt in (1, 2)),
        *(("right", "wordcount", attempt) for attempt in (1, 2)),
        *(("recorded", "wordcount", attempt) for attempt in (1, 2)),
    ]
    nomination = manifest.nomination("wordcount")
    assert nomination.validation is None
    assert nomination.toolchain is not None
    assert [package.name for package in nomination.toolchain.packages] == ["pytest"]
    assert [file.path for file in nomination.public] == ["public/tests/test_public.py"]
    assert [(folder.owner, folder.use) for folder in manifest.folders] == [
        ("script", "scenarios"),
        ("recorded", "patches"),
    ]


def test_a_manifest_tells_neither_keys_nor_hidden_tests_nor_this_host(tmp_path: Path) -> None:
    prepared(tmp_path)
    whole = freeze(prepared(tmp_path, records={"wordcount": record(tmp_path)}))
    text = canonical(whole).decode()
    for secret in ("test_hidden", str(tmp_path), "/root/codex-login.json", ".cleanroom", os.uname().nodename):
        assert secret not in text
    assert "EXAMPLE_API_KEY" in text


def test_controls_are_bound_by_the_digest_of_their_record(tmp_path: Path) -> None:
    prepared(tmp_path)
    kept = record(tmp_path)
    manifest = freeze(prepared(tmp_path, records={"wordcount": kept}))
    evaluator = manifest.nomination("wordcount").evaluators[0]
    assert manifest.controls == "ran"
    assert manifest.nomination("wordcount").validation == sha256(canonical(kept))
    assert evaluator.cases == 1
    bare = freeze(prepared(tmp_path)).nomination("wordcount").evaluators[0]
    assert bare.cases is None
    assert bare.sha256 != evaluator.sha256


def test_the_same_inputs_give_the_same_bytes_in_another_checkout(tmp_path: Path) -> None:
    first = canonical(freeze(prepared(tmp_path / "one")))
    assert canonical(freeze(prepared(tmp_path / "two"))) == first


def shuffled(value: object, dice: random.Random) -> object:
    if isinstance(value, dict):
        keys = list(value)
        dice.shuffle(keys)
        return {key: shuffled(value[key], dice) for key in keys}
    return [shuffled(each, dice) for each in value] if isinstance(value, list) else value


@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(seed=st.integers(0, 2**32), umask=st.sampled_from([0, 0o022, 0o077]), age=st.integers(0, 10**9))
def test_neither_order_of_keys_nor_umask_nor_times_change_a_byte(
    tmp_path: Path, seed: int, umask: int, age: int
) -> None:
    dice = random.Random(seed)  # noqa: S311 - shuffles a test's input
    expected = canonical(freeze(prepared(tmp_path / "expected")))
    checkout = tmp_path / f"{seed}-{umask}-{age}"
    old = os.umask(umask)
    try:
        files = list(nomination_files().items())
        dice.shuffle(files)
        fields = shuffled(plain_fields(), dice)
        assert isinstance(fields, dict)
        prepared(checkout, fields=fields, files=dict(files))
        for path in (checkout / "config").rglob("*"):
            os.utime(path, (age, age))
        assert canonical(freeze(prepared(checkout, fields=fields, files=dict(files)))) == expected
    finally:
        os.umask(old)


def test_host_settings_change_nothing(tmp_path: Path) -> None:
    first = freeze(prepared(tmp_path))
    fields = plain_fields() | {
        "clean_room": {"state_dir": "/srv/elsewhere"},
        "models_test": "/srv/models",
        "results_dir": "/srv/results",
        "private_artifacts_dir": "/srv/store",
        "private_evaluators_dir": "/srv/evaluators",
    }
    assert freeze(prepared(tmp_path, fields=fields)) == first


def test_writing_twice_is_writing_once(tmp_path: Path) -> None:
    manifest = freeze(prepared(tmp_path))
    path = write_manifest(tmp_path / "releases", manifest)
    before = path.stat()
    assert path == manifest_path(tmp_path / "releases", "pilot-1")
    assert write_manifest(tmp_path / "releases", manifest) == path
    assert (path.stat().st_ino, path.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)
    assert load_manifest(path) == manifest
    assert sha256(path.read_bytes()) == manifest_digest(manifest)


Change = Callable[[dict[str, Any], dict[str, str]], object]


@pytest.mark.parametrize(
    ("change", "fields"),
    [
        pytest.param(
            lambda _, files: files.update({"fixture/other.py": "other = 1\n"}),
            [
                "nominations[wordcount].fixture_sha256",
                "nominations[wordcount].nomination_sha256",
                "nominations[wordcount].solution_sha256",
            ],
            id="fixture",
        ),
        pytest.param(
            lambda _, files: files.update({"prompt.md": "other words\n"}),
            ["nominations[wordcount].nomination_sha256", "nominations[wordcount].prompt_sha256"],
            id="prompt",
        ),
        pytest.param(
            lambda _, files: files.update({"private/test_hidden.py": files["private/test_hidden.py"] + "\n"}),
            [
                "nominations[wordcount].evaluators[hidden].sha256",
                "nominations[wordcount].nomination_sha256",
                "nominations[wordcount].private_sha256",
            ],
            id="hidden-tests",
        ),
        pytest.param(
            lambda _, files: files.update({"requirements.txt": f"pytest==9.0.1 --hash=sha256:{'b' * 64}\n"}),
            [
                "nominations[wordcount].nomination_sha256",
                "nominations[wordcount].toolchain.lock_sha256",
                "nominations[wordcount].toolchain.packages[pytest].sha256[0]",
                "nominations[wordcount].toolchain.packages[pytest].version",
            ],
            id="toolchain",
        ),
        pytest.param(
            lambda fields, _: fields["limits"]["solution"].update(wall_ms=4000),
            ["limits.solution.wall_ms"],
            id="limit",
        ),
        pytest.param(
            lambda fields, _: fields["candidates"].append({"id": "nothing", "agent": "nop"}),
            ["candidates[nothing]"],
            id="one-candidate-more",
        ),
        pytest.param(lambda fields, _: fields["candidates"].pop(2), ["candidates[gone]"], id="one-candidate-less"),
        pytest.param(
            lambda fields, _: fields["candidates"][1].update(budget={"usd": "0.60"}),
            [
                "candidates[right].budget.requests",
                "candidates[right].budget.tokens",
                "candidates[right].budget.usd",
            ],
            id="budget",
        ),
        pytest.param(lambda fields, _: fields["candidates"].reverse(), ["candidates"], id="order"),
        pytest.param(lambda fields, _: fields.update(attempts=3), ["attempts"], id="attempts"),
        pytest.param(lambda fields, _: fields["analysis"].update(seed=8), ["analysis.seed"], id="seed"),
        pytest.param(
            lambda fields, _: fields.update(require_nomination_selection=True),
            ["configuration_sha256"],
            id="only-in-the-configuration",
        ),
    ],
)
def test_a_changed_input_under_a_used_id_is_refused_by_name(tmp_path: Path, change: Change, fields: list[str]) -> None:
    path = write_manifest(tmp_path / "releases", freeze(prepared(tmp_path / "one")))
    before = path.read_bytes()
    configuration, files = plain_fields(), nomination_files()
    change(configuration, files)
    found = prepared(tmp_path / "two", fields=configuration, files=files)
    with pytest.raises(DriftError) as caught:
        write_manifest(tmp_path / "releases", freeze(found))
    assert fields_of(caught.value) == fields
    assert all(drift.frozen != drift.found for drift in caught.value.drifts)
    assert path.read_bytes() == before
    with pytest.raises(DriftError):
        check_inputs(load_manifest(path), found, str(path))


def test_a_drifted_fixture_is_told_before_the_solution_that_no_longer_fits_it(tmp_path: Path) -> None:
    manifest = freeze(prepared(tmp_path / "one"))
    files = nomination_files() | {"fixture/wordcount.py": "something else\n"}
    with pytest.raises(DocumentErrors, match="a patch that does not apply"):
        prepared(tmp_path / "two", files=files)
    with pytest.raises(DocumentErrors, match="a drifted tree") as caught:
        prepared(tmp_path / "two", files=files, frozen=manifest)
    assert manifest.nomination("wordcount").fixture_sha256 in caught.value.errors[0].expected


def test_a_changed_judge_prompt_is_drift(tmp_path: Path) -> None:
    manifest = freeze(prepared(tmp_path))
    assert [prompt.path for prompt in manifest.judge_prompts] == ["pairwise.md"]
    later = prepared(tmp_path)
    changed = replace(later, judge_prompts=(later.judge_prompts[0].model_copy(update={"sha256": "0" * 64}),))
    with pytest.raises(DriftError) as caught:
        check_inputs(manifest, changed, "manifest.json")
    assert fields_of(caught.value) == ["judge_prompts[pairwise.md].sha256"]


def test_a_changed_scenario_is_drift(tmp_path: Path) -> None:
    manifest = freeze(prepared(tmp_path))
    check_inputs(manifest, prepared(tmp_path), "manifest.json")
    later = prepared(tmp_path)
    folder = later.folders[0]
    changed = replace(
        later,
        folders=(
            folder.model_copy(update={"files": (folder.files[0].model_copy(update={"sha256": "0" * 64}),)}),
            *later.folders[1:],
        ),
    )
    with pytest.raises(DriftError) as caught:
        check_inputs(manifest, changed, "manifest.json")
    assert fields_of(caught.value) == ["folders[script].files[right.json].sha256"]


def test_freezing_without_controls_under_an_id_frozen_with_them_is_refused(tmp_path: Path) -> None:
    prepared(tmp_path)
    kept = record(tmp_path)
    write_manifest(tmp_path / "releases", freeze(prepared(tmp_path, records={"wordcount": kept})))
    with pytest.raises(DriftError) as caught:
        write_manifest(tmp_path / "releases", freeze(prepared(tmp_path)))
    assert "controls" in fields_of(caught.value)


def test_a_folder_that_is_no_release_is_left_alone(tmp_path: Path) -> None:
    written(tmp_path / "releases/pilot-1", {"notes.txt": "mine"})
    with pytest.raises(SealTakenError):
        write_manifest(tmp_path / "releases", freeze(prepared(tmp_path)))
    assert [path.name for path in (tmp_path / "releases/pilot-1").iterdir()] == ["notes.txt"]


def test_two_freezes_at_once_leave_one_whole_manifest(tmp_path: Path) -> None:
    manifest = freeze(prepared(tmp_path))
    threads = [threading.Thread(target=write_manifest, args=(tmp_path / "releases", manifest)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [path.name for path in (tmp_path / "releases").iterdir()] == ["pilot-1"]
    assert load_manifest(manifest_path(tmp_path / "releases", "pilot-1")) == manifest


@pytest.mark.parametrize(
    "spoil",
    [
        pytest.param(lambda data: data[:-1], id="cut-short"),
        pytest.param(lambda data: data + b"\n", id="a-line-feed-more"),
        pytest.param(lambda data: data.replace(b'"attempts":2', b'"attempts":2.0'), id="float"),
        pytest.param(lambda data: data.replace(b'"attempts":2', b'"attempts":2,"attempts":2'), id="twice"),
        pytest.param(lambda data: data.replace(b"manifest/1", b"manifest/2"), id="other-schema"),
        pytest.param(lambda data: data.replace(b'"attempts":2', b'"attempts":0'), id="out-of-range"),
        pytest.param(lambda data: data.replace(b'"controls":"not run"', b'"controls":"ran"'), id="claims"),
        pytest.param(lambda data: data.replace(b'"criteria"', b'"criteriae"'), id="unknown-key"),
        pytest.param(lambda _: b"", id="empty"),
        pytest.param(lambda _: b"\xff\xfe", id="no-text"),
    ],
)
def test_a_manifest_that_was_touched_is_refused(tmp_path: Path, spoil: Callable[[bytes], bytes]) -> None:
    whole = canonical(freeze(prepared(tmp_path)))
    assert spoil(whole) != whole
    place = tmp_path / "pilot-1/manifest.json"
    place.parent.mkdir()
    place.write_bytes(spoil(whole))
    with pytest.raises((DocumentError, DocumentErrors)) as caught:
        load_manifest(place)
    assert str(place) in str(caught.value)


def test_a_manifest_stands_below_its_own_release(tmp_path: Path) -> None:
    path = write_manifest(tmp_path / "releases", freeze(prepared(tmp_path)))
    path.parent.rename(tmp_path / "releases/pilot-2")
    with pytest.raises(DocumentError, match="found pilot-1; expected pilot-2"):
        load_manifest(manifest_path(tmp_path / "releases", "pilot-2"))
    with pytest.raises(DocumentError, match="runner freeze"):
        load_manifest(path)


def test_problems_of_all_nominations_are_told_together(tmp_path: Path) -> None:
    files = nomination_files() | {"requirements.txt": "pytest\n"}
    with pytest.raises(DocumentErrors) as caught:
        prepared(tmp_path, files=files)
    assert [error.field for error in caught.value.errors] == ["line 1"]


def test_an_unknown_kind_of_evaluator_is_told_with_its_field(tmp_path: Path) -> None:
    files = nomination_files()
    files["nomination.toml"] = files["nomination.toml"].replace('kind = "pytest"', 'kind = "magic"')
    with pytest.raises(DocumentErrors) as caught:
        prepared(tmp_path, files=files)
    assert [error.field for error in caught.value.errors] == ["evaluators[hidden].kind"]


def test_two_documents_are_compared_field_by_field() -> None:
    frozen = {"a": 1, "b": [{"id": "x", "v": 1}, {"id": "y"}], "c": "t", "d": True, "e": [1, 2]}
    found = {"a": 1, "b": [{"id": "y"}, {"id": "x", "v": 2}], "d": 1, "e": [1], "f": None}
    assert [(each.field, each.frozen, each.found) for each in compare(frozen, found)] == [
        ("b[x].v", "1", "2"),
        ("c", "t", "nothing"),
        ("d", "true", "1"),
        ("e[1]", "2", "nothing"),
        ("f", "nothing", "null"),
    ]
    assert list(compare(frozen, frozen)) == []
    assert str(DriftError(file="m", drifts=(Drift(field="a", frozen="1", found="2"),), mend="x")).count("a:")
