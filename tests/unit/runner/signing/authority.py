"""A time-stamping authority of a test's own: nothing leaves the machine."""

import subprocess
from pathlib import Path

CONFIG = """
[req]
distinguished_name = none
[none]
[root]
basicConstraints = critical, CA:TRUE
[authority]
extendedKeyUsage = critical, timeStamping
[answers]
serial = serial
signer_digest = sha256
default_policy = 1.2.3.4.1
digests = sha256
clock_precision_digits = 3
"""
ROOT = (
    "req -x509 -newkey ed25519 -nodes -keyout {0}.key -out {0}.pem -days 2 -subj /CN={0} -config conf -extensions root"
)
AUTHORITY = (
    "req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout tsa.key -out tsa.csr -subj /CN=tsa -config conf",
    "x509 -req -in tsa.csr -CA root.pem -CAkey root.key -days 2 -out tsa.pem -extfile conf -extensions authority",
)


def make_authority(folder: Path) -> None:
    """Make one: the command `stamp` answers requests, root.pem vouches for it, and other.pem does not."""
    (folder / "conf").write_text(CONFIG)
    for argv in (ROOT.format("root"), ROOT.format("other"), *AUTHORITY):
        openssl(folder, argv)
    script = folder / "stamp"
    script.write_text(
        f"#!/bin/sh\nset -e\ncd {folder}\ncat >query\n"
        "openssl ts -reply -queryfile query -signer tsa.pem -inkey tsa.key -config conf -section answers -out answer\n"
        "cat answer\n"
    )
    script.chmod(0o755)


def openssl(folder: Path, argv: str) -> None:
    subprocess.run(["/usr/bin/openssl", *argv.split()], cwd=folder, check=True, capture_output=True)
