import pytest

from sandbox import tools
from sandbox.errors import HostUnfitError


def test_every_program_that_is_missing_is_named_with_one_command_that_installs_all(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    known = {"/nowhere/unshare": "util-linux", "/nowhere/setpriv": "util-linux", "/nowhere/git": "git"}
    monkeypatch.setattr(tools, "TOOLS", {"/bin/sh": "dash", **known})
    with pytest.raises(HostUnfitError) as caught:
        tools.need_tools(("/bin/sh", *known))
    assert str(caught.value) == (
        "this host cannot hold a clean room without /nowhere/unshare, /nowhere/setpriv, /nowhere/git; "
        "run: apt-get install --no-install-recommends util-linux git"
    )


def test_what_is_there_is_not_named() -> None:
    tools.need_tools(())
    tools.need_tools((tools.GIT,))
