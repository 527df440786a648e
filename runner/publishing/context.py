"""All that is private about a release on this host, gathered: keys, logins, folders, names, evaluators, words."""

import base64
import json
import re
import socket
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from runner.agents.registry import AGENTS
from runner.config import ReleaseConfig
from runner.errors import DocumentError
from runner.inputs import Inputs
from runner.judging.identity import roster_names
from runner.logins import LOGIN_BYTES, needed_logins
from runner.parsing import read_file
from runner.publishing.evaluator_content import evaluator_content
from runner.publishing.model import Named, ScanContext, Secret
from runner.publishing.said import Said
from runner.roster import Candidate
from runner.settings import DEFAULT_STATE, Settings

KEYS = "keys"
"""Folder of the state with the private keys (runner/signing/keys.py)."""

_LEAST_SECRET = 12
"""Letters of a login's text; shorter ones are words."""

_LEAST_PATH = 7
_LEAST_NAME = 4
_GENERIC_HOSTS = frozenset({"localhost", "debian", "ubuntu", "fedora", "runner", "docker", "host", "server", "linux"})
"""Names of machines that nobody gave a name; they stand in honest texts."""

_NO_CARD = "00:00:00:00:00:00"
_SEED_BYTES = 32
_PEM = re.compile(rb"-----BEGIN PRIVATE KEY-----\s+([A-Za-z0-9+/=\s]+)-----END")


def scan_context(inputs: Inputs, settings: Settings, extra: Iterable[Secret] = ()) -> ScanContext:
    """Gather it; `extra` are secrets that somebody else knows of.

    What is not there to be read is told in `unsearched`: a key whose variable is not set cannot be looked for.

    Raises:
        DocumentError: a nomination's file changed while it was read, or a key could not stand in a header.
    """
    config, places = inputs.config, inputs.places
    keys, missing_keys = _credentials(config, settings)
    logins, missing_logins = _logins(config, settings)
    said = Said(folder=places.store / config.release)
    prompts = tuple(nomination.prompt for nomination in inputs.nominations)
    accounts = config.clean_room.accounts
    return ScanContext(
        secrets=(*keys, *_variables(settings), *logins, *_private_keys(places.state / KEYS), *extra),
        paths=tuple(_paths(inputs, settings)),
        host=tuple(host_names()),
        accounts=(accounts.first, accounts.last),
        evaluators=evaluator_content(inputs.nominations),
        roster=tuple(roster_names((*config.candidates, *config.judges))),
        instructions=_instructions(config.candidates, said, prompts),
        raw=said,
        public=prompts,
        unsearched=(*missing_keys, *missing_logins),
    )


def _credentials(config: ReleaseConfig, settings: Settings) -> tuple[tuple[Secret, ...], tuple[str, ...]]:
    """Give the keys of all routes, and the variables that are not set."""
    names = tuple(dict.fromkeys(route.credential for route in config.routes if route.credential is not None))
    values = {name: settings.credential(name) for name in names}
    found = tuple(Secret(name=f"the key {name}", value=value.encode()) for name, value in values.items() if value)
    return found, tuple(f"the key {name}, which is not set" for name in names if not values[name])


def _variables(settings: Settings) -> Iterator[Secret]:
    """Yield what else the environment calls a secret: whoever published has it, and it may have been used."""
    for name, value in settings.secrets().items():
        yield Secret(name=f"the variable {name}", value=value.encode())


def _logins(config: ReleaseConfig, settings: Settings) -> tuple[tuple[Secret, ...], tuple[str, ...]]:
    """Give every text in the login files that candidates need, and the files that cannot be read."""
    secrets: list[Secret] = []
    missing: list[str] = []
    for name in needed_logins(config.candidates):
        told = config.clean_room.login_files.get(name)
        try:
            content = b"" if told is None else read_file(settings.path(told), LOGIN_BYTES)
        except DocumentError:
            content = b""
        if content:
            secrets += (Secret(name=f"the login of {name}", value=text.encode()) for text in _texts(content))
        else:
            missing.append(f"the login of {name}, whose file cannot be read")
    return tuple(secrets), tuple(missing)


