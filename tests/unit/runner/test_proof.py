"""Laws of proofs of the walls: what they speak of, when they count, and what is said of one that does not."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.canonical import canonical, parse, sha256
from runner.documents.proof import HostProofs, ProofHost, ProofSet, SandboxProof, count
from runner.errors import DocumentErrors
from runner.proof import State, WallsBrokenError, command, standing, written
from sandbox.spec import Role
from tests.unit.runner.proofs import PROVEN_HOST, a_proof, a_sandbox_proof, proven

FACTS = sorted(ProofHost.model_fields)
HELD = st.lists(st.booleans(), min_size=1, max_size=12)


def with_held(held: list[bool]) -> SandboxProof:
    return a_sandbox_proof(ProofSet.SANDBOX, *(proven(f"wall-{at}", held=each) for at, each in enumerate(held)))


def test_where_nothing_is_kept_the_walls_must_be_tried() -> None:
    found = standing(None, PROVEN_HOST)
    assert (found.state, found.must_prove) == (State.MISSING, True)
    assert found.why


@given(fact=st.sampled_from(FACTS), other=st.text(min_size=1, max_size=80), held=HELD)
def test_any_single_changed_fact_makes_a_proof_stale_and_is_named(fact: str, other: str, held: list[bool]) -> None:
    other = sha256(other.encode()) if fact == "sandbox_sha256" else other
    now = PROVEN_HOST.model_copy(update={fact: other})
    found = standing(with_held(held), now)
    if other == getattr(PROVEN_HOST, fact):
        assert found.state in {State.GOOD, State.BROKEN}
    else:
        assert (found.state, found.must_prove) == (State.STALE, True)
        assert len(found.why) == 1
        assert found.why[0].startswith(f"{fact} was ")


@given(held=HELD)
def test_on_the_same_host_a_proof_is_good_only_if_every_wall_held(held: list[bool]) -> None:
    proof = with_held(held)
    found = standing(proof, PROVEN_HOST)
    assert found.state is (State.GOOD if all(held) else State.BROKEN)
    assert not found.must_prove
    assert len(found.why) == proof.counts.broken == held.count(False)
    assert proof.counts.tried == len(held)


@given(held=HELD, at=st.integers(min_value=0))
def test_one_flipped_wall_cannot_be_written_into_a_proof_without_its_counts(held: list[bool], at: int) -> None:
    value = json.loads(canonical(with_held(held)))
    row = value["proofs"][at % len(held)]
    row["held"] = not row["held"]
    with pytest.raises(DocumentErrors):
        parse(SandboxProof, canonical(value), "sandbox.json")
    value["counts"] = count(with_held([each["held"] for each in value["proofs"]]).proofs).model_dump()
    flipped = parse(SandboxProof, canonical(value), "sandbox.json")
    assert sha256(canonical(flipped)) != sha256(canonical(with_held(held)))


def test_a_proof_of_nothing_is_none() -> None:
    value = json.loads(canonical(a_sandbox_proof()))
    value |= {"proofs": [], "counts": {"tried": 0, "held": 0, "broken": 0}}
    with pytest.raises(DocumentErrors):
        parse(SandboxProof, canonical(value), "sandbox.json")


def test_what_a_unit_made_up_stays_on_its_line_and_is_bounded() -> None:
    proof = a_proof(held=False)
    for text in ("\x1b[2Jheld", "a\nb", "\ud800", "x" * 10_000):
        shown = written(type(proof)(**{name: getattr(proof, name) for name in proof.__slots__} | {"observed": text}))
        assert shown.observed.isprintable()
        assert len(shown.observed) < 600
        assert parse(SandboxProof, canonical(a_sandbox_proof(ProofSet.SANDBOX, shown)), "sandbox.json").proofs == (
            shown,
        )


def test_writing_down_loses_nothing() -> None:
    assert written(a_proof("no-network", Role.TESTS, held=False)) == proven("no-network", Role.TESTS, held=False)


def test_a_broken_wall_is_told_with_what_was_seen_and_the_command_that_shows_it() -> None:
    broken = proven("no-network", Role.TESTS, held=False)
    error = WallsBrokenError(broken={ProofSet.OBJECTIVE: (broken,)})
    assert error.exit_code == 3
    assert "no-network (tests): expected what was bound and nothing else; observed /host; BROKEN" in str(error)
    assert "run: runner verify-objective-sandbox" in str(error)
    assert command(ProofSet.SANDBOX) == "runner verify-sandbox"


def test_a_tries_documents_name_one_proof_a_set() -> None:
    named = HostProofs(sandbox=sha256(b"a"), objective_sandbox=sha256(b"b"))
    assert [named.of(which) for which in ProofSet] == [sha256(b"a"), sha256(b"b")]
