"""What a unit tries on others: processes, objects, sockets and addresses, of the host and of units beside it. Data."""

from errno import (
    EACCES,
    EADDRNOTAVAIL,
    EAFNOSUPPORT,
    ECONNREFUSED,
    EHOSTUNREACH,
    ENETUNREACH,
    ENOENT,
    ENOSYS,
    ENOTDIR,
    EPERM,
    ESRCH,
)

from sandbox.answers import apart, facts, failed, found_nothing, refused, words
from sandbox.attacks_within import ALL, INSIDE
from sandbox.proofs import Area, table
from sandbox.spec import GATE_PORT, Role

_AT_A_GATE = (Role.CANDIDATE, Role.JUDGE)
_AT_NONE = tuple(role for role in INSIDE if role not in _AT_A_GATE)

_PROGRAMS = words("systemctl systemd-run systemd-notify busctl loginctl machinectl dbus-send")
_SEEN = words("cwd environ fd maps mem root status")
_WHOSE = ("the first process", "neighbour 1", "neighbour 2")
_ACTED = (
    "attach to",
    "compare",
    "kill",
    "limit",
    "move pages of",
    "pin",
    "read memory of",
    "seize",
    "signal by descriptor",
    "slow",
    "slow all of",
    "tgkill",
    "write memory of",
)
_OBJECTS = ("shared memory", "semaphores", "message queue", "POSIX queue", "POSIX shared memory")
_PLACES = ("/tmp", "/var/tmp", "/dev/shm", "/home/agent", "/work")  # noqa: S108 - a unit's own
_MADE = ("shared memory", "semaphores", "message queue", "POSIX queue")
_HELD = tuple(f"a file in {place}" for place in _PLACES[:3])
_HELD_BY_SOME = (*(f"a file in {place}" for place in _PLACES[3:]), "POSIX queue")
"""Places that not every role has, and what the kernel counts for all units together: another one may have it."""
_SOCKETS = words(
    "/run/dbus/system_bus_socket /run/docker.sock /run/systemd/io.system.ManagedOOM /run/systemd/journal/socket "
    "/run/systemd/notify /run/systemd/private /run/systemd/resolve/io.systemd.Resolve "
    "/run/systemd/userdb/io.systemd.DynamicUser /run/udev/control"
)
_FAR = words("192.0.2.1 198.51.100.1 203.0.113.1 169.254.169.254 10.0.0.1 2001:db8::1 fd00:ec2::254")
_RESOLVERS = ("127.0.0.53:53", "127.0.0.54:53", "127.0.0.1:53")

_CONTROLS = table(
    Area.SANDBOX,
    (
        "host-canaries", (23, 24), ALL,
        "as a control: have the host hold objects that are looked for",
        "they are made",
        "hold/host", refused(_MADE, 0, unless=("key",)),
    ),
    (
        "neighbour-canaries", (23, 24), ALL,
        "as a control: have a unit of the same role hold objects and files that are looked for",
        "they are made",
        "hold/neighbour", refused((*_MADE[:3], *_HELD), 0, unless=_HELD_BY_SOME),
    ),
)  # fmt: skip

_NEIGHBOURS = table(
    Area.SANDBOX,
    (
        "processes-in-sight", (8,), ALL,
        "list the processes in /proc, with two other units there",
        "its own alone",
        "look/processes", found_nothing(),
    ),
    (
        "signals", (8,), ALL,
        "send the empty signal to the first process, to neighbours and to 4,000 more numbers",
        "none can be signalled",
        "look/signals", found_nothing(least=4000),
    ),
    (
        "neighbours-in-proc", (8,), ALL,
        "open environment, memory, root and descriptors of the first process and of two units there",
        "ENOENT",
        "look/neighbour-files",
        refused((f"{kind} of {whose}" for kind in _SEEN for whose in _WHOSE), ENOENT),
    ),
    (
        "neighbours-by-call", (8, 19), ALL,
        "trace, read, signal, limit, pin and slow two units there, by their numbers",
        "EPERM, or no such process",
        "look/neighbour-calls",
        refused(
            (f"{act} neighbour {number}" for act in _ACTED for number in (1, 2)),
            EPERM, EACCES, ENOSYS, ESRCH,
        ),
    ),
    (
        "shared-objects", (23, 24), ALL,
        "open System V and POSIX objects of the host and of a unit there",
        "ENOENT",
        "look/objects",
        refused((f"{what} of {whose}" for what in _OBJECTS for whose in ("the host", "a neighbour")), ENOENT),
    ),
    (
        "shared-keys", (22,), ALL,
        "ask for kernel keys of the host and of a unit there",
        "EPERM or ENOSYS",
        "look/keys", refused(("key of the host", "key of a neighbour"), EPERM, ENOSYS),
    ),
    (
        "shared-places", (24, 44), ALL,
        "open what a unit there has in its own places, which have the same names",
        "ENOENT",
        "look/neighbour-places",
        refused((f"a neighbour's file in {place}" for place in _PLACES), ENOENT),
    ),
    (
        "own-namespaces", (3, 4, 8, 23), ALL,
        "compare the own ipc, mount, user and host name namespaces with those of the host and of two units there",
        "all different",
        "look/namespaces", apart("ipc", "mnt", "user", "uts"),
    ),
    (
        "manager-programs", (12, 13), ALL,
        "ask the service manager by systemctl, systemd-run, busctl, loginctl and others",
        "each fails or is not there",
        "look/manager-programs", failed(_PROGRAMS),
    ),
    (
        "sockets-with-a-path", (10, 11, 12, 13), ALL,
        "connect to the sockets of manager, bus, journal, docker and others, and to every one that the host has",
        "ENOENT",
        "look/unix-sockets", refused(_SOCKETS, ENOENT, ENOTDIR),
    ),
    (
        "notifications", (11, 182), ALL,
        "tell the manager to allow more time and to watch another process",
        "no way to tell it",
        "look/notification",
        refused(
            ("NOTIFY_SOCKET", "datagram to /run/systemd/notify", "datagram to /run/systemd/journal/socket"),
            ENOENT, ENOTDIR,
        ),
    ),
)  # fmt: skip

