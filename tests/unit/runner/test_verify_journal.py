"""Laws of the journal beside its store: each way in which they do not belong together has a sentence of its own."""

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from runner.canonical import canonical, canonical_lines, sha256
from runner.config import RetryPolicy
from runner.documents.facts import Blame, Phase, VoidFact
from runner.documents.journal import Entry, State
from runner.documents.keys import KeyRole
from runner.journal import Scribe, read_journal
from runner.recovering import counted, recover, sealed_parts
from runner.schedule import Cell
from runner.signing.signer import LocalSigner, PublicKey, new_signer
from runner.signing.trust import Pin, Trust
from runner.store import Store
from runner.verification.journal import CUT, UNTOLD
from runner.verification.journal_signatures import NO_KEY, _members
from runner.verify import VerifyReport, verify_release
from tests.unit.runner.evidence_maker import IDLER, SOLVER, Run, a_manifest, a_store, begin, end_void, grade, submit
from tests.unit.runner.test_verify import SCHEMAS, named, rebuilt, verify

MANIFEST = a_manifest(policy=RetryPolicy(void_tries=2))
LOST = VoidFact(blame=Blame.RUNNER, phase=Phase.SOLUTION, reason="the runner was killed", interrupted=True)


def kept(tmp_path: Path) -> Store:
    """A release of two attempts: one lost while its model worked, then graded; one that was never answered."""
    store = a_store(tmp_path / "store", MANIFEST)
    lost = begin(store, SOLVER)
    store.note(lost, State.RUNNING)
    end_void(store, lost, LOST)
    trial = begin(store, SOLVER, 2)
    store.note(trial, State.RUNNING)
    made, digest = submit(store, trial, Run())
    store.note(trial, State.SEALED, grade(store, made, digest, Run()))
    end_void(store, begin(store, IDLER), LOST.model_copy(update={"phase": Phase.PREFLIGHT}))
    assert checked(store).findings == ()
    return store


def checked(store: Store) -> VerifyReport:
    return verify(store, MANIFEST)


def rewritten(store: Store, change: Callable[[list[Entry]], list[Entry]]) -> None:
    """Write the journal anew with another content, its chain made good."""
    entries: list[Entry] = []
    for each in change(list(read_journal(store.journal))):
        previous = sha256(canonical(entries[-1])) if entries else None
        entries.append(each.model_copy(update={"previous": previous}))
    store.journal.write_bytes(canonical_lines(entries))


def writable(folder: Path) -> None:
    for each in (folder, *folder.rglob("*")):
        each.chmod(0o755)


def test_evidence_without_any_journal_is_found_once(tmp_path: Path) -> None:
    store = kept(tmp_path)
    store.journal.unlink()
    (finding,) = checked(store).findings
    assert str(finding) == f"{store.journal}: found nothing; expected the journal of the tries beside it"


def test_evidence_that_was_removed_is_missed_by_its_lines(tmp_path: Path) -> None:
    store = kept(tmp_path)
    folder = store.folder(store.trial(SOLVER, 2))
    writable(folder)
    shutil.rmtree(folder)
    said = named(checked(store))
    assert f"{folder}: found nothing of a try that reached sealed; expected its evidence ({store.journal}:8)" in said


@pytest.mark.parametrize("name", ["submission", "gradings/grading-1"])
def test_a_folder_that_was_removed_is_missed_by_its_line(tmp_path: Path, name: str) -> None:
    store = kept(tmp_path)
    folder = store.folder(store.trial(SOLVER, 2))
    writable(folder)
    shutil.rmtree(folder / name)
    state = "captured" if name == "submission" else "graded"
    assert f"{folder}: found nothing; expected what was {state} as " in named(checked(store))


def test_a_folder_that_was_replaced_is_not_the_one_that_was_told(tmp_path: Path) -> None:
    store = kept(tmp_path)
    folder = store.folder(store.trial(IDLER, 1))
    writable(folder)
    shutil.rmtree(folder / "void")
    other = a_store(store.root, MANIFEST)
    end_void(other, other.trial(IDLER, 1), LOST.model_copy(update={"phase": Phase.WORKSPACE}))
    rewritten(store, lambda entries: entries[:-1])
    assert f"{folder}: found another folder (" in named(checked(store))


def test_a_sealed_folder_without_a_line_is_found(tmp_path: Path) -> None:
    store = kept(tmp_path)
    rewritten(store, lambda entries: [each for each in entries if each.state is not State.CAPTURED])
    said = named(checked(store))
    folder = store.folder(store.trial(SOLVER, 2)) / "submission"
    assert f"{folder}: found a sealed folder that no line speaks of; expected a line `captured`" in said


def test_a_broken_chain_is_found_where_it_breaks(tmp_path: Path) -> None:
    store = kept(tmp_path)
    lines = store.journal.read_bytes().splitlines(keepends=True)
    for at in range(len(lines) - 1):
        store.journal.write_bytes(b"".join(lines[:at] + lines[at + 1 :]))
        assert f"{store.journal}:{at + 1}: found a broken chain: previous " in named(checked(store))
    store.journal.write_bytes(b"".join([lines[1], lines[0], *lines[2:]]))
    assert "found a broken chain" in named(checked(store))


