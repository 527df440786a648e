"""A small release with sealed submissions, and judges that are played by functions. No units, no models."""

import errno
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from runner.canonical import sha256
from runner.disk import Disk
from runner.documents.judging import Cell
from runner.documents.ledger import LedgerLine, Tokens
from runner.documents.manifest import FrozenFile, Manifest
from runner.fixture import Fixture
from runner.gateway.errors import GatewayError
from runner.judges import Judging
from runner.judging.archive import Archive, all_tries
from runner.judging.caching import judge_settings
from runner.judging.calling import Call, OnLine, Put
from runner.judging.exhibits import Changes, Entrant, Task
from runner.judging.identity import identities, roster_names
from runner.judging.key import judging_key
from runner.judging.packet import PublicTests, matches_tests
from runner.judging.planning import Ground, Plan, make_plan
from runner.judging.reading_tree import ReadingTree
from runner.judging.ruling import Binding, Heard
from runner.judging.showing import Showroom, Template
from runner.judging.sitting import Sitting, by_asking
from runner.roster import Agent, Budget, Judge
from runner.store import Store
from sandbox.api import LauncherReport
from sandbox.contents import MemoryContents
from sandbox.tree import Entry, Kind, snapshot
from tests.unit.agents.test_preflight import line as plain_line
from tests.unit.judging.showing import CURT, POLITE, SCOPE, TASK, change
from tests.unit.runner.evidence_maker import GREET, IDLER, SOLVER, Run, a_manifest, a_store, attempt

PROMPTS = Path(__file__).parents[3] / "config/judging"
RULES = Judging(second_view="never")
WRONG = change("greet.py", "def greet():\n    return 'hi'\n", "def greet():\n    return None\n")

Nature = Callable[[str, int], str | None]
"""From a prompt and the number of calls so far to an answer; None: silence."""


def a_judge(name: str = "jay", **changed: object) -> Judge:
    plain: dict[str, Any] = {"id": name, "model": f"m/{name}", "route": "scripted", "family": f"house of {name}"}
    return Judge(**(plain | changed))


LOOKER = a_judge("lee", agent=Agent.NATIVE, kind="rubric", budget=Budget(requests=9))
"""A judge that looks around."""


def judged_manifest(*judges: Judge, judging: Judging = RULES) -> Manifest:
    plain = a_manifest()
    prompts = tuple(
        FrozenFile(path=path.name, sha256=sha256(path.read_bytes())) for path in sorted(PROMPTS.glob("*.md"))
    )
    return plain.model_copy(
        update={
            "candidates": tuple(
                each.model_copy(update={"family": f"makers of {each.id}"}) for each in plain.candidates
            ),
            "judges": judges or (a_judge(),),
            "judging": judging,
            "criteria": (SCOPE,),
            "judge_prompts": prompts,
        }
    )


def a_fixture(files: Mapping[str, bytes] = MappingProxyType({"greet.py": GREET})) -> Fixture:
    """Give a base; by default the one that the changes of tests are made to."""
    contents = MemoryContents()
    entries = tuple(
        Entry(path=path.encode(), kind=Kind.FILE, sha256=contents.put(data), size=len(data))
        for path, data in sorted(files.items())
    )
    return Fixture(entries=entries, contents=contents, digest=snapshot(entries, contents))


def nonce_of(prompt: str) -> str:
    found = re.search(r'"nonce": "([0-9a-f]{32})"', prompt)
    assert found is not None
    return found[1]


def even(prompt: str, _calls: int) -> str:
    """Answer seven points, or a tie."""
    head = f'{{"nonce": "{nonce_of(prompt)}", "injection_seen": false, "quotes": ['
    if "You compare two changes" in prompt:
        return f'{head}], "reason": "Both do it.", "verdict": "TIE"}}'
    quote = '{"line": 1, "text": "@ greet.py"}'
    return f'{head}{quote}], "scores": {{"scope": {{"reason": "It is polite.", "points": 7}}}}}}'


class Hurried(Disk):
    """A disk that syncs nothing: no machine fails in these tests."""

    def sync(self, file: int) -> None:
        """Do nothing."""


