"""Units as they are really started: what their programs see, how they end, and that nothing is left."""

import hashlib
import os
import socket
import threading
import time
from dataclasses import replace
from datetime import timedelta

import pytest

from sandbox.api import Pack, WorkspaceRequest
from sandbox.client import KeeperSandbox
from sandbox.errors import UnitStartError, WallsError
from sandbox.spec import MIB, PYTHON, Limits, Network, Reach, Role, UnitSpec
from sandbox.termination import Cause, Stop
from sandbox.tree import Entry, Kind
from sandbox.unit import UnitResult, run

pytestmark = pytest.mark.systemd

SHORT = Limits(
    wall=timedelta(seconds=3),
    memory_bytes=128 * MIB,
    disk_bytes=16 * MIB,
    disk_inodes=2000,
    tmp_bytes=8 * MIB,
)


def program(code: str, *, role: Role = Role.TESTS, limits: Limits = SHORT) -> UnitSpec:
    return UnitSpec(role=role, argv=(PYTHON, "-I", "-S", "-c", code), limits=limits)


def ended(sandbox: KeeperSandbox, code: str, **changed: object) -> UnitResult:
    return run(sandbox, program(code, **changed))  # type: ignore[arg-type]  # the fields of `program`


def digest_of(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def files(**contents: bytes) -> Pack:
    blobs = {digest_of(content): content for content in contents.values()}
    entries = tuple(
        Entry(path=name.encode(), kind=Kind.FILE, sha256=digest_of(content), size=len(content))
        for name, content in sorted(contents.items())
    )
    return Pack(entries=entries, blobs=blobs.__getitem__)


@pytest.mark.parametrize(
    ("code", "cause", "status"),
    [
        pytest.param("pass", Cause.EXIT, 0, id="exit-0"),
        pytest.param("raise SystemExit(3)", Cause.EXIT, 3, id="exit-3"),
        pytest.param("import os; os.kill(os.getpid(), 11)", Cause.SIGNAL, 11, id="segfault"),
        pytest.param("import os; os.kill(os.getpid(), 9)", Cause.SIGNAL, 9, id="kills-itself"),
        pytest.param("import time; time.sleep(60)", Cause.TIMEOUT, None, id="hangs"),
        pytest.param(
            "import signal, time; signal.signal(15, signal.SIG_IGN); time.sleep(60)",
            Cause.TIMEOUT,
            None,
            id="ignores-term",
        ),
        pytest.param("x = bytearray(400 << 20)", Cause.OOM, None, id="memory"),
        pytest.param(
            "import os, time\nif os.fork() == 0: x = bytearray(400 << 20)\ntime.sleep(60)",
            Cause.OOM,
            None,
            id="child-memory",
        ),
        pytest.param("while True: print('x' * 4096)", Cause.OUTPUT_LIMIT, None, id="flood"),
        pytest.param(
            "import sys\nwhile True: sys.stderr.write('x' * 4096)",
            Cause.OUTPUT_LIMIT,
            None,
            id="flood-stderr",
        ),
    ],
)
def test_a_unit_ends_as_its_program_did(sandbox: KeeperSandbox, code: str, cause: Cause, status: int | None) -> None:
    began = time.monotonic()
    result = ended(sandbox, code)
    assert (result.termination.cause, result.termination.status) == (cause, status)
    assert time.monotonic() - began < SHORT.wall.total_seconds() + 3
    assert result.termination.usage.wall_ms <= 4000
    assert result.termination.usage.memory_peak_bytes is not None
    assert result.termination.usage.cpu_ms is not None


def test_a_status_of_the_manager_is_a_fault_only_before_the_go(sandbox: KeeperSandbox) -> None:
    result = ended(sandbox, "raise SystemExit(201)")
    assert result.termination.cause is not Cause.MANAGER
    missing = UnitSpec(role=Role.TESTS, argv=("/usr/bin/no-such-program",), limits=SHORT)
    with pytest.raises(WallsError, match="no executable file"):
        run(sandbox, missing)


def test_an_unknown_working_directory_never_becomes_a_result(sandbox: KeeperSandbox) -> None:
    with pytest.raises(UnitStartError):
        run(sandbox, replace(program("pass"), working_directory="/nowhere"))


def test_a_background_child_does_not_outlive_its_unit(sandbox: KeeperSandbox) -> None:
    code = "import os, time\nif os.fork() == 0:\n    os.setsid()\n    time.sleep(60)\nprint('left')"
    began = time.monotonic()
    result = ended(sandbox, code)
    assert result.termination.succeeded
    assert result.stdout == b"left\n"
    assert time.monotonic() - began < 3


def test_input_arrives_as_it_was_given_and_nothing_is_expanded(sandbox: KeeperSandbox) -> None:
    odd = "$HOME ${PATH} $$ %n %% \\x20 'a' \"b\" ; | ünïcode"
    spec = replace(program("import sys; sys.stdout.buffer.write(sys.argv[1].encode() + sys.stdin.buffer.read())"))
    result = run(sandbox, replace(spec, argv=(*spec.argv, odd)), stdin=odd.encode() * 20_000)
    assert result.stdout == odd.encode() * 20_001


def test_the_environment_is_built_and_not_inherited(sandbox: KeeperSandbox) -> None:
    spec = replace(program("import os; print(sorted(os.environ))"), environment=(("GIVEN", "x"),))
    assert run(sandbox, spec).stdout.decode().strip() == str(sorted(["GIVEN", "HOME", "LANG", "PATH", "TMPDIR"]))


def test_output_is_kept_up_to_the_limit(sandbox: KeeperSandbox) -> None:
    result = ended(sandbox, "import sys; sys.stdout.write('x' * 5000)", limits=replace(SHORT, output_bytes=4096))
    assert result.termination.cause is Cause.OUTPUT_LIMIT
    assert result.stdout == b"x" * 4096


def test_a_unit_can_be_ended_by_us(sandbox: KeeperSandbox) -> None:
    with sandbox.start(program("import time; time.sleep(60)")) as running:
        running.go()
        running.stop(Stop.KILLED)
        assert running.termination().cause is Cause.KILLED


def test_wall_time_counts_from_the_go(sandbox: KeeperSandbox) -> None:
    with sandbox.start(program("pass")) as running:
        time.sleep(1.0)
        running.go()
        assert running.termination().usage.wall_ms < 900


def test_two_units_have_two_accounts_and_do_not_see_each_other(sandbox: KeeperSandbox) -> None:
    look = """
import os
print(os.getuid(), sorted(int(p) for p in os.listdir("/proc") if p.isdigit()), flush=True)
open(0).read()
"""
    with sandbox.start(program(look)) as one, sandbox.start(program(look)) as two:
        one.go()
        two.go()
        first, second = os.read(one.stdout, 1000).split(b" ", 1), os.read(two.stdout, 1000).split(b" ", 1)
    assert first[0] != second[0]
    assert first[1].count(b",") == second[1].count(b",") == 0, "each sees one process: itself"


def test_only_workspace_home_and_scratch_can_be_written(sandbox: KeeperSandbox) -> None:
    code = """
import os
for folder, below, _ in os.walk("/"):
    if folder.startswith("/proc"):
        continue
    if folder.count("/") > 2:
        below.clear()
    try:
        open(folder + "/probe", "w").close()
    except OSError:
        continue
    os.unlink(folder + "/probe")
    print(folder)
"""
    layer = sandbox.store(files(a=b"1"))
    with sandbox.workspace(WorkspaceRequest(layers=(layer,), limits=SHORT)) as workspace:
        spec = replace(program(code, role=Role.CANDIDATE), workspace=workspace)
        assert sorted(run(sandbox, spec).stdout.decode().split()) == [
            "/dev/shm",
            "/home/agent",
            "/tmp",
            "/var/tmp",
            "/work",
        ]


@pytest.mark.parametrize(
    ("code", "said"),
    [
        pytest.param("f = open('/work/big', 'wb')\nwhile True: f.write(bytes(1 << 20))", "Errno 28", id="disk-bytes"),
        pytest.param(
            "i = 0\nwhile True:\n    open(f'/work/{i}', 'w').close()\n    i += 1",
            "Errno 28",
            id="disk-inodes",
        ),
        pytest.param("f = open('/tmp/big', 'wb')\nwhile True: f.write(bytes(1 << 20))", "Errno 28", id="tmp-bytes"),
        pytest.param("f = open('/dev/shm/big', 'wb')\nwhile True: f.write(bytes(1 << 20))", "Errno 28", id="shm-bytes"),
        pytest.param("f = open('/tmp/a', 'wb')\nf.truncate(1 << 30)", "Errno 27", id="file-size"),
        pytest.param("held = []\nwhile True: held.append(open('/work/a'))", "Errno 24", id="descriptors"),
        pytest.param("import os, time\nwhile True:\n    if os.fork() == 0: time.sleep(60)", "Errno 11", id="tasks"),
    ],
)
def test_a_resource_ends_where_its_limit_is(sandbox: KeeperSandbox, code: str, said: str) -> None:
    limits = replace(SHORT, descriptors=64, tasks=20, file_bytes=64 * MIB)
    layer = sandbox.store(files(a=b"1"))
    with sandbox.workspace(WorkspaceRequest(layers=(layer,), limits=limits)) as workspace:
        spec = replace(program(code, role=Role.CANDIDATE, limits=limits), workspace=workspace)
        result = run(sandbox, spec)
    assert said in result.stderr.decode(), result.termination


def test_a_gate_is_all_that_a_candidate_reaches(sandbox: KeeperSandbox) -> None:
    code = """
import socket
print(socket.create_connection(("127.0.0.1", 8080), 1).recv(10).decode())
for address in (("127.0.0.1", PORT), ("192.0.2.1", 80), ("127.0.0.1", 8081)):
    try:
        socket.create_connection(address, 0.3)
        print("reached", address)
    except OSError:
        pass
"""
    with socket.create_server(("127.0.0.1", 0)) as outside, sandbox.gate() as gate:
        served = threading.Thread(target=answer_once, args=(os.dup(gate.listener),))
        served.start()
        spec = program(code.replace("PORT", str(outside.getsockname()[1])), role=Role.CANDIDATE)
        network = Network(reach=Reach.GATE, namespace=gate.namespace, port=gate.port)
        result = run(sandbox, replace(spec, network=network))
        served.join()
    assert result.stdout.decode() == "hello\n", result.stderr


def answer_once(listener: int) -> None:
    with socket.socket(fileno=listener) as listening:
        connection, _ = listening.accept()
        with connection:
            connection.sendall(b"hello")


def test_a_unit_whose_runner_lets_go_of_it_is_ended(sandbox: KeeperSandbox) -> None:
    with sandbox.start(program("import time; time.sleep(60)")) as running:
        running.go()
    began = time.monotonic()
    assert ended(sandbox, "print(1)").stdout == b"1\n"
    assert time.monotonic() - began < 3
