"""A provider's key taken out of what a provider says, in the forms in which it may stand there. Pure."""

import base64
import json
from dataclasses import dataclass, field
from urllib.parse import quote

SHORTEST = 8
"""What is shorter is a word that self-hosted servers want, such as `none`, and stands in honest answers."""

REPLACEMENT = b"[credential]"


def forms_of(credential: str | None) -> tuple[bytes, ...]:
    """Give every form of a key that is looked for; what is too short is no key."""
    if credential is None or len(credential) < SHORTEST:
        return ()
    # The longest first: a form may stand within another.
    return tuple(sorted(spellings(credential.encode()), key=lambda form: (-len(form), form)))


def spellings(plain: bytes) -> dict[bytes, str]:
    """Give every form in which some bytes may stand in a text, and what each is called.

    Plain, reversed, quoted for JSON and for addresses, in hex, in UTF-16, and in base64 wherever it begins. Publication
    looks for the same (runner/publishing/forms.py).
    """
    forms = {
        plain.hex().encode(): "hex",
        plain.hex().upper().encode(): "hex",
        plain[::-1]: "reversed",
        quote(plain, safe="").encode(): "url",
        quote(plain).encode(): "url",
    }
    for ahead in range(3):
        forms |= dict.fromkeys(_encoded(plain, ahead), "base64")
    try:
        text = plain.decode()
    except UnicodeDecodeError:
        return forms | {plain: "plain"}
    escaped = json.dumps(text)[1:-1].encode()
    forms |= {escaped: "json", escaped.replace(b"/", b"\\/"): "json"}
    forms |= {text.encode("utf-16-le"): "utf-16", text.encode("utf-16-be"): "utf-16"}
    return forms | {plain: "plain"}


def _encoded(plain: bytes, ahead: int) -> set[bytes]:
    """Give the digits of base64 that are the key's alone when so many bytes stand before it in its group of three."""
    data = b"\0" * ahead + plain
    first = -(-ahead * 8 // 6)
    last = len(data) * 8 // 6
    return {encode(data)[first:last] for encode in (base64.standard_b64encode, base64.urlsafe_b64encode)}


@dataclass(slots=True)
class Redaction:
    """Replaces a key's forms in bytes that come in parts."""

    forms: tuple[bytes, ...] = field(repr=False)
    found: int = 0
    _held: bytes = field(default=b"", repr=False)

    def take(self, data: bytes, *, last: bool) -> bytes:
        """Give what is certain so far; a part's end may be the beginning of a key."""
        if not self.forms:
            return data
        data = self._held + data
        for form in self.forms:
            self.found += data.count(form)
            data = data.replace(form, REPLACEMENT)
        keep = 0 if last else min(len(data), len(self.forms[0]) - 1)
        self._held = data[len(data) - keep :]
        return data[: len(data) - keep]
