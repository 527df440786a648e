"""The service manager over its private socket, through pystemd's low level. The only importer of pystemd.

What facts/systemd.md section 4 measured decides the form: one signal match for the connection's life whose callback
is kept, `process()` only when the descriptor is readable (waiting in the library holds the interpreter's lock),
signatures given with every property (the library's own table is incomplete), every bus closed.
"""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from pystemd.dbusexc import DBusBaseError
from pystemd.dbuslib import DBusAddress, path_encode

from sandbox.errors import BusError
from sandbox.properties import Property

_DESTINATION = b"org.freedesktop.systemd1"
_MANAGER_PATH = b"/org/freedesktop/systemd1"
_MANAGER = b"org.freedesktop.systemd1.Manager"
_UNIT = b"org.freedesktop.systemd1.Unit"
_SERVICE = b"org.freedesktop.systemd1.Service"
_UNIT_PREFIX = b"/org/freedesktop/systemd1/unit"
_PROPERTIES = b"org.freedesktop.DBus.Properties"
_CLOSE = (-1, None)
PRIVATE_SOCKET = "/run/systemd/private"

_IDLE_ROUNDS = 2  # An empty answer may also stand for a step of the library's own.

_ENDED = frozenset({"exited", "failed", "dead"})
_TOLD = {b"ActiveState": bytes, b"SubState": bytes, b"Result": bytes, b"ExecMainCode": int, b"ExecMainStatus": int}
"""What signals tell of a unit, and as what."""

Argument = tuple[int, object]


