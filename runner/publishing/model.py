"""What a scan before publication looks for, and what it finds."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol

from runner.errors import UsageError


class Rule(StrEnum):
    """What may not be published; an allow-list names rules by these words."""

    SECRET = "secret"  # noqa: S105 - a rule's name
    """A secret of this run, in any of the forms of `forms`."""
    TOKEN = "token-shape"  # noqa: S105 - as above
    """Something in the form that a well-known provider gives its keys."""
    ENTROPY = "entropy"
    """Something that looks drawn by lot, and is no digest."""
    PATH = "private-path"
    """A folder or file of the host that ran the release."""
    HOST = "host-name"
    """A name of that host, or of an account of a unit."""
    EVALUATOR = "evaluator-content"
    """What stands in a nomination's private files, and in no public one."""
    RAW = "raw-output"
    """What an agent or a provider said, word for word."""
    IDENTITY = "judge-identity"
    """Who a candidate is, in what a judge was shown or said."""
    UNREADABLE = "unreadable"
    """Something packed that was not looked into: broken, too large, or packed too often."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScanFinding:
    """One text that may not be published. It is told by its digest, never by its letters."""

    rule: Rule
    kind: str
    """What exactly it is: which secret, whose token, what of the host."""
    file: str
    """The published path."""
    field: str
    """The field of a JSON document, or the line of a text."""
    sha256: str
    """Of the text that was found, as it stood once its wrappings were off; an allow-list names it by this."""
    excerpt: str
    """Its shape: nobody gets the text from it."""
    wrapped: str = ""
    """What it was packed in, outermost first, such as `base64, gzip`; empty where it stood open."""
    times: int = 1
    """How often it stands in this file; `field` is the first place."""

    def __str__(self) -> str:
        wrapped = f", in {self.wrapped}" if self.wrapped else ""
        more = f", and {self.times - 1} times more" if self.times > 1 else ""
        return (
            f"{self.file}: {self.field}: {self.rule}: {self.kind}{wrapped}{more}: {self.excerpt} (sha256 {self.sha256})"
        )


@dataclass(slots=True, kw_only=True, eq=False)
class ScanError(UsageError):
    """A release cannot be published as it is."""

    findings: tuple[ScanFinding, ...]
    allow_list: str
    """Where reasons to let them pass would be read."""

    def __str__(self) -> str:
        mend = f"take it out, or give a reason in {self.allow_list}; nothing was written"
        return "\n".join((*map(str, self.findings), f"found {len(self.findings)} in all; expected none; {mend}"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Secret:
    """A value that nobody may read, and what it is called."""

    name: str
    value: bytes = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Named:
    """A private text, and what it is."""

    kind: str
    text: str = field(repr=False)


class RawTexts(Protocol):
    """Gives what agents and providers said."""

    def said(self, file: str) -> Iterable[bytes]:
        """Give every text that a published file's attempt has in private; nothing for files of no attempt."""
        ...


class NothingSaid:
    """No raw texts at all."""

    def said(self, file: str) -> Iterable[bytes]:
        """Give nothing."""
        del file
        return ()


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluatorContent:
    """What tells how submissions are judged. All of it stands in private files, and in no public one."""

    lines: Mapping[str, str] = field(default_factory=dict)
    """Distinctive lines, without blanks at their ends -> what they stand in."""
    names: Mapping[str, str] = field(default_factory=dict)
    """Names of hidden tests and private files -> what they are."""
    values: Mapping[str, str] = field(default_factory=dict)
    """Texts that hidden tests or their twins compare with -> what they are."""
    solutions: Mapping[str, str] = field(default_factory=dict)
    """Lines of solutions. A candidate's own change may well hold them; no other file may."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScanContext:
    """All that is private about one release on one host."""

    secrets: tuple[Secret, ...] = ()
    paths: tuple[Named, ...] = ()
    """Absolute paths."""
    host: tuple[Named, ...] = ()
    """Names, numbers and addresses of the host."""
    accounts: tuple[int, int] = (1_900_000_000, 1_900_999_999)
    """The range of the units' accounts, both ends included."""
    evaluators: EvaluatorContent = field(default_factory=EvaluatorContent)
    roster: tuple[str, ...] = ()
    """What candidates and judges, their models and makers are called."""
    instructions: Mapping[str, str] = field(default_factory=dict)
    """Lines that agents' programs tell their models -> whose they are."""
    raw: RawTexts = field(default_factory=NothingSaid)
    public: tuple[str, ...] = ()
    """Texts that everybody may read, and that an agent may therefore have said: prompts, for one."""
    unsearched: tuple[str, ...] = ()
    """Secrets that could not be looked for, since nobody knows them here: told before anything is published."""
