"""A Sigstore bundle of a release's statement, with a key instead of a certificate (Sigstore bundle, v0.3).

`cosign verify-blob-attestation --key release.pem --bundle release.sigstore.json --insecure-ignore-tlog` reads it. It
says nothing that release.dsse.json does not say.
"""

from runner.canonical import canonical
from runner.parsing import parse_json
from runner.signing import dsse
from runner.signing.errors import SignatureError
from runner.signing.layout import SIGSTORE

MEDIA_TYPE = "application/vnd.dev.sigstore.bundle.v0.3+json"


def bundle(envelope: bytes, file: str = SIGSTORE) -> bytes:
    """Give the bundle of an envelope that one key signed; a bundle has one signature.

    Raises:
        SignatureError: it has several.
    """
    signatures = dsse.parse(envelope, file).signatures
    if len(signatures) != 1:
        raise SignatureError(file=file, found=f"{len(signatures)} signatures", expected="one")
    return canonical(
        {
            "dsseEnvelope": parse_json(envelope, file),
            "mediaType": MEDIA_TYPE,
            "verificationMaterial": {"publicKey": {"hint": signatures[0][0]}},
        }
    )


def check_bundled(data: bytes, envelope: bytes, file: str = SIGSTORE) -> None:
    """Say nothing if a bundle is the one of this envelope.

    Raises:
        SignatureError: it is another one.
    """
    if data != bundle(envelope, file):
        raise SignatureError(file=file, found="another bundle", expected="release.dsse.json in a Sigstore bundle")
