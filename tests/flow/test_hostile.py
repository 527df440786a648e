"""Broken and hostile configurations and nominations: exit 2, the file and the field named, nothing written."""

import json
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pytest

from tests.flow.bench import CONFIG, Bench, Said, listing, write_bench


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """What is done to the bench, and which words the answer must have."""

    harm: Callable[[Bench], object]
    told: tuple[str, ...]


def config_text(text: str | bytes) -> Callable[[Bench], object]:
    return lambda bench: bench.config.write_bytes(text.encode() if isinstance(text, str) else text)


def config_with(**fields: object) -> Callable[[Bench], object]:
    return lambda bench: bench.config.write_text(json.dumps({**CONFIG, **fields}))


def nomination_with(old: str, new: str) -> Callable[[Bench], object]:
    def harm(bench: Bench) -> None:
        file = bench.nomination / "nomination.toml"
        text = file.read_text()
        assert old in text
        file.write_text(text.replace(old, new))

    return harm


def linked(name: str, target: str) -> Callable[[Bench], object]:
    def harm(bench: Bench) -> None:
        (bench.nomination / name).unlink()
        (bench.nomination / name).symlink_to(target)

    return harm


def folder_instead(bench: Bench) -> None:
    bench.config.unlink()
    bench.config.mkdir()


def pipe_instead(bench: Bench) -> None:
    bench.config.unlink()
    os.mkfifo(bench.config)


ORACLE = {"id": "oracle", "agent": "oracle"}

CASES = {
    "not-json": Case(harm=config_text("{schema: 1"), told=("bench.json", "JSON")),
    "empty": Case(harm=config_text(""), told=("bench.json", "JSON")),
    "binary": Case(harm=config_text(bytes(range(256))), told=("bench.json", "UTF-8")),
    "nul": Case(harm=config_with(release="bench\0-1"), told=("bench.json", "release", "U+0000")),
    "duplicate-key": Case(
        harm=config_text('{"release": "a", "release": "b"}'), told=("bench.json", "release", "twice")
    ),
    "wrong-type": Case(harm=config_with(attempts="two"), told=("bench.json", "attempts", '"two"')),
    "float": Case(harm=config_text('{"schema": 1.5}'), told=("bench.json", "schema")),
    "unknown-key": Case(harm=config_with(atempts=2), told=("bench.json", "atempts", "unknown field")),
    "removed-key": Case(harm=config_with(tasks=["clamp"]), told=("bench.json", "tasks", "nominations")),
    "huge": Case(harm=config_text(b" " * (17 << 20)), told=("bench.json", "bytes")),
    "deep": Case(harm=config_text("[" * 100_000 + "]" * 100_000), told=("bench.json",)),
    "huge-number": Case(harm=config_text('{"attempts": ' + "9" * 5000 + "}"), told=("bench.json",)),
    "missing": Case(harm=lambda bench: bench.config.unlink(), told=("bench.json", "no such file", "--config")),
    "a-folder": Case(harm=folder_instead, told=("bench.json", "--config")),
    "a-pipe": Case(harm=pipe_instead, told=("bench.json", "--config")),
    "id-walks-up": Case(harm=config_with(release="../../etc"), told=("bench.json", "release", "../../etc")),
    "nomination-walks-up": Case(harm=config_with(nominations=["../../../etc"]), told=("bench.json", "nominations[0]")),
    "scenarios-missing": Case(
        harm=config_with(routes=[{"id": "scripted", "scripted": "config/nowhere"}]), told=("config/nowhere",)
    ),
    "nomination-of-nothing": Case(harm=config_with(nominations=["clmap"]), told=("nominations/clmap",)),
    "unknown-agent": Case(
        harm=config_with(candidates=[{"id": "a", "agent": "shell"}]), told=("candidates[0].agent", '"shell"')
    ),
    "same-id-twice": Case(harm=config_with(candidates=[ORACLE, ORACLE]), told=("candidates", "oracle 2 times")),
    "nomination-not-toml": Case(
        harm=lambda bench: (bench.nomination / "nomination.toml").write_text("id = \n"),
        told=("clamp/nomination.toml", "TOML"),
    ),
    "nomination-linked": Case(
        harm=linked("nomination.toml", "/etc/passwd"), told=("clamp/nomination.toml", "symbolic link")
    ),
    "prompt-linked": Case(harm=linked("prompt.md", "/etc/shadow"), told=("clamp/prompt.md", "symbolic link")),
    "fixture-linked-out": Case(harm=linked("fixture/clamp.py", "/etc/shadow"), told=("clamp", "clamp.py")),
    "changes-walk-up": Case(
        harm=nomination_with('allowed_changes = ["clamp.py"]', 'allowed_changes = ["../clamp.py"]'),
        told=("clamp/nomination.toml", "allowed_changes"),
    ),
    "kind-unknown": Case(
        harm=nomination_with('kind = "pytest"', 'kind = "vibes"'), told=("clamp/nomination.toml", "kind", "vibes")
    ),
    "lock-unpinned": Case(
        harm=lambda bench: (bench.nomination / "requirements.txt").write_text("pytest\n"),
        told=("clamp/requirements.txt", "line 1"),
    ),
    "solution-does-not-apply": Case(
        harm=lambda bench: (bench.nomination / "fixture/clamp.py").write_text("other = 1\n"), told=("fix.patch",)
    ),
}
FREEZING = ("missing", "solution-does-not-apply")
"""What `freeze` is asked about; `lint` about all others."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What was said to a case, and what it did to the files."""

    said: Said
    unharmed: bool


def answer(place: Path, name: str) -> Answer:
    bench = write_bench(place / name)
    CASES[name].harm(bench)
    before = listing(bench.checkout)
    said = bench.run("freeze" if name in FREEZING else "lint")
    after = {path: kept for path, kept in listing(bench.checkout).items() if not path.startswith(".cleanroom/")}
    return Answer(said=said, unharmed=after == before)


@pytest.fixture(scope="module")
def answers(benches: Path) -> dict[str, Answer]:
    """All cases, two at a time: starting Python is most of what they take."""
    place = benches / "hostile"
    with ThreadPoolExecutor(2) as pool:
        return dict(zip(CASES, pool.map(partial(answer, place), CASES), strict=True))


@pytest.mark.parametrize("name", CASES)
def test_it_is_refused_by_name_and_nothing_is_written(answers: dict[str, Answer], name: str) -> None:
    found = answers[name]
    assert found.said.code == 2, found
    for words in CASES[name].told:
        assert words in found.said.out + found.said.err
    assert found.unharmed


def test_a_configuration_without_the_option_is_named_by_the_variable_too(tmp_path: Path) -> None:
    bench = write_bench(tmp_path / "checkout", {"schema": "cleanroom/release-configuration/1"})
    said = bench.run("lint")
    assert said.code == 2
    assert "release" in said.err
