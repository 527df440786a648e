"""The provider's side of the gateway: one try is an answer, a stream that has begun, or a failure."""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime

import httpx

from .failures import Failure, error_failure, malformed_failure, network_failure, status_failure
from .rules import Chat
from .tally import DONE, BrokenAnswerError, Tally, blocks, check_whole, data_of, parse_part
from .terms import Terms

ANSWER_LIMIT = 64 << 20
ERROR_LIMIT = 256 << 10
HTTP_OK = 200


@dataclass(slots=True, kw_only=True)
class Whole:
    """An answer that came in one piece."""

    body: bytes
    content_type: str
    tally: Tally


@dataclass(slots=True, kw_only=True)
class Begun:
    """A stream whose first event is no failure."""

    response: httpx.Response
    blocks: Iterator[bytes]
    first: tuple[bytes, ...]
    """Blocks read so far, comments included; the last is the first event with data."""
    meter: "Meter"


@dataclass(slots=True)
class Meter:
    """Counts and hashes what comes from the provider."""

    limit: int
    size: int = 0
    sha: "hashlib._Hash" = field(default_factory=hashlib.sha256)

    def count(self, response: httpx.Response) -> Iterator[bytes]:
        """Pass the body on, measured.

        Raises:
            BrokenAnswerError: It outgrows the limit.
        """
        for chunk in response.iter_bytes():
            self.size += len(chunk)
            self.sha.update(chunk)
            if self.size > self.limit:
                raise BrokenAnswerError(f"more than {self.limit} bytes")
            yield chunk


def open_client(terms: Terms) -> httpx.Client:
    """Make the connection pool of one attempt: no proxies, no environment, no redirects, no cookies kept."""
    patience = terms.patience
    silence = patience.silence_ms / 1_000
    timeout = httpx.Timeout(silence, connect=patience.connect_ms / 1_000)
    headers = {
        "content-type": "application/json",
        "accept-encoding": "identity",
        "user-agent": "python-httpx",
    }
    if terms.credential is not None:
        headers["authorization"] = f"Bearer {terms.credential}"
    headers.update({name.lower(): value for name, value in terms.headers})
    # Reading all authorities takes tens of milliseconds; plain http, never redirected, has no use for them.
    verify = terms.base_url.startswith("https://")
    return httpx.Client(
        headers=headers,
        timeout=timeout,
        verify=verify,
        trust_env=False,
        follow_redirects=False,
    )


def ask(client: httpx.Client, terms: Terms, chat: Chat) -> Whole | Begun | Failure:
    """Ask the provider once."""
    accept = "text/event-stream" if chat.stream else "application/json"
    request = client.build_request(
        "POST",
        f"{terms.base_url}/chat/completions",
        content=chat.body,
        headers={"accept": accept},
    )
    client.cookies.clear()
    try:
        response = client.send(request, stream=True)
    except (httpx.TransportError, httpx.InvalidURL) as error:
        return network_failure(type(error).__name__)
    kept = False
    try:
        answer = _read(response)
        kept = isinstance(answer, Begun)
    except httpx.HTTPError as error:
        return network_failure(type(error).__name__, response.status_code)
    finally:
        if not kept:
            response.close()
    return answer


def _read(response: httpx.Response) -> Whole | Begun | Failure:
    if response.status_code != HTTP_OK:
        meter = Meter(ERROR_LIMIT)
        try:
            body = b"".join(meter.count(response))
        except BrokenAnswerError:
            body = b""
        retry_after = response.headers.get("retry-after")
        if 300 <= response.status_code < 400 or response.status_code < HTTP_OK:  # noqa: PLR2004 - redirects
            return malformed_failure("a redirect", response.status_code, body)
        return status_failure(response.status_code, body, retry_after, datetime.now(UTC))
    if response.headers.get("content-type", "").lower().startswith("text/event-stream"):
        return _begin(response)
    return _whole(response)


def _whole(response: httpx.Response) -> Whole | Failure:
    body, tally = b"", Tally()
    try:
        body = b"".join(Meter(ANSWER_LIMIT).count(response))
        part = parse_part(body)
        tally.take(part)
        if tally.error is not None:
            return error_failure(tally.error, body)
        check_whole(part)
    except BrokenAnswerError as error:
        return malformed_failure(str(error), HTTP_OK, body)
    return Whole(body=body, content_type=response.headers.get("content-type", "application/json"), tally=tally)


def _begin(response: httpx.Response) -> Begun | Failure:
    meter = Meter(ANSWER_LIMIT)
    stream = blocks(meter.count(response))
    seen: list[bytes] = []
    try:
        for block in stream:
            seen.append(block)
            data = data_of(block)
            if data is None:
                continue
            if data == DONE:
                break
            error = parse_part(data).get("error")
            if error:
                return error_failure(error, b"".join(seen))
            return Begun(response=response, blocks=stream, first=tuple(seen), meter=meter)
    except BrokenAnswerError as error:
        return malformed_failure(str(error), HTTP_OK, b"".join(seen))
    return malformed_failure("an empty stream", HTTP_OK, b"".join(seen))
