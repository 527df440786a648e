"""The immutable flag: set where it can be, told where it cannot, and never half believed."""

import errno
import os
from pathlib import Path

import pytest

from runner.immutable import _told, freeze_folders, set_immutable


def _has_flag(folder: Path) -> bool:
    probe = folder / "probe"
    probe.touch()
    try:
        set_immutable(probe)
    except OSError:
        return False
    set_immutable(probe, on=False)
    probe.unlink()
    return True


def test_what_is_frozen_cannot_be_changed_even_by_root(tmp_path: Path) -> None:
    if not _has_flag(tmp_path):
        pytest.skip("this file system or account cannot set the flag")
    sealed = tmp_path / "submission"
    (sealed / "streams").mkdir(parents=True)
    (sealed / "streams/stdout").write_text("out")
    frozen = freeze_folders((sealed,))
    try:
        assert (frozen.paths, frozen.why_not) == (3, None)
        for change in (
            lambda: (sealed / "streams/stdout").write_text("other"),
            (sealed / "streams/stdout").unlink,
            (sealed / "more").touch,
            lambda: sealed.rename(tmp_path / "elsewhere"),
        ):
            with pytest.raises(PermissionError):
                change()
        assert freeze_folders((sealed,)).paths == 3
    finally:
        for path in (sealed, sealed / "streams", sealed / "streams/stdout"):
            set_immutable(path, on=False)
    (sealed / "streams/stdout").write_text("other")


def test_a_file_system_without_the_flag_is_told() -> None:
    frozen = freeze_folders((Path("/proc/self/attr"),))
    assert frozen.paths == 0
    assert frozen.why_not is not None
    assert "/proc/self/attr" in frozen.why_not
    assert "has no immutable flag" in frozen.why_not


def test_an_account_that_may_not_is_told() -> None:
    said = _told(Path("/x"), OSError(errno.EPERM, os.strerror(errno.EPERM)))
    assert said == "this account may not set the immutable flag of /x (it takes CAP_LINUX_IMMUTABLE)"
