"""One request that is answered from a recording, byte for byte as it was answered then."""

import threading
from collections.abc import Callable
from dataclasses import dataclass

from .draft import Draft
from .inbound import Inbound
from .shelf import Played


@dataclass(frozen=True, slots=True, kw_only=True)
class Playback:
    """What one request works with. `settle` writes the ledger line and returns when the runner has it."""

    played: Played
    draft: Draft
    inbound: Inbound
    settle: Callable[[Draft], None]
    closing: threading.Event

    def run(self) -> None:
        """Give the answer; where there was no end of it, none is given."""
        played, draft = self.played, self.draft
        draft.tape.play(played.sequence)
        draft.refusal = played.refusal
        # Unless told otherwise below, who leaves amid an answer does so by itself.
        draft.failure = "network"
        if played.status is None:
            self._fall_silent()
        elif played.stream:
            self._stream(played.status)
        else:
            self._whole(played.status)

    def _stream(self, status: int) -> None:
        self._begin(status, stream=True)
        self.inbound.begin_stream(self.played.content_type)
        held = b""
        for part in self.played.parts:
            if held:
                self.inbound.push(held)
            held = part
            self.draft.tape.add(part)
        if not self.played.ended:
            if held:
                self.inbound.push(held)
            self._fall_silent()
            return
        self._end()
        self.inbound.end_stream(held)

    def _whole(self, status: int) -> None:
        body = b"".join(self.played.parts)
        self._begin(status, stream=False)
        self.draft.tape.add(body)
        self._end()
        self.inbound.answer(status, body, self.played.content_type)

    def _begin(self, status: int, *, stream: bool) -> None:
        self.draft.tape.begin(status, self.played.content_type, stream=stream)
        self.draft.status_given = status
        self.draft.first()

    def _end(self) -> None:
        self.draft.tape.end()
        self.draft.failure, self.draft.complete = None, True
        self.settle(self.draft)

    def _fall_silent(self) -> None:
        """Say nothing more. Where nothing was asked afterwards, the runner is told that the recording ends here."""
        if self.played.is_last:
            self.draft.failure = None
            self.settle(self.draft)
        while not self.closing.is_set() and not self.inbound.is_left():
            self.closing.wait(0.05)
