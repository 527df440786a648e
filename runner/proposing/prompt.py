"""A prompt's draft, out of a commit's message, without what would give the fix away. Pure."""

import re
from collections.abc import Collection, Iterator

from runner.nomination import DRAFT

_TRAILER = re.compile(
    r"^(?:[A-Z][A-Za-z-]+-by|Change-Id|Cc|Link|Bug|Ref(?:s|erences)?|Fixes|Closes|Resolves|See(?: also)?|"
    r"\(cherry picked)\b.*$",
    re.IGNORECASE,
)
_ISSUE = re.compile(r"\s*\(?(?:(?:gh|bug|issue|pr|pull request)[- ]?)?#\d+\)?", re.IGNORECASE)
_ADDRESS = re.compile(r"<?\bhttps?://\S+|\S+@\S+\.\S+")
_COMMIT = re.compile(r"\b(?=[0-9]*[a-f])(?=[a-f]*[0-9])[0-9a-f]{7,40}\b")
_KIND = re.compile(r"^(?:fix|bugfix|bug|feat|perf|refactor|chore|hotfix)(?:\([^)]*\))?!?:\s*", re.IGNORECASE)
_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]{5,}")
_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z`\"'(])")


def draft(message: str, telling: Collection[str], allowed: tuple[str, ...], command: str) -> str:
    """Give a prompt to be rewritten; sentences with a telling name are left out, as are numbers, addresses and names.

    Its first line says that it is a draft, and lint refuses it until that line is gone.
    """
    subject, _, body = message.strip().partition("\n")
    title = _clean(_KIND.sub("", subject), telling) or "Something is wrong"
    places = ", ".join(f"`{each}`" for each in allowed)
    parts = [
        f"{DRAFT} say in your own words what is observed and what should be, not how; then delete this line.",
        f"# {title[0].upper()}{title[1:].rstrip('.')}",
        *_paragraphs(body, telling),
        "Please mend this.",
        f"Only {places} may be changed. The tests are run with `{command}`.",
    ]
    return "\n\n".join(parts) + "\n"


def _paragraphs(body: str, telling: Collection[str]) -> Iterator[str]:
    for paragraph in re.split(r"\n\s*\n", body.strip()):
        lines = [line for line in paragraph.splitlines() if not _TRAILER.match(line.strip())]
        kept = [_clean(sentence, telling) for sentence in _SENTENCE.split("\n".join(lines))]
        text = "\n".join(each for each in kept if each)
        if text.strip():
            yield text.strip()


def _clean(sentence: str, telling: Collection[str]) -> str:
    """Give a sentence without numbers and addresses; nothing where it names what must not be named."""
    plain = "".join(letter for letter in sentence if letter.isprintable() or letter == "\n")
    for pattern in (_ADDRESS, _ISSUE, _COMMIT):
        plain = pattern.sub("", plain)
    words = set(_WORD.findall(plain)) | set(re.findall(r"[\w.-]*\w", plain))
    return "" if words & set(telling) else plain.strip()
