"""What the rest of the house sees of the sandbox: one protocol, plain values, passed descriptors."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol

from sandbox.spec import Limits, NamespaceId, ObjectId, UnitSpec, WorkspaceId
from sandbox.termination import Stop, Termination
from sandbox.tree import Entry


@dataclass(frozen=True, slots=True, kw_only=True)
class HostFacts:
    """The machine as a document may tell it."""

    kernel: str
    systemd: str
    manager: str
    """`system` or `private`."""
    cgroups: str
    """`v2` or `hybrid`."""
    layers: str
    """How a frozen tree gets a unit's account: `idmap`, `idmap-loop` or `copy`."""
    image: str
    """What bounds a workspace: `loop` or `tmpfs`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pack:
    """Entries and the bytes of their files, as they travel to the keeper.

    `blobs(sha256)` gives a file's bytes; every FILE entry's digest must be known to it.
    """

    entries: tuple[Entry, ...]
    blobs: Callable[[str], bytes]


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkspaceRequest:
    """A writable tree: stored layers below (first on top), `lay` put over them before any program runs."""

    layers: tuple[ObjectId, ...]
    limits: Limits
    lay: Pack | None = None
    home: Pack | None = None
    """Files put into the fresh agent home, which nobody but its account may read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Changes:
    """What the keeper saw in an upper layer: where the inspection walks. Paths are relative bytes."""

    touched: tuple[bytes, ...]
    """Single entries to look at: files, links, whiteouts, folders that lay below already."""
    whole: tuple[bytes, ...]
    """Folders to be walked whole: new, opaque or redirected ones."""
    git_touched: bool = False
    """Whether anything changed in the root's own `.git`, which is in neither list."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Gate:
    """A network namespace whose one listening socket is served from outside.

    `listener` is the descriptor of the listening TCP socket on 127.0.0.1:`port` inside it; the receiver owns it.
    """

    namespace: NamespaceId
    listener: int
    port: int


@dataclass(frozen=True, slots=True, kw_only=True)
class LauncherReport:
    """What the launcher saw from inside its unit, as parsed JSON of at most 64 KiB."""

    seen: dict[str, object]


class Running(Protocol):
    """A started unit, waiting for its go. Leaving it ends the unit, whatever state it is in."""

    report: LauncherReport
    stdin: int
    """Descriptor: a pipe's write end; for the gateway a SOCK_SEQPACKET socket."""
    stdout: int
    stderr: int
    handle: int
    """Descriptor that becomes readable when the unit has ended."""

    def go(self) -> None:
        """Let the program start; wall time counts from here."""

    def stop(self, why: Stop) -> None:
        """End the whole unit at once."""

    def used_us(self) -> int | None:
        """Tell the processor time that all of it has used so far; None where it has ended, or nobody knows."""

    def close_stdin(self) -> None:
        """Let the program read the end of its input."""

    def termination(self) -> Termination:
        """Wait for the end and say how it came."""


class Sandbox(Protocol):
    """All that needs privilege. One method a need; every context manager takes down what it made."""

    def facts(self) -> HostFacts:
        """Tell what the machine is and which mechanisms were chosen."""

    def store(self, pack: Pack) -> ObjectId:
        """Keep a tree, content-addressed, root-owned, read-only. Storing it again costs a look."""

    def workspace(self, request: WorkspaceRequest) -> AbstractContextManager[WorkspaceId]:
        """Mount a workspace for one account; its units share that account."""

    def changes(self, workspace: WorkspaceId) -> AbstractContextManager[tuple[WorkspaceId, Changes]]:
        """Show a workspace read-only to an inspection account; its units must have ended."""

    def gate(self) -> AbstractContextManager[Gate]:
        """Make an empty network namespace with a listening socket in it."""

    def start(self, spec: UnitSpec) -> AbstractContextManager[Running]:
        """Start a unit as far as its launcher's report, which is checked against the spec.

        Raises:
            UnitStartError: systemd did not get the launcher running.
            WallsError: the report is missing, late, garbled, or lacks a promised wall.
        """
