"""Named values for a snapshot's fields, as data."""

from collections.abc import Mapping

from runner.documents.snapshot import Snapshot

_TESTS = ("test_*.py", "*_test.py", "conftest.py", "tests/", "test/", "testing/")
_NO_SOURCES = (
    *("docs/", "doc/", "examples/", ".github/", ".gitlab/", ".circleci/", "node_modules/", "dist/", "build/"),
    *("*.md", "*.rst", "*.png", "*.jpg", "*.jpeg", "*.gif", "*.svg", "*.ico", "*.pdf", "*.csv", "*.lock"),
    *("*.yaml", "*.yml", "Makefile", "Dockerfile", "package-lock.json", "tox.ini", "noxfile.py"),
)

PRESETS: Mapping[str, Mapping[str, object]] = {
    "python": {"exclude": ("docs/", "doc/", ".github/", ".gitlab/", ".circleci/", "*.lock")},
    "sources": {"exclude": (*_TESTS, *_NO_SOURCES)},
    "folder": {"strip": 1, "exclude": (*_TESTS, *_NO_SOURCES, "frontend/", "chart/", "deploy/", "e2e/")},
}
"""`python`: a whole repository with its tests, without pages and continuous integration. `sources`: code alone, so that
one snapshot fits any commit. `folder`: the same of one folder of a larger repository, which its `paths` name."""


def completed(snapshot: Snapshot) -> Snapshot:
    """Give a snapshot with its preset's values where it has none of its own."""
    if snapshot.preset is None:
        return snapshot
    own = {name for name in type(snapshot).model_fields if getattr(snapshot, name) is not None}
    return snapshot.model_copy(update={k: v for k, v in PRESETS[snapshot.preset].items() if k not in own})