def _texts(content: bytes) -> Iterator[str]:
    """Yield the long texts of a JSON document; of anything else, its long lines."""
    try:
        pending: list[object] = [json.loads(content)]
    except (ValueError, RecursionError):
        pending = list(content.decode("utf-8", "replace").splitlines())
    while pending:
        value = pending.pop()
        if isinstance(value, Mapping):
            pending += value.values()
        elif isinstance(value, list):
            pending += value
        elif isinstance(value, str) and len(value.strip()) >= _LEAST_SECRET:
            yield value.strip()


def _private_keys(folder: Path) -> Iterator[Secret]:
    """Yield the seeds of Ed25519 keys: the last 32 bytes of a PKCS #8 document (RFC 8410 7)."""
    for path in sorted(folder.glob("*.pem")) if folder.is_dir() else ():
        if body := _PEM.search(read_file(path)):
            seed = base64.b64decode(body[1])[-_SEED_BYTES:]
            yield Secret(name="a private key of this host", value=seed)


def _paths(inputs: Inputs, settings: Settings) -> Iterator[Named]:
    """Yield folders and files of this host by their absolute paths, in the spelling given and without links."""
    places, room, config = inputs.places, inputs.config.clean_room, inputs.config
    named: dict[str, Path | None] = {
        "the state": places.state,
        "the store": places.store,
        "the state by default": DEFAULT_STATE,
        "the checkout": settings.checkout,
        "the public checkout": places.models_test,
        "the operator's home": settings.home,
        "the private evaluators": _path(config.private_evaluators_dir, settings),
        "OpenCode's folder": _path(room.opencode_root, settings),
        "Codex's folder": _path(room.codex_root, settings),
        "Claude Code's folder": _path(room.claude_root, settings),
    }
    named |= {f"the login file of {name}": settings.path(told) for name, told in room.login_files.items()}
    for kind, path in named.items():
        for text in dict.fromkeys(() if path is None else (str(path), str(path.resolve()))):
            if len(text) >= _LEAST_PATH:
                yield Named(kind=kind, text=text)


def _path(told: str | None, settings: Settings) -> Path | None:
    return None if told is None else settings.path(told)


def host_names(root: Path = Path("/"), name: str | None = None) -> Iterator[Named]:
    """Yield this machine's name, its ids and the addresses of its network cards."""
    whole = socket.gethostname() if name is None else name
    for text in dict.fromkeys((whole, whole.partition(".")[0])):
        if len(text) >= _LEAST_NAME and text.lower() not in _GENERIC_HOSTS:
            yield Named(kind="the host's name", text=text)
    ids = {"etc/machine-id": "the machine's id", "proc/sys/kernel/random/boot_id": "the boot's id"}
    for file, kind in ids.items():
        if text := _line(root / file):
            plain = text.replace("-", "")
            yield Named(kind=kind, text=plain)
            yield Named(kind=kind, text="-".join(re.findall(r"(\w{8})(\w{4})(\w{4})(\w{4})(\w{12})", plain)[0]))
    for card in sorted((root / "sys/class/net").glob("*/address")):
        if (text := _line(card)) and text != _NO_CARD:
            yield Named(kind="the address of a network card", text=text)
            yield Named(kind="the address of a network card", text=text.replace(":", ""))


def _line(path: Path) -> str:
    """Give a one-line file; nothing where it cannot be read."""
    try:
        return path.read_text("ascii").strip()
    except (OSError, UnicodeDecodeError):
        return ""


def _instructions(candidates: Iterable[Candidate], said: Said, prompts: Iterable[str]) -> dict[str, str]:
    """Give the lines that programs of others tell their models; our own are public, and so is a task's prompt."""
    public = {line.strip() for prompt in prompts for line in prompt.splitlines()}
    return {
        line: f"the instructions of {each.agent}"
        for each in candidates
        if AGENTS[each.agent].runtime is not None
        for line in said.instructions(each.id)
        if line not in public
    }