class _Message(Protocol):
    body: object

    def get_path(self) -> bytes:
        """Give the object path the signal came from."""

    def process_reply(self, with_headers: bool) -> None:  # noqa: FBT001 - the library's signature
        """Read the message into `body`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UnitState:
    """A unit as the manager tells of it. A unit it does not know has load_state `not-found`."""

    load_state: str
    active_state: str
    sub_state: str
    result: str
    main_code: int
    main_status: int

    @property
    def main_ended(self) -> bool:
        """Whether the main process has ended, or never came to be, or the unit is gone."""
        return self.load_state != "loaded" or self.main_code != 0 or self.sub_state in _ENDED

    @property
    def is_final(self) -> bool:
        """Whether the main process has ended, and how it did is known."""
        return self.main_code != 0 and self.sub_state in _ENDED

    @property
    def is_over(self) -> bool:
        """Whether nothing of the unit is left to be stopped."""
        return self.load_state != "loaded" or self.active_state in {"inactive", "failed"}


def encode(signature: str, value: object) -> list[Argument]:
    """Spell one value of a complete D-Bus type as the library's list of (type code, value).

    Raises:
        BusError: the value is not of that type; nothing is coerced.
    """
    head = signature[0]
    if head == "a":
        return _encode_array(signature[1:], value)
    if head == "(":
        return _encode_struct(signature[1:-1], value)
    kinds = _BASIC[head]
    if not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds):
        raise BusError(f"a D-Bus value of type {head!r} cannot be {value!r}")
    return [(ord(head), value)]


_BASIC: dict[str, tuple[type, ...]] = {
    "b": (bool,),
    "s": (str, bytes),
    "o": (str, bytes),
    "h": (int,),
    "y": (int,),
    "i": (int,),
    "u": (int,),
    "t": (int,),
    "d": (float,),
}


def _encode_array(inner: str, value: object) -> list[Argument]:
    if not isinstance(value, (list, tuple, bytes)):
        raise BusError(f"a D-Bus array of {inner!r} cannot be {value!r}")
    out: list[Argument] = [(ord("a"), inner.encode())]
    for each in value:
        out += encode(inner, each)
    return [*out, _CLOSE]


def _encode_struct(inner: str, value: object) -> list[Argument]:
    parts = split_signature(inner)
    if not isinstance(value, (list, tuple)) or len(value) != len(parts):
        raise BusError(f"a D-Bus struct ({inner}) cannot be {value!r}")
    out: list[Argument] = [(ord("r"), inner.encode())]
    for part, each in zip(parts, value, strict=True):
        out += encode(part, each)
    return [*out, _CLOSE]


def split_signature(signature: str) -> list[str]:
    """Cut a signature into complete types: `sa(ss)b` gives `s`, `a(ss)`, `b`."""
    parts: list[str] = []
    start = depth = 0
    for position, letter in enumerate(signature):
        depth += (letter == "(") - (letter == ")")
        if depth == 0 and letter != "a":
            parts.append(signature[start : position + 1])
            start = position + 1
    return parts


def _encode_properties(properties: Sequence[Property]) -> list[Argument]:
    out: list[Argument] = [(ord("a"), b"(sv)")]
    for each in properties:
        out += [(ord("r"), b"sv"), (ord("s"), each.name), (ord("v"), each.signature.encode())]
        out += [*encode(each.signature, each.value), _CLOSE, _CLOSE]
    return [*out, _CLOSE]


class Bus:
    """One connection to the manager, for one thread."""

    def __init__(self, connection: DBusAddress) -> None:
        self._connection = connection
        self._signals = _Signals()  # The library keeps a bare pointer: this must live as long as the bus.

    def listen(self) -> None:
        """Ask once for every property change; what is said of watched units is kept."""
        self._connection.match_signal(None, None, _PROPERTIES, b"PropertiesChanged", self._signals)

    def fileno(self) -> int:
        """Give the descriptor that is readable when something came in."""
        return int(self._connection.get_fd())

    def drain(self) -> None:
        """Take in what came, also what earlier calls had read already: `told` knows it then."""
        idle = 0
        try:
            while idle < _IDLE_ROUNDS:
                idle = idle + 1 if self._connection.process().is_empty() else 0
        except DBusBaseError as error:
            raise BusError(f"the connection to systemd broke: {error}") from error

    def watch(self, unit: str) -> None:
        """Have what signals say of this unit kept for `told`."""
        self._signals.told[path_encode(_UNIT_PREFIX, unit.encode())] = {}

    def forget(self, unit: str) -> None:
        """Stop telling of this unit."""
        self._signals.told.pop(path_encode(_UNIT_PREFIX, unit.encode()), None)

    def start(self, unit: str, properties: Sequence[Property]) -> None:
        """Start a transient unit; its job goes on by itself."""
        arguments: list[Argument] = [(ord("s"), unit), (ord("s"), "fail"), *_encode_properties(properties)]
        with _no_copies_kept():
            self._call(b"StartTransientUnit", [*arguments, (ord("a"), b"(sa(sv))"), _CLOSE])

    def kill(self, unit: str) -> None:
        """Send SIGKILL to every process of the unit's control group; one that is gone is no error."""
        try:
            self._call(b"KillUnit", [(ord("s"), unit), (ord("s"), "all"), (ord("i"), 9)])
        except BusError:
            if self.state(unit).load_state == "loaded" and not self.state(unit).is_over:
                raise

    def stop(self, unit: str) -> None:
        """Ask for the unit's stop."""
        self._call(b"StopUnit", [(ord("s"), unit), (ord("s"), "replace")])

    def reset_failed(self, unit: str) -> None:
        """Let the manager forget a failed unit."""
        self._call(b"ResetFailedUnit", [(ord("s"), unit)])

    def version(self) -> str:
        """Tell the manager's own version."""
        return _text(self._read(_MANAGER_PATH, _MANAGER, b"Version", b"s"))

    def state(self, unit: str) -> UnitState:
        """Read what the manager knows of a unit; asking for an unknown one is no error."""
        path = path_encode(_UNIT_PREFIX, unit.encode())
        load = _text(self._read(path, _UNIT, b"LoadState", b"s"))
        return UnitState(
            load_state=load,
            active_state=_text(self._read(path, _UNIT, b"ActiveState", b"s")),
            sub_state=_text(self._read(path, _UNIT, b"SubState", b"s")),
            result=_text(self._read(path, _SERVICE, b"Result", b"s")),
            main_code=_number(self._read(path, _SERVICE, b"ExecMainCode", b"i")),
            main_status=_number(self._read(path, _SERVICE, b"ExecMainStatus", b"i")),
        )

    def told(self, unit: str) -> UnitState | None:
        """Give what the signals about a watched unit said so far, without asking; None until they said enough."""
        told = self._signals.told.get(path_encode(_UNIT_PREFIX, unit.encode()), {})
        if told.keys() != _TOLD.keys():
            return None
        return UnitState(
            load_state="loaded",
            active_state=_text(told[b"ActiveState"]),
            sub_state=_text(told[b"SubState"]),
            result=_text(told[b"Result"]),
            main_code=_number(told[b"ExecMainCode"]),
            main_status=_number(told[b"ExecMainStatus"]),
        )

    def is_loaded(self, unit: str) -> bool:
        """Tell whether the manager knows a unit of any kind."""
        path = path_encode(_UNIT_PREFIX, unit.encode())
        return _text(self._read(path, _UNIT, b"LoadState", b"s")) == "loaded"

    def active(self, unit: str) -> str:
        """Tell a unit's active state."""
        return _text(self._read(path_encode(_UNIT_PREFIX, unit.encode()), _UNIT, b"ActiveState", b"s"))

    def user(self, unit: str) -> str:
        """Tell which account a service runs as."""
        return _text(self.property(unit, "User", "s"))

    def listed(self, pattern: str) -> list[str]:
        """Name the units in the manager's memory that a shell pattern matches."""
        patterns: list[Argument] = [(ord("a"), b"s"), _CLOSE, (ord("a"), b"s"), (ord("s"), pattern), _CLOSE]
        body = self._call(b"ListUnitsByPatterns", patterns)
        if not isinstance(body, list):
            raise BusError(f"systemd answered {body!r} where a list was expected")
        return [_text(unit[0]) for unit in body]

    def property(self, unit: str, name: str, signature: str) -> object:
        """Read one property of a service back."""
        return self._read(path_encode(_UNIT_PREFIX, unit.encode()), _SERVICE, name.encode(), signature.encode())

    def _read(self, path: bytes, interface: bytes, name: bytes, signature: bytes) -> object:
        try:
            value: object = self._connection.get_property(_DESTINATION, path, interface, name, signature)
        except DBusBaseError as error:
            raise BusError(f"systemd does not tell {name.decode()}: {error}") from error
        return value

    def _call(self, method: bytes, arguments: list[Argument]) -> object:
        try:
            answer = self._connection.call_method(_DESTINATION, _MANAGER_PATH, _MANAGER, method, arguments)
        except DBusBaseError as error:
            raise BusError(f"systemd refused {method.decode()}: {error}") from error
        except (TypeError, OverflowError) as error:
            raise BusError(f"a value sent with {method.decode()} is not of its D-Bus type: {error}") from error
        body: object = answer.body
        return body


