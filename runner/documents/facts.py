"""Facts about an attempt, and what it took: the parts that its documents share."""

from enum import StrEnum
from typing import Annotated
from urllib.parse import quote_from_bytes, unquote_to_bytes

from pydantic import AfterValidator, Field

from evaluators.model import Assurance, VerdictCause
from runner.documents.model import DecimalText, Identifier, Milliseconds, Sha256, Shape
from runner.documents.runtimes import RuntimeName
from runner.documents.telemetry import ProbeReason
from runner.roster import NetworkMode
from sandbox.termination import Cause
from sandbox.tree import Kind

_PLAIN = "/ !#$&'()*+,-.:;<=>?@[]^_`{|}~"
"""What stands for itself in a path's text besides letters and digits."""


def path_text(path: bytes) -> str:
    """Write path bytes so that they read the same everywhere: all but plain ASCII as %XX."""
    return quote_from_bytes(path, safe=_PLAIN)


def path_bytes(text: str) -> bytes:
    """Give back the bytes that `path_text` wrote."""
    return unquote_to_bytes(text)


def _one_form(text: str) -> str:
    if path_text(path_bytes(text)) != text:
        raise ValueError("a path's text has one form only (path_text)")
    return text


PathText = Annotated[str, AfterValidator(_one_form)]
"""A path or link target, as `path_text` writes it."""

Epoch = Annotated[int, Field(ge=0)]
"""Milliseconds since 1970, UTC."""

Size = Annotated[int, Field(ge=0)]


class Blame(StrEnum):
    """Whose fault a void is. Never the candidate's."""

    PROVIDER = "provider"
    HOST = "host"
    RUNNER = "runner"
    EVALUATOR = "evaluator"
    NOMINATION = "nomination"


class Phase(StrEnum):
    """Where in an attempt something happened."""

    PREFLIGHT = "preflight"
    WORKSPACE = "workspace"
    SOLUTION = "solution"
    CAPTURE = "capture"
    PUBLIC_TESTS = "public_tests"
    EVALUATORS = "evaluators"
    SEAL = "seal"


class FailureCause(StrEnum):
    """How the agent itself failed."""

    EXIT_STATUS = "exit_status"
    SIGNAL = "signal"
    TIMEOUT = "timeout"
    OOM = "oom"
    OUTPUT_LIMIT = "output_limit"
    BUDGET = "budget"
    REQUEST_REFUSED = "request_refused"
    """The provider refused a request because of what was in it."""
    AGENT_ERROR = "agent_error"
    """Its program ended well, and told an error."""
    NO_ANSWER = "no_answer"
    """Its program ended well, and no answer of the model had come."""
    MALFORMED_ANSWER = "malformed_answer"
    """A single-shot answer was not in the form that was asked for; nothing of it was used."""


class Controls(StrEnum):
    """Whether freezing ran the nominations' two controls."""

    RAN = "ran"
    NOT_RUN = "not run"


class Unavailable(Shape):
    """The probe failed: the candidate never saw the task."""

    reason: ProbeReason
    """Why the answer does not count."""
    detail: str = ""


class VoidFact(Shape):
    """We, or the provider, failed: the try says nothing about the candidate."""

    blame: Blame
    """Whose fault it is."""
    phase: Phase
    """Where it happened."""
    reason: str
    """What failed, in a sentence."""
    interrupted: bool = False
    """The runner was killed or stopped: the next try runs whatever the re-run rule says."""


class AgentFailure(Shape):
    """The agent failed by itself. `status` is the exit status or the signal's number."""

    cause: FailureCause
    """How it failed."""
    status: int | None = None
    """The exit status or the signal's number."""
    detail: str = ""


class Violation(Shape):
    """One breach of the nomination's policy."""

    rule: str
    """The rule that was broken."""
    path: PathText | None = None
    """Null: of the submission as a whole."""
    detail: str = ""


class Judged(Shape):
    """What one evaluator said, in short."""

    id: Identifier
    passed: bool
    cause: VerdictCause
    assurance: Assurance
    score: DecimalText | None = None


class Facts(Shape):
    """All that the outcome of an attempt follows from; each fact stands beside the others."""

    unavailable: Unavailable | None = None
    """Null: the probe was answered, or not needed."""
    captured: bool = False
    """The capture is proven: base + patch gave the captured tree."""
    violations: tuple[Violation, ...] = ()
    """Breaches of the policy."""
    void: VoidFact | None = None
    """Null: nobody else's fault."""
    failure: AgentFailure | None = None
    """Null: the agent ended well."""
    tests_passed: bool | None = None
    """Null: the public tests did not run."""
    planned_evaluators: tuple[Identifier, ...] = ()
    """All evaluators of the nomination, in its order."""
    evaluators: tuple[Judged, ...] = ()
    """Those that gave a verdict; void unless they are the planned ones."""
    missing: tuple[str, ...] = ()
    """Evidence that is not there. Only derived documents know it."""


class Spent(Shape):
    """Time and money of one phase. Null is unknown, never nothing."""

    wall_ms: Milliseconds | None = None
    cpu_ms: Milliseconds | None = None
    memory_peak_bytes: Size | None = None
    cost_usd: DecimalText | None = None
    """As the provider reported it."""


class Phases(Shape):
    """Time and money, phase by phase. Null: the phase did not run."""

    preflight: Spent | None = None
    """The probe."""
    solution: Spent | None = None
    """The candidate's work."""
    public_tests: Spent | None = None
    """The public tests."""
    evaluators: Spent | None = None
    """All hidden checks together."""


class RuntimeFact(Shape):
    """An agent's own program, as it lay on this host."""

    agent: RuntimeName
    version: str | None
    """Null where no record of its installation is there."""
    tree_sha256: Sha256
    """Tree digest of all its files."""


class Origin(Shape):
    """What made a document, besides what the manifest freezes."""

    runner: str
    """Version of the runner."""
    host_sha256: Sha256 | None = None
    """Of the host's facts (host.json); null where the host was never reached."""
    toolchains: tuple[Sha256, ...] = ()
    """Object ids of what the units were given to work with."""
    runtime: RuntimeFact | None = None
    """The agent's own program; null for agents of ours."""
    scripted: bool
    """The model was played from a scenario."""
    network: NetworkMode = NetworkMode.GATEWAY
    """`direct`: the agent reached hosts by itself, with a login; what it asked and was answered is not known."""
    controls: Controls
    proven: bool | None = None
    """Whether the release was frozen with a certificate of this nomination; null in documents from before."""


class End(Shape):
    """How a unit ended."""

    cause: Cause
    status: int | None
    wall_ms: Milliseconds
    cpu_ms: Milliseconds | None
    memory_peak_bytes: Size | None
    detail: str = ""


class Change(Shape):
    """One path that differs from the base."""

    path: PathText
    kind: Kind
    """What stands there now; gone or a file, a link."""
    executable: bool = False
    """Whether its owner may execute it."""
    sha256: Sha256 | None = None
    size: Size = 0
    target: PathText | None = None
    """Of a link."""
