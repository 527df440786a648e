"""Retiring a candidate: its entry in the configuration says why and since when, and all else stays as it was written.

A frozen release keeps its roster for good. Whoever retires one of its candidates begins the next release.
"""

import difflib
from dataclasses import dataclass
from pathlib import Path

from runner.config import ReleaseConfig, load_config, parse_config
from runner.durable import replace_file
from runner.errors import RunnerError, UnknownNameError, UsageError
from runner.json_editing import items, members, put, top
from runner.manifests import RELEASES, manifest_path
from runner.parsing import decode, file_name, read_file
from runner.roster import Candidate, Retirement, Status
from runner.settings import Settings


@dataclass(frozen=True, slots=True, kw_only=True)
class Dropping:
    """Who is retired, and why."""

    candidate: str
    why: Retirement
    release: str | None = None
    """The release's new id; None: it keeps its own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Dropped:
    """What came of it."""

    candidate: Candidate
    file: Path
    release: str
    left: int
    """Candidates that are still planned."""


def drop(settings: Settings, wanted: Dropping) -> Dropped:
    """Retire a candidate in the configuration's own file, which is whole at every instant.

    Raises:
        UsageError: there is no such candidate, it is retired already, or the release is frozen with it.
        StorageError: the disk failed or is full; the file is as it was.
    """
    config = load_config(settings.config)
    if wanted.release is None and manifest_path(settings.checkout / RELEASES, config.release).exists():
        raise UsageError(
            f"release {config.release} is frozen, and its roster with it; a roster without {wanted.candidate} is "
            "another release's: give that one's id with --release, and this configuration becomes its"
        )
    if wanted.release is not None and manifest_path(settings.checkout / RELEASES, wanted.release).exists():
        raise UsageError(f"release {wanted.release} is frozen already; give an id with --release that is not used")
    place = settings.config.resolve()
    data = read_file(place)
    edited = retired(data, wanted, file_name(settings.config))
    if read_file(place) != data:
        raise RunnerError(f"{file_name(settings.config)} was changed meanwhile, and is left as it is; run this again")
    mode = place.stat().st_mode & 0o777
    replace_file(place, edited)
    place.chmod(mode)
    now = load_config(settings.config)
    return Dropped(
        candidate=_candidate(now, wanted.candidate),
        file=settings.config,
        release=now.release,
        left=sum(each.status is not Status.RETIRED for each in now.candidates),
    )


def retired(data: bytes, wanted: Dropping, file: str) -> bytes:
    """Give a configuration's bytes with a candidate retired in them; all other bytes are as they were. Pure.

    Raises:
        UsageError: there is no such candidate, or it is retired already.
        DocumentError, DocumentErrors: it is no release configuration, or would be none.
    """
    before = parse_config(data, file)
    found = _candidate(before, wanted.candidate)
    if found.retired is not None:
        raise UsageError(f"{found.id} is retired already, since {found.retired.date}: {found.retired.reason}")
    text = decode(data, file)
    at = list(items(text, _member(text, top(text), "candidates")))[before.candidates.index(found)]
    text = put(text, at, "status", Status.RETIRED.value)
    text = put(text, at, "retired", {"reason": wanted.why.reason, "date": wanted.why.date})
    if wanted.release is not None:
        text = put(text, top(text), "release", wanted.release)
        text = put(text, top(text), "supersedes", before.release)
    edited = text.encode()
    _check_only_that(before, parse_config(edited, file), wanted, file)
    return edited


def _check_only_that(before: ReleaseConfig, after: ReleaseConfig, wanted: Dropping, file: str) -> None:
    """Say nothing if the two differ in what was asked for alone.

    Raises:
        RunnerError: they do not, which is a fault of ours.
    """
    gone = {"status": Status.RETIRED, "retired": wanted.why}
    roster = tuple(each.model_copy(update=gone) if each.id == wanted.candidate else each for each in before.candidates)
    changed: dict[str, object] = {"candidates": roster}
    if wanted.release is not None:
        changed |= {"release": wanted.release, "supersedes": before.release}
    if before.model_copy(update=changed) != after:
        raise RunnerError(f"{file}: more would change than was asked for; it is left as it is")


def _candidate(config: ReleaseConfig, name: str) -> Candidate:
    known = {each.id: each for each in config.candidates}
    if name not in known:
        near = tuple(difflib.get_close_matches(name, known, n=3, cutoff=0.5))
        listed = "runner list candidates"
        raise UnknownNameError(noun="candidate", wanted=name[:100], near=near, known=len(known), listed=listed)
    return known[name]


def _member(text: str, start: int, name: str) -> int:
    return next(each.start for each in members(text, start) if each.name == name)
