"""Submitted programs, run with arguments, input and files, and what came of them."""

import base64
import os
import subprocess
import tempfile
from pathlib import Path
from typing import IO, Any

_MOST_BYTES = 4 << 20


def run_program(request: dict[str, Any], directory: str, environment: dict[str, str]) -> dict[str, Any]:
    """Run one program in the workspace: status, both streams, and the files that were asked for."""
    folder = Path(directory)
    for path, content in request.get("files", {}).items():
        place = folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(base64.b64decode(content))
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        try:
            ended = subprocess.run(
                request["argv"],
                input=base64.b64decode(request.get("stdin", "")),
                stdout=out,
                stderr=err,
                cwd=folder,
                env=environment,
                timeout=request.get("within"),
                check=False,
            )
        except subprocess.TimeoutExpired:
            return {"late": True}
        except OSError as error:
            return {"unstarted": error.strerror or str(error)}
        return {
            "status": ended.returncode,
            "stdout": _read(out),
            "stderr": _read(err),
            "files": {path: _file(folder / path) for path in request.get("wanted", [])},
        }


def _read(stream: IO[bytes]) -> str:
    stream.seek(0)
    return base64.b64encode(stream.read(_MOST_BYTES)).decode("ascii")


def _file(place: Path) -> str | None:
    try:
        descriptor = os.open(place, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return None
    with os.fdopen(descriptor, "rb") as stream:
        try:
            return base64.b64encode(stream.read(_MOST_BYTES)).decode("ascii")
        except OSError:
            return None
