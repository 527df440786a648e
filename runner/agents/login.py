"""Agents with a login of their own (`network: direct`): where its file lies, whom it is for, the way out. Pure."""

from collections.abc import Mapping
from types import MappingProxyType

from evaluators.packing import pack_files
from runner.documents.runtimes import RuntimeName
from runner.roster import Candidate, NetworkMode
from sandbox.api import Pack

PLACES: Mapping[RuntimeName, str] = MappingProxyType(
    {
        "opencode": ".local/share/opencode/auth.json",
        "codex": ".codex/auth.json",
        "claude": ".claude/.credentials.json",
    }
)
"""Where in its home each agent keeps its login."""

HOSTS: Mapping[RuntimeName, tuple[str, ...]] = MappingProxyType(
    {
        "opencode": ("opencode.ai:443",),
        "codex": ("chatgpt.com:443", "api.openai.com:443", "auth.openai.com:443"),
        "claude": ("api.anthropic.com:443", "console.anthropic.com:443", "platform.claude.com:443"),
    }
)
"""Where each agent's maker answers it and renews its login: what a release freezes unless more is named."""

CERTIFICATES_TARGET = "/opt/certificates"
_AUTHORITIES = "authorities.pem"


def with_hosts(candidate: Candidate) -> Candidate:
    """Give a candidate as a release freezes it: with every host that it may reach by itself."""
    if candidate.network is not NetworkMode.DIRECT:
        return candidate
    own = next((hosts for name, hosts in HOSTS.items() if name == candidate.agent), ())
    return candidate.model_copy(update={"hosts": tuple(dict.fromkeys((*own, *candidate.hosts)))})


def login_pack(name: RuntimeName, content: bytes) -> Pack:
    """Give the one file of an agent's home."""
    return pack_files({PLACES[name]: content})


def authorities_pack(content: bytes) -> Pack:
    """Give the certificate authorities as a folder, since a unit has none of its own."""
    return pack_files({_AUTHORITIES: content})


def way_out(port: int) -> tuple[tuple[str, str], ...]:
    """Give the environment that leads a program through the gateway's tunnels and nowhere else."""
    proxy = f"http://127.0.0.1:{port}"
    return (
        ("HTTPS_PROXY", proxy),
        ("HTTP_PROXY", proxy),
        ("https_proxy", proxy),
        ("http_proxy", proxy),
        ("SSL_CERT_FILE", f"{CERTIFICATES_TARGET}/{_AUTHORITIES}"),
    )
