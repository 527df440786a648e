"""What a release's table must show: `config/<name>.expected.json`, written by people beside the configuration."""

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from runner.documents.ledger import Tokens
from runner.documents.model import DecimalText, Document, Identifier, Shape
from runner.documents.seal import Ordinal
from runner.fields import Line
from runner.outcome import Outcome


class ExpectedTraffic(Shape):
    """What the gateway must have counted of a solution."""

    tokens: Tokens
    """Null is unknown, and must be."""
    cost_usd: DecimalText | None
    """As the provider reported it; null is unknown, and must be."""


class ExpectedRow(Shape):
    """How one planned attempt must end."""

    candidate: Identifier
    """The candidate's id."""
    nomination: Identifier
    """The nomination's id."""
    attempt: Ordinal = 1
    """The attempt's number."""
    outcome: Outcome
    """The outcome it must have."""
    verdict: Literal["passed", "failed", "none"]
    """`none`: nothing may be said about the work."""
    reason: Line | None = None
    """A phrase that must stand in the row's reason; null: any reason will do."""
    traffic: ExpectedTraffic | None = None
    """Tokens and cost; null: any will do."""


class ExpectedTable(Document):
    """Every row of a release's table, in its order."""

    SCHEMA_NAME: ClassVar[str] = "expected-table"

    schema_: Literal["cleanroom/expected-table/1"] = Field(default="cleanroom/expected-table/1", alias="schema")
    rows: Annotated[tuple[ExpectedRow, ...], Field(min_length=1, max_length=100_000)]
    """One a planned attempt."""