class _Signals:
    """Called by the library for every signal; it also sets attributes on it, so a bound method would not do."""

    def __init__(self) -> None:
        self.told: dict[bytes, dict[bytes, object]] = {}
        self.metadata: dict[str, object] = {}

    def __call__(self, message: _Message, **_given: object) -> None:
        """Keep what a signal says of a watched unit."""
        told = self.told.get(message.get_path())
        if told is not None:
            message.process_reply(with_headers=False)
            told |= _read_change(message.body)


@contextmanager
def _no_copies_kept() -> Iterator[None]:
    """Close what a refused call leaves open: the library never frees its message, nor the descriptors in it."""
    before = _descriptors()
    try:
        yield
    except BusError:
        for descriptor in _descriptors() - before:
            os.close(descriptor)
        raise


def _descriptors() -> set[int]:
    """List what this process has open, but for the listing itself."""
    return {number for path in Path("/proc/self/fd").iterdir() if _is_open(number := int(path.name))}


def _is_open(descriptor: int) -> bool:
    try:
        os.fstat(descriptor)
    except OSError:
        return False
    return True


def _read_change(body: object) -> dict[bytes, object]:
    """Pick what is known by name and type from a PropertiesChanged: interface, changed values, names without."""
    if not isinstance(body, list) or len(body) < 2 or not isinstance(body[1], dict):  # noqa: PLR2004 - as above
        return {}
    return {name: value for name, value in body[1].items() if name in _TOLD and isinstance(value, _TOLD[name])}


def _text(value: object) -> str:
    if not isinstance(value, bytes):
        raise BusError(f"systemd answered {value!r} where a text was expected")
    return value.decode()


def _number(value: object) -> int:
    if not isinstance(value, int):
        raise BusError(f"systemd answered {value!r} where a number was expected")
    return value


@contextmanager
def open_bus(path: str = PRIVATE_SOCKET) -> Iterator[Bus]:
    """Connect to a manager's private socket and close the connection again.

    Raises:
        BusError: nobody answers there.
    """
    connection = DBusAddress(f"unix:path={path}".encode(), peer_to_peer=True)
    try:
        connection.open()
    except DBusBaseError as error:
        raise BusError(f"no systemd answers at {path}: {error}") from error
    bus = Bus(connection)
    try:
        bus.listen()
        yield bus
    finally:
        connection.close()
