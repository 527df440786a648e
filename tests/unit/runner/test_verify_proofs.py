"""Laws of verified proofs: evidence relies on kept, whole proofs that say that all walls of its very host held."""

import random
from pathlib import Path

import pytest

from runner.artifacts import new_folder
from runner.canonical import canonical, sha256
from runner.documents.evidence import Host
from runner.documents.proof import HostProofs, ProofHost, ProofSet, SandboxProof
from runner.host_proofs import digests, keep_copies
from runner.proof import PROOF, PROOFS
from runner.store import Store
from runner.verification.proofs import read_proofs
from tests.unit.runner.evidence_maker import HOST, SOLVER, Run, a_manifest, a_store, attempt
from tests.unit.runner.proofs import PROVEN_HOST, a_sandbox_proof, proven
from tests.unit.runner.test_verify import SCHEMAS, damage, named, reseal, verify

MANIFEST = a_manifest("solver")


@pytest.fixture(name="store")
def _store(tmp_path: Path) -> Store:
    store = a_store(tmp_path / "store", MANIFEST)
    attempt(store, SOLVER, Run())
    return store


def place(store: Store) -> Path:
    return store.root / store.release / PROOFS


def forge(store: Store, host: Host) -> str:
    """Have both folders of the try say that they are of another host, consistently; give what is found."""
    trial = store.folder(store.trial(SOLVER, 1))
    old, new = (sha256(canonical(each)).encode() for each in (HOST, host))
    for folder, name in (("submission", "submission.json"), ("gradings/grading-1", "grading.json")):
        text = (trial / folder / name).read_bytes()
        reseal(trial / folder, {name: text.replace(old, new), "host.json": canonical(host)})
    return named(verify(store, MANIFEST))


def rely_on(store: Store, *proofs: SandboxProof, named_as: HostProofs | None = None) -> str:
    """Have the try rely on other proofs, which are kept; give what is found."""
    keep_copies(store.root / store.release, proofs)
    return forge(store, HOST.model_copy(update={"proofs": named_as or digests(proofs)}))


def test_the_try_relies_on_both_proofs_and_nothing_is_found(store: Store) -> None:
    report = verify(store, MANIFEST)
    assert report.findings == ()
    assert sorted(path.name for path in place(store).iterdir()) == sorted(HOST.proofs.model_dump().values())


@pytest.mark.parametrize("which", ProofSet)
def test_a_proof_that_is_gone_is_missed_by_all_that_rely_on_it(store: Store, which: ProofSet) -> None:
    file = place(store) / HOST.proofs.of(which) / PROOF
    file.unlink()
    file.parent.rmdir()
    found = named(verify(store, MANIFEST))
    assert f"submission/host.json: found the proof {file}, which is not there" in found


@pytest.mark.parametrize("seed", range(6))
def test_whatever_was_done_to_a_proof_is_found_by_name(store: Store, seed: int) -> None:
    harmed = damage(random.Random(seed), place(store))  # noqa: S311 - only picks what to damage
    assert str(harmed) in named(verify(store, MANIFEST))


@pytest.mark.parametrize("which", ProofSet)
def test_a_proof_with_a_broken_wall_is_found_although_all_that_relies_on_it_agrees(
    store: Store, which: ProofSet
) -> None:
    broken = (proven(), proven("no-network", held=False))
    sound = next(each for each in ProofSet if each is not which)
    found = rely_on(store, a_sandbox_proof(which, *broken), a_sandbox_proof(sound))
    assert f"{PROOF}: found no-network (candidate)" in found
    assert "expected a wall that held" in found


def test_a_proof_of_the_other_set_does_not_count(store: Store) -> None:
    one = HOST.proofs.sandbox
    found = rely_on(store, named_as=HostProofs(sandbox=one, objective_sandbox=one))
    assert "set of the proof sandbox; expected objective-sandbox" in found


@pytest.mark.parametrize("fact", ["kernel", "systemd", "manager", "cgroups", "layers", "image"])
def test_a_proof_of_another_host_does_not_count(store: Store, fact: str) -> None:
    found = forge(store, HOST.model_copy(update={fact: "another"}))
    assert f"host.json: found {fact} another" in found


def test_a_proof_by_another_runner_does_not_count(store: Store) -> None:
    older: ProofHost = PROVEN_HOST.model_copy(update={"runner": "0.0.1"})
    found = rely_on(store, *(a_sandbox_proof(which, host=older) for which in ProofSet))
    assert f"submission.json: found runner {PROVEN_HOST.runner}; expected 0.0.1" in found


def test_one_that_nobody_relies_on_must_hold_as_well(store: Store) -> None:
    data = canonical(a_sandbox_proof(ProofSet.SANDBOX, proven(held=False)))
    new_folder(place(store), sha256(data), {PROOF: data})
    assert "expected a wall that held" in named(verify(store, MANIFEST))


def test_what_a_killed_runner_left_unfinished_is_no_proof(store: Store) -> None:
    (place(store) / ".tmp-proof").mkdir()
    assert read_proofs(place(store), SCHEMAS).findings == ()
    assert verify(store, MANIFEST).findings == ()
