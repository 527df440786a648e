"""What a keeper needs before it begins: refused by name, with what is lost and what mends it."""

import re
from pathlib import Path

import pytest

from sandbox import needs
from sandbox.errors import HostUnfitError
from sandbox.needs import CAPABILITIES, LEAST_SYSTEMD

ALL = sum(1 << number for number, _ in CAPABILITIES.values())


@pytest.mark.parametrize("name", CAPABILITIES)
def test_each_capability_that_is_missing_is_named_with_what_is_lost(name: str) -> None:
    number, lost = CAPABILITIES[name]
    with pytest.raises(HostUnfitError) as caught:
        needs.need_capabilities(ALL & ~(1 << number))
    assert f"without {name}." in str(caught.value)
    assert lost in str(caught.value)


def test_a_mask_that_has_them_all_is_enough() -> None:
    needs.need_capabilities(ALL)
    assert needs.missing_capabilities(0) == tuple(CAPABILITIES)


def test_numbers_of_capabilities_are_the_kernels() -> None:
    header = Path("/usr/include/linux/capability.h").read_text()
    defined = dict(re.findall(r"^#define (CAP_\w+)\s+(\d+)$", header, re.MULTILINE))
    assert {name: defined[name] for name in CAPABILITIES} == {name: str(n) for name, (n, _) in CAPABILITIES.items()}


@pytest.mark.parametrize("version", ["252", "252.39-1~deb12u2", "systemd 257 (257.9)", "v255", "300"])
def test_a_systemd_that_is_new_enough_is_taken(version: str) -> None:
    needs.need_systemd(version)


@pytest.mark.parametrize("version", ["249.11-0ubuntu3", "251.99", "", "unknown", "25", "systemd"])
def test_an_older_systemd_or_one_that_does_not_say_is_refused(version: str) -> None:
    with pytest.raises(HostUnfitError, match=f"systemd {LEAST_SYSTEMD} or newer"):
        needs.need_systemd(version)


@pytest.mark.parametrize(
    ("found", "missing"),
    [
        pytest.param({"memory", "pids", "cpu", "cpuacct"}, (), id="all"),
        pytest.param({"memory", "cpu"}, ("pids",), id="no-pids"),
        pytest.param(set(), ("memory", "pids", "cpu"), id="none"),
    ],
)
def test_controllers_that_are_missing_are_named(found: set[str], missing: tuple[str, ...]) -> None:
    assert needs.missing_controllers(frozenset(found)) == missing
    assert all(f"-o {name} " in needs.mend_controllers(missing, v2=False) for name in missing)
    assert "mount" not in needs.mend_controllers(missing, v2=True)
