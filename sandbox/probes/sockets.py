"""What a unit reaches: sockets of the host's, its loopback, addresses far away.

No packet may leave the machine, and nobody's service be bothered: what is not this unit's own is tried only where this
process has seen that it has nothing but loopback, and it says so if it has more.
"""

import errno
import fcntl
import os
import socket
import struct
from collections.abc import Callable

from .kernel import names, text, tried
from .told import Told

NOT_TRIED = "not tried: other interfaces than loopback"
SOCKETS = (
    "/run/containerd/containerd.sock",
    "/run/dbus/system_bus_socket",
    "/run/docker.sock",
    "/run/libvirt/libvirt-sock",
    "/run/nscd/socket",
    "/run/podman/podman.sock",
    "/run/snapd.socket",
    "/run/systemd/io.system.ManagedOOM",
    "/run/systemd/journal/dev-log",
    "/run/systemd/journal/io.systemd.journal",
    "/run/systemd/journal/socket",
    "/run/systemd/journal/stdout",
    "/run/systemd/notify",
    "/run/systemd/private",
    "/run/systemd/resolve/io.systemd.Resolve",
    "/run/systemd/userdb/io.systemd.DynamicUser",
    "/run/udev/control",
    "/tmp/.X11-unix/X0",  # noqa: S108 - the unit's own, or the host's if it is broken
    "/var/run/docker.sock",
)
FAR = (
    "192.0.2.1",
    "198.51.100.1",
    "203.0.113.1",
    "169.254.169.254",
    "10.0.0.1",
    "2001:db8::1",
    "fd00:ec2::254",
)
_PATIENCE_S = 0.3
_DISCARD = 9
_DNS = 53
_SIOCSIFFLAGS, _UP = 0x8914, 1
# The kernel itself puts these, down and without address, into each new namespace of a host with such tunnels.
_FALLBACK = {"tunl0", "sit0", "ip6tnl0", "gre0", "gretap0", "erspan0", "ip_vti0", "ip6_vti0", "ip6gre0"}
_LISTEN = "0A"


def interfaces(_told: Told) -> object:
    """Tell the interfaces and routes of this network namespace."""
    return {"interfaces": _interfaces(), "routes": _routes()}


def _interfaces() -> list[str]:
    found = {line.partition(":")[0].strip() for line in text("/proc/self/net/dev").splitlines() if ":" in line}
    return sorted(found - _FALLBACK)


def _routes() -> list[str]:
    fourth = [line.split()[0] for line in text("/proc/self/net/route").splitlines()[1:]]
    sixth = [line.split()[-1] for line in text("/proc/self/net/ipv6_route").splitlines()]
    return sorted({*fourth, *sixth} - {"lo"})


def is_alone() -> bool:
    """Tell whether nothing that is sent from here can leave the machine."""
    return _interfaces() == ["lo"] and not _routes()


def far_addresses(told: Told) -> object:
    """Try addresses that are not this unit's: of documentation, of metadata services, of the host itself."""
    if not is_alone():
        return NOT_TRIED
    found = {}
    for address in (*FAR, *told.addresses):
        found[f"tcp to {address}"] = _connected(address, told.port)
        found[f"udp to {address}"] = _sent(address, _DISCARD)
    return found


def host_loopback(told: Told) -> object:
    """Try the host's listener on loopback, and one of a neighbour's, by every name of loopback."""
    if not is_alone():
        return NOT_TRIED
    found = {
        "tcp to 127.0.0.1 of the host": _connected("127.0.0.1", told.port),
        "tcp to ::1 of the host": _connected("::1", told.port),
        "tcp to 0.0.0.0": _connected("0.0.0.0", told.port),  # noqa: S104 - a way to say loopback
    }
    for number, each in enumerate(told.neighbours, 1):
        if each.port is not None:
            found[f"tcp to 127.0.0.1 of neighbour {number}"] = _connected("127.0.0.1", each.port)
    return found


def gate(told: Told) -> object:
    """Try the gate, which is the one thing that answers."""
    return {"tcp to the gate": None if told.gate is None else _connected("127.0.0.1", told.gate)}


def resolver(_told: Told) -> object:
    """Try the resolvers that a machine may have on loopback."""
    if not is_alone():
        return NOT_TRIED
    found = {}
    for address in ("127.0.0.53", "127.0.0.54", "127.0.0.1"):
        found[f"tcp to {address}:53"] = _connected(address, _DNS)
        found[f"udp to {address}:53"] = _sent(address, _DNS)
    return found


