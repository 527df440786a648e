"""Laws of `runner verify PATH`: what lies there is verified by the rules of whoever published it, no weaker ones."""

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from runner.canonical import canonical
from runner.cli.evidence import verify
from runner.errors import DocumentError
from runner.signing.layout import NAMES
from runner.verification.kinds import ReleaseKind, release_kind
from tests.unit.reference_system.maker import a_legacy_release, a_release, attempt, rewritten, write
from tests.unit.runner.evidence_maker import a_manifest as our_manifest


def run(*words: str) -> Result:
    return CliRunner().invoke(verify, list(words), obj=None, standalone_mode=False)


def test_a_release_of_the_reference_system_is_verified_and_called_unsigned(tmp_path: Path) -> None:
    ended = run(str(a_release(tmp_path)))
    assert ended.return_value == 0
    assert "verified r1 of the reference system, 8 attempts, 40 files, unsigned: all of it that can be" in ended.output
    assert "note: where this comes from: nothing of it is signed" in ended.output


def test_damage_is_told_with_3(tmp_path: Path) -> None:
    root = a_release(tmp_path)
    rewritten(attempt(root, "broken") / "run.json", lambda value: value.update(outcome="completed"))
    ended = run(str(root), "--json")
    assert ended.return_value == 3
    assert '"found": "outcome \'completed\'"' in ended.output


def test_no_key_vouches_for_what_is_not_signed(tmp_path: Path) -> None:
    ended = run(str(a_release(tmp_path)), "--key", "release.pem")
    assert ended.return_value == 3
    assert "found nothing that is signed" in ended.output
    assert "expected signatures by release.pem" in ended.output


@pytest.mark.parametrize("name", sorted(NAMES))
def test_one_signed_file_is_enough_for_our_rules_whatever_lies_beside_it(tmp_path: Path, name: str) -> None:
    root = a_release(tmp_path)
    write(root / name, b"")
    assert release_kind(root) is ReleaseKind.OURS


def test_each_kind_is_known_from_what_it_says_of_itself(tmp_path: Path) -> None:
    write(tmp_path / "ours" / "manifest.json", canonical(our_manifest()))
    assert release_kind(tmp_path / "ours") is ReleaseKind.OURS
    assert release_kind(a_release(tmp_path)) is ReleaseKind.REFERENCE
    assert release_kind(a_legacy_release(tmp_path)) is ReleaseKind.REFERENCE


@pytest.mark.parametrize("data", [b"", b"{}", b"[]", b"\xff", b'{"schema_version":"3"}', b'{"schema":"other/1"}'])
def test_what_is_not_known_is_refused_with_what_was_expected(tmp_path: Path, data: bytes) -> None:
    write(tmp_path / "manifest.json", data)
    with pytest.raises(DocumentError) as refused:
        release_kind(tmp_path)
    assert refused.value.exit_code == 2
    assert "found no release that is known; expected a published release" in str(refused.value)
    assert "`schema_version`" in str(refused.value)
    with pytest.raises(DocumentError, match="found no folder"):
        release_kind(tmp_path / "manifest.json")
