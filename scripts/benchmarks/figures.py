"""What was measured: medians, ratios, their bounds, and how they are told."""

import json
import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from statistics import median, quantiles


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """Times of one thing, in seconds."""

    name: str
    seconds: tuple[float, ...]

    @property
    def median_ms(self) -> float:
        """The middle one."""
        return median(self.seconds) * 1000

    @property
    def p90_ms(self) -> float:
        """What nine of ten stay below."""
        return quantiles(self.seconds, n=10, method="inclusive")[8] * 1000 if len(self.seconds) > 1 else self.median_ms

    def document(self) -> dict[str, object]:
        """Give it for a JSON document."""
        return {
            "name": self.name,
            "rounds": len(self.seconds),
            "median_ms": round(self.median_ms, 2),
            "p90_ms": round(self.p90_ms, 2),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """One thing against another, with the bound that is promised, if one is."""

    what: str
    ours: Measured
    theirs: Measured | None = None
    most: float | None = None
    """The most that ours may be of theirs."""
    least: float | None = None
    """How many times ours theirs has to be, at least."""
    most_added_ms: float | None = None
    """The most that ours may take beyond theirs."""
    most_ms: float | None = None
    """The most that ours may take at all, on the machine that the bound was set for."""

    @property
    def ratio(self) -> float | None:
        """Ours by theirs, or theirs by ours where that is what the bound speaks of."""
        if self.theirs is None:
            return None
        ratio = self.ours.median_ms / self.theirs.median_ms
        return ratio if self.least is None else 1 / ratio

    @property
    def holds(self) -> bool:
        """Whether the bound does."""
        if self.most_ms is not None and self.ours.median_ms > self.most_ms:
            return False
        ratio = self.ratio
        if ratio is None or self.theirs is None:
            return True
        if self.most_added_ms is not None and self.ours.median_ms - self.theirs.median_ms > self.most_added_ms:
            return False
        return (self.most is None or ratio <= self.most) and (self.least is None or ratio >= self.least)

    def document(self) -> dict[str, object]:
        """Give it for a JSON document."""
        ratio = self.ratio
        return {
            "what": self.what,
            "ours": self.ours.document(),
            "theirs": None if self.theirs is None else self.theirs.document(),
            "ratio": None if ratio is None else round(ratio, 3),
            "most": self.most,
            "most_added_ms": self.most_added_ms,
            "most_ms": self.most_ms,
            "least": self.least,
            "holds": self.holds,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """How many of so many runs kept what is promised, and how many have to."""

    what: str
    kept: int
    of: int
    least: int
    told: str = ""
    """What was seen, in a few words."""

    @property
    def holds(self) -> bool:
        """Whether enough did."""
        return self.kept >= self.least

    def document(self) -> dict[str, object]:
        """Give it for a JSON document."""
        return {
            "what": self.what,
            "kept": self.kept,
            "of": self.of,
            "least": self.least,
            "told": self.told,
            "holds": self.holds,
        }

    def row(self) -> tuple[str, str, str, str, str, str]:
        """Give its cells in a table of figures."""
        bound = f"at least {self.least}" if self.least else ""
        return (self.what, f"{self.kept} of {self.of}", self.told, "", bound, _word(bound, holds=self.holds))


def table(figures: Iterable[Figure | Tally]) -> str:
    """Write figures as lines of columns."""
    rows = [("what", "ours (p90), ms", "against (p90), ms", "ratio", "bound", "")]
    rows += (each.row() if isinstance(each, Tally) else _row(each) for each in figures)
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = ("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows)
    return "\n".join(lines)


def _row(figure: Figure) -> tuple[str, str, str, str, str, str]:
    theirs, ratio = figure.theirs, figure.ratio
    bound = "" if figure.most is None else f"at most {figure.most:g}"
    bound = bound if figure.least is None else f"at least {figure.least:g}"
    bound = bound if figure.most_added_ms is None else f"at most {figure.most_added_ms:g} ms more"
    bound = bound if figure.most_ms is None else f"at most {figure.most_ms:g} ms"
    return (
        figure.what,
        f"{figure.ours.median_ms:.{_digits(figure)}f} ({figure.ours.p90_ms:.{_digits(figure)}f})",
        ""
        if theirs is None
        else f"{theirs.name}: {theirs.median_ms:.{_digits(figure)}f} ({theirs.p90_ms:.{_digits(figure)}f})",
        "" if ratio is None else f"{ratio:.2f}",
        bound,
        _word(bound, holds=figure.holds),
    )


def _word(bound: str, *, holds: bool) -> str:
    return "" if not bound else "ok" if holds else "BROKEN"


def _digits(figure: Figure) -> int:
    return 3 if figure.ours.median_ms < 1 else 1


def machine() -> dict[str, object]:
    """Tell the machine as far as it matters to a time."""
    return {
        "cores": os.cpu_count(),
        "load": [round(each, 2) for each in os.getloadavg()],
        "kernel": os.uname().release,
    }


def write_json(file: Path, figures: Iterable[Figure | Tally], before: dict[str, object]) -> None:
    """Write all of it."""
    document = {"machine": before, "load_after": machine()["load"], "figures": [each.document() for each in figures]}
    file.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")