def resolved_names(_told: Told) -> object:
    """Try to have names resolved."""
    if not is_alone():
        return NOT_TRIED
    found = []
    tried_names = ("canary.invalid", "metadata.google.internal", "_gateway")
    for name in tried_names:
        try:
            socket.getaddrinfo(name, 80)
        except (socket.gaierror, OSError):
            continue
        found.append(name)
    return {"looked": len(tried_names), "found": found}


def listening(_told: Told) -> object:
    """List what listens in this network namespace."""
    looked = 0
    found: list[str] = []
    for table in ("tcp", "tcp6", "udp", "udp6"):
        lines = [line.split() for line in text(f"/proc/self/net/{table}").splitlines()]
        looked += bool(lines)
        ports = [
            fields[1].rpartition(":")[2] for fields in lines[1:] if table.startswith("udp") or fields[3] == _LISTEN
        ]
        found += [f"{table} port {int(port, 16)}" for port in ports]
    return {"looked": looked, "found": found}


def unix_sockets(told: Told) -> object:
    """Try sockets with a path: of the manager, of well-known services, and all that the host has."""
    paths = sorted(
        {*SOCKETS, *told.sockets, f"/run/user/{os.getuid()}/bus", f"/run/user/{os.getuid()}/systemd/private"}
    )
    return {path.replace(str(os.getuid()), "(own account)"): _reached(path) for path in paths}


def abstract_sockets(told: Told) -> object:
    """Try sockets without a path, of the host and of neighbours."""
    if not is_alone():
        return NOT_TRIED
    return {
        "abstract socket of the host": _reached(f"\0{told.name}"),
        "abstract socket of a neighbour": _reached(f"\0{told.held}"),
    }


def notification(_told: Told) -> object:
    """Try to notify the service manager: to be given more time, to be called another process."""
    found = {"NOTIFY_SOCKET": 0 if "NOTIFY_SOCKET" in os.environ else errno.ENOENT}
    words = b"EXTEND_TIMEOUT_USEC=60000000\nMAINPID=1\nREADY=1"
    for path in ("/run/systemd/notify", "/run/systemd/journal/socket"):
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender:
            found[f"datagram to {path}"] = tried(lambda path=path, sender=sender: sender.sendto(words, path))  # type: ignore[misc]
    return found


def interface_change(_told: Told) -> object:
    """Try to set an interface's flags, to what loopback has already."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as control:
        asked = struct.pack("16sh22x", b"lo", _UP)
        return {"loopback's flags": tried(lambda: fcntl.ioctl(control, _SIOCSIFFLAGS, asked))}


def namespaces(told: Told) -> object:
    """Tell the own namespaces beside those of the host and of neighbours."""
    return {
        name: [_namespace(name), told.namespaces.get(name), *(each.namespaces.get(name) for each in told.neighbours)]
        for name in names("/proc/self/ns") or ()
    }


def _namespace(name: str) -> str:
    return os.readlink(f"/proc/self/ns/{name}")  # noqa: PTH115


def _reached(path: str) -> int:
    """Connect to a socket of whichever kind it is."""
    answer = errno.EPROTOTYPE
    for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_SEQPACKET):
        if answer == errno.EPROTOTYPE:
            with socket.socket(socket.AF_UNIX, kind) as client:
                client.settimeout(_PATIENCE_S)
                answer = _timed(lambda client=client: client.connect(path))  # type: ignore[misc]
    return answer


def _connected(address: str, port: int) -> int:
    def connect() -> None:
        with socket.socket(_family(address), socket.SOCK_STREAM) as client:
            client.settimeout(_PATIENCE_S)
            client.connect((address, port))

    return _timed(connect)


def _sent(address: str, port: int) -> int:
    """Send a datagram, and see whether anyone minds."""

    def send() -> None:
        with socket.socket(_family(address), socket.SOCK_DGRAM) as client:
            client.settimeout(_PATIENCE_S)
            client.connect((address, port))
            client.send(b"?")
            client.recv(1)

    return _timed(send)


def _timed(act: Callable[[], object]) -> int:
    try:
        return tried(act)
    except TimeoutError:
        return errno.ETIMEDOUT


def _family(address: str) -> int:
    return socket.AF_INET6 if ":" in address else socket.AF_INET


PROBES: dict[str, Callable[[Told], object]] = {
    "interfaces": interfaces,
    "far-addresses": far_addresses,
    "host-loopback": host_loopback,
    "gate": gate,
    "resolver": resolver,
    "resolved-names": resolved_names,
    "listening": listening,
    "unix-sockets": unix_sockets,
    "abstract-sockets": abstract_sockets,
    "notification": notification,
    "interface-change": interface_change,
    "namespaces": namespaces,
}
