"""The loop: ask, do what the model asks, tell it what came of it, until it is done or out of turns."""

import ctypes
import json
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import TextIO

from .text import sendable, shorten
from .tools import Json, Reply, Toolbox, open_toolbox
from .wire import Answer, Call, ModelError, ask

ENDED, PROVIDER_FAILED = 0, 3
CALLS_A_TURN = 32
EVENT_BYTES = 3 << 18
"""Of all events together; later ones lose their texts, so that the stream stays below its unit's limit."""
EVENT_CHARS = 4_000
FINAL_CHARS = 50_000
ANSWER_CHARS = 100_000
"""Of an answer that is a text: more than any reader of such answers takes, so that none is cut that would be taken."""
PR_SET_DUMPABLE = 4

NUDGE = (
    "You answered without calling a tool. If the work is finished, call done; "
    "otherwise go on with the tools. Nothing you write as text changes a file."
)
CUT = "Your answer was cut off at the length limit. Go on, in smaller steps."
TOO_MANY = f"error: more than {CALLS_A_TURN} calls in one message; this one was not made"


@dataclass
class Events:
    """Writes what happens as JSON lines."""

    out: TextIO
    spent: int = 0

    def tell(self, event: str, **members: object) -> None:
        """Write one event."""
        limit = EVENT_CHARS if self.spent < EVENT_BYTES else 40
        if event not in {"end", "error"}:
            members = {
                name: shorten(value, limit) if isinstance(value, str) else value for name, value in members.items()
            }
        line = json.dumps({"event": event, **members})
        self.spent += len(line)
        self.out.write(line + "\n")
        self.out.flush()


@dataclass
class Loop:
    """One conversation."""

    config: Json
    toolbox: Toolbox
    events: Events
    turns: int
    text_ends: bool = False
    """Whether a message without a call is the whole answer, however it ended; else the model is told to go on."""
    messages: list[Json] = field(default_factory=list)
    more: Json = field(default_factory=dict)
    """Further members of every question."""
    nudged: bool = False
    last_text: str = ""

    def run(self) -> int:
        """Go through the turns; give the exit status."""
        for turn in range(1, self.turns + 1):
            try:
                answer = ask(str(self.config["base_url"]), self._question(), float(str(self.config["patience_s"])))
            except ModelError as error:
                self.events.tell("error", kind=error.kind, status=error.status, message=error.message)
                return PROVIDER_FAILED
            ended = self._take(answer, turn)
            if ended is not None:
                return self._end(*ended)
        return self._end("turns", "" if self.text_ends else self.last_text)

    def _question(self) -> Json:
        question: Json = {"model": self.config["model"], "messages": self.messages, **self.more}
        tools = self.toolbox.offer()
        if tools:
            question["tools"] = tools
        if self.config["stream"]:
            question["stream"] = True
        return question

    def _take(self, answer: Answer, turn: int) -> tuple[str, str] | None:
        """Act on an answer; give why and with which message the conversation ended, if it did."""
        self.messages.append(answer.message())
        self.last_text = answer.text or self.last_text
        self.events.tell(
            "turn",
            turn=turn,
            finish_reason=answer.finish_reason,
            calls=len(answer.calls),
            parts=answer.parts,
            text=answer.text,
        )
        if answer.calls:
            return self._do(answer, turn)
        if self.text_ends:
            return "text", answer.text
        if answer.finish_reason == "length":
            self._say(CUT)
            return None
        if self.nudged or not self.toolbox.calls:
            return "text", answer.text
        self.nudged = True
        self.events.tell("nudge", turn=turn)
        self._say(NUDGE)
        return None

    def _say(self, text: str) -> None:
        self.messages.append({"role": "user", "content": text})

    def _do(self, answer: Answer, turn: int) -> tuple[str, str] | None:
        done: str | None = None
        for number, call in enumerate(answer.calls):
            reply = Reply(TOO_MANY, failed=True)
            if number < CALLS_A_TURN:
                reply = self.toolbox.call(call.name, call.arguments)
                self._tell_tool(call, reply, turn)
            if reply.malformed and answer.finish_reason == "length":
                reply = Reply(f"{reply.text}\n{CUT}", failed=True, malformed=True)
            if reply.summary is not None:
                done = reply.summary
            self.messages.append(
                {
                    "role": "tool",
                    "tool_call_id": call.id,
                    "content": sendable(f"{reply.text}\n[{self._left(turn)}]"),
                },
            )
        return None if done is None else ("done", done.strip() or answer.text or self.last_text)

    def _tell_tool(self, call: Call, reply: Reply, turn: int) -> None:
        self.events.tell(
            "tool",
            turn=turn,
            name=call.name[:200],
            failed=reply.failed,
            malformed=reply.malformed,
            arguments=call.arguments,
            reply=reply.text,
        )

    def _left(self, turn: int) -> str:
        left = self.turns - turn
        return "no turns left" if not left else "this is your last turn" if left == 1 else f"{left} turns left"

    def _end(self, why: str, message: str) -> int:
        self.events.tell("end", reason=why, message=shorten(message, ANSWER_CHARS if self.text_ends else FINAL_CHARS))
        return ENDED


def main() -> int:
    """Read one JSON document from standard input and work on it."""
    _hide_from_own_account()
    config = json.loads(sys.stdin.buffer.read())
    root = Path(config["root"])
    loop = Loop(
        config=config,
        toolbox=open_toolbox(root, config["tools"], config["limits"]),
        events=Events(sys.stdout),
        turns=config["turns"],
        text_ends=config["text_ends"],
        more=config["more"],
    )
    if config["system"]:
        loop.messages.append({"role": "system", "content": config["system"]})
    loop.messages.append({"role": "user", "content": config["prompt"]})
    return loop.run()


def _hide_from_own_account() -> None:
    # Commands that the model runs share this account; without this they could trace us, or write as we do.
    ctypes.CDLL(None).prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)
