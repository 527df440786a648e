"""What ruff finds in the base's files, then in a submission's: a line of JSON for each side, in that order."""

import base64
import json
import sys
from collections.abc import Mapping
from typing import TextIO

from .ruff import RuffError, look

SIDES = ("base", "submission")


def main(asked: TextIO = sys.stdin, told: TextIO = sys.stdout) -> int:
    """Look at both sides; the base's answer is out before the submission is looked at."""
    task = json.load(asked)
    for side in SIDES:
        told.write(json.dumps(answer(side, task[side], task["program"])) + "\n")
        told.flush()
    return 0


def answer(side: str, files: Mapping[str, str], program: str) -> dict[str, object]:
    """Look at one side; `files` holds each content in base64."""
    try:
        found = look({path: base64.b64decode(text) for path, text in files.items()}, program=program)
    except RuffError as error:
        return {"side": side, "error": str(error)}
    return {"side": side, "found": found}
