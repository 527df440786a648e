"""The forms that well-known providers and hosts give their keys. Pure.

Each is the maker's own prefix and as many letters as the maker's keys have at least; longer ones are keys too. The
source of each stands on its line: the maker's page where the form was read, or `in use` where the maker shows it in
its console and has no page on it. Prefixes change: what is missing here is still found if it is the run's own, or
looks drawn by lot.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from runner.publishing.entropy import bits_a_letter

_LEAST_BITS = 2.5
"""A letter, over the whole key: below this it is a row of x or a counter, put there in place of one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """One kind of key."""

    id: str
    """Name of its group in the expression."""
    kind: str
    form: str
    """A regular expression over ASCII. Its letters' class must not hold a blank."""


SHAPES: tuple[Shape, ...] = (
    # https://docs.anthropic.com/en/api/admin-api/apikeys (sk-ant-admin, sk-ant-api), oat: a login of Claude Code
    Shape(id="anthropic", kind="a key of Anthropic", form=r"sk-ant-[a-z]{3,6}[0-9]{2}-[A-Za-z0-9_-]{20,}"),
    # in use: platform.openai.com, project, service and admin keys
    Shape(id="openai", kind="a key of OpenAI", form=r"sk-(?:proj|svcacct|admin)-[A-Za-z0-9_-]{20,}"),
    # https://openrouter.ai/docs/api-reference/authentication (secret scanning of sk-or-)
    Shape(id="openrouter", kind="a key of OpenRouter", form=r"sk-or-v[0-9]-[0-9a-f]{32,}"),
    # in use: OpenAI's older keys, DeepSeek, Moonshot and others that took over the form
    Shape(id="sk", kind="a key of OpenAI's older form", form=r"sk-[A-Za-z0-9]{32,}"),
    # https://cloud.google.com/docs/authentication/api-keys (AIza and 35 letters)
    Shape(id="google", kind="an API key of Google", form=r"AIza[0-9A-Za-z_-]{35,}"),
    # https://developers.google.com/identity/protocols/oauth2 (access tokens, client secrets, refresh tokens)
    Shape(id="google_oauth", kind="an OAuth token of Google", form=r"(?:ya29\.|GOCSPX-|1//0)[0-9A-Za-z_-]{20,}"),
    # https://huggingface.co/docs/hub/security-tokens
    Shape(id="huggingface", kind="a token of Hugging Face", form=r"(?:hf|api_org)_[A-Za-z0-9]{30,}"),
    # in use: console.groq.com
    Shape(id="groq", kind="a key of Groq", form=r"gsk_[A-Za-z0-9]{40,}"),
    # https://docs.x.ai/docs/overview
    Shape(id="xai", kind="a key of xAI", form=r"xai-[A-Za-z0-9]{60,}"),
    # https://docs.perplexity.ai/guides/api-key-management
    Shape(id="perplexity", kind="a key of Perplexity", form=r"pplx-[A-Za-z0-9]{40,}"),
    # https://replicate.com/docs/topics/security/api-tokens
    Shape(id="replicate", kind="a token of Replicate", form=r"r8_[A-Za-z0-9]{36,}"),
    # in use: fireworks.ai
    Shape(id="fireworks", kind="a key of Fireworks", form=r"fw_[A-Za-z0-9]{22,}"),
    # https://build.nvidia.com (nvapi-)
    Shape(id="nvidia", kind="a key of NVIDIA", form=r"nvapi-[A-Za-z0-9_-]{40,}"),
    # in use: cloud.cerebras.ai
    Shape(id="cerebras", kind="a key of Cerebras", form=r"csk-[a-z0-9]{40,}"),
    # https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_identifiers.html (unique ID prefixes)
    Shape(id="aws", kind="an access key of AWS", form=r"(?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}"),
    # https://docs.aws.amazon.com/bedrock/latest/userguide/api-keys.html (long-term and short-term)
    Shape(id="bedrock", kind="a key of Amazon Bedrock", form=r"(?:ABSK|bedrock-api-key-)[A-Za-z0-9+/=]{60,}"),
    # https://github.blog/engineering/platform-security/behind-githubs-new-authentication-token-formats/
    Shape(id="github", kind="a token of GitHub", form=r"gh[pousr]_[A-Za-z0-9]{36,}"),
    # https://docs.github.com/en/authentication/keeping-your-account-and-data-secure/about-authentication-to-github
    Shape(id="github_fine", kind="a fine-grained token of GitHub", form=r"github_pat_[A-Za-z0-9_]{40,}"),
    # https://docs.gitlab.com/security/tokens/#token-prefixes
    Shape(
        id="gitlab",
        kind="a token of GitLab",
        form=r"(?:glpat|gldt|glrt|glcbt|glptt|glft|glimt|glagent|gloas|glsoat)-[A-Za-z0-9_.-]{20,}",
    ),
    # https://support.atlassian.com/atlassian-account/docs/manage-api-tokens-for-your-atlassian-account/
    Shape(id="atlassian", kind="a token of Atlassian", form=r"AT(?:ATT3xFfGF0|CTT3xFfGN0|BB)[A-Za-z0-9_=-]{24,}"),
    # https://docs.npmjs.com/about-access-tokens, github.blog/changelog/2021-09-23-npm-has-a-new-access-token-format
    Shape(id="npm", kind="a token of npm", form=r"npm_[A-Za-z0-9]{36,}"),
    # https://pypi.org/help/#apitoken (a macaroon: pypi-AgEIcHlwaS5vcmc or the test index's)
    Shape(id="pypi", kind="a token of PyPI", form=r"pypi-AgE[A-Za-z0-9_-]{40,}"),
    # https://guides.rubygems.org/api-key-scopes/
    Shape(id="rubygems", kind="a key of RubyGems", form=r"rubygems_[0-9a-f]{48}"),
    # https://crates.io/docs (tokens since 2020: cio and 32 letters)
    Shape(id="crates", kind="a token of crates.io", form=r"cio[A-Za-z0-9]{32}"),
    # https://docs.docker.com/security/access-tokens/
    Shape(id="docker", kind="a token of Docker", form=r"dckr_(?:pat|oat)_[A-Za-z0-9_-]{24,}"),
    # https://api.slack.com/concepts/token-types
    Shape(id="slack", kind="a token of Slack", form=r"xox[abeoprs]-(?:[0-9A-Za-z]+-)+[0-9A-Za-z-]{10,}"),
    # https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks (the address is the secret)
    Shape(
        id="slack_hook",
        kind="an incoming webhook of Slack",
        form=r"hooks\.slack\.com/services/T[A-Z0-9]{6,}/B[A-Z0-9]{6,}/[A-Za-z0-9]{18,}",
    ),
    # https://docs.stripe.com/keys
    Shape(id="stripe", kind="a key of Stripe", form=r"(?:sk|rk)_(?:live|test)_[A-Za-z0-9]{20,}"),
    # https://www.twilio.com/docs/iam/api-keys (SK and 32 hex digits)
    Shape(id="twilio", kind="a key of Twilio", form=r"SK[0-9a-f]{32}"),
    # https://www.twilio.com/docs/sendgrid/ui/account-and-settings/api-keys
    Shape(id="sendgrid", kind="a key of SendGrid", form=r"SG\.[A-Za-z0-9_-]{20,}\.[A-Za-z0-9_-]{40,}"),
    # https://docs.digitalocean.com/reference/api/create-personal-access-token/ (dop, doo, dor)
    Shape(id="digitalocean", kind="a token of DigitalOcean", form=r"do[opr]_v1_[0-9a-f]{64}"),
    # https://developer.hashicorp.com/vault/docs/concepts/tokens (hvs, hvb, hvr)
    Shape(id="vault", kind="a token of Vault", form=r"hv[bsr]\.[A-Za-z0-9_-]{24,}"),
    # https://developer.hashicorp.com/terraform/cloud-docs/users-teams-organizations/api-tokens
    Shape(id="terraform", kind="a token of Terraform", form=r"[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_-]{60,}"),
    # https://grafana.com/docs/grafana-cloud (service accounts and cloud access policies)
    Shape(id="grafana", kind="a token of Grafana", form=r"gl(?:sa|c)_[A-Za-z0-9+/=_]{32,}"),
    # https://tailscale.com/kb/1277/key-prefixes
    Shape(id="tailscale", kind="a key of Tailscale", form=r"tskey-[a-z]+-[A-Za-z0-9]+-[A-Za-z0-9]{20,}"),
    # https://linear.app/developers/graphql (lin_api_)
    Shape(id="linear", kind="a key of Linear", form=r"lin_(?:api|oauth)_[A-Za-z0-9]{32,}"),
    # https://www.postman.com/ (PMAK-)
    Shape(id="postman", kind="a key of Postman", form=r"PMAK-[0-9a-f]{24}-[0-9a-f]{34}"),
    # https://github.com/FiloSottile/age (Bech32, upper case)
    Shape(id="age", kind="a secret key of age", form=r"AGE-SECRET-KEY-1[02-9AC-HJ-NP-Z]{58}"),
    # RFC 7519 and RFC 7515 3: a JSON object in base64url begins with eyJ
    Shape(id="jwt", kind="a JSON web token", form=r"eyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{20,}"),
)

