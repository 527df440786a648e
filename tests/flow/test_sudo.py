"""An account other than root runs a release through the sudo rule that `scripts/host` writes.

All of it happens in a mount namespace with its own accounts, sudo rules and /usr/local: the machine's stay as they are.
"""

import os
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from sandbox.installed import Copy
from tests.flow.bench import LONGEST_SECONDS, SHARED, Bench, Said, copied, own_folder

pytestmark = pytest.mark.systemd

ROOT = Path(__file__).parents[2]
HOST = str(ROOT / "scripts/host")
MEMBER, STRANGER = 64_901, 64_902
GROUP = "cleanroom-testers"

OWN_MOUNTS = ("/usr/bin/unshare", "--mount", "--propagation", "private")
OWN_PLACES = """\
set -eu
cd "$0"
for name in passwd group shadow; do cp -p /etc/$name $name; done
echo "member:x:64901:64901::/nonexistent:/bin/sh" >>passwd
echo "stranger:x:64902:64902::/nonexistent:/bin/sh" >>passwd
printf '%s\\n' "member:x:64901:" "stranger:x:64902:" "cleanroom-testers:x:64903:member" >>group
printf '%s\\n' 'member:*:19000:0:99999:7:::' 'stranger:*:19000:0:99999:7:::' >>shadow
mkdir -p rules lib sbin
for name in passwd group shadow; do mount --bind $name /etc/$name; done
mount --bind rules /etc/sudoers.d
mount --bind lib /usr/local/lib
mount --bind sbin /usr/local/sbin
cd /
exec "$@"
"""
"""Binds a folder's files over what of the machine is changed. `$0` is that folder."""


PLACES = ("etc/sudoers.d", "usr/local/lib", "usr/local/sbin")


@dataclass(frozen=True, slots=True, kw_only=True)
class Elsewhere:
    """A host of its own for accounts and rules."""

    init: int

    def run(self, *argv: str, account: int | None = None) -> Said:
        within = ["/usr/bin/nsenter", f"--mount=/proc/{self.init}/ns/mnt", "--"]
        if account is not None:
            within += ["/usr/bin/setpriv", f"--reuid={account}", f"--regid={account}", "--init-groups", "--"]
        done = subprocess.run(
            [*within, *argv], capture_output=True, text=True, check=False, cwd="/", timeout=LONGEST_SECONDS
        )
        assert "Traceback" not in done.stdout + done.stderr, done.stderr
        return Said(code=done.returncode, out=done.stdout, err=done.stderr)


@pytest.fixture(scope="module")
def elsewhere(benches: Path) -> Iterator[Elsewhere]:
    """The host, with the keeper's copy and the rule installed."""
    with own_folder(benches, "places") as folder:
        folder.chmod(0o755)
        process = subprocess.Popen(
            [*OWN_MOUNTS, "/bin/bash", "-c", OWN_PLACES, str(folder), "/bin/sh", "-c", "echo ready; read end"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            assert process.stdout.readline() == "ready\n"
            host = Elsewhere(init=process.pid)
            said = host.run(HOST, "install", "--group", GROUP)
            assert said.code == 0, said.err
            yield host
        finally:
            process.stdin.close()
            process.wait(timeout=10)
            process.stdout.close()


@pytest.fixture
def theirs(frozen: Bench, benches: Path) -> Bench:
    """A bench that belongs to the member of the group, with nothing frozen."""
    bench = copied(frozen, benches / "theirs")
    shutil.rmtree(bench.manifest.parent)
    shutil.rmtree(bench.store)
    for path in (bench.checkout, *bench.checkout.rglob("*")):
        if not set(SHARED) & set(path.parts):
            os.chown(path, MEMBER, MEMBER, follow_symlinks=False)
    return bench


def test_a_member_of_the_group_runs_a_release_and_owns_what_it_wrote(elsewhere: Elsewhere, theirs: Bench) -> None:
    said = elsewhere.run(*theirs.argv("freeze"), account=MEMBER)
    assert said.code == 0, said.err
    assert "controls ran" in said.out
    said = elsewhere.run(*theirs.argv("pilot", "--candidate", "oracle,right"), account=MEMBER)
    assert said.code == 0, said.err
    assert said.out == "2 tries, 0 further gradings, 0 void\n"
    assert {path.stat().st_uid for path in theirs.store.rglob("*")} == {MEMBER}
    assert elsewhere.run(*theirs.argv("verify"), account=MEMBER).code == 0
    assert elsewhere.run(*theirs.argv("aggregate"), account=MEMBER).code == 0
    (theirs.checkout / ".cleanroom/proofs/sandbox.json").unlink()
    said = elsewhere.run(*theirs.argv("pilot", "--candidate", "nop"), account=MEMBER)
    assert said.code == 4
    assert "let root run 'runner verify-sandbox'" in said.err


def test_nobody_else_starts_the_keeper_and_is_told_whose_leave_is_needed(elsewhere: Elsewhere, frozen: Bench) -> None:
    said = elsewhere.run(*frozen.argv("pilot"), account=STRANGER)
    assert said.code == 4
    assert "sudo does not let it start /usr/local/sbin/cleanroom-keeper" in said.err


def test_the_rule_is_for_the_keeper_alone(elsewhere: Elsewhere) -> None:
    for argv in (["/usr/bin/id"], [str(Copy().launcher), "argument"]):
        assert elsewhere.run("/usr/bin/sudo", "-n", *argv, account=MEMBER).code == 1


def test_only_root_can_write_what_sudo_starts(elsewhere: Elsewhere) -> None:
    odd = elsewhere.run(
        "/usr/bin/find", str(Copy().folder), str(Copy().launcher), "(", "!", "-user", "root", "-o", "-perm", "/022", ")"
    )
    assert (odd.code, odd.out) == (0, "")


def test_a_copy_of_other_code_is_refused(elsewhere: Elsewhere, frozen: Bench) -> None:
    mark = Path(f"/proc/{elsewhere.init}/root{Copy().mark}")
    right = mark.read_text()
    mark.write_text("0" * 64)
    said = elsewhere.run(*frozen.argv("pilot"), account=MEMBER)
    mark.write_text(right)
    assert said.code == 4
    assert "is a copy of other code than this" in said.err


def test_no_copy_is_made_where_others_could_replace_it_and_no_rule_for_a_group_that_is_not_there(
    elsewhere: Elsewhere,
) -> None:
    place = Path(f"/proc/{elsewhere.init}/root{Copy().launcher.parent}")
    place.chmod(0o775)
    said = elsewhere.run(HOST, "install", "--group", GROUP)
    place.chmod(0o755)
    assert said.code == 4
    assert "/usr/local/sbin is not a folder that only root can write; run: chown root:root" in said.err
    said = elsewhere.run(HOST, "install", "--group", "nobodys")
    assert said.code == 4
    assert "there is no group nobodys; run: groupadd --system nobodys" in said.err


def test_remove_leaves_nothing(elsewhere: Elsewhere) -> None:
    said = elsewhere.run(HOST, "remove")
    assert said.code == 0, said.err
    root = Path(f"/proc/{elsewhere.init}/root")
    assert [each for place in PLACES for each in (root / place).iterdir()] == []
