"""The provider's side of the gateway: one try is an answer, a stream that has begun, or a failure."""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime

import httpx

from .dialect import Dialect
from .dialects import BY_NAME
from .failures import Failure, error_failure, malformed_failure, network_failure, status_failure
from .rules import Asked
from .tally import BrokenAnswerError, Tally, blocks, data_of, is_done, parse_part
from .terms import Terms

ANSWER_LIMIT = 64 << 20
"""Of an answer in one piece."""
STREAM_LIMIT = 4 << 30
"""Of a stream, which is never held as a whole."""
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
    dialect = BY_NAME[terms.dialect]
    if terms.bearer and terms.credential is not None:
        headers |= {**dialect.headers(None), "authorization": f"Bearer {terms.credential}"}
    else:
        headers |= dialect.headers(terms.credential)
    headers |= {name.lower(): value for name, value in terms.headers}
    # Reading all authorities takes tens of milliseconds; plain http, never redirected, has no use for them.
    verify = terms.base_url.startswith("https://")
    return httpx.Client(
        headers=headers,
        timeout=timeout,
        verify=verify,
        trust_env=False,
        follow_redirects=False,
    )


def ask(client: httpx.Client, terms: Terms, asked: Asked) -> Whole | Begun | Failure:
    """Ask the provider once."""
    accept = "text/event-stream" if asked.stream else "application/json"
    own = {name.lower() for name, _ in terms.headers}
    passed = {name: value for name, value in asked.headers if name not in own}
    query = f"?{asked.query}" if asked.query else ""
    request = client.build_request(
        "POST",
        f"{terms.base_url}{asked.dialect.path.removeprefix('/v1')}{query}",
        content=asked.body,
        headers={**passed, "accept": accept},
    )
    client.cookies.clear()
    try:
        response = client.send(request, stream=True)
    except (httpx.TransportError, httpx.InvalidURL) as error:
        return network_failure(type(error).__name__)
    kept = False
    try:
        answer = _read(response, asked.dialect)
        kept = isinstance(answer, Begun)
    except httpx.HTTPError as error:
        return network_failure(type(error).__name__, response.status_code)
    finally:
        if not kept:
            response.close()
    return answer


def _read(response: httpx.Response, dialect: Dialect) -> Whole | Begun | Failure:
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
        return _begin(response, dialect)
    return _whole(response, dialect)


def _whole(response: httpx.Response, dialect: Dialect) -> Whole | Failure:
    body, tally = b"", Tally()
    try:
        body = b"".join(Meter(ANSWER_LIMIT).count(response))
        part = parse_part(body)
        error = dialect.error_of(part)
        if error is not None:
            return error_failure(error, body)
        dialect.take(tally, part)
        dialect.check_whole(part)
    except BrokenAnswerError as error:
        return malformed_failure(str(error), HTTP_OK, body)
    return Whole(body=body, content_type=response.headers.get("content-type", "application/json"), tally=tally)


def _begin(response: httpx.Response, dialect: Dialect) -> Begun | Failure:
    meter = Meter(STREAM_LIMIT)
    stream = blocks(meter.count(response))
    seen: list[bytes] = []
    try:
        for block in stream:
            seen.append(block)
            data = data_of(block)
            if data is None:
                continue
            if is_done(data):
                break
            error = dialect.error_of(parse_part(data))
            if error is not None:
                return error_failure(error, b"".join(seen))
            return Begun(response=response, blocks=stream, first=tuple(seen), meter=meter)
    except BrokenAnswerError as error:
        return malformed_failure(str(error), HTTP_OK, b"".join(seen))
    return malformed_failure("an empty stream", HTTP_OK, b"".join(seen))
