"""A judging before it is held: how many calls, what they may cost at most, and one whole question. Nobody is asked."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from decimal import Decimal

from runner.config import PhaseLimits
from runner.documents.writing import decimal_text
from runner.dry_run import unit_shown
from runner.judging.key import asking_id, secrets_of
from runner.judging.opening import Hearing
from runner.judging.packet import packet_digest, refusal
from runner.judging.planning import Question
from runner.judging.programs import agent_of, task_of
from runner.judging.sitting import spoken
from runner.roster import Judge
from sandbox.properties import Property
from sandbox.spec import Role


@dataclass(frozen=True, slots=True, kw_only=True)
class Looking:
    """The unit of a judge that looks around."""

    agent: str
    argv: tuple[str, ...]
    stdin_bytes: int
    """Of its first question."""
    reads: int
    """Paths of the change that are laid over the frozen base, or taken from it, for that question."""
    withheld: tuple[str, ...]
    """Paths that are left out, each with why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeCalls:
    """What one judge is asked."""

    judge: str
    model: str
    askings: dict[str, int]
    """By kind."""
    calls: int
    """At most: each asking may take several answers."""
    usd: str | None
    """At most; null where nothing bounds it."""
    tokens: int | None
    """As above."""
    requests: int | None = None
    """As above."""
    looks: Looking | None = None
    """How it looks around, if it does."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgingRehearsal:
    """What would be done."""

    judges: tuple[JudgeCalls, ...]
    skipped: int
    too_large: int
    """Askings whose changes are beyond the ceilings: nobody is asked."""
    about: str
    """Which question is shown."""
    prompt: str
    """All of it, as the judge would read it."""
    packet_sha256: str | None
    limits: PhaseLimits
    """Of each call's unit."""
    properties: tuple[Property, ...]
    """Of a unit that looks around; none where nobody does."""

    def facts(self) -> dict[str, object]:
        """Give it as JSON values."""
        rows = [
            {
                "judge": each.judge,
                "model": each.model,
                "askings": each.askings,
                "calls": each.calls,
                "usd": each.usd,
                "tokens": each.tokens,
                "requests": each.requests,
                "looks": None if each.looks is None else asdict(each.looks),
            }
            for each in self.judges
        ]
        return {
            "judges": rows,
            "skipped": self.skipped,
            "too_large": self.too_large,
            "about": self.about,
            "packet_sha256": self.packet_sha256,
            "prompt": self.prompt,
            "limits": self.limits.model_dump(mode="json"),
            "properties": [{"name": each.name, "value": repr(each.value), "why": each.why} for each in self.properties],
        }

    def text(self) -> str:
        """Give it for people."""
        lines = [
            f"{each.judge} ({each.model}): {_counts(each.askings)}; at most {each.calls} calls, "
            f"{_bound(each.usd, 'USD')}, {_bound(each.tokens, 'tokens')}, {_bound(each.requests, 'requests')}"
            for each in self.judges
        ]
        lines.append(f"{self.skipped} askings are skipped: of a judge's own family")
        lines.append(f"{self.too_large} askings show changes beyond the ceilings: nobody is asked")
        lines += self._units()
        head = (
            f"One whole question: {self.about}; packet {self.packet_sha256}" if self.prompt else "No question is asked"
        )
        return "\n".join([*lines, "", head, "", self.prompt, ""])

    def _units(self) -> Iterator[str]:
        """Say how those that look around do."""
        for each in self.judges:
            if each.looks is None:
                continue
            looks = each.looks
            yield f"\n{each.judge} looks around by agent {looks.agent}: {' '.join(looks.argv)}"
            yield f"  standard input: {looks.stdin_bytes} bytes; the change laid for it has {looks.reads} paths"
            yield from (f"  left out of what it reads: {path}" for path in looks.withheld)
        if self.properties:
            limits = ", ".join(f"{name} {value}" for name, value in self.limits.model_dump().items())
            yield f"\nLimits of a judge's unit: {limits}\n\nProperties of a unit that looks around"
            yield from (f"  {each.name}={each.value!r}  # {each.why}" for each in self.properties)


def rehearse_judging(hearing: Hearing) -> JudgingRehearsal:
    """Say what would be asked; the question shown is the first one, with what its first call would hold."""
    show, first = hearing.show, next(iter(hearing.questions), None)
    judges = {question.judge.id: question.judge for question in hearing.questions}
    too_large = sum(refusal(show.packet(question)) is not None for question in hearing.questions)
    prompt, digest, about = "", None, ""
    if first is not None:
        packet = show.packet(first)
        secrets = secrets_of(hearing.key, asking_id(first.judge.id, first.item, first.view), 1)
        prompt, digest = show.prompt(first, packet, secrets), packet_digest(packet)
        about = f"{first.judge.id}: {spoken(first)}"
    return JudgingRehearsal(
        judges=tuple(_calls(hearing, each) for each in judges.values()),
        skipped=len(hearing.plan.document.skipped),
        too_large=too_large,
        about=about,
        prompt=prompt,
        packet_sha256=digest,
        limits=hearing.frozen.manifest.limits.judges,
        properties=_properties(hearing, tuple(judges.values())),
    )


def _properties(hearing: Hearing, judges: tuple[Judge, ...]) -> tuple[Property, ...]:
    if not any(judge.in_depth for judge in judges):
        return ()
    limits = hearing.frozen.manifest.limits.judges.limits()
    return unit_shown(Role.JUDGE, limits, hearing.frozen.inputs.config.clean_room.accounts.first)


def _calls(hearing: Hearing, judge: Judge) -> JudgeCalls:
    asked = [question for question in hearing.questions if question.judge.id == judge.id]
    kinds = Counter(question.item.kind for question in asked)
    calls = kinds.total() * hearing.show.judging.answers
    budget = judge.budget
    return JudgeCalls(
        judge=judge.id,
        model=judge.model or "",
        askings={kind: kinds[kind] for kind in sorted(kinds)},
        calls=calls,
        usd=None if budget.usd is None else decimal_text(Decimal(budget.usd) * calls),
        tokens=None if budget.tokens is None else budget.tokens * calls,
        requests=None if budget.requests is None else budget.requests * calls,
        looks=next(_looking(hearing, asked), None),
    )


def _looking(hearing: Hearing, asked: Iterable[Question]) -> Iterator[Looking]:
    """Say how the questions are put that come with a tree."""
    manifest, show = hearing.frozen.manifest, hearing.show
    routes = {route.id: route for route in manifest.routes}
    for question in asked:
        tree, judge = show.tree(question), question.judge
        if tree is None:
            continue
        secrets = secrets_of(hearing.key, asking_id(judge.id, question.item, question.view), 1)
        prompt = show.prompt(question, show.packet(question), secrets)
        agent = agent_of(judge, routes[judge.route or ""], looks=True)
        command = agent.command(task_of(judge, prompt, manifest.limits.judges.limits().wall, looks=True))
        yield Looking(
            agent=agent.name,
            argv=command.argv,
            stdin_bytes=len(command.stdin),
            reads=len(tree.change.entries),
            withheld=tuple(f"{each.path} ({each.why})" for each in tree.record.withheld),
        )


def _counts(askings: dict[str, int]) -> str:
    return ", ".join(f"{count} {kind}" for kind, count in askings.items())


def _bound(value: object, unit: str) -> str:
    return f"no ceiling of {unit}" if value is None else f"{value} {unit}"
