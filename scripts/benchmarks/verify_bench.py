"""Verification: many attempts against a clock, big files against sha256sum on as many cores; and the table of both."""

import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from figures import Figure, Measured
from verify_store import BASE, make_store

from runner.documents.manifest import Manifest
from runner.publishing.layout import lay_out
from runner.reports.aggregate import aggregate
from runner.store import Store
from runner.verification.published import Known, verify_published
from runner.verification.rebuilding import Rebuilder
from runner.verify import read_schemas, verify_release
from runner.working import cores
from sandbox.patch import Repository
from tests.unit.publishing.maker import TRUST, written

_ATTEMPTS, _SECONDS = 10_000, 15.0
_BIG_ATTEMPTS, _BULK, _ROUNDS, _LEAST = 20, 64 << 20, 3, 0.8
_MEMORY = Path("/dev/shm")  # noqa: S108 - what is measured is our work, not a disk's
_ROOM = 4 << 30
_SCHEMAS = read_schemas(Path(__file__).resolve().parents[2] / "schemas")


def figures() -> list[Figure]:
    """Verify and aggregate a store of many attempts; verify one of big files."""
    return [*_many(), *_big()]


def _many() -> Iterator[Figure]:
    bound = Measured(name="a clock", seconds=(_SECONDS,))
    with _folder() as root:
        store, manifest = make_store(root / "store", _ATTEMPTS)
        ours = Measured(name="verify", seconds=(_timed(lambda: _verify(store, manifest)),))
        yield Figure(what=f"{_ATTEMPTS} attempts verified", ours=ours, theirs=bound, most=1.0)
        published = written(root / "published" / manifest.release, lay_out(store, manifest, {}), manifest.release)
        ours = Measured(name="verify PATH", seconds=(_timed(lambda: _verify_published(published)),))
        yield Figure(what=f"{_ATTEMPTS} published attempts verified", ours=ours, theirs=bound, most=1.0)
        ours = Measured(name="aggregate", seconds=(_timed(lambda: aggregate(store, manifest)),))
        yield Figure(what=f"{_ATTEMPTS} attempts aggregated", ours=ours, theirs=bound)


def _big() -> Iterator[Figure]:
    with _folder() as root:
        store, manifest = make_store(root, _BIG_ATTEMPTS, bulk=_BULK)
        theirs = Measured(name="sha256sum", seconds=tuple(_timed(lambda: _sums(root)) for _ in range(_ROUNDS)))
        ours = Measured(name="verify", seconds=tuple(_timed(lambda: _verify(store, manifest)) for _ in range(_ROUNDS)))
        yield Figure(what=f"{_BIG_ATTEMPTS * _BULK >> 20} MiB verified", ours=ours, theirs=theirs, least=_LEAST)


def _verify(store: Store, manifest: Manifest) -> None:
    bases = {each.id: BASE for each in manifest.nominations}
    # Every patch is plain, so that no repository is asked.
    rebuild = Rebuilder(Repository(store.root / "none"), bases.__getitem__)
    report = verify_release(store, manifest, schemas=_SCHEMAS, rebuild=rebuild)
    if report.findings or report.folders != 2 * len(manifest.planned):
        raise SystemExit(f"bench: the store is not whole: {report.findings[:3]}")


def _verify_published(folder: Path) -> None:
    report = verify_published(folder, _SCHEMAS, Known(trust=TRUST))
    if report.findings or report.attempts != _ATTEMPTS:
        raise SystemExit(f"bench: the release is not whole: {report.findings[:3]}")


def _sums(root: Path) -> None:
    """Hash every file as anybody would, on all cores."""
    command = f"find . -type f -print0 | xargs -0 -P{cores()} -n4 sha256sum >/dev/null"
    subprocess.run(["/bin/sh", "-c", command], cwd=root, check=True)


def _timed(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


@contextmanager
def _folder() -> Iterator[Path]:
    """Give a folder in memory, where there is room for it."""
    roomy = _MEMORY.is_dir() and shutil.disk_usage(_MEMORY).free > _ROOM
    with tempfile.TemporaryDirectory(prefix="cleanroom-bench-", dir=_MEMORY if roomy else None) as folder:
        try:
            yield Path(folder)
        finally:
            subprocess.run(["/bin/chmod", "-R", "u+w", folder], check=True)
