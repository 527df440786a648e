"""What a gateway records of an attempt's exchanges, and that anything else is told from it."""

import base64
import gzip
import hashlib
import io
import json
from pathlib import Path
from urllib.parse import quote

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.errors import StorageError
from runner.gateway.client import Gateway, Tapes
from runner.gateway.recording import BrokenRecordingError, Recording, read_recording
from runner.gateway.relay import taping
from runner.gateway.relay.recording import PART, read_records, write_record
from runner.gateway.relay.redaction import REPLACEMENT, Redaction, forms_of
from runner.gateway.relay.taping import Recorder, recorder
from runner.gateway.scenario import Answer, Fail, Raw, Step
from tests.unit.gateway.rig import KEY, blunt_provider, open_gate, playing

SAY = Step(answer=Answer(text="hello"))


def recorded(path: Path) -> Recording:
    recording = read_recording(path.read_bytes())
    assert not recording.torn
    return recording


@pytest.mark.parametrize("stream", [False, True])
def test_what_was_asked_and_given_is_kept_byte_for_byte(gateway: Gateway, tmp_path: Path, *, stream: bool) -> None:
    kept = tmp_path / "kept.gz"
    with playing(gateway, SAY, tapes=Tapes(kept=kept)) as (gate, _):
        answer = gate.chat(stream=stream)
        line = gate.line
    (exchange,) = recorded(kept).exchanges
    assert exchange.given is not None
    request = recorded(kept).request(exchange)
    assert (request, recorded(kept).given(exchange)) == (answer.request.content, answer.content)
    assert hashlib.sha256(request).hexdigest() == line.request_sha256
    assert (exchange.asked.operation, exchange.asked.target) == ("chat", "/v1/chat/completions")
    assert (exchange.given.status, exchange.given.ended, exchange.given.stream) == (200, True, stream)
    assert exchange.given.content_type == answer.headers["content-type"]
    assert kept.stat().st_mode & 0o777 == 0o600


def test_an_exchange_is_on_disk_before_its_line_is_with_the_runner(gateway: Gateway, tmp_path: Path) -> None:
    kept, seen = tmp_path / "kept.gz", []
    with playing(gateway, SAY, tapes=Tapes(kept=kept)) as (gate, _):
        gate.traffic.on_line = lambda line: seen.append((line.sequence, recorded(kept).exchanges[-1].given))
        gate.chat()
        gate.chat(stream=True)
        gate.client.get(f"{gate.url}/nothing")
    assert [number for number, _ in seen] == [1, 2, 3]
    assert all(given is not None for _, given in seen)


def test_a_recording_that_cannot_be_opened_is_the_disks_fault_and_hurts_no_gateway(
    gateway: Gateway, tmp_path: Path
) -> None:
    with pytest.raises(StorageError, match="No such file"):
        _opened(gateway, tmp_path / "missing/kept.gz")
    (tmp_path / "link.gz").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(StorageError):
        _opened(gateway, tmp_path / "link.gz")
    assert not (tmp_path / "elsewhere").exists()


def _opened(gateway: Gateway, kept: Path) -> None:
    with playing(gateway, SAY, tapes=Tapes(kept=kept)):
        pass


def test_what_the_gateway_itself_refused_is_kept_with_its_word(gateway: Gateway, tmp_path: Path) -> None:
    kept = tmp_path / "kept.gz"
    with playing(gateway, SAY, tapes=Tapes(kept=kept)) as (gate, _):
        gate.client.get(f"{gate.url}/models")
        given = gate.post(b'{"model":"another"}').content
        gate.client.put(f"{gate.url}/chat/completions", content=b"{}")
    exchanges = recorded(kept).exchanges
    assert [each.given.refusal for each in exchanges if each.given] == [None, "model", "method"]
    assert [each.asked.operation for each in exchanges] == ["models", "chat", "chat"]
    assert recorded(kept).given(exchanges[1]) == given


