"""What the machine and the call say: the only reader of the environment. Values of keys are never shown."""

import hashlib
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

from runner.errors import DocumentError

DEFAULT_STATE = Path("/var/lib/cleanroom")
STATE_IN_CHECKOUT = ".cleanroom"
DEFAULT_CONFIG = Path("config/pilot.json")
HIDDEN = tuple(Path(path) for path in ("/tmp", "/var/tmp", "/run", "/var/log"))  # noqa: S108 - named, not used
"""Folders in whose place a private systemd has its own."""

CONFIG_VARIABLE = "BENCHMARK_CONFIG"
HELM_VARIABLE = "HELM"

_SECRET_NAME = re.compile(r"(?:^|_)(?:API)?(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIALS?)$")
_LEAST_SECRET = 12
"""Letters; what is shorter is a word or a number."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """One call's surroundings."""

    checkout: Path
    """Absolute and without links; nominations, releases and relative paths of a configuration count from here."""
    config: Path
    """The release configuration's file."""
    colour: bool = True
    """Whether the environment allows colours; a terminal must want them too."""
    environ: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}), repr=False, compare=False)

    def credential(self, name: str) -> str | None:
        """Give a provider's key by its variable's name; None where it is unset or blank.

        Raises:
            DocumentError: it could not stand in a header.
        """
        value = self.environ.get(name, "").strip()
        if not value:
            return None
        if not (value.isascii() and value.isprintable()) or " " in value:
            raise DocumentError(
                file="the environment",
                field=name,
                found="a value with blanks, control characters or letters beyond ASCII",
                expected="a provider's key",
                mend="set the variable to the key alone",
            )
        return value

    @property
    def home(self) -> Path | None:
        """The operator's home; None where the environment names none."""
        home = self.environ.get("HOME", "")
        return Path(home) if home.startswith("/") else None

    @property
    def helm(self) -> Path | None:
        """The program of Helm that `$HELM` names; None where it names none."""
        named = self.environ.get(HELM_VARIABLE, "")
        return Path(named) if named.startswith("/") else None

    def secrets(self) -> Mapping[str, str]:
        """Give the values of all variables that are called a key, a token, a secret or a password, but for paths."""
        return {
            name: value
            for name, value in self.environ.items()
            if _SECRET_NAME.search(name) and len(value) >= _LEAST_SECRET and not value.startswith(("/", "."))
        }

    def path(self, text: str) -> Path:
        """Give a configuration's path on this host."""
        return self.checkout / text

    def state_dir(self, configured: str | None) -> Path:
        """Give the folder of the state; one in a checkout that a private systemd hides stands elsewhere."""
        if configured is None:
            return DEFAULT_STATE
        wanted = Path(os.path.normpath(self.checkout / configured))
        if Path(configured).is_absolute() or not is_hidden(wanted):
            return wanted
        meant = self.checkout if wanted == self.checkout / STATE_IN_CHECKOUT else wanted
        return DEFAULT_STATE / f"demo-{hashlib.sha256(os.fsencode(meant)).hexdigest()[:16]}"


def is_hidden(path: Path) -> bool:
    """Whether a private systemd would not see what lies there."""
    return any(path.is_relative_to(folder) for folder in HIDDEN)


def own_checkout() -> Path:
    """Give the checkout that this code runs from."""
    return Path(__file__).resolve().parent.parent


def checkout_of(config: Path) -> Path:
    """Give the checkout of a configuration: where the folder `config` stands that it lies in, else our own."""
    folder = Path(os.path.normpath(Path.cwd() / config)).parent
    return folder.parent if folder.name == DEFAULT_CONFIG.parent.name else own_checkout()


def load_settings(environ: Mapping[str, str], *, config: Path | None = None, checkout: Path | None = None) -> Settings:
    """Gather the settings; `config` is what `--config` says and counts before the environment."""
    named = environ.get(CONFIG_VARIABLE, "")
    chosen = config or (Path(named) if named else (checkout or own_checkout()) / DEFAULT_CONFIG)
    root = Path(os.path.realpath(checkout or checkout_of(chosen)))
    return Settings(
        checkout=root,
        config=chosen,
        colour=not environ.get("NO_COLOR"),
        environ=MappingProxyType(dict(environ)),
    )


def host_settings(config: Path | None = None) -> Settings:
    """Gather the settings of this process."""
    return load_settings(os.environ, config=config)
