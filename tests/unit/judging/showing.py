"""Changes, packets and answers for the tests of judging."""

import json
from collections.abc import Mapping
from typing import Any

from runner.documents.judging import View
from runner.judges import AnchoredCriterion, Ceilings
from runner.judging.answers import Finish, Reply, Wanted
from runner.judging.changes import Content, FileChange, Look
from runner.judging.identity import Identities, identities, roster_names
from runner.judging.packet import Packet, PublicTests, Submitted
from runner.judging.prompts import Secrets
from runner.judging.render import Shown, render
from runner.roster import Agent, Candidate

SECRETS = Secrets(boundary="b0" * 16, nonce="c1" * 16, canary="d2" * 16)
WONDER = Candidate(
    id="right-repair", agent=Agent.NATIVE, model="vendor/wonder-7b:free", route="r", family="Wonderwerk", label="W7"
)
KNOWN = identities(roster_names([WONDER, Candidate(id="nothing", agent=Agent.NOP)]))
SCOPE = AnchoredCriterion(id="scope", asks="Does it do what was asked?", anchors={"0": "no", "10": "all of it"})
CRITERIA = (SCOPE, "clarity")
TASK = "Make `greet` polite."


def change(path: str, before: str | None, after: str | None) -> FileChange:
    def content(text: str | None) -> Content | None:
        return None if text is None else Content(data=text.encode("utf-8", "surrogateescape"))

    return FileChange(path=path.encode(), before=content(before), after=content(after))


def look(view: View = View.FULL, ceilings: Ceilings | None = None, known: Identities = KNOWN, task: str = TASK) -> Look:
    return Look(view=view, ceilings=ceilings or Ceilings(), known=known, task=task)


def shown(*changes: FileChange, view: View = View.FULL, ceilings: Ceilings | None = None, task: str = TASK) -> Shown:
    return render(changes, look(view, ceilings, task=task))


def submitted(*changes: FileChange) -> Submitted:
    return Submitted(shown=shown(*changes), tests=PublicTests.PASSED)


POLITE = change("greet.py", "def greet():\n    return 'hi'\n", "def greet():\n    return 'good day'\n")
CURT = change("greet.py", "def greet():\n    return 'hi'\n", "def greet():\n    return 'hello'\n")
RUBRIC = Packet(task=TASK, criteria=CRITERIA, changes=(submitted(POLITE),), solution=None, view=View.FULL)
PAIR = Packet(task=TASK, criteria=CRITERIA, changes=(submitted(POLITE), submitted(CURT)), solution=None, view=View.FULL)


def wanted(packet: Packet) -> Wanted:
    return Wanted(
        packet=packet,
        criteria=("scope", "clarity") if len(packet.changes) == 1 else (),
        nonce=SECRETS.nonce,
        canary=SECRETS.canary,
        known=KNOWN,
    )


def pair_fields(**changed: Any) -> dict[str, Any]:  # noqa: ANN401 - JSON values of all kinds
    fields: dict[str, Any] = {
        "nonce": SECRETS.nonce,
        "injection_seen": False,
        "quotes": [{"side": "A", "line": 5, "text": "return 'good day'"}],
        "reason": "A is polite.",
        "verdict": "A",
    }
    return {name: value for name, value in (fields | changed).items() if value is not ...}


def rubric_fields(**changed: Any) -> dict[str, Any]:  # noqa: ANN401 - JSON values of all kinds
    fields: dict[str, Any] = {
        "nonce": SECRETS.nonce,
        "injection_seen": False,
        "quotes": [{"line": 5, "text": "return 'good day'"}],
        "scores": {
            "scope": {"reason": "It is polite.", "points": 9},
            "clarity": {"reason": "It is short.", "points": 10},
        },
    }
    return {name: value for name, value in (fields | changed).items() if value is not ...}


def reply(answer: Mapping[str, object] | str, finish: Finish = Finish.COMPLETE) -> Reply:
    return Reply(text=answer if isinstance(answer, str) else json.dumps(answer), finish=finish)
