"""`runner keys`: what signs for this host."""

import json
from datetime import UTC, datetime
from pathlib import Path

import click

from runner.canonical import canonical
from runner.clock import now_ms
from runner.config import load_config
from runner.documents.keys import KeyRecord, KeyRole, KeyStatus
from runner.inputs import find_places
from runner.parsing import file_name, read_file
from runner.settings import host_settings
from runner.signing import sshsig
from runner.signing.keys import KEYS, KeyStore, recorded_key
from runner.signing.rotation import Successor, rotate
from runner.signing.signer import PublicKey, public_key
from runner.signing.trust import moment

_JSON = click.option("--json", "as_json", is_flag=True, help="One JSON line.")
ROLES = click.Choice([role.value for role in KeyRole])


def host_keys(config: Path | None) -> KeyStore:
    """Give the keys below the state that a configuration names."""
    settings = host_settings(config)
    return KeyStore(folder=find_places(load_config(settings.config), settings).state / KEYS, clock=now_ms)


@click.group()
def keys() -> None:
    """Make, show and replace the keys that sign: one for journals, one for releases, one for checkpoints."""


@keys.command()
@click.option("--role", type=ROLES, required=True, help="What it signs.")
@click.option("--public", type=click.Path(path_type=Path), help="A public key (PEM) whose private part lies elsewhere.")
@_JSON
@click.pass_obj
def new(config: Path | None, *, role: str, public: Path | None, as_json: bool) -> None:
    """Make the key of a role, or take one that is held elsewhere."""
    store = host_keys(config)
    made = store.create(KeyRole(role), _public(public))
    click.echo(_json(made) if as_json else f"{made.role} key {made.keyid}, {_place(made, store)}")


@keys.command()
@click.option("--role", type=ROLES, help="Of this role alone.")
@click.option("--pem", "form", flag_value="pem", help="The public key that signs now, for openssl and --key.")
@click.option("--ssh", "form", flag_value="ssh", help="A line for ssh-keygen's file of allowed signers.")
@click.option("--json", "form", flag_value="json", help="All keys, for --key: roles and revocations are in it.")
@click.pass_obj
def show(config: Path | None, *, role: str | None, form: str | None) -> None:
    """List this host's keys, or print public parts for others."""
    store = host_keys(config)
    listed = store.keys()
    if form == "json":
        click.echo(canonical(listed).decode())
    elif form is not None:
        click.echo(_printed(store, KeyRole(role or KeyRole.RELEASE), form), nl=False)
    else:
        shown = [each for each in listed.keys if role in {None, each.role}]
        for each in shown:
            click.echo(_line(each, store))
        if not shown:
            click.echo(f"no key was made yet in {store.folder}", err=True)


@keys.command("rotate")
@click.option("--role", type=ROLES, required=True, help="Whose key is replaced.")
@click.option(
    "--public", type=click.Path(path_type=Path), help="The new public key, if its private part lies elsewhere."
)
@click.option("--sign-with", metavar="CMD", help="Signs with the old key, if that lies elsewhere.")
@click.option("--new-sign-with", metavar="CMD", help="Signs with the new key, if that lies elsewhere.")
@_JSON
@click.pass_obj
def rotate_key(
    config: Path | None,
    *,
    role: str,
    public: Path | None,
    sign_with: str | None,
    new_sign_with: str | None,
    as_json: bool,
) -> None:
    """Put another key in the place of a role's; old and new sign a statement of it."""
    successor = Successor(public=_public(public), sign_with=sign_with, new_sign_with=new_sign_with)
    done = rotate(host_keys(config), KeyRole(role), successor)
    if as_json:
        click.echo(json.dumps({"role": role, "new": done.new, "old": done.old, "statement": str(done.statement)}))
        return
    click.echo(f"{role} key {done.new} signs from now on; {done.old} is retired, and what it signed still counts")
    click.echo(f"signed by both, for verifiers (--key): {done.statement}")


@keys.command()
@click.argument("keyid")
@click.option("--reason", required=True, help="Why; it is told with every signature that no longer counts.")
@click.option("--since", metavar="TIME", help="From when on, as 2026-01-31T12:00:00Z; default: now.")
@_JSON
@click.pass_obj
def revoke(config: Path | None, *, keyid: str, reason: str, since: str | None, as_json: bool) -> None:
    """Say that what a key signed since a time does not count (KEYID: the beginning of its name)."""
    store = host_keys(config)
    done = store.revoke(keyid, now_ms() if since is None else _moment(since), reason)
    if as_json:
        click.echo(_json(done))
        return
    click.echo(f"{done.role} key {done.keyid} is revoked since {moment(done.revoked_ms or 0)}")
    click.echo("tell whoever verifies: give them what 'runner keys show --json' prints now")


def _public(path: Path | None) -> PublicKey | None:
    return None if path is None else public_key(read_file(path), file_name(path))


def _place(record: KeyRecord, store: KeyStore) -> str:
    return f"{record.place}, in {store.folder}" if record.place == "here" else record.place


def _printed(store: KeyStore, role: KeyRole, form: str) -> str:
    record = store.active(role)
    if record is None:
        raise store.choice(f"no {role} key", "one", f"make it: runner keys new --role {role}")
    key = recorded_key(record, str(store.folder))
    return key.pem.decode() if form == "pem" else sshsig.allowed_signer(key, role)


def _json(record: KeyRecord) -> str:
    return json.dumps(record.model_dump(mode="json"))


def _line(record: KeyRecord, store: KeyStore) -> str:
    match record.status:
        case KeyStatus.ACTIVE:
            since = record.created_ms
        case KeyStatus.RETIRED:
            since = record.retired_ms or 0
        case KeyStatus.REVOKED:
            since = record.revoked_ms or 0
    reason = f" ({record.reason})" if record.reason else ""
    state = f"{record.status} since {moment(since)}{reason}"
    return f"{record.role:8} {record.keyid}  {state}, {_place(record, store)}"


def _moment(text: str) -> int:
    try:
        found = datetime.fromisoformat(text)
    except ValueError as error:
        raise click.BadParameter(f"{text!r} is no time", param_hint="--since") from error
    return int((found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp() * 1000)
