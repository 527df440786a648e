"""From questions to packets and prompts, with the release's names, ceilings and frozen templates. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from runner.documents.judging import RubricItem, Side, View
from runner.judges import CriterionEntry, Judging, criterion_id
from runner.judging.exhibits import Changes, Task
from runner.judging.identity import Identities
from runner.judging.packet import Packet, Submitted, is_flagged
from runner.judging.pairing import Item
from runner.judging.planning import Question
from runner.judging.prompts import Secrets, build_prompt
from runner.judging.render import Look, render
from runner.judging.render import Shown as Rendered

RUBRIC, PAIRWISE = "rubric.md", "pairwise.md"


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

    def template(self, item: Item) -> Template:
        """Give the template of an asking."""
        return self.templates[template_name(item)]

    def prompt(self, question: Question, packet: Packet, secrets: Secrets) -> str:
        """Give the whole message."""
        return build_prompt(self.template(question.item).text, packet, secrets)

    def _render(self, task: Task, view: View, changes: Changes) -> Rendered:
        name = (task.nomination, view, changes)
        if name not in self._rendered:
            look = Look(view=view, ceilings=self.judging.ceilings, known=self.known, task=task.prompt)
            self._rendered[name] = render(changes, look)
        return self._rendered[name]


def template_name(item: Item) -> str:
    """Give the file name of the template that an asking is made with."""
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
