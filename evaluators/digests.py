"""What an evaluator's digest is made of, the same way for every kind."""

import hashlib
import json
from collections.abc import Mapping


def digest_of(whole: Mapping[str, object]) -> str:
    """Give the SHA-256 (hex) of plain data, whatever the order of its keys."""
    return hashlib.sha256(json.dumps(whole, sort_keys=True).encode()).hexdigest()


def file_digests(files: Mapping[str, bytes]) -> dict[str, str]:
    """Give the SHA-256 (hex) of each file, by its path."""
    return {path: hashlib.sha256(content).hexdigest() for path, content in files.items()}
