"""Our property lists as options of the `systemd-run` binary, so that both start the very same unit. Pure."""

from collections.abc import Callable, Iterable

from sandbox.properties import Property, PropertyValue

# A unit that stays active after its end would keep `systemd-run --wait` waiting for ever.
_LEFT_OUT = frozenset({"RemainAfterExit"})
_RENAMED = {
    "CPUQuotaPerSecUSec": "CPUQuota",
    "RuntimeMaxUSec": "RuntimeMaxSec",
    "TimeoutStartUSec": "TimeoutStartSec",
    "TimeoutStopUSec": "TimeoutStopSec",
}
_EVERYWHERE = "any"


def options(properties: Iterable[Property]) -> tuple[list[str], list[str]]:
    """Give the options of `systemd-run` and the command it runs."""
    given: list[str] = []
    argv: list[str] = []
    for each in properties:
        if each.name == "ExecStartEx":
            argv = [_text(word) for word in _items(_items(_items(each.value)[0])[1])]
        elif each.name not in _LEFT_OUT:
            name = _RENAMED.get(each.name, each.name)
            given += [f"--property={name}={value}" for value in _values(name, each)]
    return given, argv


def _values(name: str, each: Property) -> list[str]:
    written = _SPECIAL.get(name) or _BY_SIGNATURE.get(each.signature)
    return [str(each.value)] if written is None else written(each.value)


def _micro(value: PropertyValue) -> list[str]:
    return [f"{value!r}us"]


def _capabilities(value: PropertyValue) -> list[str]:
    return ["CAP_DAC_READ_SEARCH" if value else ""]


def _addresses(value: PropertyValue) -> list[str]:
    return [_EVERYWHERE if _items(_items(value)[0])[2] == 0 else "localhost"]


_SPECIAL: dict[str, Callable[[PropertyValue], list[str]]] = {
    "AmbientCapabilities": _capabilities,
    "CapabilityBoundingSet": _capabilities,
    "CPUQuota": lambda value: [f"{int(str(value)) // 10_000}%"],
    "IPAddressAllow": _addresses,
    "IPAddressDeny": _addresses,
    "RestrictNamespaces": lambda _: ["yes"],
    "RuntimeMaxSec": _micro,
    "SystemCallErrorNumber": lambda _: ["EPERM"],
    "TimeoutStartSec": _micro,
    "TimeoutStopSec": _micro,
    "UMask": lambda value: [f"{int(str(value)):04o}"],
}

_BY_SIGNATURE: dict[str, Callable[[PropertyValue], list[str]]] = {
    "b": lambda value: ["yes" if value else "no"],
    "as": lambda value: [" ".join(_quoted(_text(word)) for word in _items(value))],
    "(bas)": lambda value: [" ".join(_text(word) for word in _items(_items(value)[1]))],
    "a(ssbt)": lambda value: [_joined(*_items(bind)[:2], "norbind") for bind in _items(value)],
    "a(ss)": lambda value: [_joined(*_items(pair)) for pair in _items(value)],
}


def _items(value: PropertyValue) -> tuple[PropertyValue, ...]:
    if not isinstance(value, tuple):
        raise TypeError(f"{value!r} is no list")
    return value


def _text(value: PropertyValue) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r} is no text")
    return value


def _quoted(word: str) -> str:
    return f'"{word}"' if " " in word else word


def _joined(*parts: PropertyValue) -> str:
    return ":".join(str(part).replace("\\", "\\\\").replace(":", "\\:") for part in parts)
