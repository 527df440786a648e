"""The key of a release's lots: it follows from what was frozen, so that nobody can draw again until a plan pleases.

It is made of the manifest's digest and of the records of the controls. The manifest names these by digest; the records
themselves are private, and so is the key. Where the controls did not run, whoever has the manifest has the key. Pure.
"""

import hashlib
import hmac
from collections.abc import Mapping

from runner.canonical import canonical, sha256
from runner.documents.controls import ControlsRecord
from runner.documents.judging import Item, View
from runner.documents.model import Shape
from runner.judging.lots import lot
from runner.judging.prompts import Secrets

_USE = b"cleanroom/judging-key/1"
_DIGITS = 32


def judging_key(manifest_sha256: str, records: Mapping[str, ControlsRecord]) -> bytes:
    """Give the 32 bytes that all lots of a release's judging are drawn with; `records` by nomination."""
    drawn = hmac.new(_USE, manifest_sha256.encode(), hashlib.sha256)
    for name in sorted(records):
        data = canonical(records[name])
        drawn.update(b"%d:" % len(data) + data)
    return drawn.digest()


class _Asking(Shape):
    judge: str
    item: Item
    view: View


def asking_id(judge: str, item: Item, view: View) -> str:
    """Give 64 hex digits that tell one asking from all others of a release."""
    whole = _Asking(judge=judge, item=item, view=view)
    return sha256(canonical(whole.model_dump(mode="json", by_alias=True)))


def secrets_of(key: bytes, asking: str, number: int) -> Secrets:
    """Draw what one call is told apart by: 128 bits each, new for every answer to an asking."""
    boundary, nonce, canary = (
        lot(key, use, asking, str(number)).hex()[:_DIGITS] for use in ("boundary", "nonce", "canary")
    )
    return Secrets(boundary=boundary, nonce=nonce, canary=canary)
