"""Packets between runner and keeper: JSON and passed descriptors over SOCK_SEQPACKET, one packet a message."""

import array
import json
import os
import socket

from sandbox.errors import HostUnfitError, KeeperError, SandboxError

PACKET_BYTES = 128 * 1024
PACKET_DESCRIPTORS = 8
_LONGEST = 2000
"""Characters of an error; it may quote what was asked, and has to fit into a packet."""


def send(channel: socket.socket, message: dict[str, object], descriptors: tuple[int, ...] = ()) -> None:
    """Send one message; the descriptors stay the sender's own.

    Raises:
        KeeperError: the message is too large, or nobody is there any more.
    """
    packet = json.dumps(message, separators=(",", ":")).encode()
    if len(packet) > PACKET_BYTES:
        raise KeeperError(f"a message of {len(packet)} bytes is above the protocol's {PACKET_BYTES}")
    try:
        socket.send_fds(channel, [packet], descriptors)
    except OSError as error:
        raise KeeperError(f"the other side of the keeper's socket is gone: {error}") from error


def receive(channel: socket.socket) -> tuple[dict[str, object], list[int]] | None:
    """Take one message and its descriptors, which are the receiver's from then on; None at end of file.

    Raises:
        KeeperError: the packet is no message of this protocol; its descriptors are closed.
    """
    try:
        packet, ancillary, flags, _ = _packet(channel)
    except ConnectionResetError:
        # The other side went away with something of ours unread. What it sent before is still there.
        packet, ancillary, flags, _ = _packet(channel)
    descriptors = _passed(ancillary)
    try:
        message = json.loads(packet) if packet else None
    except (ValueError, RecursionError):
        message = None
    if isinstance(message, dict) and not flags & (socket.MSG_TRUNC | socket.MSG_CTRUNC):
        return message, descriptors
    for descriptor in descriptors:
        os.close(descriptor)
    if not packet:
        return None
    raise KeeperError("a packet that is no message of the keeper's protocol")


def _passed(ancillary: list[tuple[int, int, bytes]]) -> list[int]:
    numbers = array.array("i")
    for level, kind, data in ancillary:
        if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
            numbers.frombytes(data[: len(data) - len(data) % numbers.itemsize])
    for descriptor in numbers:
        os.set_inheritable(descriptor, False)  # noqa: FBT003 - the standard library's signature
    return list(numbers)


def _packet(channel: socket.socket) -> tuple[bytes, list[tuple[int, int, bytes]], int, object]:
    return channel.recvmsg(PACKET_BYTES, socket.CMSG_SPACE(4 * PACKET_DESCRIPTORS))


def refusal(error: SandboxError) -> dict[str, object]:
    """Give the message that tells an error to the other side, where `told` raises it again."""
    message: dict[str, object] = {"error": type(error).__name__, "says": _clipped(str(error))}
    if isinstance(error, HostUnfitError):
        message |= {"lost": _clipped(error.lost), "mend": _clipped(error.mend)}
    return message


def _clipped(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]} [{len(text) - _LONGEST} more]"


def told(message: dict[str, object]) -> SandboxError:
    """Make the error of a message."""
    name = str(message["error"])
    if name == HostUnfitError.__name__:
        return HostUnfitError(str(message["lost"]), str(message["mend"]))
    kind = _KINDS.get(name, SandboxError)
    return kind(str(message["says"]))


_KINDS = {kind.__name__: kind for kind in SandboxError.__subclasses__()}
