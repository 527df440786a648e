"""What can go wrong on our side. A candidate's failure is never one of these: it is a value."""

from dataclasses import dataclass


class SandboxError(Exception):
    """We failed, not the candidate: every error of this package is one of these."""


@dataclass(slots=True)
class HostUnfitError(SandboxError):
    """The host cannot hold a protection; `mend` says what an operator does about it."""

    lost: str
    mend: str

    def __str__(self) -> str:
        return f"this host cannot hold {self.lost}; {self.mend}"


class KeeperError(SandboxError):
    """The keeper is gone, or answered what its protocol does not know."""


class BusyError(SandboxError):
    """Another run holds this host's clean room."""


class BusError(SandboxError):
    """systemd refused, or could not be reached."""


class UnitStartError(SandboxError):
    """A unit never came to its program."""


class WallsError(SandboxError):
    """A launcher did not report the walls its unit was promised."""


class PackError(SandboxError):
    """A pack is not what its rules allow, or its bytes are not what its header says."""


class WorkspaceError(SandboxError):
    """A workspace could not be built, mounted or taken down."""


class CaptureError(SandboxError):
    """What a unit left behind could not be read, or did not prove itself."""


class PatchError(SandboxError):
    """A patch does not apply, or does not give the tree it was made from."""


class TreeError(SandboxError):
    """Entries are no tree, or a listing or content is not kept, or not what its digest says."""
