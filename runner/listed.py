"""What there is, as lists of plain rows: candidates, nominations, releases, attempts, judges, routes."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from runner.artifacts import open_sealed
from runner.config import load_config
from runner.documents.manifest import Manifest
from runner.errors import RunnerError, UsageError, VerificationError
from runner.inputs import Places, find_places, load_inputs
from runner.manifests import MANIFEST, RELEASES, load_manifest, manifest_digest
from runner.nomination import Nomination
from runner.reports.aggregate import planned
from runner.reports.marks import UNKNOWN
from runner.schedule import Cell, TryState
from runner.sealed import find_sealed
from runner.settings import Settings
from runner.signing.layout import SUMS
from runner.store import Store, state, store_for
from runner.validating.certificates import read_certificate
from runner.validating.judging import problems

Row = Mapping[str, object]
"""What is told of one thing; every row of a list has the same members."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """A list, and what of it a table shows."""

    rows: tuple[Row, ...]
    columns: tuple[str, ...]

    def table(self) -> tuple[tuple[str, ...], ...]:
        """Give the cells of a table, its heading first."""
        cells = (tuple(_cell(row[column]) for column in self.columns) for row in self.rows)
        return (tuple(column.replace("_", " ") for column in self.columns), *cells)


def _cell(value: object) -> str:
    match value:
        case None:
            return UNKNOWN
        case bool():
            return "yes" if value else "no"
        case tuple() | list():
            return ", ".join(map(str, value)) or "none"
        case _:
            return str(value)


def list_things(settings: Settings, what: str, release: str | None = None) -> Listing:
    """List things of one kind; `release` is whose attempts are listed.

    Raises:
        RunnerError: the configuration or what it names cannot be read.
    """
    if what == "attempts":
        return Listing(rows=tuple(_attempts(settings, release)), columns=("attempt", "tries", "standing", "outcome"))
    read, columns = _KINDS[what]
    return Listing(rows=tuple(read(settings)), columns=columns)


def _candidates(settings: Settings) -> Iterator[Row]:
    for each in load_config(settings.config).candidates:
        yield {
            "id": each.id,
            "role": each.role,
            "status": each.status.value,
            "agent": each.agent.value,
            "model": each.model,
            "route": each.route,
            "family": each.family,
            "label": each.label,
            "network": each.network.value,
            "nominations": "all" if each.nominations is None else list(each.nominations),
            "retired_since": None if each.retired is None else each.retired.date,
            "reason": "" if each.retired is None else each.retired.reason,
        }


def _roles(settings: Settings) -> Iterator[Row]:
    config = load_config(settings.config)
    known: list[tuple[str, str, str]] = [(each.role, each.status.value, each.id) for each in config.candidates]
    known += [("judge", "active", each.id) for each in config.judges]
    for role, status in dict.fromkeys((role, status) for role, status, _ in known):
        yield {"role": role, "status": status, "who": [name for *what, name in known if what == [role, status]]}


def _nominations(settings: Settings) -> Iterator[Row]:
    for each in load_inputs(settings).nominations:
        spec = each.spec
        yield {
            "id": each.id,
            "version": spec.version,
            "class": spec.class_,
            "tier": spec.tier,
            "mode": spec.mode,
            "axes": list(spec.axes),
            "evaluators": [f"{found.id} ({found.kind})" for found in each.evaluators],
            "certificate": _certified(each),
            "title": spec.title,
        }


def _certified(nomination: Nomination) -> str:
    """Say what its certificate says; freezing holds that against the nomination as it is then."""
    found = read_certificate(nomination)
    return "none" if found is None else "not proven" if any(problems(found)) else "proven"


def _releases(settings: Settings) -> Iterator[Row]:
    config = load_config(settings.config)
    places = find_places(config, settings)
    files = sorted((settings.checkout / RELEASES).glob(f"*/{MANIFEST}"))
    found = {place.parent.name: _manifest(place) for place in files}
    heirs = {each.supersedes: each.release for each in found.values() if isinstance(each, Manifest)}
    if config.supersedes is not None:
        heirs.setdefault(config.supersedes, config.release)
    for name, manifest in found.items():
        known = manifest if isinstance(manifest, Manifest) else None
        yield {
            "release": name,
            "configured": name == config.release,
            "planned": None if known is None else len(known.planned),
            "begun": None if known is None else _begun(store_for(places.store, known), planned(known)),
            "controls": None if known is None else known.controls,
            "published": is_published(places, name),
            "supersedes": None if known is None else known.supersedes,
            "superseded_by": heirs.get(name),
            "sha256": None if known is None else manifest_digest(known),
            "why": None if known is not None else manifest,
        }


def _manifest(place: Path) -> Manifest | str:
    """Read a frozen release; where it cannot be read, say why: the others are listed all the same."""
    try:
        return load_manifest(place)
    except UsageError as error:
        return str(error)


def _begun(store: Store, cells: tuple[Cell, ...]) -> int | None:
    """Count the attempts that were begun; None where this account may not look."""
    try:
        return sum(bool(store.numbers(cell)) for cell in cells)
    except PermissionError:
        return None


def is_published(places: Places, release: str) -> bool:
    """Whether a release lies published in the public checkout."""
    return (places.results / release / SUMS).is_file()


def _attempts(settings: Settings, release: str | None) -> Iterator[Row]:
    manifest, store = find_sealed(settings, release)
    rule = manifest.retry_policy.canonical_grading
    for cell in planned(manifest):
        yield {"attempt": str(cell), **_standing(store, cell, rule)}


def _standing(store: Store, cell: Cell, rule: str) -> Row:
    """Say how an attempt stands, by its seals alone; `verify` is who looks at every byte."""
    try:
        tries = tuple(state(each, rule) for each in store.tries(cell, open_sealed))
    except (RunnerError, VerificationError) as error:
        return {"tries": len(store.numbers(cell)), "standing": "broken", "outcome": None, "why": str(error)}
    last = tries[-1] if tries else None
    return {
        "tries": len(tries),
        "standing": "never begun" if last is None else last.standing.value,
        "outcome": _outcome(last),
        "why": None,
    }


def _outcome(last: TryState | None) -> str | None:
    return None if last is None or last.outcome is None else last.outcome.value


def _judges(settings: Settings) -> Iterator[Row]:
    for each in load_config(settings.config).judges:
        yield {"id": each.id, "kind": each.kind, "model": each.model, "route": each.route, "family": each.family}


def _routes(settings: Settings) -> Iterator[Row]:
    config = load_config(settings.config)
    for each in config.routes:
        users = [one.id for one in (*config.candidates, *config.judges) if one.route == each.id]
        place = "scripted" if each.base_url is None else each.base_url
        yield {
            "id": each.id,
            "protocol": each.protocol,
            "address": place,
            "key": each.credential or "none",
            "key_is_set": each.credential is None or bool(settings.environ.get(each.credential, "").strip()),
            "used_by": users,
        }


_KINDS: Mapping[str, tuple[Callable[[Settings], Iterator[Row]], tuple[str, ...]]] = {
    "candidates": (_candidates, ("id", "role", "status", "agent", "model", "route", "retired_since", "reason")),
    "nominations": (
        _nominations,
        ("id", "version", "class", "tier", "mode", "evaluators", "certificate", "title"),
    ),
    "releases": (
        _releases,
        ("release", "configured", "planned", "begun", "controls", "published", "superseded_by"),
    ),
    "roles": (_roles, ("role", "status", "who")),
    "judges": (_judges, ("id", "kind", "model", "route", "family")),
    "routes": (_routes, ("id", "protocol", "address", "key", "key_is_set", "used_by")),
}

KINDS = (*_KINDS, "attempts")
"""What can be listed."""
