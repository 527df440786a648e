"""Who is asked what about which submissions, in which order and view: fixed before anybody is asked. Pure."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from runner.documents.judging import Cell, ControlItem, ControlKind, PairItem, RubricItem, Skipped, View
from runner.documents.judging_plan import JudgingPlan, PlannedAsking
from runner.documents.manifest import Manifest
from runner.judges import Judging, criterion_id
from runner.judging.exhibits import Changes, Entrant, Task
from runner.judging.families import is_own, who_answers
from runner.judging.hidden_controls import Control, Source, plan_controls
from runner.judging.packet import PublicTests, without_tests
from runner.judging.pairing import Item, circulant, drawn, in_stream, pair_items, rubric_items
from runner.roster import Candidate, Judge


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """One change that is put before a judge."""

    changes: Changes
    tests: PublicTests


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """One asking with what it shows, in the order of showing."""

    judge: Judge
    instead_of: str | None
    item: Item
    view: View
    task: Task
    sides: tuple[Shown, ...]

    @property
    def planned(self) -> PlannedAsking:
        """Give it as a plan holds it."""
        return PlannedAsking(judge=self.judge.id, instead_of=self.instead_of, item=self.item, view=self.view)


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Everything that is asked, and the document of it."""

    document: JudgingPlan
    questions: tuple[Question, ...]
    """As the document lists them."""


Speaks = Callable[[Question], bool]
"""Whether something in what a question shows speaks to a judge."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ground:
    """What a plan is made of."""

    manifest: Manifest
    manifest_sha256: str
    tasks: tuple[Task, ...]
    key: bytes
    pairs: int | None
    """Instead of what the release says."""

    @property
    def judging(self) -> Judging:
        """The release's rules, with the pairs that were asked for."""
        judging = self.manifest.judging
        return judging if self.pairs is None else judging.model_copy(update={"pairs": self.pairs})


def make_plan(ground: Ground, speaks: Speaks) -> Plan:
    """Make the plan. The same submissions give the same plan, whoever makes it and whenever."""
    questions: dict[tuple[str, Item, View], Question] = {}
    skipped: list[Skipped] = []
    for judge in ground.manifest.judges:
        if judge.id == ground.judging.fallback:
            continue
        for asked in _questions(ground, judge):
            if isinstance(asked, Skipped):
                skipped.append(asked)
                continue
            for question in _views(asked, ground.judging, speaks):
                # Two judges of one family have one fallback, which is asked once.
                questions.setdefault((question.judge.id, question.item, question.view), question)
    document = JudgingPlan(
        release=ground.manifest.release,
        manifest_sha256=ground.manifest_sha256,
        pairs=ground.pairs,
        cells=tuple(entrant.cell for task in ground.tasks for entrant in task.entrants),
        askings=tuple(question.planned for question in questions.values()),
        skipped=tuple(skipped),
    )
    return Plan(document=document, questions=tuple(questions.values()))


def _questions(ground: Ground, judge: Judge) -> Iterator[Question | Skipped]:
    """Give what one judge is asked, in the order of asking, hidden controls among the rest."""
    judges = {each.id: each for each in ground.manifest.judges}
    candidates = {each.id: each for each in ground.manifest.candidates}
    shown = _Cases({task.nomination: task for task in ground.tasks})
    items = tuple(_items(ground, judge))
    if not items:
        return
    sources = tuple(_sources(ground, judge, candidates))
    controls = plan_controls(sources, len(items), ground.judging.control_percent, judge.id, ground.key)
    made = {control.item: control for control in controls}
    for item in in_stream((*items, *made), judge.id, ground.key):
        who = who_answers(judge, item, ground.judging, judges, candidates)
        if isinstance(who, Skipped):
            yield who
            continue
        task, sides = shown.control(made[item]) if isinstance(item, ControlItem) else shown.case(item)
        instead_of = None if who.id == judge.id else judge.id
        yield Question(judge=who, instead_of=instead_of, item=item, view=View.FULL, task=task, sides=sides)


def _items(ground: Ground, judge: Judge) -> Iterator[RubricItem | PairItem]:
    rules = ground.judging
    for task in ground.tasks:
        criteria = tuple(criterion_id(each) for each in task.criteria)
        if judge.kind != "pairwise" and criteria:
            cells = (each.cell for each in task.entrants if rules.rubric_bar in each.reached)
            yield from rubric_items(cells, criteria, rules.criteria_at_once, rules.repeats)
        if judge.kind != "rubric" and criteria:
            paired = tuple(each.cell for each in _paired(ground, task))
            pairs = circulant(paired, rules.degree) if rules.pairs is None else drawn(paired, rules.pairs, ground.key)
            yield from pair_items(task.nomination, pairs, judge.id, ground.key, rules.repeat_percent)