def test_a_line_that_is_none_is_found(tmp_path: Path) -> None:
    store = kept(tmp_path)
    lines = store.journal.read_bytes().splitlines(keepends=True)
    store.journal.write_bytes(b"".join([lines[0], b'{"schema":"other"}\n', *lines[1:]]))
    assert f"{store.journal}:2: found " in named(checked(store))


def test_a_line_of_another_release_is_found(tmp_path: Path) -> None:
    store = kept(tmp_path)
    trial = store.trial(IDLER, 1).model_copy(update={"manifest_sha256": "0" * 64})
    rewritten(store, lambda entries: [*entries, entries[-1].model_copy(update={"trial": trial})])
    assert f"{store.journal}:11: found trial" in named(checked(store))


def test_a_try_of_an_attempt_that_nobody_planned_is_found(tmp_path: Path) -> None:
    store = kept(tmp_path)
    store.note(store.trial(Cell(candidate="stranger", nomination="slugs", attempt=1), 1), State.RUNNING)
    assert "found nothing of a try that reached running" in named(checked(store))


def test_an_agent_that_was_let_to_work_again_under_the_same_try_is_found(tmp_path: Path) -> None:
    store = kept(tmp_path)

    def again(entries: list[Entry]) -> list[Entry]:
        at = next(at for at, each in enumerate(entries) if each.state is State.RUNNING)
        return [*entries[: at + 1], entries[at].model_copy(update={"run": "f" * 16}), *entries[at + 1 :]]

    rewritten(store, again)
    assert "found an agent let to work again; expected once" in named(checked(store))


def test_an_agent_that_was_let_to_work_after_the_end_is_found(tmp_path: Path) -> None:
    store = kept(tmp_path)
    store.note(store.trial(SOLVER, 2), State.RUNNING)
    assert "found running after captured; expected no more" in named(checked(store))


def test_a_void_that_denies_that_its_agent_worked_is_found(tmp_path: Path) -> None:
    """It would get another try for nothing."""
    store = a_store(tmp_path / "store", MANIFEST)
    trial = begin(store, SOLVER)
    store.note(trial, State.RUNNING)
    end_void(store, trial, LOST.model_copy(update={"phase": Phase.PREFLIGHT}))
    assert "found phase preflight; expected a later one: the agent was let to work" in named(checked(store))


def test_a_try_that_follows_one_which_was_never_closed_is_found(tmp_path: Path) -> None:
    store = a_store(tmp_path / "store", MANIFEST)
    begin(store, SOLVER)
    end_void(store, begin(store, SOLVER, 2), LOST)
    assert "found another try; expected none before the lost try 1 is sealed" in named(checked(store))


def test_a_try_that_was_planned_and_never_begun_is_no_finding(tmp_path: Path) -> None:
    store = kept(tmp_path)
    store.note(store.trial(IDLER, 2), State.PLANNED)
    assert checked(store).findings == ()


def test_a_line_that_a_kill_has_cut_is_told_and_not_held_against_anyone(tmp_path: Path) -> None:
    store = kept(tmp_path)
    with store.journal.open("ab") as file:
        file.write(b'{"at_ms"')
    report = checked(store)
    assert (report.findings, [each for each in report.unchecked if CUT in each]) == (
        (),
        [f"{store.journal}: {CUT}"],
    )


@pytest.mark.parametrize("kept_lines", [2, 5, 6, 7, 9])
def test_what_a_killed_runner_did_not_tell_is_no_finding_and_the_next_run_tells_it(
    tmp_path: Path, kept_lines: int
) -> None:
    """The journal and the store as they are after a kill between each seal and its line."""
    store = kept(tmp_path)
    lines = read_journal(store.journal)
    rewritten(store, lambda entries: entries[:kept_lines])
    for cell in (SOLVER, IDLER):
        for trial in (store.trial(cell, number) for number in store.numbers(cell)):
            states = [each.state for each in lines[:kept_lines] if each.trial == trial]
            folder = store.folder(trial)
            writable(folder)
            if not states:
                shutil.rmtree(folder)
            elif State.CAPTURED not in states and State.GRADED not in states and (folder / "gradings").exists():
                shutil.rmtree(folder / "gradings")
    last = lines[kept_lines - 1].trial
    owed = [each for each in sealed_parts(store.folder(last)) if not _told(store, each.sha256)]
    report = checked(store)
    assert report.findings == ()
    assert [each for each in report.unchecked if UNTOLD in each] == [f"{each.folder}: {UNTOLD}" for each in owed]
    recover(store, (SOLVER, IDLER), "first")
    assert [each.recovered for each in read_journal(store.journal)[kept_lines:]] == [True] * len(
        read_journal(store.journal)[kept_lines:]
    )
    assert all(_told(store, each.sha256) for each in owed)
    assert checked(store).findings == ()
    assert recover(store, (SOLVER, IDLER), "first") == ()


