"""Whether the module that a nomination's versions are made of is the one in its fixture."""

import hashlib
from collections.abc import Iterator

from evaluators.mutation import pin_of
from runner.documents.nomination import FolderFixture, SeededFixture
from runner.finding import Finding, Subject
from runner.nomination import FIXTURE, Nomination


def pins(nomination: Nomination) -> Iterator[Finding]:
    """Yield pinned modules that the fixture lacks, or has otherwise; of a fixture to be fetched freezing says so."""
    if not isinstance(nomination.spec.fixture, FolderFixture | SeededFixture):
        return
    for index, spec in enumerate(nomination.evaluators):
        pin = pin_of(spec)
        if pin is None:
            continue
        found = _digest(nomination, str(pin.module))
        if found != pin.sha256:
            message = f"{pin.module} of the fixture is {'missing' if found is None else f'another one: {found}'}"
            mend = "copy it to private/, pin its sha256, and look at each version again"
            yield Subject(file=nomination.file).error(f"evaluators[{index}].module", message, mend)


def _digest(nomination: Nomination, module: str) -> str | None:
    root = nomination.spec.root
    if root != "." and not module.startswith(f"{root}/"):
        return None
    path = module if root == "." else module.removeprefix(f"{root}/")
    fixture = nomination.spec.fixture
    if isinstance(fixture, SeededFixture):
        text = fixture.files.get(path)
        return None if text is None else hashlib.sha256(text.encode()).hexdigest()
    return next((file.sha256 for file in nomination.below(FIXTURE) if file.path == f"{FIXTURE}/{path}"), None)
