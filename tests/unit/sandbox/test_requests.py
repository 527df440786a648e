"""The keeper's requests: what is asked in its one form is read, whatever else comes is refused and nothing is kept."""

import json
import os
import socket
from collections.abc import Iterator
from contextlib import suppress
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox.errors import HostUnfitError, KeeperError, SandboxError, WorkspaceError
from sandbox.properties import refuse_targets
from sandbox.requests import Open, OpenGate, Request, Start, parse_request, request_message
from sandbox.spec import Limits, Role, UnitSpec
from sandbox.wire import PACKET_BYTES, receive, refusal, send, told
from tests.unit.hostile import HOSTILE_JSON, hostile_documents
from tests.unit.sandbox.asking import FIELDS, requests
from tests.unit.sandbox.trees import FEW, PATIENT

DIGEST = "a" * 64
WALL = timedelta(seconds=3)
Fields = dict[str, object]


@PATIENT
@given(requests())
def test_every_request_is_read_as_it_was_meant(request: Request) -> None:
    message = request_message(request)
    assert parse_request(message) == request
    assert parse_request(json.loads(json.dumps(message))) == request


@PATIENT
@given(requests(), st.data())
def test_a_request_that_was_spoilt_is_refused_or_is_another_in_its_one_form(
    request: Request, data: st.DataObject
) -> None:
    message = data.draw(hostile_documents(json.loads(json.dumps(request_message(request)))))
    with suppress(KeeperError):
        assert request_message(parse_request(message)) == message


@PATIENT
@given(st.dictionaries(st.sampled_from(["do", *FIELDS]) | st.text(max_size=5), HOSTILE_JSON, max_size=5))
def test_no_json_is_anything_but_a_request_or_refused(message: Fields) -> None:
    with pytest.raises(KeeperError):
        parse_request(message)


START = json.loads(
    json.dumps(request_message(Start(spec=UnitSpec(role=Role.TESTS, argv=("/x",), limits=Limits(wall=WALL)))))
)


@pytest.mark.parametrize(
    ("message", "says"),
    [
        pytest.param({"do": "has", "digest": DIGEST, "more": 1}, "one form", id="more"),
        pytest.param({"do": "open", "state": "/x"}, "one form", id="less"),
        pytest.param({"do": "has", "digest": "../" + DIGEST[3:]}, "digest", id="climbs"),
        pytest.param({"do": "has", "digest": DIGEST + "\n"}, "digest", id="line-feed"),
        pytest.param({"do": "close-workspace", "workspace": "../x"}, "workspace", id="workspace-climbs"),
        pytest.param({"do": "open", "state": "x"}, "state", id="relative"),
        pytest.param({"do": "open", "state": "/a\0b"}, "state", id="nul"),
        pytest.param({"do": "open-gate", "port": 80}, "port", id="low-port"),
        pytest.param({"do": "open-gate", "port": True}, "port", id="bool"),
        pytest.param({"do": "open-gate", "port": float("nan")}, "port", id="nan"),
        pytest.param({"do": "nothing"}, "nothing", id="unknown"),
        pytest.param({}, "do", id="empty"),
    ],
)
def test_what_is_wrong_with_a_request_is_told(message: Fields, says: str) -> None:
    with pytest.raises(KeeperError, match=says):
        parse_request(message)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        pytest.param({"argv": []}, "absolute", id="no-program"),
        pytest.param({"argv": ["x"]}, "absolute", id="relative-program"),
        pytest.param({"argv": ["/x", "a\0b"]}, "NUL", id="nul-in-argv"),
        pytest.param({"environment": [["A\0", "b"]]}, "NUL", id="nul-in-environment"),
        pytest.param({"working_directory": "/\0"}, "NUL", id="nul-in-folder"),
        pytest.param({"network": {"reach": "outside", "namespace": None, "port": None}}, "outside", id="outside"),
        pytest.param({"network": {"reach": "nothing", "namespace": "n", "port": 1}}, "if, and only if", id="no-gate"),
        pytest.param({"limits": START["spec"]["limits"] | {"tasks": 0}}, "above zero", id="none"),
        pytest.param({"limits": START["spec"]["limits"] | {"tasks": -1}}, "above zero", id="negative"),
        pytest.param({"limits": START["spec"]["limits"] | {"disk_bytes": 1 << 60}}, "at most", id="huge"),
        pytest.param({"limits": START["spec"]["limits"] | {"tasks": 1 << 70}}, "tasks", id="above-64-bits"),
        pytest.param({"limits": START["spec"]["limits"] | {"wall": "P999999999D"}}, "at most", id="for-ever"),
        pytest.param({"mounts": [{"object": DIGEST, "target": "/opt/x", "subpath": ".."}]}, "one form", id="subpath"),
    ],
)
def test_a_unit_that_may_not_be_is_no_request(change: Fields, says: str) -> None:
    with pytest.raises(KeeperError, match=says):
        parse_request({"do": "start", "spec": START["spec"] | change})