@dataclass(slots=True, kw_only=True)
class Played:
    """Judges in place of units."""

    nature: Nature = even
    asked: list[tuple[str, str]] = field(default_factory=list)
    """Judge and prompt of every call."""
    trees: list[ReadingTree | None] = field(default_factory=list)
    """What each could look around in."""
    writing: int = errno.EROFS
    """What a launcher was answered that tried to write to a tree."""
    dies_at: int | None = None
    """The call in which the runner is killed, after its line was kept."""

    def __call__(self, put: Put, on_line: OnLine) -> Call:
        assert put.label.startswith("judge-")
        self.asked.append((put.judge.id, put.prompt))
        self.trees.append(put.tree)
        text = self.nature(put.prompt, len(self.asked))
        line = a_line(put.judge.model or "", is_answered=text is not None)
        on_line(line)
        if len(self.asked) == self.dies_at:
            raise GatewayError("killed")
        report = LauncherReport(seen={"uid": 1, "writing": {} if put.tree is None else {"/work": self.writing}})
        return Call(heard=Heard(text=text, lines=(line,), duration_ms=9), report=report)


def a_line(model: str, *, is_answered: bool) -> LedgerLine:
    if not is_answered:
        return plain_line(failure="overloaded", status_upstream=503, finish_reason=None, complete=False)
    return plain_line(
        model_answered=model,
        finish_reason="stop",
        tokens=Tokens(input=100, output=20),
        cost="0.01",
        status_upstream=200,
    )


@dataclass(slots=True, kw_only=True)
class Scene:
    """A release on the disk, and everything that its judging needs."""

    store: Store
    manifest: Manifest
    tasks: tuple[Task, ...]
    pairs: int | None = None

    @property
    def show(self) -> Showroom:
        names = identities(roster_names((*self.manifest.candidates, *self.manifest.judges)))
        texts = {path.name: path.read_text() for path in PROMPTS.glob("*.md")}
        templates = {name: Template(text=text, sha256=sha256(text.encode())) for name, text in texts.items()}
        return Showroom(judging=self.manifest.judging, known=names, templates=templates)

    @property
    def plan(self) -> Plan:
        return make_plan(self.ground, self.show.speaks)

    @property
    def ground(self) -> Ground:
        return Ground(
            manifest=self.manifest,
            manifest_sha256=self.store.manifest_sha256,
            tasks=self.tasks,
            key=judging_key(self.store.manifest_sha256, {}),
            pairs=self.pairs,
        )

    @property
    def archive(self) -> Archive:
        return Archive(store=self.store)

    def sit(self, asks: Played) -> Sitting:
        """Hold the judging as the command does, on what is kept already."""
        sitting = Sitting(
            archive=self.archive,
            show=self.show,
            asks=asks,
            key=self.ground.key,
            binding=Binding(release=self.manifest.release, manifest_sha256=self.store.manifest_sha256),
            settings=judge_settings(self.manifest),
            tell=lambda _: None,
            known=by_asking(self.archive.answers(all_tries(self.store, self.manifest))),
        )
        plan = self.plan
        self.archive.keep_plan(plan.document)
        sitting.sit(plan.questions)
        return sitting


def a_scene(folder: Path, *judges: Judge, judging: Judging = RULES, curt: Changes = (CURT,)) -> Scene:
    """Seal two submissions that solve the task."""
    manifest = judged_manifest(*judges, judging=judging)
    store = replace(a_store(folder / "store", manifest), disk=Hurried())
    for cell in (SOLVER, IDLER):
        attempt(store, cell, Run())
    entrants = tuple(
        Entrant(
            cell=Cell(
                candidate=cell.candidate,
                nomination="slugs",
                attempt=1,
                try_=1,
                submission_sha256=_digest(store, cell.candidate),
            ),
            changes=changes,
            tests=PublicTests.PASSED,
            reached=frozenset({"submitted", "tests_passed", "solved"}),
        )
        for cell, changes in ((SOLVER, (POLITE,)), (IDLER, curt))
    )
    task = Task(
        nomination="slugs",
        free_text=False,
        prompt=TASK,
        criteria=(SCOPE,),
        is_test=matches_tests(()),
        solution=(POLITE,),
        loser=(WRONG,),
        tests={"base": PublicTests.FAILED, "solution": PublicTests.PASSED, "loser": PublicTests.PASSED},
        entrants=entrants,
        fixture=a_fixture(),
    )
    return Scene(store=store, manifest=manifest, tasks=(task,))


def _digest(store: Store, candidate: str) -> str:
    seal = store.root / store.release / candidate / "slugs/attempt-1/try-1/submission/SEAL.json"
    return sha256(seal.read_bytes())