_RUNS = re.compile(
    rb"(?<![A-Za-z0-9_])(?:" + b"|".join(f"(?P<{each.id}>{each.form})".encode() for each in SHAPES) + rb")"
)
_KINDS = {each.id: each.kind for each in SHAPES}

_LOOSE = (
    # RFC 7468 and the format of OpenSSH: the whole block, as far as it goes
    (
        "a private key",
        (b"PRIVATE KEY",),
        re.compile(rb"-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----[^-]{32,}"),
    ),
    # https://tartarus.org/~simon/putty-snapshots/htmldoc/AppendixC.html (PPK)
    (
        "a private key of PuTTY",
        (b"PuTTY-User-Key",),
        re.compile(rb"PuTTY-User-Key-File-[23]: [^\0]{1,2000}?Private-Lines: [0-9]+\s+[A-Za-z0-9+/=]{16,}"),
    ),
    # RFC 3986 3.2.1: a user's password in an address
    (
        "a password in an address",
        (b"://",),
        re.compile(rb"://[^\s/:@\"'<>{}$%\\]{1,64}:([^\s/:@\"'<>{}$%\\]{8,100})@[A-Za-z0-9]"),
    ),
    # RFC 6750 2.1 and RFC 7617: a header with a credential
    (
        "a credential in a header",
        (b"uthorization", b"UTHORIZATION"),
        re.compile(
            rb"(?:uthorization|UTHORIZATION)[\"']?\s*[:=,]\s*[\"']?"
            rb"(?:[Bb]earer|BEARER|[Bb]asic|BASIC|[Tt]oken)\s+([A-Za-z0-9._~+/=-]{20,})"
        ),
    ),
)
"""What is not one row of letters: its kind, words without which it cannot stand there, its form."""