def test_a_failure_is_kept_as_the_agent_was_told_it(gateway: Gateway, tmp_path: Path) -> None:
    kept = tmp_path / "kept.gz"
    with playing(gateway, Step(fail=Fail(status=500, message="out")), tapes=Tapes(kept=kept)) as (gate, _):
        answer = gate.chat()
    (exchange,) = recorded(kept).exchanges
    assert exchange.given is not None
    assert (exchange.given.status, exchange.given.failure) == (400, "overloaded")
    assert recorded(kept).given(exchange) == answer.content


def test_a_cut_stream_is_kept_with_the_error_that_ends_it(gateway: Gateway, tmp_path: Path) -> None:
    kept = tmp_path / "kept.gz"
    step = Step(answer=Answer(text="a long story that is cut"), cut_after=2)
    with playing(gateway, step, tapes=Tapes(kept=kept)) as (gate, _):
        answer = gate.chat(stream=True)
    (exchange,) = recorded(kept).exchanges
    assert exchange.given is not None
    assert (exchange.given.ended, exchange.given.failure) == (True, "network")
    assert recorded(kept).given(exchange) == answer.content


def test_who_is_gone_before_the_answer_leaves_an_exchange_without_an_end(gateway: Gateway, tmp_path: Path) -> None:
    kept = tmp_path / "kept.gz"
    with playing(gateway, Step(answer=Answer(text="late"), hang_ms=60_000), tapes=Tapes(kept=kept)) as (gate, _):
        gate.client.timeout = httpx.Timeout(0.3)
        with pytest.raises(httpx.ReadTimeout):
            gate.chat()
    (exchange,) = recorded(kept).exchanges
    assert exchange.given is not None
    assert (exchange.given.status, exchange.given.ended) == (None, False)
    assert recorded(kept).request(exchange)


def forms(key: str) -> list[bytes]:
    plain = key.encode()
    within = [base64.b64encode(b"x" * ahead + plain + b"y") for ahead in range(4)]
    return [
        plain,
        plain[::-1],
        quote(key, safe="").encode(),
        json.dumps(key).encode(),
        base64.b64encode(plain),
        *within,
    ]


CANARY = "sk-canary/0123+456789"


@pytest.mark.parametrize("stream", [False, True])
def test_a_key_that_a_provider_echoes_is_in_no_recording(gateway: Gateway, tmp_path: Path, *, stream: bool) -> None:
    kept, echo = tmp_path / "kept.gz", b" ".join(forms(CANARY)).decode("latin-1")
    chunk = json.dumps({"choices": [{"delta": {"content": echo}, "message": {"content": echo}}]})
    raw = Raw(
        content_type="text/event-stream" if stream else "application/json",
        body=f"data: {chunk}\n\ndata: [DONE]\n\n" if stream else chunk,
    )
    with playing(gateway, Step(raw=raw), credential=CANARY, tapes=Tapes(kept=kept)) as (gate, _):
        answer = gate.chat(stream=stream)
        assert answer.status_code == 200
        assert _core(CANARY) in answer.content
    (exchange,) = recorded(kept).exchanges
    assert exchange.given is not None
    assert exchange.given.redacted == 2 * len(forms(CANARY))
    text = gzip.decompress(kept.read_bytes())
    assert not [form for form in forms_of(CANARY) if form in text]


