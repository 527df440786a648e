"""Why a provider gave no answer, whether to ask again, and what the agent is told. Pure."""

import json
import re
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from .dialect import Dialect
from .terms import Json, Patience

TOO_MANY, SERVER_ERROR = 429, 500
TRANSIENT = frozenset({408, 425, TOO_MANY})

# Agents take these as final; 429 and 5xx they would retry themselves, 401 they may answer with a login.
GIVEN_AS_THEY_ARE = frozenset({400, 403, 404, 413, 422})

CONTEXT_WORDS = (
    "context length",
    "context_length",
    "maximum context",
    "context window",
    "prompt is too long",
)
REFUSAL_WORDS = ("moderation", "flagged", "content_policy", "content policy", "content_filter")
REQUEST_WORDS = ("invalid_request", "invalid request", "bad request", "bad_request", "validation")
QUOTA_WORDS = (
    "insufficient_quota",
    "insufficient credit",
    "insufficient balance",
    "billing",
    "exceeded your current",
)
MODEL_WORDS = ("model_not_found", "no such model", "unknown model", "does not exist")

TYPES = {
    "authentication_error": 401,
    "billing_error": 402,
    "not_found_error": 404,
    "permission_error": 403,
    "rate_limit_error": TOO_MANY,
    "request_too_large": 413,
}
"""Statuses that Anthropic's error types stand for (docs.anthropic.com, Errors); others follow from words."""

MESSAGE_LIMIT = 2_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """One try that brought no answer. `status` is the provider's, None where nothing came."""

    kind: str
    status: int | None
    message: str
    transient: bool
    retry_after_ms: int | None = None
    body: bytes = b""
    """What the provider sent."""


def network_failure(what: str, status: int | None = None) -> Failure:
    """A connection that could not be made, stalled or broke."""
    return Failure(kind="network", status=status, message=f"the provider could not be reached: {what}", transient=True)


def malformed_failure(what: str, status: int, body: bytes) -> Failure:
    """An answer that is none."""
    return Failure(
        kind="malformed",
        status=status,
        message=f"the provider's answer is none: {what}",
        transient=True,
        body=body,
    )


def status_failure(status: int, body: bytes, retry_after: str | None, now: datetime) -> Failure:
    """Say what a status other than 200 means."""
    text = body[:20_000].decode("utf-8", "replace")
    kind = _kind(status, text.lower())
    transient = kind != "quota" and (status in TRANSIENT or status >= SERVER_ERROR)
    return Failure(
        kind=kind,
        status=status,
        message=_message(text) or f"the provider answered with status {status}",
        transient=transient,
        retry_after_ms=_retry_after(retry_after, now),
        body=body,
    )


def error_failure(error: object, body: bytes) -> Failure:
    """Say what an `error` member in an answer of status 200 means: the status in its code, or in its words."""
    members: Json = error if isinstance(error, dict) else {"message": str(error)}
    text = json.dumps({"error": members}, default=str)  # numbers with a point were read as decimals
    meant = TYPES.get(str(members.get("type"))) or _status_meant(members.get("code"), text.lower())
    found = status_failure(meant, text.encode(), None, datetime.now(UTC))
    return Failure(kind=found.kind, status=200, message=found.message, transient=found.transient, body=body)


def _status_meant(code: object, text: str) -> int:
    """Give the status of an error without one of its own: what the request brought about is never the provider's."""
    number = int(code) if isinstance(code, str) and re.fullmatch("[0-9]{3}", code) else code
    if isinstance(number, int) and 400 <= number <= 599:  # noqa: PLR2004 - the range of error statuses
        return number
    if any(word in text for word in (*CONTEXT_WORDS, *REFUSAL_WORDS, *REQUEST_WORDS)):
        return 400
    return TOO_MANY if any(word in text for word in QUOTA_WORDS) else 502


def _kind(status: int, text: str) -> str:
    fixed = {401: "auth", 402: "quota", 404: "unknown_model", 408: "overloaded", 425: "overloaded"}.get(status)
    if fixed is not None:
        return fixed
    if status == TOO_MANY:
        return "quota" if any(word in text for word in QUOTA_WORDS) else "overloaded"
    if status >= SERVER_ERROR:
        return "overloaded"
    if status == 403:  # noqa: PLR2004 - the one status that means either
        return "refused" if any(word in text for word in REFUSAL_WORDS) else "auth"
    return _kind_of_bad_request(text)


def _kind_of_bad_request(text: str) -> str:
    if any(word in text for word in CONTEXT_WORDS):
        return "context_length"
    if any(word in text for word in MODEL_WORDS) and "model" in text:
        return "unknown_model"
    return "refused"


def _message(text: str) -> str:
    try:
        error = json.loads(text).get("error")
    except (ValueError, AttributeError, RecursionError):
        return ""
    message = error.get("message") if isinstance(error, dict) else error
    return message[:MESSAGE_LIMIT] if isinstance(message, str) else ""


def _retry_after(value: str | None, now: datetime) -> int | None:
    if value is None:
        return None
    if value.strip().isdecimal():
        return min(int(value.strip()[:9]), 10**6) * 1_000
    try:
        then = parsedate_to_datetime(value)
    except ValueError:
        return None
    zoned = then if then.tzinfo else then.replace(tzinfo=UTC)
    return max(0, int((zoned - now).total_seconds() * 1_000))


def wait_before(retry: int, failure: Failure, patience: Patience, waited_ms: int) -> int | None:
    """Milliseconds to wait before the given retry (from 1), or None where the failure is final."""
    if not failure.transient or retry > patience.retries:
        return None
    own = patience.first_wait_ms * 2 ** (retry - 1)
    wait = min(own if failure.retry_after_ms is None else failure.retry_after_ms, patience.longest_wait_ms)
    return wait if waited_ms + wait <= patience.all_waits_ms else None


def answer_for(failure: Failure, credential: str | None, dialect: Dialect) -> tuple[int, bytes]:
    """Give the status and body an agent is told a final failure with: never one that it would retry.

    A provider's own words about a bad request pass unchanged, unless the credential stands in them.
    """
    given = GIVEN_AS_THEY_ARE - {400} if dialect.final_status != 400 else GIVEN_AS_THEY_ARE  # noqa: PLR2004 - as it says
    status = failure.status if failure.status in given else dialect.final_status
    own = failure.kind in {"refused", "context_length"} and failure.status == status and bool(_message_of(failure))
    secret = credential.encode() if credential else None
    if own and not (secret and secret in failure.body):
        return status, failure.body
    message = failure.message.replace(credential, "[credential]") if credential else failure.message
    if failure.kind == "overloaded":
        # Nor in the provider's own words.
        message = "the provider gave no answer, however often it was asked"
    if failure.kind == "auth":
        # Providers quote parts of the key they were given.
        message = "the provider did not accept the credential of this route"
    return status, dialect.error_body(failure.kind, message)


def _message_of(failure: Failure) -> str:
    return _message(failure.body.decode("utf-8", "replace"))
