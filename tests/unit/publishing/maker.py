"""Makes a small published release without running anything."""

from collections.abc import Mapping
from pathlib import Path

from runner.canonical import canonical, sha256
from runner.documents.capture import CaptureFinding
from runner.documents.facts import Blame, Phase, Unavailable, Violation, VoidFact
from runner.documents.keys import KeyRole
from runner.documents.manifest import Manifest
from runner.documents.published import Allowed
from runner.documents.telemetry import AgentError, Telemetry
from runner.publishing.layout import ALLOWED, Layout, lay_out
from runner.schedule import Cell
from runner.signing.bundle import NAMES, ReleaseContents, Signers, signed_files
from runner.signing.trust import Pin, Trust
from runner.store import Store
from sandbox.findings import FindingKind
from tests.unit.runner.evidence_maker import BADLY, Run, a_manifest, a_store, attempt, begin, end_void
from tests.unit.runner.signing.known import signer

CANDIDATES = ("solver", "guesser", "meddler", "crasher", "absent", "unlucky", "broken")

SET_ID = CaptureFinding(kind=FindingKind.SET_ID, path="slugs.py", mode=0o104755, size=3, detail="")
BREACH = Violation(rule="set_id", path="slugs.py")
OUTAGE = VoidFact(blame=Blame.PROVIDER, phase=Phase.SOLUTION, reason="request 3 failed: overloaded, status 503")
LEAKY = VoidFact(blame=Blame.EVALUATOR, phase=Phase.EVALUATORS, reason="test_secret_rule could not be imported")

PRIVATE_WORDS = (b"sk-alice", b"test_secret_rule", b"agent said this")
"""What was said to and by others in this release."""


def cell(candidate: str) -> Cell:
    return Cell(candidate=candidate, nomination="slugs", attempt=1)


def a_release(root: Path) -> tuple[Store, Manifest]:
    """Make the evidence of a release in which everything happens once."""
    manifest = a_manifest(*CANDIDATES)
    store = a_store(root, manifest)
    attempt(store, cell("solver"), Run())
    attempt(store, cell("guesser"), Run(hidden=False))
    attempt(store, cell("meddler"), Run(violations=(BREACH,), findings=(SET_ID,)))
    attempt(store, cell("crasher"), Run(termination=BADLY, telemetry=_told(), tests=False, hidden=False, cost=None))
    end_void(store, begin(store, cell("absent")), Unavailable(reason="auth", detail="key sk-alice was refused"))
    end_void(store, begin(store, cell("unlucky")), OUTAGE)
    attempt(store, cell("broken"), Run(fault=LEAKY))
    return store, manifest


def _told() -> Telemetry:
    error = AgentError(kind="malformed_answer", status=None, message="agent said this")
    return Telemetry(agent="nop", turns=0, final_error=error)


def laid_out(root: Path) -> tuple[Layout, Manifest]:
    store, manifest = a_release(root)
    return lay_out(store, manifest, {}), manifest


RELEASE_KEY, LOG_KEY, STRANGER = signer(1), signer(2), signer(3)

TRUST = Trust(
    pins=(
        Pin(key=RELEASE_KEY.key, role=KeyRole.RELEASE, source="a letter"),
        Pin(key=LOG_KEY.key, role=KeyRole.LOG, source="a letter"),
    )
)


def signed(digests: Mapping[str, str], leaves: tuple[bytes, ...], by: Signers | None = None) -> dict[str, bytes]:
    contents = ReleaseContents(
        release="pilot",
        origin="example.org/pilot",
        files=digests,
        leaves=leaves,
        supersedes=None,
        log_checkpoint=None,
    )
    return signed_files(contents, by or Signers(release=RELEASE_KEY, log=LOG_KEY))


def _digests(files: Mapping[str, bytes]) -> dict[str, str]:
    return {path: sha256(data) for path, data in files.items()}


def written(folder: Path, layout: Layout, release: str, by: Signers | None = None) -> Path:
    """Write a release as publication would."""
    files = {**layout.files, ALLOWED: canonical(Allowed(release=release, entries=()))}
    files |= signed(_digests(files), layout.leaves, by)
    for path, data in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(data)
    return folder


def sign_again(folder: Path, by: Signers | None = None) -> None:
    """Sign a folder as it is now, as somebody would who knows how it is done; its leaves are those of its runs."""
    files = {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    leaves = tuple(files["leaves.jsonl"].split(b"\n")[:-1])
    content = {path: data for path, data in files.items() if path not in NAMES}
    for name, data in signed(_digests(content), leaves, by).items():
        (folder / name).write_bytes(data)
