"""What the three ways of asking a model have in common, and the names of what they differ in. Pure."""

import json
from collections.abc import Mapping
from typing import Protocol

from .tally import Tally
from .terms import Json, Terms

MODELS_PATH = "/v1/models"


class BodyError(Exception):
    """A member of a request's body that matters is not of its kind."""


class Dialect(Protocol):
    """One protocol: its path, what may be asked in it, and how its answers are read."""

    @property
    def operation(self) -> str:
        """The ledger's word for it."""

    @property
    def path(self) -> str:
        """Where agents ask, from the gateway's root on; the same stands behind a route's address."""

    @property
    def passed_headers(self) -> frozenset[str]:
        """Headers of the agent's that are the protocol's own and go on, in lower case."""

    @property
    def final_status(self) -> int:
        """A status that agents of this protocol take as final."""

    def headers(self, credential: str | None) -> Mapping[str, str]:
        """Give the headers that carry the provider's key, and those the protocol cannot do without."""

    def features(self, asked: Json) -> frozenset[str]:
        """Name what a request asks of the provider beyond its model, or what is no function of the agent's."""

    def changes(self, asked: Json, terms: Terms, *, stream: bool) -> Json:
        """Give the members of the body that the gateway sets.

        Raises:
            BodyError: a member that matters is not of its kind.
        """

    def hides_usage(self, asked: Json, terms: Terms, *, stream: bool) -> bool:
        """Say whether usage was asked for by us alone: the agent must not see it."""

    def take(self, tally: Tally, part: Json) -> None:
        """Note what a whole answer, or an event of one, says."""

    def spent(self, tally: Tally) -> int:
        """Give the tokens that an answer counts against a budget."""

    def error_of(self, part: Json) -> object:
        """Give the error that a part tells instead of an answer; None where it tells none."""

    def is_last(self, data: bytes, part: Json | None) -> bool:
        """Say whether an event ends a stream."""

    def check_whole(self, part: Json) -> None:
        """Accept a whole answer.

        Raises:
            BrokenAnswerError: it is none.
        """

    def error_body(self, code: str, message: str) -> bytes:
        """Give an error in the protocol's shape; `code` is the ledger's failure kind."""

    def error_event(self, code: str, message: str) -> bytes:
        """Give the event that ends a stream with an error."""


TOLD = {"overloaded": "provider_failed"}
"""What agents are told instead of a failure kind: at the word 'overloaded' some try again, whatever the status."""


def told(code: str) -> str:
    """Give the word for a failure kind that an agent is told."""
    return TOLD.get(code, code)


def kind_of(code: str) -> str:
    """Give the type that providers would give an error of a ledger's failure kind."""
    return "invalid_request_error" if code in {"refused", "context_length"} else "provider_error"


def objects(value: object) -> list[Json]:
    """Give the objects of a list; none where it is no list."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def asked_for(asked: Json, names: frozenset[str]) -> frozenset[str]:
    """Give those of some members that a request sets to anything."""
    return frozenset(name for name in names if asked.get(name) not in (None, False, []))


def is_within(value: object, most: int) -> bool:
    """Say whether a value is a length limit of at most so many tokens."""
    return isinstance(value, int) and not isinstance(value, bool) and 0 < value <= most


def bounded(asked: Json, name: str, most: int | None) -> Json:
    """Give the one change to a body that bounds the answer's length; none where it is bounded already."""
    return {} if most is None or is_within(asked.get(name), most) else {name: most}


def event(name: str, document: Json) -> bytes:
    """Write one event of a stream."""
    return f"event: {name}\n".encode() + b"data: " + json.dumps(document).encode() + b"\n\n"


def models_body(model: str) -> bytes:
    """List the one model there is, as OpenAI and Anthropic both would."""
    known = {"id": model, "object": "model", "type": "model", "display_name": model, "created": 0, "owned_by": ""}
    return json.dumps({"object": "list", "data": [known], "has_more": False}).encode()
