"""One line of the doctor's: what was looked at, what was found, what is lost, what mends it. Pure."""

from dataclasses import dataclass
from enum import StrEnum


class State(StrEnum):
    """How one line stands."""

    OK = "ok"
    WARNING = "warning"
    """Something to know; clean rooms hold all the same."""
    UNKNOWN = "unknown"
    """It could not be seen, which counts as not there."""
    UNFIT = "unfit"
    FAILED = "failed"
    """As unfit, of something that is not the host's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One line."""

    topic: str
    name: str
    state: State
    found: str
    expected: str
    lost: str
    """The protection lost; empty where all is well."""
    mend: str
    """The command, or the change, that mends it; empty where all is well."""

    @property
    def ok(self) -> bool:
        """Whether a clean room can be held as far as this line is concerned."""
        return self.state in {State.OK, State.WARNING}


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """What one line is about, before anything was found."""

    topic: str
    name: str
    expected: str
    lost: str
    mend: str
    needed: bool = True
    """Whether a host without it is unfit; else it is warned of."""

    def holds(self, found: str) -> Check:
        """All is well."""
        return self._check(State.OK, found)

    def fails(self, found: str, *, lost: str = "", mend: str = "") -> Check:
        """It is not so; `lost` and `mend` say more than the line's own where that is possible."""
        return self._check(State.UNFIT if self.needed else State.WARNING, found, lost=lost, mend=mend)

    def warns(self, found: str, *, lost: str = "", mend: str = "") -> Check:
        """It is not so, but what stands in for it holds."""
        return self._check(State.WARNING, found, lost=lost, mend=mend)

    def unseen(self, why: str = "it could not be seen", *, mend: str = "") -> Check:
        """Nobody knows."""
        return self._check(State.UNKNOWN, why, mend=mend)

    def tried(self, answer: str | None, found: str) -> Check:
        """It was tried: `found` says what worked, `answer` what refused."""
        if answer is None:
            return self.unseen()
        return self.fails(f"refused: {answer}") if answer else self.holds(found)

    def _check(self, state: State, found: str, *, lost: str = "", mend: str = "") -> Check:
        bad = state is not State.OK
        return Check(
            topic=self.topic,
            name=self.name,
            state=state,
            found=found,
            expected=self.expected,
            lost=(lost or self.lost) if bad else "",
            mend=(mend or self.mend) if bad else "",
        )
