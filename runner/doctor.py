"""What the doctor says: the host's lines, and those of the configuration that would run on it."""

from collections.abc import Callable, Iterator
from itertools import groupby
from pathlib import Path
from typing import get_args

from runner.bundles.bundle import BundleError, load_bundle
from runner.bundles.held import needed_runtimes, runtime_root
from runner.config import ReleaseConfig, load_config
from runner.documents.runtimes import RuntimeName
from runner.errors import DocumentError
from runner.freezer import accounts_of
from runner.inputs import find_places
from runner.roster import Candidate, Status
from runner.settings import Settings
from sandbox.check import Check, Line, State
from sandbox.doctor import diagnose
from sandbox.host_sight import Places, see_host

RUNTIMES: tuple[RuntimeName, ...] = get_args(RuntimeName)


def examine(settings: Settings) -> tuple[Check, ...]:
    """Look at this host and at what the configuration wants of it; nobody is contacted.

    Raises:
        DocumentError, DocumentErrors: the configuration is none.
    """
    config = load_config(settings.config)
    places = find_places(config, settings)
    limits = config.limits
    phases = (limits.preflight, limits.solution, limits.public_tests, limits.evaluators, limits.judges)
    seen = see_host(
        Places(
            state=places.state,
            store=places.store,
            accounts=accounts_of(config),
            needed_bytes=max(each.disk_bytes for each in phases) * 33 // 32,
        )
    )
    return (*diagnose(seen), *configured(config, settings))


def configured(config: ReleaseConfig, settings: Settings) -> tuple[Check, ...]:
    """Look at what a configuration wants of this host."""
    return (*_runtimes(config, settings), *_keys(config, settings))


def _runtimes(config: ReleaseConfig, settings: Settings) -> Iterator[Check]:
    """Look for the programs of real agents: those that active candidates or judges need, and those that are named."""
    active = (*_active(config), *config.judges)
    users = {name: [each.id for each in active if needed_runtimes((each,)) == (name,)] for name in RUNTIMES}
    for name in RUNTIMES:
        line = Line(
            topic="configuration",
            name=f"runtime {name}",
            expected="a whole program, as it was installed",
            lost=f"candidates or judges of agent {name}{_named(users[name])}: they cannot be run",
            mend=f"run: scripts/runtimes {name}, and name the folder it tells as clean_room.{name}_root",
        )
        root = runtime_root(name, config.clean_room, settings)
        if root is not None:
            yield _runtime(line, name, root)
        elif users[name]:
            yield line.fails("none configured")
        else:
            yield line.holds("none configured, and none needed")


def _runtime(line: Line, name: RuntimeName, root: Path) -> Check:
    try:
        bundle = load_bundle(name, root)
    except BundleError as error:
        return line.fails(f"{error.root}: {error.found}", mend=error.mend)
    except DocumentError as error:
        return line.fails(str(error), mend=error.mend)
    return line.holds(f"{bundle.version or 'of unknown version'}, tree {bundle.digest[:12]}, {root}")


def _named(users: list[str]) -> str:
    return f" ({', '.join(users)})" if users else ""


def _active(config: ReleaseConfig) -> tuple[Candidate, ...]:
    return tuple(each for each in config.candidates if each.status is Status.ACTIVE)


def _keys(config: ReleaseConfig, settings: Settings) -> Iterator[Check]:
    """Look for the keys of routes that somebody active uses; a key is named and never shown."""
    users: dict[str, list[str]] = {}
    for participant in (*_active(config), *config.judges):
        if participant.route is not None:
            users.setdefault(participant.route, []).append(participant.id)
    named = [route for route in config.routes if route.id in users and route.credential is not None]
    if not named:
        yield _key_line("keys", "").holds("none needed: no route in use names one")
    for route in named:
        name = route.credential or ""
        line = _key_line(f"key {name}", f"candidates and judges of route {route.id}: {', '.join(users[route.id])}")
        try:
            value = settings.credential(name)
        except DocumentError as error:
            yield line.fails(error.found, mend=f"{error.mend}: export {name}=...")
        else:
            yield line.fails("not set", mend=f"run: export {name}=...") if value is None else line.holds("set")


def _key_line(name: str, lost: str) -> Line:
    expected = "set in the environment, for routes in use"
    return Line(topic="configuration", name=name, expected=expected, lost=lost, mend="", needed=False)


Paint = Callable[[State, str], str]
"""Gives a state's word in its colour."""


def unpainted(state: State, word: str) -> str:
    """Give a word as it is."""
    del state
    return word


def report(checks: tuple[Check, ...], paint: Paint = unpainted) -> str:
    """Write a host's lines down for people."""
    return f"{_table(checks, paint)}\n{summary(checks)}\n"


def route_report(checks: tuple[Check, ...], paint: Paint = unpainted) -> str:
    """Write a route's lines down for people."""
    failed = sum(not check.ok for check in checks)
    said = f"{failed} of {len(checks)} lines are not as they should be" if failed else "this route can be used"
    return f"{_table(checks, paint)}\n{said}\n"


def _table(checks: tuple[Check, ...], paint: Paint) -> str:
    lines: list[str] = []
    width = max(len(check.name) for check in checks)
    for topic, group in groupby(checks, key=lambda check: check.topic):
        lines.append(topic)
        for check in group:
            lines.append(f"  {paint(check.state, f'{check.state:<8}')} {check.name:<{width}}  {check.found}")
            lines += (f"           {name:<8}  {text}" for name, text in _rest(check))
    return "\n".join(lines) + "\n"


def _rest(check: Check) -> Iterator[tuple[str, str]]:
    """Give what is to be said of a line that is not well."""
    if check.state not in {State.OK, State.UNKNOWN}:
        yield "expected", check.expected
    if check.lost:
        yield "lost", check.lost
    if check.mend:
        yield "mend", check.mend


def summary(checks: tuple[Check, ...]) -> str:
    """Say in one line how the host is."""
    bad = [f"{check.topic}: {check.name}" for check in checks if not check.ok]
    warned = sum(check.state is State.WARNING for check in checks)
    warnings = "1 warning" if warned == 1 else f"{warned} warnings"
    all_lines = "1 line" if len(checks) == 1 else f"{len(checks)} lines"
    if bad:
        return f"this host is unfit for clean rooms, {len(bad)} of {all_lines} ({warnings}): {'; '.join(bad)}"
    return (
        f"this host can hold clean rooms: {all_lines}, {warnings}\n"
        "what a unit really holds is tried by: runner verify-sandbox, runner verify-objective-sandbox"
    )


def json_line(check: Check) -> dict[str, object]:
    """Give a line for programs."""
    return {
        "topic": check.topic,
        "name": check.name,
        "state": check.state.value,
        "ok": check.ok,
        "found": check.found,
        "expected": check.expected,
        "lost": check.lost or None,
        "mend": check.mend or None,
    }
