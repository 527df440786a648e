"""A judge's kept answer, read once more: its document holds what follows from answer, packet and ledger alone."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from runner.canonical import parse_lines
from runner.documents.controls import ControlsRecord
from runner.documents.evidence import Walls
from runner.documents.judging import Asked, Unscored, UnscoredWhy
from runner.documents.ledger import LedgerLine
from runner.documents.manifest import Manifest
from runner.errors import DocumentError, DocumentErrors, VerificationError
from runner.judging.archive import LEDGER
from runner.judging.identity import Identities, identities, roster_names
from runner.judging.key import asking_id, judging_key, secrets_of
from runner.judging.reopened import reopened
from runner.judging.ruling import Binding, Exam, Heard, Said, rule, told
from runner.verification.model import Finding, differ


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """One document, with the private files that belong to it."""

    file: Path
    said: Said
    answer: bytes | None
    ledger: bytes | None
    walls: Walls | None = None
    """What the launcher of its unit saw."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rereading:
    """What a release's answers are read with."""

    binding: Binding
    key: bytes
    names: Identities

    def check(self, kept: Kept, packets: Mapping[str, bytes]) -> Iterator[Finding]:
        """Read an answer again; `packets` are what was shown, by digest."""
        said, asked = kept.said, kept.said.asked
        if asked is None:
            return
        try:
            lines = parse_lines(LedgerLine, kept.ledger or b"", str(kept.file.with_name(LEDGER)))
        except (DocumentError, DocumentErrors) as error:
            yield Finding(file=str(kept.file), found=str(error), expected="lines of a ledger")
            return
        if kept.answer is None:
            why = said.why if isinstance(said, Unscored) else None
            yield from differ(kept.file, "why", why, UnscoredWhy.PROVIDER)
            heard = Heard(text=None, lines=lines, duration_ms=asked.duration_ms)
            yield from differ(kept.file, "asked", asked, told(asked, heard))
        elif asked.packet_sha256 in packets:
            try:
                expected = self._ruled(said, asked, kept.answer.decode(), lines, packets[asked.packet_sha256])
            except (VerificationError, UnicodeDecodeError) as error:
                yield Finding(file=str(kept.file), found=str(error), expected="a packet and an answer")
                return
            yield from differ(kept.file, "document", said, expected)

    def _ruled(self, said: Said, asked: Asked, text: str, lines: tuple[LedgerLine, ...], packet: bytes) -> Said:
        heard = Heard(text=text, lines=lines, duration_ms=asked.duration_ms)
        exam = Exam(
            item=said.item,
            packet=reopened(packet, said.item),
            secrets=secrets_of(self.key, asking_id(asked.judge, said.item, asked.view), asked.number),
            known=self.names,
            flags=said.flags,
        )
        return rule(self.binding, exam, told(asked, heard), heard)


def rereading(manifest: Manifest, manifest_sha256: str, records: Mapping[str, ControlsRecord]) -> Rereading:
    """Give what a release's answers are read with; `records` are those of its controls, by nomination."""
    return Rereading(
        binding=Binding(release=manifest.release, manifest_sha256=manifest_sha256),
        key=judging_key(manifest_sha256, records),
        names=identities(roster_names((*manifest.candidates, *manifest.judges))),
    )
