"""Findings that somebody gave a reason for: read beside the configuration, told when used."""

import re
from collections.abc import Iterable
from pathlib import Path

from runner.documents.publish_allow import AllowEntry, PublishAllow
from runner.documents.published import AllowedFinding
from runner.parsing import file_name, parse_json, read_file, validate
from runner.publishing.model import ScanFinding

SUFFIX = ".publish-allow.json"


def allow_file(config: Path) -> Path:
    """Give the place of a configuration's allow-list."""
    return config.with_name(config.name.removesuffix(".json") + SUFFIX)


def read_allow_list(path: Path) -> PublishAllow:
    """Read an allow-list; one that is not there lets nothing pass.

    Raises:
        DocumentError, DocumentErrors: it is there, and cannot be read or is none.
    """
    if not path.exists():
        return PublishAllow()
    name = file_name(path)
    return validate(PublishAllow, parse_json(read_file(path), name), name)


def allowed(
    findings: Iterable[ScanFinding], allow_list: PublishAllow
) -> tuple[tuple[ScanFinding, ...], tuple[AllowedFinding, ...]]:
    """Give the findings that stay, and those that an entry lets pass, as allowed.json tells them."""
    left: list[ScanFinding] = []
    used: list[AllowedFinding] = []
    for finding in findings:
        entry = next((each for each in allow_list.entries if _covers(each, finding)), None)
        if entry is None:
            left.append(finding)
        else:
            used.append(_told(finding, entry))
    return tuple(left), tuple(sorted(used, key=lambda each: (each.file, each.field, each.rule, each.sha256)))


def _covers(entry: AllowEntry, finding: ScanFinding) -> bool:
    same = entry.rule == finding.rule.value and entry.sha256 == finding.sha256
    return same and _pattern(entry.file).fullmatch(finding.file) is not None


def _pattern(text: str) -> re.Pattern[str]:
    """Give the expression of a file pattern: one star stays within a folder's name, two do not."""
    parts = re.split(r"(\*\*/?|\*|\?)", text)
    meaning = {"**/": "(?:[^/]+/)*", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    return re.compile("".join(meaning.get(part) or re.escape(part) for part in parts))


def _told(finding: ScanFinding, entry: AllowEntry) -> AllowedFinding:
    return AllowedFinding(
        rule=finding.rule.value,
        file=finding.file,
        field=finding.field,
        sha256=finding.sha256,
        reason=entry.reason,
    )
