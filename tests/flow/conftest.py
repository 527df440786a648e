"""One frozen bench for the whole run; each test that needs one gets a copy of its own."""

from collections.abc import Iterator
from pathlib import Path
from secrets import token_hex

import pytest

from tests.flow.bench import Bench, Said, copied, own_folder, write_bench

STATES = Path("/var/lib/cleanroom")


@pytest.fixture(scope="session", name="benches")
def _benches() -> Iterator[Path]:
    """A folder that a private service manager can see."""
    with own_folder(STATES, "flow") as folder:
        yield folder


@pytest.fixture(scope="session")
def tried(benches: Path) -> tuple[Bench, dict[str, Said]]:
    """The bench, frozen with its controls, with every wall tried; and what each command said."""
    bench, said = write_bench(benches / "frozen"), {}
    for command in ("freeze", "verify-sandbox", "verify-objective-sandbox"):
        said[command] = bench.run(command)
        assert said[command].code == 0, said[command]
    return bench, said


@pytest.fixture(scope="session")
def frozen(tried: tuple[Bench, dict[str, Said]]) -> Bench:
    """The frozen bench. Tests read it and run their copies, which find its walls proven."""
    return tried[0]


@pytest.fixture
def bench(benches: Path, frozen: Bench, request: pytest.FixtureRequest) -> Bench:
    """A copy of the frozen bench for one test."""
    return copied(frozen, benches / f"{request.node.name[:40]}-{token_hex(3)}")


@pytest.fixture(scope="session")
def piloted(benches: Path, frozen: Bench) -> Bench:
    """A bench on which three candidates were run. Tests read it, or copy it."""
    bench = copied(frozen, benches / "piloted")
    said = bench.run("pilot", "--candidate", "oracle,nop,right")
    assert said.code == 0, said.err
    assert said.out == "3 tries, 0 further gradings, 0 void\n"
    return bench