def signed(tmp_path: Path, signer: LocalSigner) -> Store:
    """A release of one attempt, each line signed; then another run's, of a second one."""
    store = a_store(tmp_path / "store", MANIFEST)
    for run, cell in (("a" * 16, SOLVER), ("b" * 16, IDLER)):
        kept = replace(store, scribe=Scribe(clock=lambda: 1_000, run=run, signer=signer))
        end_void(kept, begin(kept, cell), LOST.model_copy(update={"phase": Phase.PREFLIGHT}))
    return store


def trusting(*keys: PublicKey, revoked_ms: int | None = None) -> Trust:
    pins = (Pin(key=key, role=KeyRole.RUNNER, source="here", revoked_ms=revoked_ms) for key in keys)
    return Trust(pins=tuple(pins))


def journal_of(store: Store, trust: Trust) -> VerifyReport:
    return verify_release(store, MANIFEST, schemas=SCHEMAS, rebuild=rebuilt, trust=trust)


def test_lines_are_signed_and_checked_against_the_keys_that_were_pinned(tmp_path: Path) -> None:
    signer = new_signer()
    store = signed(tmp_path, signer)
    report = journal_of(store, trusting(signer.key))
    assert (report.findings, report.unchecked) == ((), ())
    assert journal_of(store, Trust(pins=())).unchecked == (f"{store.journal}: {NO_KEY}",)


@pytest.mark.parametrize("at", range(4))
def test_a_signature_that_the_key_did_not_make_is_found_wherever_it_stands(tmp_path: Path, at: int) -> None:
    """Its line is, or the line after it, which names another one."""
    signer = new_signer()
    store = signed(tmp_path, signer)
    lines = list(read_journal(store.journal))
    lines[at] = lines[at].model_copy(update={"sig": lines[at - 1].sig})
    store.journal.write_bytes(canonical_lines(lines))
    said = [str(each) for each in journal_of(store, trusting(signer.key)).findings]
    wrong = f"{store.journal}:{at + 1}: found a signature that key {signer.keyid} did not make"
    assert [each for each in said if each.startswith(wrong)]


def test_a_journal_that_was_written_anew_by_whoever_has_not_the_key_is_found(tmp_path: Path) -> None:
    signer = new_signer()
    store = signed(tmp_path, signer)
    rewritten(store, lambda entries: [each.model_copy(update={"at_ms": 7}) for each in entries])
    said = [str(each) for each in journal_of(store, trusting(signer.key)).findings]
    assert len(said) == 2, "one a run: the chain vouches for the rest"
    assert all("did not make" in each for each in said)


def test_another_key_a_revoked_key_and_no_signature_each_have_a_sentence(tmp_path: Path) -> None:
    signer, other = new_signer(), new_signer()
    store = signed(tmp_path, signer)
    (finding, *_) = journal_of(store, trusting(other.key)).findings
    assert finding.found == f"a signature of key {signer.keyid}, which nobody pinned"
    (finding, *_) = journal_of(store, trusting(signer.key, revoked_ms=500)).findings
    assert "revoked since" in finding.found
    rewritten(store, lambda entries: [each.model_copy(update={"keyid": None, "sig": None}) for each in entries])
    (finding,) = journal_of(store, trusting(signer.key)).findings
    assert finding.found == "a line without a signature, and 3 more"


def _told(store: Store, digest: str) -> bool:
    return any(each.sealed_sha256 == digest for each in read_journal(store.journal))


def test_a_recovered_try_is_closed_with_the_grading_that_counts(tmp_path: Path) -> None:
    store = kept(tmp_path)
    trial = store.tries(SOLVER)[-1]
    digest = counted(trial, "first")
    assert digest == trial.gradings[0].sealed.digest
    rewritten(store, lambda entries: entries[:7])
    writable(store.attempt_folder(IDLER))
    shutil.rmtree(store.attempt_folder(IDLER))
    recover(store, (SOLVER, IDLER), "first")
    last = read_journal(store.journal)[-1]
    assert (last.state, last.sealed_sha256, last.recovered) == (State.SEALED, digest, True)


def test_a_line_as_we_write_it_says_of_itself_what_its_json_does(tmp_path: Path) -> None:
    """Signatures are chosen by it; other lines are read as JSON, and what is none says nothing."""
    lines = kept(tmp_path).journal.read_bytes().splitlines()
    signed = (
        lines[1].replace(b'"keyid":null', b'"keyid":"' + b"a" * 64 + b'"').replace(b'"sig":null', b'"sig":"aA+/=="')
    )
    for line in (*lines, signed):
        said, whole = _members(line), json.loads(line)
        assert said == {name: whole[name] for name in ("keyid", "previous", "run", "sig")}
    assert _members(lines[0].replace(b",", b", ")) == json.loads(lines[0])
    assert _members(b"[]") is _members(b"{") is None