PLACEHOLDERS = re.compile(rb"(?i)example|placeholder|changeme|your[_-]|dummy|redacted|xxxx|0123456789|abcdefgh")
"""Words that stand in place of a key in documentation."""

_WORD = re.compile(rb"(?i)pass(?:word|wd|phrase)?|secret|token")


@dataclass(frozen=True, slots=True, kw_only=True)
class Token:
    """Something in the form of a key, and where it begins."""

    start: int
    text: bytes
    kind: str


def tokens_in_run(run: bytes) -> Iterator[Token]:
    """Yield what has a key's form in a row of letters without blanks."""
    for found in _RUNS.finditer(run):
        if not is_placeholder(found[0]):
            yield Token(start=found.start(), text=found[0], kind=_KINDS[str(found.lastgroup)])


def loose_tokens(text: bytes) -> Iterator[Token]:
    """Yield what has a key's form in more than one row of letters."""
    for kind, words, form in _LOOSE:
        if any(word in text for word in words):
            for found in form.finditer(text):
                secret = found[found.lastindex or 0]
                if not is_placeholder(secret):
                    yield Token(start=found.start(), text=secret, kind=kind)


def is_placeholder(text: bytes) -> bool:
    """Whether it only stands where a key would."""
    return (
        PLACEHOLDERS.search(text) is not None or _WORD.fullmatch(text) is not None or bits_a_letter(text) < _LEAST_BITS
    )