def _paired(ground: Ground, task: Task) -> Iterator[Entrant]:
    """Give what is compared: of each candidate the one attempt that counts where one alone may."""
    number = ground.manifest.retry_policy.canonical_attempt
    for each in task.entrants:
        if ground.judging.pair_bar in each.reached and each.cell.attempt == number:
            yield each


def _sources(ground: Ground, judge: Judge, candidates: Mapping[str, Candidate]) -> Iterator[Source]:
    """Give what a judge's controls can be made of: the solutions, and work that it may see."""
    for task in ground.tasks:
        if not task.criteria:
            continue
        solution, loser = (without_tests(each, task.is_test) for each in (task.solution, task.loser))
        yield Source(nomination=task.nomination, cell=None, changes=solution, loser=loser)
        for each in _paired(ground, task):
            if ground.judging.own_family or not is_own(judge, candidates[each.cell.candidate]):
                changes = without_tests(each.changes, task.is_test)
                yield Source(nomination=task.nomination, cell=each.cell, changes=changes)


def _views(question: Question, judging: Judging, speaks: Speaks) -> Iterator[Question]:
    yield question
    # An answer in prose is a document, of which the view without comments shows nothing.
    if isinstance(question.item, ControlItem) or question.task.free_text or judging.second_view == "never":
        return
    if judging.second_view == "always" or speaks(question):
        yield replace(question, view=View.BARE)


@dataclass(frozen=True, slots=True)
class _Cases:
    """Finds what an asking shows."""

    tasks: Mapping[str, Task]

    def case(self, item: RubricItem | PairItem) -> tuple[Task, tuple[Shown, ...]]:
        """Give the changes of an asking, in the order of showing; tests that came with them in a rubric's alone."""
        if isinstance(item, RubricItem):
            task = self.tasks[item.cell.nomination]
            entrant = _entrant(task, item.cell)
            return task, (Shown(changes=entrant.changes, tests=entrant.tests),)
        task = self.tasks[item.nomination]
        pair = [_entrant(task, cell) for cell in (item.first, item.second)]
        sides = [Shown(changes=without_tests(each.changes, task.is_test), tests=each.tests) for each in pair]
        return task, _ordered(sides, item.shown_a == "first")

    def control(self, control: Control) -> tuple[Task, tuple[Shown, ...]]:
        """Give the two sides of a control, with what is known of their tests."""
        task, kind, cell = self.tasks[control.item.nomination], control.item.control, control.item.cell
        own = task.tests["solution"] if cell is None else _entrant(task, cell).tests
        if kind is ControlKind.TRUNCATED_PATCH:
            own = other = PublicTests.NOT_RUN
        else:
            other = {
                ControlKind.KNOWN_WINNER: task.tests["loser"],
                ControlKind.NULL_PATCH: task.tests["base"],
            }.get(kind, own)
        sides = (Shown(changes=control.first, tests=own), Shown(changes=control.second, tests=other))
        return task, _ordered(sides, control.item.shown_a == "first")


def _entrant(task: Task, cell: Cell) -> Entrant:
    return next(each for each in task.entrants if each.cell == cell)


def _ordered(sides: Sequence[Shown], first_is_a: bool) -> tuple[Shown, ...]:  # noqa: FBT001 - the one fact of it
    return tuple(sides) if first_is_a else tuple(reversed(sides))


def chosen(
    questions: Iterable[Question], judges: Iterable[str], candidates: Iterable[str], nominations: Iterable[str]
) -> tuple[Question, ...]:
    """Pick the questions to some judges, on some nominations, that show work of some candidates; controls stay."""
    wanted, shown, places = set(judges), set(candidates), set(nominations)
    return tuple(
        each
        for each in questions
        if each.judge.id in wanted and each.task.nomination in places and _shows(each.item, shown)
    )


def _shows(item: Item, candidates: set[str]) -> bool:
    match item:
        case RubricItem():
            return item.cell.candidate in candidates
        case PairItem():
            return bool({item.first.candidate, item.second.candidate} & candidates)
        case ControlItem():
            return True
