"""Laws of keeping proofs: made once for a host as it is, asked for before a run, and copied beside its evidence."""

import stat
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from itertools import count
from pathlib import Path

import pytest

from runner.canonical import canonical, parse, sha256
from runner.documents.proof import ProofHost, ProofSet, SandboxProof
from runner.durable import replace_file
from runner.errors import HostError, VerificationError
from runner.host_proofs import (
    ROLES,
    Prover,
    digests,
    find_proof,
    host_now,
    keep_copies,
    proof_file,
)
from runner.proof import PROOF, PROOFS, WallsBrokenError
from sandbox.api import Sandbox
from sandbox.attacks import Proof
from sandbox.errors import KeeperError
from sandbox.installed import code_digest
from sandbox.spec import Role
from tests.fakes import PlainSandbox
from tests.unit.runner.proofs import PROVEN_HOST, a_proof, a_sandbox_proof


@dataclass
class ToldProve:
    """Tries nothing, and answers as a test wants it."""

    broken: tuple[Role, ...] = ()
    fails: bool = False
    asked: list[tuple[Role, ...]] = field(default_factory=list)

    def __call__(
        self, sandbox: Sandbox, roles: tuple[Role, ...], on_proof: Callable[[Proof], None]
    ) -> tuple[Proof, ...]:
        del sandbox
        self.asked.append(roles)
        if self.fails:
            raise KeeperError("the keeper is gone")
        proofs = tuple(a_proof(role=role, held=role not in self.broken) for role in roles)
        for each in proofs:
            on_proof(each)
        return proofs


def a_prover(folder: Path, prove: ToldProve) -> Prover:
    ticks = count(1_000)
    return Prover(
        sandbox=PlainSandbox(folder),
        host=PROVEN_HOST,
        state=folder / "state",
        clock=lambda: next(ticks),
        prove=prove,
    )


def test_both_sets_are_made_once_and_said_so(tmp_path: Path) -> None:
    prove, told = ToldProve(), list[str]()
    prover = a_prover(tmp_path, prove)
    first = prover.required(told.append)
    assert [each.set for each in first] == list(ProofSet)
    assert prove.asked == list(ROLES.values())
    assert any("verify-sandbox" in line and "missing" in line for line in told)
    assert any("verify-objective-sandbox" in line for line in told)
    told.clear()
    assert prover.required(told.append) == first
    assert (len(prove.asked), told) == (2, [])


def test_every_role_is_in_one_set() -> None:
    roles = [role for set_ in ProofSet for role in ROLES[set_]]
    assert sorted(roles) == sorted(Role)


def test_a_proof_of_another_host_is_made_anew_and_what_changed_is_told(tmp_path: Path) -> None:
    prove, told = ToldProve(), list[str]()
    prover = a_prover(tmp_path, prove)
    proof, _ = prover.required(told.append)
    older = proof.model_copy(update={"host": proof.host.model_copy(update={"boot": "another"})})
    replace_file(proof_file(prover.state, ProofSet.SANDBOX), canonical(older))
    told.clear()
    again, _ = prover.required(told.append)
    assert prove.asked == [*ROLES.values(), ROLES[ProofSet.SANDBOX]]
    assert "stale: boot was another and is" in told[0]
    assert again.host == PROVEN_HOST


@pytest.mark.parametrize("data", [b"", b"{}", b"{", canonical(a_sandbox_proof(ProofSet.OBJECTIVE))])
def test_what_cannot_be_believed_is_as_if_it_were_not_there(tmp_path: Path, data: bytes) -> None:
    replace_file(proof_file(tmp_path, ProofSet.SANDBOX), data)
    assert find_proof(tmp_path, ProofSet.SANDBOX) is None


def test_a_broken_wall_of_any_role_stops_and_is_kept(tmp_path: Path) -> None:
    prove = ToldProve(broken=(Role.TESTS,))
    prover = a_prover(tmp_path, prove)
    for _ in range(2):
        with pytest.raises(WallsBrokenError, match=r"verify-objective-sandbox[^$]*root-is-empty \(tests\)") as stopped:
            prover.required(lambda _: None)
        assert stopped.value.exit_code == 3
    assert len(prove.asked) == 2, "what was found broken is not tried again until somebody asks for it"
    prove.broken = ()
    prover.make(ProofSet.OBJECTIVE, lambda _: None)
    assert all(not each.broken for each in prover.required(lambda _: None))


def test_who_is_not_root_relies_on_what_root_proved_and_is_told_what_root_must_run(tmp_path: Path) -> None:
    prove = ToldProve()
    prover = replace(a_prover(tmp_path, prove), may_prove=False)
    with pytest.raises(HostError, match="let root run 'runner verify-sandbox'") as refused:
        prover.required(lambda _: None)
    assert (refused.value.exit_code, prove.asked) == (4, [])
    proofs = a_prover(tmp_path, prove).required(lambda _: None)
    assert prover.required(lambda _: None) == proofs


def test_what_is_broken_in_either_set_is_told_at_once(tmp_path: Path) -> None:
    prover = a_prover(tmp_path, ToldProve(broken=(Role.GATEWAY, Role.DRIVER)))
    with pytest.raises(WallsBrokenError) as stopped:
        prover.required(lambda _: None)
    head, *lines = str(stopped.value).splitlines()
    assert head.startswith("2 walls")
    assert "runner verify-sandbox and runner verify-objective-sandbox" in head
    assert ["(gateway)" in lines[0], "(driver)" in lines[1]] == [True, True]


def test_a_fault_while_proving_leaves_what_was_kept(tmp_path: Path) -> None:
    prove = ToldProve()
    prover = a_prover(tmp_path, prove)
    prover.required(lambda _: None)
    before = proof_file(prover.state, ProofSet.SANDBOX).read_bytes()
    prove.fails = True
    with pytest.raises(KeeperError):
        prover.make(ProofSet.SANDBOX, lambda _: None)
    assert proof_file(prover.state, ProofSet.SANDBOX).read_bytes() == before


def test_where_nothing_was_tried_nothing_is_proven(tmp_path: Path) -> None:
    prover = replace(a_prover(tmp_path, ToldProve()), prove=lambda *_: ())
    with pytest.raises(VerificationError, match="nothing tried"):
        prover.required(lambda _: None)
    assert not (prover.state / PROOFS).exists()


def test_a_proof_speaks_of_this_boot_this_runner_and_every_source_of_the_sandbox(tmp_path: Path) -> None:
    now = host_now(PlainSandbox(tmp_path).facts())
    assert set(ProofHost.model_fields) == set(now.model_dump())
    assert now.boot == Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    assert now.sandbox_sha256 == code_digest()


def test_copies_stand_beside_the_evidence_under_their_digests_and_are_written_once(tmp_path: Path) -> None:
    proofs = (a_sandbox_proof(), a_sandbox_proof(ProofSet.OBJECTIVE))
    evidence = tmp_path / "store/pilot"
    for _ in range(2):
        keep_copies(evidence, proofs)
    named = digests(proofs)
    assert sorted(path.name for path in (evidence / PROOFS).iterdir()) == sorted(named.model_dump().values())
    for each in proofs:
        file = evidence / PROOFS / named.of(each.set) / PROOF
        assert sha256(file.read_bytes()) == named.of(each.set)
        assert parse(SandboxProof, file.read_bytes(), str(file)) == each
    assert stat.S_IMODE((tmp_path / "store").stat().st_mode) == 0o700
