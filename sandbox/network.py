"""Network namespaces: an empty one with a listening socket inside, served from outside."""

import ctypes
import fcntl
import os
import socket
import struct
from dataclasses import dataclass

from sandbox.errors import SandboxError

CLONE_NEWNET = 0x40000000
_SIOCGIFFLAGS, _SIOCSIFFLAGS, _IFF_UP = 0x8913, 0x8914, 1
_IFREQ = "16sh22x"

_libc = ctypes.CDLL(None, use_errno=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class NetworkNamespace:
    """Descriptors of a namespace and of a listening socket in it; their closing is its end."""

    namespace: int
    listener: socket.socket


def loopback_up() -> None:
    """Set the loopback interface of the namespace this thread is in to up."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        answer = fcntl.ioctl(control, _SIOCGIFFLAGS, struct.pack(_IFREQ, b"lo", 0))
        _, flags = struct.unpack(_IFREQ, answer)
        fcntl.ioctl(control, _SIOCSIFFLAGS, struct.pack(_IFREQ, b"lo", flags | _IFF_UP))


def enter(descriptor: int, kind: int) -> None:
    """Join a namespace by its descriptor."""
    if _libc.setns(descriptor, kind) != 0:
        raise SandboxError(f"a namespace cannot be joined: {os.strerror(ctypes.get_errno())}")


def new_namespace(port: int) -> NetworkNamespace:
    """Make an empty namespace with a socket listening on 127.0.0.1:`port` in it.

    Only for a process of one thread: it leaves its own namespace and comes back.
    """
    home = os.open("/proc/self/ns/net", os.O_RDONLY | os.O_CLOEXEC)
    try:
        if _libc.unshare(CLONE_NEWNET) != 0:
            raise SandboxError(f"no network namespace can be made: {os.strerror(ctypes.get_errno())}")
        try:
            loopback_up()
            listener = socket.create_server(("127.0.0.1", port), backlog=128)
            namespace = os.open("/proc/self/ns/net", os.O_RDONLY | os.O_CLOEXEC)
        finally:
            enter(home, CLONE_NEWNET)
    finally:
        os.close(home)
    return NetworkNamespace(namespace=namespace, listener=listener)
