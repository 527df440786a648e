"""Laws of retiring a candidate: what was asked for changes in the file, and not a byte more."""

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runner.config import load_config, parse_config
from runner.dropping import Dropping, drop, retired
from runner.errors import DocumentErrors, UnknownNameError, UsageError
from runner.json_editing import members, put, top
from runner.roster import Retirement, Status
from runner.settings import Settings

WHY = Retirement(reason='its "host" answers 429 — no verdict on the model', date="2026-11-30")
CONFIG = {
    "schema": "cleanroom/release-configuration/1",
    "release": "first-1",
    "nominations": ["clamp"],
    "candidates": [
        {"id": "oracle", "agent": "oracle", "role": "anchor"},
        {"id": "careful", "agent": "native", "model": "m", "route": "r", "label": 'a "}" in it, and \u00e4'},
        {"id": "nop", "agent": "nop", "status": "experimental", "nominations": ["clamp"]},
    ],
    "routes": [{"id": "r", "scripted": "config/scenarios"}],
}
FORMS = {
    "one line": None,
    "two blanks": 2,
    "tabs": "\t",
}


@pytest.mark.parametrize("indent", FORMS.values(), ids=FORMS)
@pytest.mark.parametrize("name", ["oracle", "careful", "nop"])
def test_a_candidate_is_retired_and_not_a_byte_more_is_changed(name: str, indent: int | str | None) -> None:
    data = json.dumps(CONFIG, indent=indent, ensure_ascii=False).encode() + b"\n\n"
    edited = retired(data, Dropping(candidate=name, why=WHY), "first.json")
    found = {each.id: each for each in parse_config(edited, "first.json").candidates}
    assert (found[name].status, found[name].retired) == (Status.RETIRED, WHY)
    if name == "nop":  # its status is replaced where it stands, everything else is one insertion
        edited = edited.replace(b'"status": "retired"', b'"status": "experimental"')
    same = next(at for at in range(len(data)) if data[at] != edited[at])
    inserted = len(edited) - len(data)
    assert edited[same + inserted :] == data[same:]
    assert b'"retired": {"reason": ' in edited[same : same + inserted]
    assert edited[same : same + inserted].count(b"\n") == (0 if indent is None else 1 if name == "nop" else 2)


def test_the_next_release_supersedes_the_one_whose_roster_it_had() -> None:
    data = json.dumps(CONFIG, indent=2).encode()
    edited = parse_config(retired(data, Dropping(candidate="nop", why=WHY, release="first-2"), "f"), "f")
    assert (edited.release, edited.supersedes) == ("first-2", "first-1")


def test_who_is_unknown_or_gone_already_cannot_be_retired() -> None:
    data = json.dumps(CONFIG).encode()
    with pytest.raises(UnknownNameError, match=r"did you mean careful\?"):
        retired(data, Dropping(candidate="carefull", why=WHY), "f")
    once = retired(data, Dropping(candidate="careful", why=WHY), "f")
    with pytest.raises(UsageError, match="careful is retired already, since 2026-11-30"):
        retired(once, Dropping(candidate="careful", why=WHY), "f")
    with pytest.raises(DocumentErrors):
        retired(b"{}", Dropping(candidate="careful", why=WHY), "f")


def test_a_frozen_release_keeps_its_roster(tmp_path: Path) -> None:
    file = tmp_path / "config/first.json"
    file.parent.mkdir()
    file.write_text(json.dumps(CONFIG, indent=2))
    file.chmod(0o640)
    known = Settings(checkout=tmp_path, config=file)
    frozen = tmp_path / "releases/first-1/manifest.json"
    frozen.parent.mkdir(parents=True)
    frozen.write_text("{}")
    before = file.read_bytes()
    with pytest.raises(UsageError, match=r"release first-1 is frozen.*--release"):
        drop(known, Dropping(candidate="careful", why=WHY))
    with pytest.raises(UsageError, match="release first-1 is frozen already"):
        drop(known, Dropping(candidate="careful", why=WHY, release="first-1"))
    assert file.read_bytes() == before
    done = drop(known, Dropping(candidate="careful", why=WHY, release="first-2"))
    assert (done.release, done.left, done.candidate.retired) == ("first-2", 2, WHY)
    assert load_config(file).release == "first-2"
    assert file.stat().st_mode & 0o777 == 0o640
    assert [each.name for each in file.parent.iterdir()] == ["first.json"]


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)


@settings(max_examples=60, deadline=None)
@given(
    whole=st.dictionaries(st.text(max_size=4), VALUES, max_size=4),
    name=st.text(max_size=4),
    value=VALUES,
    indent=st.sampled_from([None, 0, 3, "\t"]),
)
def test_a_member_can_be_put_into_any_object(
    whole: dict[str, object], name: str, value: object, indent: int | str | None
) -> None:
    text = " \n" + json.dumps(whole, indent=indent) + " "
    edited = put(text, top(text), name, value)
    assert json.loads(edited) == whole | {name: value}
    assert list(json.loads(edited)) == list(whole | {name: value})
    if name in whole:
        (found,) = (each for each in members(text, top(text)) if each.name == name)
        assert edited.startswith(text[: found.start])
        assert edited.endswith(text[found.end :])
