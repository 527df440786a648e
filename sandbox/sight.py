"""What was seen of a host: frozen values, for sandbox/doctor.py to judge. None stands for what could not be seen.

What was tried is a text: empty where it worked, else the refusal in the machine's own words.
"""

from dataclasses import dataclass

from sandbox.room import AccountRange


@dataclass(frozen=True, slots=True, kw_only=True)
class Groups:
    """Control groups as they are laid out."""

    layout: str
    """`v2`, `hybrid`, `v1` or `none`."""
    tried: tuple[tuple[str, str | None], ...]
    """For each controller a limit that was set in a group made for it, and read back."""
    ready: frozenset[str] = frozenset()
    """Controllers of a v2 tree that are offered, and that the manager hands on when the first unit asks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Storage:
    """What was tried on the very file system of the state."""

    layers: str | None
    """How a frozen tree gets a unit's account: `idmap`, `idmap-loop` or `copy`."""
    image: str | None
    """What bounds a workspace: `loop` or `tmpfs`."""
    overlay: str | None
    """An overlay as workspaces are."""
    hidden: bool
    """Whether a private systemd has something of its own in that place."""
    free_bytes: int | None
    free_inodes: int | None
    """None also where the file system has no fixed number."""
    needed_bytes: int = 0
    """What one workspace of the configuration can come to take."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AccountsSight:
    """Who else may be one of the accounts of units, and who answers when one is looked up."""

    span: AccountRange
    taken: tuple[str, ...] | None
    """Users and groups of the host's within the range."""
    delegated: tuple[str, ...] | None
    """Lines of /etc/subuid and /etc/subgid that reach into the range."""
    unasked: tuple[str, ...] | None
    """Databases of /etc/nsswitch.conf that do not ask systemd."""
    library: bool
    """Whether libnss-systemd is installed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Folder:
    """One folder of a clean room's."""

    name: str
    path: str
    exists: bool | None
    owner: int = 0
    mode: int = 0
    exposed: tuple[str, ...] = ()
    """Folders on the way to it that a group or everybody could replace things in."""
    strangers: tuple[int, ...] = ()
    """Accounts other than root and our own that a folder on the way to it, or it, belongs to."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Room:
    """The host's one room."""

    left: str | None
    """What made it unclean in this boot; empty for a clean one."""
    held: bool | None
    """Whether a run holds it right now."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """A program that rooms are made with."""

    path: str
    there: bool
    version: str | None
    """Its first line about itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Interpreter:
    """/usr/bin/python3, which runs our programs inside units."""

    version: tuple[int, ...] | None
    real: str
    """Where it leads."""
    refusal: str
    """Why it cannot run the launcher, if so."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HostSight:
    """All that was seen."""

    account: int
    capabilities: int | None
    kernel: str
    machine: str
    init: str
    system_manager: bool
    """Whether PID 1 is a systemd that can be asked."""
    systemd: str | None
    """What the systemd that is installed says of itself, features included."""
    groups: Groups | None
    namespaces: tuple[tuple[str, str | None], ...]
    bpf: str | None
    seccomp: str | None
    storage: Storage
    accounts: AccountsSight
    room: Room
    folders: tuple[Folder, ...]
    tools: tuple[Tool, ...]
    python: Interpreter | None
    keeper: str | None
    """Whether all that a keeper imports can be imported."""
    hints: tuple[tuple[str, str | None], ...]
    """Settings of the kernel's; None where it has no such one."""
