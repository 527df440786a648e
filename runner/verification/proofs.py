"""The proofs of walls that evidence relies on: whole, held, and of the very host that each try ran on."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from runner.artifacts import TEMPORARY
from runner.canonical import sha256
from runner.documents.evidence import Grading, Host, Submission, Void
from runner.documents.facts import Origin
from runner.documents.proof import ProofSet, SandboxProof
from runner.errors import UsageError
from runner.parsing import read_file
from runner.proof import PROOF, PROOF_BYTES, told
from runner.verification.folders import Reader
from runner.verification.model import Finding, Opened, differ
from runner.verification.validating import Schemas

_FACTS = ("kernel", "systemd", "manager", "cgroups", "layers", "image")
"""What a host's document and a proof both say."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Proven:
    """All proofs that are kept beside a release's evidence, by digest."""

    folder: Path
    known: Mapping[str, SandboxProof | None] = field(default_factory=dict)
    """None: it is there, and a finding already."""
    findings: tuple[Finding, ...] = ()


def read_proofs(folder: Path, schemas: Schemas) -> Proven:
    """Read every proof that is kept, hash it again, and find each that is not whole or did not hold."""
    known: dict[str, SandboxProof | None] = {}
    findings: list[Finding] = []
    reader = Reader(schemas)
    for place in sorted(folder.iterdir()) if folder.is_dir() else ():
        if place.name.startswith(TEMPORARY):
            continue
        found = _strangers(place)
        if not found:
            known[place.name], found = _read(place, reader)
        findings += found
    return Proven(folder=folder, known=known, findings=tuple(findings))


def _strangers(place: Path) -> tuple[Finding, ...]:
    if not place.is_dir() or place.is_symlink():
        return (Finding(file=str(place), found="something unknown", expected="folders named by a proof's digest"),)
    return tuple(
        Finding(file=str(each), found="something unknown", expected=f"{PROOF} alone")
        for each in sorted(place.iterdir())
        if each.name != PROOF
    )


def _read(place: Path, reader: Reader) -> tuple[SandboxProof | None, tuple[Finding, ...]]:
    file = place / PROOF
    try:
        data = read_file(file, PROOF_BYTES)
    except UsageError as error:
        return None, (Finding(file=str(file), found=str(error), expected="a proof that the walls held"),)
    document, findings = reader.one(SandboxProof, data, file)
    proof = document if isinstance(document, SandboxProof) else None
    found = [*differ(file, "sha256", sha256(data), place.name), *findings]
    if proof is not None:
        broken = (told(each) for each in proof.broken)
        found += (Finding(file=str(file), found=each, expected="a wall that held") for each in broken)
    return (None if found else proof), tuple(found)


def check_host(opened: Opened, proven: Proven) -> Iterator[Finding]:
    """Find that a folder's host is none whose walls were proven to hold."""
    host = opened.documents.get("host.json")
    if not isinstance(host, Host):
        return
    file = opened.file("host.json")
    for which in ProofSet:
        digest = host.proofs.of(which)
        if digest not in proven.known:
            missing = f"{proven.folder / digest / PROOF}, which is not there"
            yield Finding(file=str(file), found=f"the proof {missing}", expected=f"a kept proof of set {which}")
        elif (proof := proven.known[digest]) is not None:
            yield from _check_bond(file, host, proof, which)
            yield from _check_runner(opened, proof)


def _check_bond(file: Path | str, host: Host, proof: SandboxProof, which: ProofSet) -> Iterator[Finding]:
    yield from differ(file, "set of the proof", proof.set.value, which.value)
    for name in _FACTS:
        yield from differ(file, name, getattr(host, name), getattr(proof.host, name))


def _check_runner(opened: Opened, proof: SandboxProof) -> Iterator[Finding]:
    """A proof of another runner's walls says nothing of this one's."""
    for name, document in opened.documents.items():
        if isinstance(document, Submission | Grading | Void):
            yield from _same_runner(opened.file(name), document.origin, proof)


def _same_runner(file: Path | str, origin: Origin, proof: SandboxProof) -> Iterator[Finding]:
    yield from differ(file, "runner", origin.runner, proof.host.runner)
