"""Everything that must not get out is found wherever and however it stands, and nothing else is."""

import base64
import gzip
import json
import random
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.gateway.relay.redaction import spellings
from runner.publishing.model import Rule, ScanContext, ScanFinding, Secret
from runner.publishing.places import field_at
from runner.publishing.scan import scan
from runner.publishing.tokens import SHAPES
from tests.unit.publishing.corpus import (
    BAD,
    CONTEXT,
    DIFF,
    KEY,
    LOOSE,
    RUN,
    TOKENS,
    Bad,
    binary_patch,
    change,
    document,
)
from tests.unit.publishing.innocent import GOOD, Good


@pytest.mark.parametrize("bad", [pytest.param(each, id=f"{each.rule}: {each.id}") for each in BAD])
def test_it_is_found_by_its_rule_at_its_place(bad: Bad) -> None:
    found = [each for each in scan({bad.file: bad.data}, CONTEXT) if each.rule is bad.rule]
    assert [(each.file, each.field) for each in found][:1] == [(bad.file, bad.field)]
    assert bad.kind in {"", *(each.kind for each in found)}


@pytest.mark.parametrize("good", [pytest.param(each, id=each.id) for each in GOOD])
def test_what_is_innocent_stops_nothing(good: Good) -> None:
    assert scan({good.file: good.data}, CONTEXT) == ()


def test_there_is_a_case_for_every_rule_form_and_maker() -> None:
    """So that a rule that is gone is missed: what it alone finds is in the corpus."""
    assert {each.rule for each in BAD} == set(Rule)
    assert set(TOKENS) == {each.id for each in SHAPES}
    found = [each for bad in BAD for each in scan({bad.file: bad.data}, CONTEXT)]
    assert {each.kind for each in found} >= {each.kind for each in SHAPES} | set(LOOSE)
    forms = {form for each in found if each.rule is Rule.SECRET for form in each.wrapped.split(", ")}
    assert forms >= set(spellings(KEY.encode()).values()) - {"plain"} | {
        "gzip",
        "zlib",
        "bz2",
        "xz",
        "zip",
        "other case",
    }


def found_of_all() -> set[str]:
    """Name the cases of the corpus that are found by their rules, all in one scan."""
    files = {
        bad.file.replace(bad.file.split("/")[-1], f"{at}-{bad.file.split('/')[-1]}"): bad for at, bad in enumerate(BAD)
    }
    found = scan({file: bad.data for file, bad in files.items()}, CONTEXT)
    return {f"{each.rule}: {files[each.file].id}" for each in found if each.rule is files[each.file].rule}


@pytest.mark.parametrize(
    "part",
    [
        *("scan.Spellings.find", "scan.host_texts", "scan.hidden_texts", "scan.host_shapes", "scan.event_streams"),
        *("scan.tokens_in_run", "scan.loose_tokens", "scan.random_runs", "scan.named_secrets", "scan.named_by_judges"),
        *("scan.stretches", "scan.unreadable_binaries", "scan.packed", "scan.unescaped", "scan.blocks", "scan.decoded"),
    ],
)
def test_without_any_part_of_the_scan_some_case_is_missed(monkeypatch: pytest.MonkeyPatch, part: str) -> None:
    monkeypatch.setattr(f"runner.publishing.{part}", Nothing())
    assert len(found_of_all()) < len(BAD)


class Nothing:
    """Stands in a rule's place and finds nothing."""

    def __call__(self, *_: object) -> "Nothing":
        return self

    def __iter__(self) -> Iterator[Any]:
        return iter(())

    def find(self, *_: object) -> "Nothing":
        return self


def test_with_all_parts_none_is_missed() -> None:
    assert found_of_all() == {f"{bad.rule}: {bad.id}" for bad in BAD}


def test_each_makers_key_is_called_by_its_maker() -> None:
    for shape in SHAPES:
        found = scan({DIFF: change(f"x = {TOKENS[shape.id]}")}, ScanContext())
        assert [each.kind for each in found if each.rule is Rule.TOKEN] == [shape.kind]


PRIVATE = (KEY, *(token[8:] for token in TOKENS.values()), *(each.text for each in (*CONTEXT.paths, *CONTEXT.host)))
"""Of tokens what comes after the maker's own letters."""


