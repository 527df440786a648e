"""A secret in every form in which a careless program might have written it down. Pure.

The forms themselves have one home, runner/gateway/relay/redaction.py: what the gateway takes out of a recording is what
is looked for here, and a scan adds other cases and what is packed (runner/publishing/wrappings.py).
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from runner.gateway.relay.redaction import SHORTEST, spellings
from runner.publishing.model import Secret
from runner.publishing.needles import Needles

_CASELESS = frozenset({"plain", "reversed", "url", "json"})
"""Forms that are still of use, or still tell, when their letters are of another case. Base64 is not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Spelled:
    """A secret in one form, where it begins and how long it is."""

    start: int
    size: int
    name: str
    form: str


class Spellings:
    """All forms of some secrets, ready to be looked for. A secret of less than 8 bytes is a word, and left out."""

    def __init__(self, secrets: Iterable[Secret]) -> None:
        exact: dict[bytes, tuple[str, str]] = {}
        folded: dict[bytes, tuple[str, str]] = {}
        for secret in secrets:
            if len(secret.value) < SHORTEST:
                continue
            for form, label in spellings(secret.value).items():
                exact.setdefault(form, (secret.name, label))
                if label in _CASELESS:
                    folded.setdefault(form.lower(), (secret.name, "other case"))
        self._exact = Needles(exact)
        self._folded = Needles(folded)

    def find(self, data: bytes) -> Iterator[Spelled]:
        """Yield every place of every form; one that stands in its own case is told once."""
        told: set[int] = set()
        for hit in self._exact.find(data):
            told.add(hit.start)
            yield Spelled(start=hit.start, size=len(hit.needle), name=hit.means[0], form=hit.means[1])
        for hit in self._folded.find(data.lower()):
            if hit.start not in told:
                yield Spelled(start=hit.start, size=len(hit.needle), name=hit.means[0], form=hit.means[1])
