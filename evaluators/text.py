"""Text from a candidate's program, made fit for a document and a terminal. Pure."""

LONGEST = 1500

_LOOKED_AT = 8 * LONGEST
"""Letters of the end of a text that are looked at, however long it is."""


def clean(text: str) -> str:
    """Drop what is not printable and keep the end, where the reason stands."""
    kept = "".join(letter if letter.isprintable() or letter == "\n" else " " for letter in text[-_LOOKED_AT:]).strip()
    return kept if len(kept) <= LONGEST else "…" + kept[-LONGEST + 1 :]
