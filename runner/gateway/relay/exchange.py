"""One request for a completion, from the agent's question to the last byte of its answer."""

import hashlib
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import chain

import httpx

from .draft import Draft
from .failures import Failure, answer_for, error_failure, malformed_failure, network_failure, wait_before
from .inbound import Inbound
from .rules import Asked
from .tally import BrokenAnswerError, data_of, is_done, parse_part, without_usage
from .terms import Terms
from .upstream import Begun, Whole, ask


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """What one request works with. `settle` writes the ledger line and returns when the runner has it."""

    terms: Terms
    client: httpx.Client
    asked: Asked
    draft: Draft
    inbound: Inbound
    settle: Callable[[Draft], None]
    closing: threading.Event

    def run(self) -> None:
        """Ask, again if need be, and pass the answer on."""
        answer = self._ask_until_final()
        if isinstance(answer, Failure):
            self._fail(answer)
        elif isinstance(answer, Whole):
            self._pass_whole(answer)
        else:
            try:
                self._pass_stream(answer)
            finally:
                answer.response.close()

    def _ask_until_final(self) -> Whole | Begun | Failure:
        deadline = self.draft.started + self.terms.patience.request_ms / 1_000
        while True:
            answer = ask(self.client, self.terms, self.asked)
            if not isinstance(answer, Failure):
                self.draft.status_upstream = 200
                return answer
            if self.closing.is_set():
                raise ConnectionAbortedError("nobody waits for the answer any more")
            self._note(answer)
            wait = wait_before(self.draft.retries + 1, answer, self.terms.patience, self.draft.wait_ms)
            if wait is None or time.monotonic() + wait / 1_000 > deadline:
                return answer
            self.closing.wait(wait / 1_000)
            self.draft.wait_ms += wait
            self.draft.retries += 1

    def _note(self, failure: Failure) -> None:
        self.draft.status_upstream = failure.status
        self.draft.failure = failure.kind
        self.draft.response_bytes = len(failure.body)
        self.draft.response_hash = hashlib.sha256(failure.body).hexdigest() if failure.body else None

    def _fail(self, failure: Failure) -> None:
        status, body = answer_for(failure, self.terms.credential, self.asked.dialect)
        self._give(status, body, "application/json")

    def _pass_whole(self, answer: Whole) -> None:
        self.draft.tally = answer.tally
        self.draft.response_bytes = len(answer.body)
        self.draft.response_hash = hashlib.sha256(answer.body).hexdigest()
        self.draft.failure = None
        self._give(200, answer.body, answer.content_type)

    def _give(self, status: int, body: bytes, content_type: str) -> None:
        self.draft.status_given = status
        self.draft.tape.whole(status, content_type, body)
        self._finish()
        self.inbound.answer(status, body, content_type)

    def _finish(self) -> None:
        self.draft.complete = True
        self.draft.first()
        self.settle(self.draft)

    def _end(self, data: bytes) -> None:
        """Keep the last part of a stream, which is sent once its line is written."""
        self.draft.tape.add(data)
        self.draft.tape.end()

    def _pass_stream(self, begun: Begun) -> None:
        self.draft.failure = None
        self.draft.tape.begin(200, "text/event-stream", stream=True)
        self.inbound.begin_stream("text/event-stream")
        self.draft.status_given = 200
        self.draft.first()
        failure: Failure | None = None
        try:
            held = self._pass_blocks(begun)
        except BrokenAnswerError as error:
            failure = malformed_failure(str(error), 200, b"")
        except httpx.HTTPError as error:
            failure = network_failure(type(error).__name__, 200)
        finally:
            # Also where the agent left midway: what came until then was asked for.
            self.draft.response_bytes = begun.meter.size
            self.draft.response_hash = begun.meter.sha.hexdigest()
        if failure is None:
            failure = self._failure_of_stream(done=bool(held))
        if failure is None:
            self._end(held)
            self._finish()
            self.inbound.end_stream(held)
            return
        self.draft.failure = failure.kind
        told = held if self.draft.tally.error else self.asked.dialect.error_event(failure.kind, failure.message)
        self._end(told)
        self.settle(self.draft)
        self.inbound.end_stream(told)

    def _pass_blocks(self, begun: Begun) -> bytes:
        """Forward every block but the one that ends the stream, which is given back."""
        dialect, tally = self.asked.dialect, self.draft.tally
        deadline = self.draft.started + self.terms.patience.request_ms / 1_000
        for block in self._until(deadline, chain(begun.first, begun.blocks)):
            data = data_of(block)
            part = None if data is None or is_done(data) else parse_part(data)
            shown: bytes | None = block
            if part is not None:
                dialect.take(tally, part)
                tally.error = dialect.error_of(part) or tally.error
                shown = without_usage(block, part) if self.asked.hides_usage else block
            if data is not None and dialect.is_last(data, part):
                return block
            if shown is not None:
                self.draft.tape.add(shown)
                self.inbound.push(shown)
        return b""

    def _until(self, deadline: float, parts: Iterator[bytes]) -> Iterator[bytes]:
        for part in parts:
            if self.closing.is_set() or time.monotonic() > deadline:
                raise httpx.ReadTimeout("the request outlived its time")
            yield part

    def _failure_of_stream(self, *, done: bool) -> Failure | None:
        if self.draft.tally.error is not None:
            return error_failure(self.draft.tally.error, b"")
        if not done and self.draft.tally.finish_reason is None:
            return network_failure("the stream was cut", 200)
        return None