@pytest.mark.parametrize("bad", [pytest.param(each, id=f"{each.rule}: {each.id}") for each in BAD])
def test_a_finding_tells_where_it_is_and_nothing_of_the_text(bad: Bad) -> None:
    for finding in scan({bad.file: bad.data}, CONTEXT):
        told = str(finding)
        assert (bad.file in told, finding.field in told, finding.sha256 in told) == (True, True, True)
        rest = told.replace(bad.file, "").replace(finding.sha256, "")
        assert not [text for text in PRIVATE for at in range(max(1, len(text) - 7)) if text[at : at + 8] in rest]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param(None, b"\0\1" + KEY.encode() + b"\0", id="a new file"),
        pytest.param(random.Random(1).randbytes(9000), None, id="an insertion"),  # noqa: S311
        pytest.param(None, b"\0" + gzip.compress(b"in it: " + KEY.encode(), mtime=0), id="a packed file"),
        pytest.param(b"\0\1" + KEY.encode() + b"\0", b"\0\0\0", id="a file that is replaced"),
    ],
)
def test_binary_patches_are_looked_into(tmp_path: Path, before: bytes | None, after: bytes | None) -> None:
    content = after if after is not None else (before or b"")[:4000] + KEY.encode() + (before or b"")[4000:]
    patch = binary_patch(tmp_path, before, content)
    assert b"GIT binary patch" in patch
    assert KEY.encode() not in patch
    (found,) = scan({DIFF: patch}, CONTEXT)
    assert (found.rule, found.file) == (Rule.SECRET, DIFF)
    assert found.wrapped.startswith("a binary patch")


def test_an_innocent_binary_patch_stops_nothing(tmp_path: Path) -> None:
    before, after = (random.Random(seed).randbytes(20_000) for seed in (1, 2))  # noqa: S311
    assert scan({DIFF: binary_patch(tmp_path, before, after)}, CONTEXT) == ()


def test_what_swells_beyond_all_bounds_is_not_unpacked_and_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("runner.publishing.wrappings.UNPACKED_BYTES", 1000)
    bomb = base64.b64encode(gzip.compress(bytes(1001), mtime=0)).decode()
    (found,) = scan({RUN: document(bomb)}, CONTEXT)
    assert (found.rule, found.field) == (Rule.UNREADABLE, "notes[0].said")
    monkeypatch.setattr("runner.publishing.wrappings.UNPACKED_BYTES", 1001)
    assert scan({RUN: document(bomb)}, CONTEXT) == ()


def test_where_too_much_is_packed_up_the_rest_is_looked_at_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("runner.publishing.scan.UNWRAPPED_BYTES", 0)
    monkeypatch.setattr("runner.publishing.scan._TIMES", 0)
    lines = (base64.b64encode(b"many words, nothing else").decode(), "# u1900000321")
    found = scan({DIFF: change(*lines)}, CONTEXT)
    assert [(each.rule, each.field) for each in found] == [(Rule.HOST, "line 7"), (Rule.UNREADABLE, "line 6")]


def test_one_text_is_told_once_a_file_with_how_often_it_stands_there() -> None:
    found = scan({DIFF: change("# u1900000321", "x", "# u1900000321"), "b.json": document("u1900000321")}, CONTEXT)
    assert [(each.file, each.field, each.times) for each in found] == [
        (DIFF, "line 6", 2),
        ("b.json", "notes[0].said", 1),
    ]


def test_the_digest_is_of_the_text_that_was_found() -> None:
    (found,) = scan({DIFF: change("owner u1900000321")}, CONTEXT)
    assert found.sha256 == sha256(b"u1900000321").hexdigest()


def test_a_files_name_is_looked_at_too() -> None:
    (found,) = scan({"a.json": b"{}", "builder-07/run.json": b"{}"}, CONTEXT)
    assert (found.rule, found.file, found.field) == (Rule.HOST, "builder-07/run.json", "its name")


def test_a_secret_that_is_a_word_is_not_looked_for() -> None:
    assert scan({RUN: document("none at all")}, ScanContext(secrets=(Secret(name="a key", value=b"none"),))) == ()


def test_the_same_files_give_the_same_findings_in_the_same_order() -> None:
    files = {bad.file + str(at): bad.data for at, bad in enumerate(BAD)}
    assert scan(files, CONTEXT) == scan(files, CONTEXT)


@given(
    before=st.binary(max_size=60), after=st.binary(max_size=60), form=st.sampled_from(sorted(spellings(KEY.encode())))
)
def test_no_neighbours_hide_a_secret(before: bytes, after: bytes, form: bytes) -> None:
    assert Rule.SECRET in {each.rule for each in scan({"a.bin": before + form + after}, CONTEXT)}


@given(data=st.binary(max_size=400))
def test_whatever_stands_there_is_scanned_without_an_error(data: bytes) -> None:
    for file in (DIFF, RUN, "a.jsonl", "a.md", "x/judges/y.json"):
        for found in scan({file: b"{" + data}, CONTEXT):
            assert isinstance(found, ScanFinding)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=12,
)


@given(left=VALUES, right=VALUES, deep=st.integers(0, 3))
def test_a_field_is_named_wherever_it_stands(left: object, right: object, deep: int) -> None:
    value: object = "NEEDLE"
    for _ in range(deep):
        value = [left, {"k/e": value, "z": right}]
    text = json.dumps({"a": left, "b": value, "c": right}).encode()
    assert field_at(text, text.index(b"NEEDLE")) == "b" + "[1].k/e" * deep


def test_nothing_private_means_nothing_is_looked_for_but_forms() -> None:
    bad = [each for each in BAD if each.rule in {Rule.TOKEN, Rule.ENTROPY, Rule.UNREADABLE}]
    for each in bad:
        assert each.rule in {found.rule for found in scan({each.file: each.data}, ScanContext())}
