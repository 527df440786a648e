from collections.abc import Iterator
from pathlib import Path

import pytest

from runner.gateway.client import Gateway
from tests.unit.gateway.rig import running_gateway, unpack_bundle


@pytest.fixture(scope="session")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return unpack_bundle(tmp_path_factory.mktemp("gateway"))


@pytest.fixture(scope="session")
def gateway(program: Path) -> Iterator[Gateway]:
    """One gateway for all tests, as one serves all attempts of a run; it must outlive each of them."""
    with running_gateway(program) as (gateway, unit):
        yield gateway
        assert unit.process is not None
        assert unit.process.poll() is None
        assert gateway.lost is None
        assert gateway.noise == b""
