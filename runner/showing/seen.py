"""What a launcher saw from inside a unit, in a few plain sentences. Pure."""

from collections.abc import Iterator, Mapping

from pydantic import JsonValue, ValidationError

from sandbox.sightings import Sighting, parse_interfaces, parse_mounts, parse_status

_SECCOMP = {"0": "none", "1": "strict", "2": "a filter"}


def seen_walls(report: Mapping[str, JsonValue]) -> Iterator[str]:
    """Say what one launcher saw; what cannot be read as a report is said to be none."""
    try:
        seen = Sighting.model_validate(dict(report))
    except ValidationError:
        yield f"no report that can be read: {', '.join(sorted(report)) or 'it is empty'}"
        return
    status, mounts = parse_status(seen.status), parse_mounts(seen.mounts)
    yield f"account: user {_first(status, 'Uid')}, group {_first(status, 'Gid')}, capabilities {_capabilities(status)}"
    filtered = _SECCOMP.get(status.get("Seccomp", ""), "unknown")
    yield f"no new privileges: {'yes' if status.get('NoNewPrivs') == '1' else 'NO'}; system calls: {filtered}"
    refused = sorted(name for name, answer in seen.calls.items() if answer != 0)
    yield f"refused when tried: {', '.join(refused) or 'nothing'}"
    families = sorted(name for name, answer in seen.families.items() if answer == 0)
    yield f"sockets it may open: {', '.join(families) or 'none'}; interfaces: {_interfaces(seen.interfaces)}"
    writable = sorted(path for path, answer in seen.writing.items() if answer == 0)
    count = "an unknown number of" if mounts is None else str(len(mounts))
    yield f"{count} mounts, of which it could write to {', '.join(writable) or 'none'}"
    yield f"environment: {', '.join(seen.environment) or 'empty'}; descriptors: {', '.join(sorted(seen.descriptors))}"


def _first(status: Mapping[str, str], name: str) -> str:
    return status.get(name, "unknown").partition(" ")[0]


def _capabilities(status: Mapping[str, str]) -> str:
    held = {name: value for name in ("CapEff", "CapPrm", "CapAmb") if (value := status.get(name, "?")).strip("0")}
    return ", ".join(f"{name} {value}" for name, value in held.items()) or "none"


def _interfaces(text: str) -> str:
    return ", ".join(sorted(parse_interfaces(text))) or "none"
