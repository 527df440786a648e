"""What can be asked of a keeper: strategies for limits, specs and requests, all of them well-formed."""

from datetime import timedelta
from typing import get_args

from hypothesis import strategies as st

from sandbox.requests import Request
from sandbox.room import AccountRange
from sandbox.spec import Limits, Mount, Network, Reach, Role, UnitSpec


def plain_text(**limits: int) -> st.SearchStrategy[str]:
    return st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), **limits)


numbers = st.integers(1, 1 << 48)
limits = st.builds(
    Limits,
    wall=st.timedeltas(timedelta(microseconds=1), timedelta(days=366)),
    **{name: numbers for name in Limits.__dataclass_fields__ if name != "wall"},
)
networks = st.just(Network()) | st.builds(
    Network, reach=st.just(Reach.GATE), namespace=plain_text(), port=st.integers(1, 65535)
)
specs = st.builds(
    UnitSpec,
    role=st.sampled_from(Role),
    argv=st.builds(lambda first, rest: ("/" + first, *rest), plain_text(), st.lists(plain_text(), max_size=3)),
    limits=limits,
    environment=st.lists(st.tuples(plain_text(), plain_text()), max_size=3).map(tuple),
    working_directory=plain_text(),
    workspace=st.none() | plain_text(),
    mounts=st.lists(st.builds(Mount, object=plain_text(), target=plain_text()), max_size=3).map(tuple),
    network=networks,
)
names = st.from_regex(r"[0-9a-z-]{1,64}", fullmatch=True)
digests = st.from_regex(r"[0-9a-f]{64}", fullmatch=True)
spans = st.tuples(st.integers(100_000, 2**31 - 1), st.integers(100_000, 2**31 - 1)).map(
    lambda ends: AccountRange(first=min(ends), last=max(ends))
)
FIELDS = {
    "state": plain_text(max_size=50).map(lambda text: "/" + text),
    "accounts": spans,
    "quick": st.booleans(),
    "digest": digests,
    "layers": st.lists(digests, min_size=1, max_size=8).map(tuple),
    "limits": limits,
    "lay": st.booleans(),
    "home": st.booleans(),
    "workspace": names,
    "port": st.integers(1024, 65535),
    "namespace": names,
    "spec": specs,
}
KINDS = get_args(Request)


@st.composite
def requests(draw: st.DrawFn) -> Request:
    kind = draw(st.sampled_from(KINDS))
    request: Request = kind(**{name: draw(FIELDS[name]) for name in kind.__dataclass_fields__ if name != "do"})
    return request
