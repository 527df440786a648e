"""The certificate of a nomination: what was tried before money is spent on it, and what came of it.

It names hidden cases and lies with the nomination's records; its digest is public, in the manifest.
"""

from collections.abc import Mapping
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from evaluators.model import Assurance, VerdictCause
from runner.documents.model import DecimalText, Document, Identifier, Sha256, Shape

Count = Annotated[int, Field(ge=0)]


class ProvenVerdict(Shape):
    """What one evaluator said of one change, in all repeats together."""

    evaluator: Identifier
    passed: Count
    """How often it passed."""
    causes: tuple[VerdictCause, ...]
    """Every cause that was given; more than one is a flake."""
    assurance: Assurance
    score: DecimalText | None
    """Of the first repeat."""
    failed_cases: tuple[str, ...]
    """Of the first repeat."""


class ProvenControl(Shape):
    """One change whose outcome was known before."""

    name: str
    """`base`, `solution`, `unrelated`, or the path of a patch."""
    kind: Literal["base", "solution", "unrelated", "wrong", "half", "alternative"]
    """What of the nomination it is."""
    patch_sha256: Sha256 | None
    """Of the patch file, as it was tried; null where there is none."""
    verdicts: tuple[ProvenVerdict, ...]
    """One an evaluator."""


class Exploit(Shape):
    """One cheat of the exploit suite."""

    name: str
    scored: bool
    """It passed, or scored above the base."""
    causes: Mapping[Identifier, VerdictCause]
    """What each evaluator said."""


class Certificate(Document):
    """records/certificate.json of a nomination's folder: made by `runner validate`."""

    SCHEMA_NAME: ClassVar[str] = "certificate"

    schema_: Literal["cleanroom/certificate/1"] = Field(default="cleanroom/certificate/1", alias="schema")
    nomination: Identifier
    nomination_sha256: Sha256
    """Of everything in the nomination that can change a result."""
    fixture_sha256: Sha256
    """Tree digest of the base."""
    solution_sha256: Sha256
    """Tree digest of base + solution."""
    evaluators: Mapping[Identifier, Sha256]
    """Their digests before calibration: code, private files, options."""
    repeats: Annotated[int, Field(ge=1)]
    """Rounds of all controls, the last under load. Fewer than three prove nothing."""
    surroundings: tuple[Mapping[str, str], ...]
    """Time zone, locale and hash seed of each round."""
    controls: tuple[ProvenControl, ...]
    """What was judged, and how it ended."""
    gradings: Count
    """Verdicts of controls, all rounds together."""
    flakes: Count
    """Verdicts that differ from the first round's."""
    flake_bound: DecimalText
    """Upper end of the one-sided 95% Clopper-Pearson interval of the flake rate."""
    mutants: Count
    """Mutants of the solution that were judged."""
    killed: Count
    """Of them, those that an evaluator refused."""
    survivors: tuple[str, ...]
    """The others, in words."""
    leaks: tuple[str, ...]
    """What the prompt gives away."""
    exploits: tuple[Exploit, ...]
    """The exploit suite on the base."""

    @property
    def scored(self) -> tuple[Exploit, ...]:
        """The cheats that got something."""
        return tuple(each for each in self.exploits if each.scored)