@pytest.mark.parametrize("target", ["/opt/../x", "/../x", "../x", "/opt/a/../../x", "/etc", "/opt/a\0b", "\0"])
def test_a_mount_point_elsewhere_is_refused(target: str) -> None:
    with pytest.raises(SandboxError, match="nothing can be mounted"):
        refuse_targets((target,))


# ---- packets


@pytest.fixture
def pair() -> Iterator[tuple[socket.socket, socket.socket]]:
    mine, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with mine, theirs:
        yield mine, theirs


def open_descriptors() -> list[Path]:
    return list(Path("/proc/self/fd").iterdir())


@FEW
@given(st.binary(max_size=300) | hostile_documents(START).map(lambda value: json.dumps(value).encode()))
def test_any_packet_is_a_message_or_refused_and_no_descriptor_stays(
    pair: tuple[socket.socket, socket.socket], packet: bytes
) -> None:
    mine, theirs = pair
    before = open_descriptors()
    socket.send_fds(mine, [packet], [0, 1, 2])
    try:
        received = receive(theirs)
    except KeeperError:
        received = None
    if received is not None:
        assert isinstance(received[0], dict)
        assert len(received[1]) == 3
        for descriptor in received[1]:
            assert not os.get_inheritable(descriptor)
            os.close(descriptor)
    assert len(open_descriptors()) == len(before)


@pytest.mark.parametrize(
    "packet",
    [
        pytest.param(b"[" * 100_000, id="nested-lists"),
        pytest.param(b'{"a":' * 20_000, id="nested-objects"),
        pytest.param(b"1" * 5000, id="huge-number"),
        pytest.param(b"[]", id="list"),
        pytest.param(b"\xff\xfe", id="no-text"),
        pytest.param(b" " * (PACKET_BYTES + 1), id="too-large"),
    ],
)
def test_a_packet_that_is_no_message_is_refused(pair: tuple[socket.socket, socket.socket], packet: bytes) -> None:
    mine, theirs = pair
    mine.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 20)
    before = open_descriptors()
    socket.send_fds(mine, [packet], [0])
    with pytest.raises(KeeperError):
        receive(theirs)
    assert len(open_descriptors()) == len(before)


def test_more_descriptors_than_a_message_has_are_refused_and_closed(pair: tuple[socket.socket, socket.socket]) -> None:
    mine, theirs = pair
    before = open_descriptors()
    socket.send_fds(mine, [b"{}"], [0] * 100)
    with pytest.raises(KeeperError):
        receive(theirs)
    assert len(open_descriptors()) == len(before)


def test_an_empty_packet_is_the_end_whatever_comes_with_it(pair: tuple[socket.socket, socket.socket]) -> None:
    mine, theirs = pair
    before = open_descriptors()
    socket.send_fds(mine, [b""], [0, 1])
    assert receive(theirs) is None
    assert len(open_descriptors()) == len(before)


@PATIENT
@given(st.text(st.characters(), max_size=50), st.integers(0, 200_000))
def test_any_error_fits_into_a_packet(text: str, times: int) -> None:
    for error in (WorkspaceError(text * times), HostUnfitError(text * times, text * times)):
        message = refusal(error)
        assert len(json.dumps(message)) < PACKET_BYTES
        assert type(told(message)) is type(error)


def test_a_message_above_the_bound_is_not_sent(pair: tuple[socket.socket, socket.socket]) -> None:
    with pytest.raises(KeeperError, match="above"):
        send(pair[0], {"x": "x" * PACKET_BYTES})


def test_what_no_one_reads_any_more_is_told() -> None:
    mine, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    theirs.close()
    with mine, pytest.raises(KeeperError, match="gone"):
        send(mine, request_message(OpenGate(port=8080)))


def test_a_keeper_may_be_opened_with_what_it_is_opened_with() -> None:
    assert parse_request(request_message(Open(state="/var/lib/x"))) == Open(state="/var/lib/x")
