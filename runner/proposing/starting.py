"""`runner init DIR`: a bench that runs, of the nomination and the judges' templates that come with this code."""

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from runner.durable import make_folders, new_file
from runner.errors import UsageError
from runner.folder import StoredFile, list_files
from runner.members import Member
from runner.parsing import parse_json, read_file
from runner.preparing import JUDGE_PROMPTS
from runner.replacing import new_tree

CONFIG = "bench.json"
NOMINATION = "size-units"
_TEMPLATE = "config/smoke.json"
_LEFT_OUT = frozenset({"routes"})

_IGNORED = "# What the commands make here: state with private evidence, and unfinished files.\n.cleanroom/\n.tmp-*\n"

_README = """\
# A bench

Made by `runner init`. The configuration is `config/{config}`; nominations lie in `config/nominations`.

    runner --config config/{config} lint       # says what is wrong with it
    runner --config config/{config} freeze     # runs the controls, writes releases/bench-1/manifest.json; needs root
    runner --config config/{config} pilot      # runs what is planned; needs root
    runner --config config/{config} aggregate  # the table

It plans two controls without a model: `oracle` leaves the reference solution, `nop` changes nothing. Add candidates
and a route to a provider in the configuration, and give it a new `release` id; what each field means stands in the
runner's docs/how-to/candidate.md and docs/how-to/route.md.

A nomination of your own, from a fix in a git repository:

    runner --config config/{config} init nomination --from-git REPO FIX_COMMIT

`config/judging` holds what judges are told, should the configuration name any. `.cleanroom` is private: it holds the
evidence.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Begun:
    """What was written, and what was there and stays as it is."""

    config: Path
    written: tuple[Path, ...]
    kept: tuple[Path, ...]


def begin_bench(place: Path, code: Path) -> Begun:
    """Write a bench into a folder; `code` is the checkout that this code runs from. Nothing is ever replaced.

    Raises:
        UsageError: a configuration is there already, or the code lacks its own.
        StorageError: the disk failed or is full.
    """
    if os.path.lexists(place / "config"):
        raise UsageError(f"{place / 'config'} is there already, and is left as it is; name another folder")
    if not (code / _TEMPLATE).is_file():
        raise UsageError(f"{code} lacks {_TEMPLATE}; run the runner of a checkout, which scripts/setup installs")
    members = tuple(_config(code))
    make_folders(place)
    new_tree(place / "config", members)
    texts = {"README.md": _README.format(config=CONFIG), ".gitignore": _IGNORED}
    kept = tuple(place / name for name in texts if os.path.lexists(place / name))
    fresh = [place / name for name in texts if place / name not in kept]
    for path in fresh:
        new_file(path, texts[path.name].encode())
        path.chmod(0o644)
    return Begun(config=place / "config" / CONFIG, written=(place / "config", *fresh), kept=kept)


def _config(code: Path) -> Iterator[Member]:
    template = parse_json(read_file(code / _TEMPLATE), _TEMPLATE)
    controls = [
        {key: value for key, value in each.items() if key != "nominations"}
        for each in _listed(template["candidates"])
        if each.get("agent") in {"oracle", "nop"}
    ]
    fields = {key: value for key, value in template.items() if key not in _LEFT_OUT}
    fields |= {"release": "bench-1", "nominations": [NOMINATION], "candidates": controls}
    yield Member(path=CONFIG.encode(), data=json.dumps(fields, indent=2).encode() + b"\n")
    for file in list_files(code / "config/nominations" / NOMINATION, f"nominations/{NOMINATION}"):
        yield _member(file, "")
    for file in list_files(code / JUDGE_PROMPTS, "judging"):
        yield _member(file, "")


def _member(file: StoredFile, above: str) -> Member:
    return Member(path=f"{above}{file.path}".encode(), data=file.read(), executable=file.executable)


def _listed(value: object) -> list[dict[str, object]]:
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []
