"""What is private about a release is gathered from where it is: settings, files, nominations, the machine, evidence."""

import json
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from runner.canonical import sha256
from runner.gateway.relay.recording import write_record
from runner.inputs import Inputs, load_inputs
from runner.publishing.context import host_names, scan_context
from runner.publishing.evaluator_content import evaluator_content
from runner.publishing.model import Rule, ScanContext
from runner.publishing.said import Said
from runner.publishing.scan import scan
from runner.settings import Settings, load_settings

ROOT = Path(__file__).parents[3]
KEY = "made-up-key-" + "7Qw0zLr4"


def settings_of(checkout: Path, **environ: str) -> Settings:
    return load_settings(environ, checkout=checkout)


def inputs_of(checkout: Path, **changed: object) -> Inputs:
    """Load a small release from a checkout made for it: a task of ours, an agent with a key and one with a login."""
    fields = {
        "schema": "cleanroom/release-configuration/1",
        "release": "made-up",
        "nominations": ["size-units"],
        "routes": [{"id": "real", "base_url": "https://models.example/v1", "credential": "MADE_UP_KEY"}],
        "candidates": [
            {"id": "alpha-9", "agent": "opencode", "model": "maker/Grand-5", "route": "real", "family": "Maker"},
            {"id": "plain", "agent": "codex", "model": "grand", "network": "direct", "label": "The 2nd"},
            {"id": "gold-1", "agent": "oracle"},
        ],
        "clean_room": {
            "state_dir": str(checkout / "state"),
            "login_files": {"codex": str(checkout / "login.json")},
            "accounts": {"first": 1_900_100_000, "last": 1_900_199_999},
        },
    }
    file = checkout / "config/release.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(fields | changed))
    (checkout / "config/nominations").symlink_to(ROOT / "config/nominations")
    return load_inputs(load_settings({}, checkout=checkout, config=file))


def found_in(context: ScanContext, text: str, file: str = "a.json") -> set[tuple[Rule, str]]:
    return {(each.rule, each.kind) for each in scan({file: json.dumps({"a": text}).encode()}, context)}


def test_keys_logins_and_other_variables_are_secrets(tmp_path: Path) -> None:
    login = {"tokens": {"refresh": "made-up-refresh-1"}, "list": ["made-up-access-2"], "mode": "chat"}
    (tmp_path / "login.json").write_text(json.dumps(login))
    environ = {
        "MADE_UP_KEY": KEY,
        "OTHER_TOKEN": "made-up-other-3",
        "KEYBOARD": "made-up-layout",
        "A_KEY": "/a/file/of/it",
    }
    context = scan_context(inputs_of(tmp_path), settings_of(tmp_path, **environ))
    assert sorted((each.name, each.value) for each in context.secrets) == [
        ("the key MADE_UP_KEY", KEY.encode()),
        ("the login of codex", b"made-up-access-2"),
        ("the login of codex", b"made-up-refresh-1"),
        ("the variable MADE_UP_KEY", KEY.encode()),
        ("the variable OTHER_TOKEN", b"made-up-other-3"),
    ]
    assert context.unsearched == ()
    assert KEY not in repr(context)


def test_what_nobody_knows_here_is_told(tmp_path: Path) -> None:
    context = scan_context(inputs_of(tmp_path), settings_of(tmp_path))
    assert [each.split(",")[0] for each in context.unsearched] == ["the key MADE_UP_KEY", "the login of codex"]


def test_private_keys_are_found_in_hex_and_as_pem_and_public_ones_are_not(tmp_path: Path) -> None:
    key = Ed25519PrivateKey.generate()
    pem = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    (tmp_path / "state/keys").mkdir(parents=True)
    (tmp_path / "state/keys/release.pem").write_bytes(pem)
    context = scan_context(inputs_of(tmp_path), settings_of(tmp_path))
    told = (Rule.SECRET, "a private key of this host")
    assert told in found_in(context, key.private_bytes_raw().hex())
    assert told in found_in(context, pem.decode().splitlines()[1])
    assert found_in(context, key.public_key().public_bytes_raw().hex()) == set()


def test_folders_of_the_host_are_private_and_so_are_links_to_them(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "state").symlink_to(tmp_path / "real")
    context = scan_context(inputs_of(tmp_path), settings_of(tmp_path, HOME="/home/marguerite"))
    kinds = {each.text: each.kind for each in context.paths}
    expected = {
        str(tmp_path / "state"): "the state",
        str(tmp_path / "real"): "the state",
        str(tmp_path / "state/store"): "the store",
        str(tmp_path / "login.json"): "the login file of codex",
        "/var/lib/cleanroom": "the state by default",
        "/home/marguerite": "the operator's home",
    }
    assert expected.items() <= kinds.items()
    assert context.accounts == (1_900_100_000, 1_900_199_999)


def test_a_machine_is_told_by_its_name_its_ids_and_its_cards(tmp_path: Path) -> None:
    for file, text in {
        "etc/machine-id": "5d0c9a1be6f74432a8d1f00c2b9e7733\n",
        "proc/sys/kernel/random/boot_id": "0b1f2d3c-4a5b-4c6d-8e7f-90a1b2c3d4e5\n",
        "sys/class/net/eth0/address": "52:54:00:ab:cd:07\n",
        "sys/class/net/lo/address": "00:00:00:00:00:00\n",
    }.items():
        (tmp_path / file).parent.mkdir(parents=True)
        (tmp_path / file).write_text(text)
    assert [each.text for each in host_names(tmp_path, "build-7.example.org")] == [
        "build-7.example.org",
        "build-7",
        "5d0c9a1be6f74432a8d1f00c2b9e7733",
        "5d0c9a1b-e6f7-4432-a8d1-f00c2b9e7733",
        "0b1f2d3c4a5b4c6d8e7f90a1b2c3d4e5",
        "0b1f2d3c-4a5b-4c6d-8e7f-90a1b2c3d4e5",
        "52:54:00:ab:cd:07",
        "525400abcd07",
    ]


@pytest.mark.parametrize("name", ["localhost", "Debian", "vm"])
def test_a_name_that_nobody_gave_is_no_name(tmp_path: Path, name: str) -> None:
    assert list(host_names(tmp_path, name)) == []


def test_candidates_are_told_by_their_own_names_and_controls_by_none(tmp_path: Path) -> None:
    context = scan_context(inputs_of(tmp_path), settings_of(tmp_path))
    assert set(context.roster) == {"alpha-9", "maker/Grand-5", "Grand-5", "Maker", "plain", "grand", "The 2nd"}


def test_hidden_lines_names_values_and_twins_are_private_and_public_ones_are_not(tmp_path: Path) -> None:
    (nomination,) = inputs_of(tmp_path).nominations
    content = evaluator_content((nomination,))
    assert 'assert format_size(1_100_964) == "1.0 MiB"' in content.lines
    assert {"test_rounding_is_done_once", "test_rounding.py"} <= content.names.keys()
    assert {"1023.999 KiB", "1023.999 KiBB"} <= content.values.keys()
    assert "while round(value, digits) >= STEP and unit < len(UNITS) - 1:" in content.solutions
    public = b"\n".join(file.read() for folder in ("fixture", "public") for file in nomination.below(folder)).decode()
    everything = (*content.lines, *content.names, *content.values, *content.solutions)
    assert not {text for text in everything if text in public.splitlines() or text in nomination.prompt}
    assert not {line for line in content.lines if line.startswith(("import ", "from ", "@", "#"))}


def test_a_text_that_is_known_to_be_public_is_not_private(tmp_path: Path) -> None:
    nominations = inputs_of(tmp_path).nominations
    line = 'assert format_size(1_100_964) == "1.0 MiB"'
    assert line not in evaluator_content(nominations, known=(f"x\n    {line}\n",)).lines


def exchange(body: object) -> bytes:
    """Record one request and its answer, as a gateway does."""
    asked = json.dumps(body).encode()
    head = {"record": "asked", "sequence": 1, "operation": "chat", "method": "POST", "target": "/v1", "cut": False}
    size = {"size": len(asked), "sha256": sha256(asked)}
    return write_record(head | size, asked) + write_record(
        {"record": "part", "sequence": 1}, b"What the model answered."
    )


BODIES = {
    "chat": {"messages": [{"role": "system", "content": "{0}"}, {"role": "user", "content": "{1}"}]},
    "responses": {"instructions": "{0}", "input": [{"role": "user", "content": "{1}"}]},
    "messages": {"system": [{"type": "text", "text": "{0}"}], "messages": [{"role": "user", "content": "{1}"}]},
    "tools": {"tools": [{"type": "function", "function": {"description": "{0}"}}]},
    "other tools": {"tools": [{"name": "run", "description": "{0}"}]},
}
TOLD = "You are an agent of ExampleCorp that never tells this line."


@pytest.mark.parametrize("protocol", BODIES)
def test_instructions_are_what_an_agents_program_tells_and_no_task(tmp_path: Path, protocol: str) -> None:
    body = json.loads(
        json.dumps(BODIES[protocol]).replace("{0}", TOLD).replace("{1}", "Mend the function that sums up.")
    )
    folder = tmp_path / "alpha-9/size-units/attempt-1/try-1/submission/exchanges"
    folder.mkdir(parents=True)
    (folder / "work.gz").write_bytes(exchange(body))
    assert list(Said(folder=tmp_path).instructions("alpha-9")) == [TOLD]


def test_everything_said_in_an_attempt_is_what_its_published_files_are_held_against(tmp_path: Path) -> None:
    attempt = tmp_path / "alpha-9/size-units/attempt-2"
    submission = attempt / "try-1/submission"
    for file, data in {
        submission / "streams/stdout": b"the agent's stream",
        submission / "telemetry.json": b'{"final_message":"its last words"}',
        submission / "exchanges/work.gz": exchange({"messages": []}),
        submission / "candidate.diff": b"the change",
        attempt / "try-2/gradings/grading-1/logs/abc": b"what tests printed",
    }.items():
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)
    said = Said(folder=tmp_path)
    assert set(said.said("alpha-9/size-units/attempts/attempt-2/run.json")) == {
        b"the agent's stream",
        b'{"final_message":"its last words"}',
        b'{"messages": []}',
        b"What the model answered.",
        b"what tests printed",
    }
    assert list(said.said("manifest.json")) == []
    assert list(said.said("alpha-9/size-units/attempts/attempt-1/run.json")) == []
