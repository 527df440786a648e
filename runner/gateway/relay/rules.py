"""What a request may be, and what the gateway makes of it, whatever the protocol. Pure."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from .dialect import MODELS_PATH, BodyError, Dialect
from .dialects import BY_PATH
from .tally import name_of
from .terms import Json, Terms

_QUERIES = frozenset({"", "beta=true"})
"""What may follow a path."""

# Objects and lists take up to fifty times their text in memory, and a gateway out of memory is a fault of ours.
BRACES = 500_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """A request that reaches no provider. `refusal` is the ledger's word."""

    refusal: str
    status: int
    message: str
    model: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A request for an answer, as it goes to the provider."""

    dialect: Dialect
    query: str
    model: str
    stream: bool
    body: bytes = field(repr=False)
    headers: tuple[tuple[str, str], ...] = ()
    """The agent's own that go on."""
    amended: tuple[str, ...] = ()
    features: tuple[str, ...] = ()
    """What it asks of the provider beyond its model; allowed by the terms."""
    hides_usage: bool = False
    """Usage was asked for by us alone: the agent must not see it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """The first line of a request, and its headers by lower-case name."""

    method: str
    target: str
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)

    @property
    def path(self) -> str:
        """The target without its query."""
        return self.target.partition("?")[0]

    @property
    def query(self) -> str:
        """What follows the path."""
        return self.target.partition("?")[2]


def operation_of(path: str) -> str:
    """Give the ledger's word for what is asked."""
    dialect = BY_PATH.get(path)
    return dialect.operation if dialect is not None else "models" if path == MODELS_PATH else "other"


def check_line(line: Line, terms: Terms) -> Dialect | Refused | None:
    """Say in which protocol an answer is asked for, before a body is read; None for the list of models."""
    dialect = BY_PATH.get(line.path)
    is_models = line.path == MODELS_PATH
    if line.query not in _QUERIES and not is_models:
        return Refused(refusal="path", status=404, message=f"{line.path} takes no such query here")
    if not is_models and (dialect is None or dialect.operation != terms.dialect):
        served = next(path for path, each in BY_PATH.items() if each.operation == terms.dialect)
        return Refused(refusal="path", status=404, message=f"only {served} and {MODELS_PATH} are served here")
    wanted = "GET" if is_models else "POST"
    if line.method != wanted:
        return Refused(refusal="method", status=405, message=f"{line.path} takes {wanted} alone")
    return dialect


def check_body(dialect: Dialect, line: Line, body: bytes, terms: Terms) -> Asked | Refused:
    """Decide whether an answer may be asked for, and with which body."""
    asked = _parse(body)
    if isinstance(asked, Refused):
        return asked
    model, stream = asked.get("model"), asked.get("stream", False)
    named = name_of(model)
    if model != terms.model:
        return Refused(
            refusal="model",
            status=404,
            message=f"the model is not {terms.model!r}, the only one here",
            model=named,
        )
    if not isinstance(stream, bool | None):
        return Refused(refusal="body", status=400, message="stream must be true or false", model=named)
    features = dialect.features(asked)
    if foreign := sorted(features - set(terms.features)):
        message = f"{foreign[0]} is not available here"
        return Refused(refusal="provider_feature", status=400, message=message, model=named)
    try:
        return _amend(dialect, line, asked, body, terms, features=tuple(sorted(features)))
    except BodyError as error:
        return Refused(refusal="body", status=400, message=str(error), model=named)


def _parse(body: bytes) -> Json | Refused:
    if body.count(b"{") + body.count(b"[") > BRACES:
        return Refused(refusal="body", status=400, message=f"the body has more than {BRACES} objects and lists")
    try:
        asked = json.loads(body, object_pairs_hook=_unique, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        return Refused(refusal="body", status=400, message=f"the body is not JSON: {str(error)[:200]}")
    if not isinstance(asked, dict):
        return Refused(refusal="body", status=400, message="the body must be a JSON object")
    return asked


def _unique(pairs: list[tuple[str, object]]) -> Json:
    # Two members of one name would let the gateway check one and the provider read the other.
    names = [name for name, _ in pairs]
    if len(set(names)) != len(names):
        raise ValueError("an object has two members of one name")
    return dict(pairs)


def _no_constant(name: str) -> object:
    raise ValueError(f"{name} is not JSON")


def _amend(dialect: Dialect, line: Line, asked: Json, body: bytes, terms: Terms, *, features: tuple[str, ...]) -> Asked:
    """Set what the terms say.

    Raises:
        BodyError: a member that matters is not of its kind.
    """
    stream = bool(asked.get("stream"))
    wanted = dialect.changes(asked, terms, stream=stream)
    changes = {name: value for name, value in wanted.items() if asked.get(name) != value}
    return Asked(
        dialect=dialect,
        query=line.query,
        model=terms.model,
        stream=stream,
        body=_written({**asked, **changes}) if changes else body,
        headers=tuple((name, line.headers[name]) for name in sorted(dialect.passed_headers & line.headers.keys())),
        amended=tuple(sorted(changes)),
        features=features,
        hides_usage=dialect.hides_usage(asked, terms, stream=stream),
    )


def _written(asked: Json) -> bytes:
    try:
        return json.dumps(asked, allow_nan=False).encode()
    except (ValueError, RecursionError) as error:
        raise BodyError("a number is out of range") from error
