"""An attempt in lines: what it is, how it ended, and what was said in it. Pure; `lines.py` neutralises."""

import json
from collections.abc import Iterator

from runner.outcome import COUNTED, Outcome, verdict
from runner.reason import VERDICTS, reason
from runner.reports.marks import UNKNOWN
from runner.showing.lines import Line, Tone, plain, quoted
from runner.showing.sections import counted, seconds
from runner.showing.steps import Kind, Step
from runner.showing.story import Run, Story

LINES = 40
"""Of one text that somebody else wrote; `--full` shows all."""
_FAINT = 12
"""Of one that is the same for everybody: what an agent tells its model of itself."""

OUTCOMES = {
    Outcome.MISSING_ARTIFACTS: "evidence is missing: nothing can be said about it",
    Outcome.UNAVAILABLE: "the candidate was not available, and never saw the task",
    Outcome.FORBIDDEN_CHANGES: "it changed what it may not change",
    Outcome.VOID: "somebody else's fault: it says nothing about the candidate",
    Outcome.AGENT_FAILURE: "the agent failed by itself",
    Outcome.TESTS_FAILED: "the public tests failed on what it left",
    Outcome.COMPLETED: "it came to its end, and the public tests passed",
}
_WHO = {
    Kind.SYSTEM: "the agent, of itself",
    Kind.TOLD: "told the model",
    Kind.SAID: "the model",
    Kind.THOUGHT: "the model, in thought",
    Kind.CALL: "the model calls",
    Kind.REPLY: "replied",
    Kind.ERROR: "no answer",
    Kind.NOTE: "note",
}


def attempt_lines(story: Story, most: int | None) -> Iterator[Line]:
    """Say what it is an attempt of, how it ended, and why."""
    candidate = story.candidate
    who = ", ".join(filter(None, (candidate.label, candidate.agent.value, candidate.model)))
    yield plain(story.name, Tone.HEADING)
    yield plain(f"candidate   {candidate.id}: {who}")
    yield plain(f"nomination  {story.trial.nomination}: {story.title}")
    yield plain(f"release     {story.trial.release}, manifest sha256 {story.trial.manifest_sha256}")
    tone = Tone.GOOD if story.outcome in COUNTED and verdict(story.facts) else Tone.BAD
    yield plain(f"outcome     {story.outcome}: {OUTCOMES[story.outcome]}", tone)
    yield plain(f"verdict     {_verdict(story)}", tone)
    yield plain(f"reason      {reason(story.facts)}")
    yield from (plain(f"note        {note}") for note in _notes(story))
    yield plain(f"evidence    {story.folder}")
    yield from (
        plain(f"also        try {each.number}: {each.outcome}: {each.reason}", Tone.FAINT) for each in story.others
    )
    yield from _last_words(story, most)


def _verdict(story: Story) -> str:
    passed = verdict(story.facts)
    if passed is None:
        return "none: nothing may be said about it"
    scores = ", ".join(
        f"{each.id} {VERDICTS[each.cause]} ({each.assurance}, score {each.score or UNKNOWN})"
        for each in story.facts.evaluators
    )
    return f"{'passed' if passed else 'failed'}: {scores}"


def _notes(story: Story) -> Iterator[str]:
    origin = story.look.origin
    if origin is not None and origin.scripted:
        yield "scripted: its model was played from a scenario; it says nothing about any real model"
    if story.candidate.network == "direct" and not story.candidate.is_control:
        yield "network: direct: what it asked was not metered, its cost is unknown"
    yield from story.unfinished
    yield from (f"capture: {each}" for each in story.findings_of_capture)


def _last_words(story: Story, most: int | None) -> Iterator[Line]:
    told = next((run.telemetry for run in reversed(story.runs) if run.telemetry is not None), None)
    if told is None:
        return
    tools = ", ".join(
        f"{use.name} {use.calls}{f' ({use.errors} failed)' if use.errors else ''}" for use in told.tool_calls
    )
    yield plain(
        f"the agent says: {counted(told.turns, 'turn')}, ended {told.ended or UNKNOWN}; tools: {tools or 'none'}"
    )
    if told.final_error is not None:
        error = told.final_error
        yield plain(f"its last error: {error.kind}, status {error.status or UNKNOWN}")
        yield from quoted(error.message, most)
    if told.final_message:
        yield plain("its last words:")
        yield from quoted(told.final_message, most)


def probe_lines(story: Story, most: int | None) -> Iterator[Line]:
    """Say how the probe went, where it was not answered as it must be."""
    found = story.preflight
    if found is None or not found.needed:
        return
    yield plain(f"The probe: {'answered' if found.available else f'failed ({found.reason})'}", Tone.HEADING)
    for asked in found.tries:
        why = "as it must be" if asked.reason is None else f"not answered as it must be: {asked.reason}"
        yield plain(f"asked {found.prompt!r}: {why}, {seconds(asked.wall_ms)} s")
        yield from quoted(asked.answer, most) if asked.answer is not None else ()


def transcript_lines(story: Story, most: int | None) -> Iterator[Line]:
    """Tell what agent and model said to each other, step by step."""
    yield from () if story.preflight is None or story.preflight.available else probe_lines(story, most)
    for run in story.runs:
        name = "" if len(story.runs) == 1 else f", {run.name}"
        yield plain(f"{counted(len(run.steps), 'step')}{name}; {run.source}", Tone.FAINT)
        for number, step in enumerate(run.steps, 1):
            yield from step_lines(number, step, most)
        yield from _ended(run)


def _ended(run: Run) -> Iterator[Line]:
    if run.end is not None:
        end = run.end.end
        status = "" if end.status is None else f" {end.status}"
        yield plain(f"the agent's unit ended: {end.cause}{status} after {seconds(end.wall_ms)} s{_after(end.detail)}")


def _after(detail: str) -> str:
    return f": {detail}" if detail else ""


def step_lines(number: int, step: Step, most: int | None) -> Iterator[Line]:
    """Show one step."""
    asked = "" if step.request is None else f"  (request {step.request})"
    name = f" {step.name}" if step.name else ""
    failed = " with an error" if step.failed else ""
    who = f"{step.name or 'a tool'} replied{failed}" if step.kind is Kind.REPLY else f"{_WHO[step.kind]}{name}"
    tones = {Kind.ERROR: Tone.BAD, Kind.NOTE: Tone.FAINT, Kind.SYSTEM: Tone.FAINT, Kind.CALL: Tone.HEADING}
    tone = Tone.BAD if step.failed else tones.get(step.kind, Tone.PLAIN)
    if step.kind in {Kind.NOTE, Kind.ERROR}:
        yield plain(f"{number:3}. {who}: {step.text}{asked}", tone)
        return
    yield plain(f"{number:3}. {who}{asked}", tone)
    bound = min(most, _FAINT) if most is not None and step.kind is Kind.SYSTEM else most
    text = _arguments(step.text) if step.kind is Kind.CALL else step.text
    yield from quoted(text, bound) if text else ()


def _arguments(text: str) -> str:
    """Write a call's arguments one below the other; texts of several lines as they are."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return text
    if not isinstance(found, dict):
        return text
    return "\n".join(_argument(name, value) for name, value in found.items())


def _argument(name: str, value: object) -> str:
    told = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    if "\n" not in told:
        return f"{name}: {told}"
    return "\n".join((f"{name}:", *(f"    {line}" for line in told.removesuffix("\n").split("\n"))))
