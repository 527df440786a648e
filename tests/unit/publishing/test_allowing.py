"""An allow-list lets pass what it names, where it names it, with the reason it gives, and nothing else."""

import json
from hashlib import sha256
from pathlib import Path

import pytest

from runner.documents.publish_allow import AllowEntry, PublishAllow
from runner.errors import DocumentErrors
from runner.publishing.allowing import allow_file, allowed, read_allow_list
from runner.publishing.model import Rule, ScanFinding

DIGEST = sha256(b"text").hexdigest()
REASON = "a made-up value of the task's own tests"


def finding(file: str = "kit/clamp/attempts/attempt-1/candidate.diff", rule: Rule = Rule.ENTROPY) -> ScanFinding:
    return ScanFinding(rule=rule, kind="letters", file=file, field="line 4", sha256=DIGEST, excerpt="4 bytes")


def entry(file: str, **changed: str) -> PublishAllow:
    fields = {"rule": "entropy", "file": file, "sha256": DIGEST, "reason": REASON, **changed}
    return PublishAllow(entries=(AllowEntry.model_validate(fields),))


@pytest.mark.parametrize(
    "pattern",
    ["kit/clamp/attempts/attempt-1/candidate.diff", "kit/*/attempts/*/candidate.diff", "**/candidate.diff", "kit/**"],
)
def test_a_named_text_passes_where_it_is_named(pattern: str) -> None:
    left, used = allowed((finding(),), entry(pattern))
    assert left == ()
    assert [(each.rule, each.field, each.sha256, each.reason) for each in used] == [
        ("entropy", "line 4", DIGEST, REASON)
    ]


@pytest.mark.parametrize(
    "allow_list",
    [
        pytest.param(entry("kit/*/candidate.diff"), id="one star is one folder"),
        pytest.param(entry("kit/clamp/attempts/attempt-1/candidate?diff?"), id="the whole path counts"),
        pytest.param(entry("kit/clamp/attempts/attempt-1/candidateXdiff"), id="a dot is a dot"),
        pytest.param(entry("**", rule="secret"), id="another rule"),
        pytest.param(entry("**", sha256="0" * 64), id="another text"),
        pytest.param(PublishAllow(), id="no entry"),
    ],
)
def test_nothing_else_passes(allow_list: PublishAllow) -> None:
    assert allowed((finding(),), allow_list) == ((finding(),), ())


def test_only_entries_that_were_used_are_told_in_the_order_of_files() -> None:
    several = PublishAllow(entries=(*entry("unused").entries, *entry("**").entries))
    _, used = allowed((finding("b.json"), finding("a.json")), several)
    assert [each.file for each in used] == ["a.json", "b.json"]


def test_it_stands_beside_its_configuration_and_may_be_missing(tmp_path: Path) -> None:
    place = allow_file(tmp_path / "pilot.json")
    assert place == tmp_path / "pilot.publish-allow.json"
    assert read_allow_list(place) == PublishAllow()


def test_an_entry_without_a_reason_is_refused(tmp_path: Path) -> None:
    place = tmp_path / "pilot.publish-allow.json"
    bare = {"rule": "entropy", "file": "**", "sha256": DIGEST, "reason": "ok"}
    place.write_text(json.dumps({"schema": "cleanroom/publish-allow/1", "entries": [bare]}))
    with pytest.raises(DocumentErrors, match=r"entries\[0\].reason"):
        read_allow_list(place)