def _core(key: str) -> bytes:
    return base64.b64encode(key.encode())[: len(key) * 8 // 6]


@given(data=st.binary(max_size=300), at=st.integers(0, 300), size=st.integers(1, 40), form=st.integers(0, 8))
def test_no_cut_between_parts_hides_a_key(data: bytes, at: int, size: int, form: int) -> None:
    hidden = forms(CANARY)[form]
    whole = data[:at] + hidden + data[at:]
    redaction = Redaction(forms_of(CANARY))
    parts = [whole[place : place + size] for place in range(0, len(whole), size)]
    taken = b"".join(redaction.take(part, last=False) for part in parts) + redaction.take(b"", last=True)
    assert not [known for known in forms_of(CANARY) if known in taken.replace(REPLACEMENT, b"")]
    assert redaction.found >= 1


def test_a_word_that_is_too_short_for_a_key_is_left_alone() -> None:
    assert Redaction(forms_of("none")).take(b"none", last=True) == b"none"
    assert Redaction(forms_of(None)).take(b"None", last=True) == b"None"


def test_a_long_answer_is_written_in_parts_while_it_streams(tmp_path: Path) -> None:
    path = tmp_path / "kept.gz"
    with path.open("wb") as file:
        tape = recorder(file.fileno(), KEY).tape(1, "chat", "POST", "/v1/chat/completions")
        tape.request = b"{}"
        tape.begin(200, "text/event-stream", stream=True)
        written = []
        for _ in range(48):
            tape.add(bytes(PART // 16))
            written.append(path.stat().st_size)
            assert len(tape._held) < PART
        assert len(set(written)) >= 3
        tape.end()
        tape.finish(None, None)
    (exchange,) = recorded(path).exchanges
    assert len(exchange.answer) == 4
    assert recorded(path).given(exchange) == bytes(3 * PART)


def test_of_an_answer_without_end_the_beginning_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(taping, "ANSWER_KEPT", 1000)
    path = tmp_path / "kept.gz"
    with path.open("wb") as file:
        tape = recorder(file.fileno(), None).tape(1, "chat", "POST", "/")
        for _ in range(5):
            tape.add(b"x" * 400)
        tape.finish(None, None)
    (exchange,) = recorded(path).exchanges
    assert exchange.given is not None
    assert (exchange.given.cut, exchange.given.size) == (True, 2000)
    assert recorded(path).given(exchange) == b"x" * 1000


@pytest.mark.parametrize("limit", ["RECORDING_LIMIT", "PLAIN_LIMIT"])
def test_a_recording_that_is_full_keeps_heads_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: str
) -> None:
    monkeypatch.setattr(taping, limit, 10)
    path = tmp_path / "kept.gz"
    with path.open("wb") as file:
        whole = recorder(file.fileno(), None)
        for sequence in (1, 2):
            tape = whole.tape(sequence, "chat", "POST", "/")
            tape.request = b"asked"
            tape.whole(200, "application/json", b"given")
            tape.finish(None, None)
    first, second = recorded(path).exchanges
    assert first.given is not None
    assert second.given is not None
    assert (second.asked.cut, second.given.cut) == (True, True)
    assert second.asked.sha256 == hashlib.sha256(b"asked").hexdigest()
    assert (recorded(path).request(first), recorded(path).request(second)) == (b"asked", b"")


def test_without_a_file_nothing_is_held() -> None:
    tape = Recorder(None).tape(1, "chat", "POST", "/")
    tape.add(bytes(PART))
    assert not tape._held
    tape.finish(None, None)


HEADS = {
    "asked": {"operation": "chat", "method": "POST", "target": "/"},
    "part": {},
    "given": {
        "status": 200,
        "content_type": None,
        "stream": False,
        "size": 0,
        "cut": False,
        "redacted": 0,
        "ended": True,
        "failure": None,
        "refusal": None,
        "played": None,
    },
}


def member(kind: str, sequence: object, body: bytes = b"", **other: object) -> bytes:
    head: dict[str, object] = {"record": kind, "sequence": sequence, **HEADS[kind]}
    if kind == "asked":
        head |= {"size": len(body), "sha256": hashlib.sha256(body).hexdigest(), "cut": False}
    return write_record({**head, **other}, body)


bodies = st.lists(st.tuples(st.binary(max_size=200), st.lists(st.binary(max_size=50), max_size=3)), max_size=5)


@given(bodies=bodies, order=st.randoms(use_true_random=False))
def test_exchanges_that_are_mixed_are_told_apart(
    bodies: list[tuple[bytes, list[bytes]]], order: "st.random.Random"
) -> None:
    waiting = {
        number: [
            member("asked", number, asked),
            *(member("part", number, part) for part in parts),
            member("given", number),
        ]
        for number, (asked, parts) in enumerate(bodies, 1)
    }
    data = b""
    while waiting:
        number = order.choice(sorted(waiting))
        data += waiting[number].pop(0)
        waiting = {each: left for each, left in waiting.items() if left}
    recording = read_recording(data)
    read = [(recording.request(each), recording.given(each)) for each in recording.exchanges]
    assert read == [(asked, b"".join(parts)) for asked, parts in bodies]


WHOLE = member("asked", 1, b"first") + member("given", 1, b"one") + member("asked", 2, b"second") + member("given", 2)


@given(size=st.integers(0, len(WHOLE) - 1))
def test_what_a_killed_writer_left_is_read_as_far_as_it_goes(size: int) -> None:
    recording = read_recording(WHOLE[:size])
    ends = [record.start + record.size for record in read_records(io.BytesIO(WHOLE))]
    assert recording.torn == (size not in {0, *ends})
    whole = sum(end <= size for end in ends)
    assert len(recording.exchanges) == (whole + 1) // 2
    assert sum(each.given is not None for each in recording.exchanges) == whole // 2


@given(data=st.binary(max_size=2000))
def test_garbage_is_no_recording(data: bytes) -> None:
    try:
        recording = read_recording(data)
    except BrokenRecordingError:
        return
    assert recording.exchanges == ()
    assert recording.torn == bool(data)


@given(at=st.integers(0, len(WHOLE) - 1), bit=st.integers(0, 7))
def test_a_flipped_bit_makes_no_other_recording(at: int, bit: int) -> None:
    data = bytearray(WHOLE)
    data[at] ^= 1 << bit
    try:
        recording = read_recording(bytes(data))
    except BrokenRecordingError:
        return
    told = [(recording.request(each), recording.given(each)) for each in recording.exchanges]
    assert told == [(b"first", b"one"), (b"second", b"")][: len(told)]


@pytest.mark.parametrize(
    ("data", "told"),
    [
        pytest.param(member("asked", 1) * 2, "asked twice", id="asked twice"),
        pytest.param(member("given", 1), "before it is asked", id="not asked"),
        pytest.param(member("asked", 1) + member("given", 1) * 2, "or twice", id="given twice"),
        pytest.param(member("asked", 1, size=4), "not what its head says", id="size"),
        pytest.param(member("asked", 1, b"a", sha256="0" * 64), "not what its head says", id="digest"),
        pytest.param(member("asked", 1, b"a", cut=True), "is cut, and there", id="cut"),
        pytest.param(member("asked", 1, more=1), "is none", id="unknown member"),
        pytest.param(member("asked", 0), "without the number", id="number"),
        pytest.param(member("asked", True), "without the number", id="truth"),  # noqa: FBT003 - a value of JSON
        pytest.param(write_record({"record": "other", "sequence": 1}, b""), "head is none", id="kind"),
        pytest.param(gzip.compress(b"{" + b" " * 9000 + b"}\n"), "not JSON|none", id="long head"),
        pytest.param(gzip.compress(b"no json\n"), "not JSON", id="no JSON"),
        pytest.param(gzip.compress(bytes(20 << 20)), "more than", id="bomb"),
        pytest.param(member("asked", 1) + b"garbage", "gzip", id="tail"),
    ],
)
def test_a_recording_that_says_what_cannot_be_is_refused(data: bytes, told: str) -> None:
    with pytest.raises(BrokenRecordingError, match=told):
        read_recording(data)


def test_a_raw_error_of_a_provider_with_the_key_in_it_is_kept_without_it(gateway: Gateway, tmp_path: Path) -> None:
    kept = tmp_path / "kept.gz"
    body = json.dumps({"error": {"message": f"bad request with {KEY}"}}).encode()
    head = b"HTTP/1.1 400 Bad Request\r\ncontent-type: application/json\r\n"
    answer = head + b"content-length: %d\r\nconnection: close\r\n\r\n" % len(body) + body
    with blunt_provider(answer) as url, open_gate(gateway, url, tapes=Tapes(kept=kept)) as gate:
        gate.chat()
    assert KEY.encode() not in gzip.decompress(kept.read_bytes())


def test_a_stream_that_is_raw_is_kept_as_it_was_given(gateway: Gateway, tmp_path: Path) -> None:
    kept = tmp_path / "kept.gz"
    raw = Raw(content_type="text/event-stream", body=': hello\n\ndata: {"choices":[{}]}\n\ndata: [DONE]\n\n')
    with playing(gateway, Step(raw=raw), tapes=Tapes(kept=kept)) as (gate, _):
        answer = gate.chat(stream=True)
    (exchange,) = recorded(kept).exchanges
    assert recorded(kept).given(exchange) == answer.content
