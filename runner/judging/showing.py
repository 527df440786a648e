"""From questions to packets and prompts, with the release's names, ceilings and frozen templates. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from runner.documents.judging import RubricItem, Side, View
from runner.judges import IN_DEPTH, PAIRWISE, RUBRIC, CriterionEntry, Judging, criterion_id
from runner.judging.changes import Look
from runner.judging.exhibits import Changes, Task
from runner.judging.identity import Identities
from runner.judging.packet import Packet, Submitted, is_flagged
from runner.judging.pairing import Item
from runner.judging.planning import Question
from runner.judging.prompts import Secrets, build_prompt
from runner.judging.reading_tree import ReadingTree, reading_tree
from runner.judging.render import Shown as Rendered
from runner.judging.render import render
from runner.roster import Judge


@dataclass(frozen=True, slots=True, kw_only=True)
class Template:
    """A frozen prompt text."""

    text: str
    sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Showroom:
    """Makes packets and prompts; a change is made harmless to look at once."""

    judging: Judging
    known: Identities
    templates: Mapping[str, Template]
    """By file name."""
    _rendered: dict[tuple[str, View, Changes], Rendered] = field(default_factory=dict)
    _trees: dict[tuple[str, View, Changes], ReadingTree] = field(default_factory=dict)

    def packet(self, question: Question) -> Packet:
        """Give all that a question shows."""
        task, view = question.task, question.view
        solution = self._render(task, view, task.solution) if self.judging.show_solution == "projected" else None
        return Packet(
            task=task.prompt,
            criteria=asked_criteria(task, question.item),
            changes=tuple(
                Submitted(shown=self._render(task, view, side.changes), tests=side.tests) for side in question.sides
            ),
            solution=solution,
            view=view,
        )

    def speaks(self, question: Question) -> bool:
        """Whether something in what a question shows speaks to a judge."""
        return is_flagged(self.packet(question))

    def tree(self, question: Question) -> ReadingTree | None:
        """Give what a judge may look around in: the tree of the change it is asked about, in the same view."""
        task, view = question.task, question.view
        if not looks_around(question.judge, question.item):
            return None
        (side,) = question.sides
        name = (task.nomination, view, side.changes)
        if name not in self._trees:
            self._trees[name] = reading_tree(task.fixture, side.changes, self._look(task, view))
        return self._trees[name]

    def template(self, question: Question) -> Template:
        """Give the template of an asking."""
        return self.templates[template_name(question.judge, question.item)]

    def prompt(self, question: Question, packet: Packet, secrets: Secrets) -> str:
        """Give the whole message."""
        return build_prompt(self.template(question).text, packet, secrets)

    def _render(self, task: Task, view: View, changes: Changes) -> Rendered:
        name = (task.nomination, view, changes)
        if name not in self._rendered:
            self._rendered[name] = render(changes, self._look(task, view))
        return self._rendered[name]

    def _look(self, task: Task, view: View) -> Look:
        return Look(view=view, ceilings=self.judging.ceilings, known=self.known, task=task.prompt)


def looks_around(judge: Judge, item: Item) -> bool:
    """Whether a judge is given a tree to read: one that is asked in depth, about one submission."""
    return judge.in_depth and isinstance(item, RubricItem)


def template_name(judge: Judge, item: Item) -> str:
    """Give the file name of the template that an asking is made with."""
    if looks_around(judge, item):
        return IN_DEPTH
    return RUBRIC if isinstance(item, RubricItem) else PAIRWISE


def asked_criteria(task: Task, item: Item) -> tuple[CriterionEntry, ...]:
    """Give the criteria of an asking: those it names in its own order, or all of the task's for a pair."""
    if not isinstance(item, RubricItem):
        return task.criteria
    by_name = {criterion_id(each): each for each in task.criteria}
    return tuple(by_name[name] for name in item.criteria)


def sides_of(item: Item) -> tuple[Side | None, ...]:
    """Give what the changes are in the plan, in the order in which they are shown."""
    if isinstance(item, RubricItem):
        return (None,)
    return ("first", "second") if item.shown_a == "first" else ("second", "first")
