"""Scenario files: what the scripted provider answers, step by step."""

import json
import re
from typing import Annotated, ClassVar, Literal

from pydantic import Field, JsonValue, model_validator

from runner.documents.ledger import Tokens
from runner.documents.model import DecimalText, Document, Milliseconds, Shape


class When(Shape):
    """Which conversation a step belongs to, by its first user message."""

    contains: Annotated[str, Field(min_length=1)]
    """A part of that message."""


class ToolCall(Shape):
    """A tool call; `arguments` as an object, or `raw` as the literal text, malformed or not."""

    name: str
    """The tool."""
    arguments: dict[str, JsonValue] | None = None
    """What it is called with."""
    raw: str | None = None
    """The text of the arguments, as it stands."""

    @model_validator(mode="after")
    def _one_of_both(self) -> "ToolCall":
        if (self.arguments is None) == (self.raw is None):
            raise ValueError("a tool call has either arguments or raw")
        return self


class Answer(Shape):
    """A completion."""

    text: str | None = None
    """What the model says."""
    text_times: Annotated[int, Field(ge=1)] = 1
    """How often it says that, one after the other: a long answer from a short script."""
    fills: dict[str, str] = Field(default_factory=dict)
    """What stands for `{{name}}` in the text, by name: a regular expression, of which the first group that is found in
    the first user message is put there, as JSON writes it within a string."""
    reasoning: str | None = None
    """What it says of its thoughts."""
    tool_calls: tuple[ToolCall, ...] = ()
    """The tools it calls."""
    finish_reason: str | None = None
    """Default: `tool_calls` where there are some, else `stop`."""
    model: str | None = None
    """Another model than was asked for, as routers sometimes answer."""

    def filled(self, prompt: str) -> "Answer":
        """Give the answer with its text filled from a prompt; what is not found there stays as it is."""
        text = self.text
        for name, pattern in self.fills.items():
            found = re.search(pattern, prompt)
            if text is not None and found is not None:
                text = text.replace("{{" + name + "}}", json.dumps(found[1])[1:-1])
        return self.model_copy(update={"text": text})


class Fail(Shape):
    """An error of the provider."""

    status: Annotated[int, Field(ge=400, le=599)]
    """The HTTP status."""
    message: str = "scripted failure"
    """The error's text."""
    code: str | None = None
    """The error's code."""
    retry_after: str | None = None
    """The header of that name."""
    times: Annotated[int, Field(ge=1)] | None = None
    """Only the first so many times that the very same request comes; then the step's answer follows."""


class Raw(Shape):
    """Bytes of an answer as they are."""

    status: Annotated[int, Field(ge=200, le=599)] = 200
    """The HTTP status."""
    content_type: str = "application/json"
    """The header of that name."""
    body: str
    """The body's text."""


class Step(Shape):
    """One answer of the model. With `cut_after` the connection breaks after so many parts were sent."""

    when: When | None = None
    """Null: for every conversation that no other step names."""
    delay_ms: Milliseconds = 0
    """Time before the answer begins."""
    fail: Fail | None = None
    """An error instead of, or before, the answer."""
    raw: Raw | None = None
    """Bytes instead of an answer."""
    answer: Answer | None = None
    """What is answered."""
    cut_after: Annotated[int, Field(ge=0)] | None = None
    """Parts of the answer after which the connection breaks."""
    pause_ms: Milliseconds = 0
    """Time between the parts of a stream."""
    hang_ms: Milliseconds = 0
    """Time without a byte, before anything is sent."""
    repeat: bool = False
    """Stands for every later step of its conversation too; the last one only."""
    usage: Tokens = Tokens(input=100, output=20)
    """Tokens that the answer reports."""
    cost: DecimalText | None = None
    """What the answer says it cost."""

    @model_validator(mode="after")
    def _says_something(self) -> "Step":
        lasting = self.fail is not None and self.fail.times is None
        if (self.raw is not None) + (self.answer is not None) + lasting != 1:
            raise ValueError("a step has one of fail, raw and answer; fail with times stands beside one of the others")
        return self


class Scenario(Document):
    """A scripted model: its name, and its steps in order.

    A conversation is answered by the steps whose `when` its first user message contains; where there are
    none, by the steps without `when`. The number of the step is the number of assistant messages in the
    request, so a request that is sent again gets the same answer.
    """

    SCHEMA_NAME: ClassVar[str] = "scenario"
    schema_: Literal["cleanroom/scenario/1"] = Field(default="cleanroom/scenario/1", alias="schema")
    model: Annotated[str, Field(min_length=1)]
    """The name that candidates ask for."""
    note: str = ""
    """For readers."""
    steps: Annotated[tuple[Step, ...], Field(min_length=1)]
    """In the order in which they are played."""

    def step(self, prompt: str, turn: int) -> Step | None:
        """Give the step that answers; None when the script is over."""
        named = [step for step in self.steps if step.when is not None and step.when.contains in prompt]
        mine = named or [step for step in self.steps if step.when is None]
        if turn < len(mine):
            return mine[turn]
        return mine[-1] if mine and mine[-1].repeat else None