_NETWORK = table(
    Area.NETWORK,
    (
        "own-network", (3, 196), INSIDE,
        "compare the own network namespace with those of the host and of two units there",
        "all different",
        "look/namespaces", apart("net"),
    ),
    (
        "interfaces", (2, 3), INSIDE,
        "list interfaces and routes",
        "loopback alone, no route",
        "look/interfaces", facts(interfaces=["lo"], routes=[]),
    ),
    (
        "interface-change", (3,), ALL,
        "set loopback's flags, to what they are",
        "EPERM",
        "look/interface-change", refused(("loopback's flags",), EPERM),
    ),
    (
        "far-addresses", (2, 195, 196, 204), INSIDE,
        "reach addresses of documentation, of metadata services and of the host itself, by TCP and UDP",
        "no way there",
        "look/far-addresses",
        refused(
            (f"{way} to {address}" for address in _FAR for way in ("tcp", "udp")),
            ENETUNREACH, EHOSTUNREACH, EADDRNOTAVAIL, EAFNOSUPPORT, EPERM, EACCES,
        ),
    ),
    (
        "host-loopback", (2, 196), INSIDE,
        "connect to a listener on the host's 127.0.0.1, and to one of a unit there",
        "ECONNREFUSED, or no such sockets",
        "look/host-loopback",
        refused(
            ("tcp to 127.0.0.1 of the host", "tcp to ::1 of the host", "tcp to 0.0.0.0"),
            ECONNREFUSED, EADDRNOTAVAIL, ENETUNREACH, EAFNOSUPPORT, EPERM, EACCES,
        ),
    ),
    (
        "abstract-sockets", (14,), INSIDE,
        "connect to abstract sockets of the host and of a unit there",
        "ECONNREFUSED",
        "look/abstract-sockets",
        refused(("abstract socket of the host", "abstract socket of a neighbour"), ECONNREFUSED),
    ),
    (
        "resolver", (194,), INSIDE,
        "reach a resolver on loopback, by TCP and UDP",
        "ECONNREFUSED, or no such sockets",
        "look/resolver",
        refused(
            (f"{way} to {address}" for address in _RESOLVERS for way in ("tcp", "udp")),
            ECONNREFUSED, EAFNOSUPPORT, EPERM, EACCES,
        ),
    ),
    (
        "resolved-names", (194, 195), INSIDE,
        "have names resolved",
        "none is",
        "look/resolved-names", found_nothing(least=3),
    ),
    (
        "listeners", (196, 201), _AT_NONE,
        "list what listens in the own network namespace",
        "nothing",
        "look/listening", found_nothing(least=4),
    ),
    (
        "gate-alone", (196, 201), _AT_A_GATE,
        "list what listens in the own network namespace",
        "the gate alone",
        "look/listening", found_nothing(least=4, beside=(f"tcp port {GATE_PORT}",)),
    ),
    (
        "gate-answers", (196,), _AT_A_GATE,
        "connect to the gate",
        "it is the one thing that answers",
        "look/gate", refused(("tcp to the gate",), 0),
    ),
)  # fmt: skip

BETWEEN = (*_CONTROLS, *_NEIGHBOURS, *_NETWORK)
"""All of them."""
