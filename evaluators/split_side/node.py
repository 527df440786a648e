"""Going on as Node, with the conversation's two descriptors and its task."""

import json
import os
from pathlib import Path
from typing import Any, NoReturn

from .wire import Wire


def become(program: str, wire: Wire, task: dict[str, Any]) -> NoReturn:
    """Be a program of ours in Node from now on.

    Raises:
        OSError: Node cannot be started.
    """
    place = str(Path(__file__).with_name(program))
    node, *options = task["node"]
    argv = [node, *options, place, *wire.pass_on(), json.dumps(task)]
    os.execve(node, argv, task["environment"])  # noqa: S606 - no shell is wanted
