"""Text from a candidate's program, made fit for a document and a terminal. Pure."""

LONGEST = 1500


def clean(text: str) -> str:
    """Drop what is not printable and keep the end, where the reason stands."""
    kept = "".join(letter if letter.isprintable() or letter == "\n" else " " for letter in text).strip()
    return kept if len(kept) <= LONGEST else "…" + kept[-LONGEST + 1 :]
