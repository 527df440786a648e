"""What an author's driver may use, on the trusted side; submitted code runs in another unit, as another account.

    from cleanroom_driver import case, submitted

    add = submitted("calc:add")
    with case("adds"):
        assert add(1, 2) == 3
    with case("refuses texts"):
        assert add.raises("1", 2) == "TypeError"

A case that is never reported has failed. Only plain data crosses, by value; see `plain`.
`program` runs submitted programs, `restart` gives a fresh process, `read`, `changed` and `final_message` tell what was
captured, `same` compares types too.

Where the toolchain is Node: `submitted("./index.js:default")`, by paths from where the fixture stands. What JavaScript
alone has is `UNDEFINED`, `bigint(5)`, `date(ms)`, `js_map([[key, value]])` and `js_set([value])`, in both directions.
A number that is a safe integer is an int here, every other one a float. Promises are waited for.
"""

import base64
import contextlib
import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NoReturn

from .plain import Foreign, NotPlainError, decode, encode
from .wire import Wire, WireError

_NUMBERS: Final = itertools.count(1)


class SubmittedError(Exception):
    """Submitted code gave no plain value: it raised, ran out of time, was killed, or gave something else."""


class RaisedError(SubmittedError):
    """Submitted code raised: `kind` is the class, `kinds` it and the classes above, `said` its text."""

    def __init__(self, kind: str, kinds: Sequence[str], said: str) -> None:
        super().__init__(f"it raised {kind}: {said}" if said else f"it raised {kind}")
        self.kind, self.kinds, self.said = kind, tuple(kinds), said


class GoneError(SubmittedError):
    """The submitted side has ended; nothing more can be asked."""


class Line:
    """The way to the runner, which alone reaches the submitted side."""

    def __init__(self) -> None:
        self.wire: Wire | None = None
        self.message: str | None = None
        self.changed: tuple[str, ...] = ()

    def ask(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Ask, and wait for the answer to this very question."""
        wire = self._open()
        number = next(_NUMBERS)
        try:
            wire.send({**request, "number": number})
        except WireError as error:
            raise SubmittedError(str(error)) from error
        answer = wire.receive()
        if "gone" in answer:
            raise GoneError(f"the submitted side has ended: {answer['gone']}")
        if answer.get("number") != number:
            raise WireError("an answer to another question")
        return answer

    def tell(self, record: Mapping[str, Any]) -> None:
        """Report something; there is no answer."""
        self._open().send(dict(record))

    def _open(self) -> Wire:
        if self.wire is None:
            raise WireError("this is no driver's unit")
        return self.wire


LINE: Final = Line()


@dataclass(frozen=True)
class Submitted:
    """A callable of the submission, by module and path. Calling it calls that, in the other unit."""

    request: Mapping[str, Any]
    name: str

    def __call__(self, *args: object, **named: object) -> object:
        """Call it, and give its plain value.

        Raises:
            SubmittedError: there is none.
        """
        return _value(self._ask(args, named), self.name)

    def listed(self, *args: object, **named: object) -> list[object]:
        """Call it, and give what its iterator gives, at most a million items, all computed over there."""
        found = _value(self._ask(args, named, listed=True), self.name)
        if type(found) is not list:
            raise SubmittedError(f"{self.name} gave no list")
        return found

    def mutating(self, *args: object) -> tuple[object, list[object]]:
        """Call it, and give its value and its arguments as they are afterwards."""
        answer = self._ask(args, {}, after=True)
        value = _value(answer, self.name)
        after = decode(answer.get("after"))
        if type(after) is not list:
            raise SubmittedError(f"{self.name} gave its arguments back as something else")
        return value, after

    def raises(self, *args: object, **named: object) -> str | None:
        """Call it, and give the class of what it raises; None if it raises nothing."""
        try:
            self(*args, **named)
        except RaisedError as error:
            return error.kind
        return None

    def kept(self, *args: object, **named: object) -> "Remote":
        """Call it, and keep what it gives over there, to work with by `Remote`."""
        answer = self._ask(args, named, kept=True)
        if type(answer.get("object")) is not int:
            _refuse(answer, self.name)
        return Remote(number=answer["object"], kind=str(answer.get("type")))

    def _ask(self, args: Sequence[object], named: Mapping[str, object], **how: bool) -> dict[str, Any]:
        try:
            written = {"args": encode(list(map(_outward, args))), "named": encode({**named})}
        except NotPlainError as error:
            raise TypeError(f"an argument of {self.name} is {error}") from error
        return LINE.ask({"ask": "call", **self.request, **written, **how})


@dataclass(frozen=True)
class Remote:
    """An object that stays with the submission."""

    number: int
    kind: str

    def method(self, name: str) -> Submitted:
        """Give one of its methods."""
        return Submitted({"object": self.number, "path": name.split(".")}, f"{self.kind}.{name}")

    def read(self, name: str) -> object:
        """Read one of its attributes."""
        return Submitted({"object": self.number, "path": name.split("."), "read": True}, f"{self.kind}.{name}")()


@dataclass(frozen=True)
class Ended:
    """How a submitted program ended; `files` holds what was wanted, None where there is no such plain file."""

    status: int
    stdout: bytes
    stderr: bytes
    files: Mapping[str, bytes | None]


def submitted(name: str) -> Submitted:
    """Give a callable of the submission by `package.module:function` or `package.module:Class.method`."""
    module, _, path = name.partition(":")
    if not module or not path:
        raise ValueError(f"{name!r} is not 'module:callable'")
    return Submitted({"module": module, "path": path.split(".")}, name)


def program(
    *argv: str,
    stdin: bytes = b"",
    files: Mapping[str, bytes] | None = None,
    wanted: Sequence[str] = (),
    within: float | None = None,
) -> Ended:
    """Run a program in the submission's workspace; `files` are written first, `wanted` are read afterwards.

    Raises:
        SubmittedError: it could not be started, or did not end within so many seconds.
    """
    answer = LINE.ask(
        {
            "ask": "run",
            "argv": argv,
            "stdin": _text(stdin),
            "files": {path: _text(content) for path, content in (files or {}).items()},
            "wanted": list(wanted),
            "within": within,
        }
    )
    if type(answer.get("status")) is not int:
        raise SubmittedError(f"{argv[0]}: {answer.get('unstarted', 'it did not end in time')}")
    found = answer.get("files", {})
    return Ended(
        status=answer["status"],
        stdout=_data(answer.get("stdout")),
        stderr=_data(answer.get("stderr")),
        files={path: None if found.get(path) is None else _data(found[path]) for path in wanted},
    )


def restart() -> None:
    """End the submitted process and all it started; the next call meets a fresh one."""
    if LINE.ask({"ask": "restart"}).get("restarted") is not True:
        raise SubmittedError("the submitted side did not start again")


def read(path: str) -> bytes | None:
    """Give a file of the submission as it was captured, whatever has happened since; None where there is none."""
    content = LINE.ask({"ask": "read", "path": path}).get("content")
    return None if content is None else _data(content)


def changed() -> tuple[str, ...]:
    """Name the paths that the submission adds, changes or removes."""
    return LINE.changed


def final_message() -> str | None:
    """Give the candidate's last words; None where there are none."""
    return LINE.message


def same(found: object, wanted: object) -> bool:
    """Say whether two plain values are equal in value and in every type: 1 is neither True nor 1.0."""
    return _spelled(found) == _spelled(wanted)


def _spelled(value: object) -> str:
    """Give a text that two plain values share if, and only if, they are the same; order counts where a type has one."""
    name = type(value).__name__
    if isinstance(value, list | tuple):
        return f"{name}[{','.join(map(_spelled, value))}]"
    if isinstance(value, dict):
        return f"{name}[{','.join(sorted(f'{_spelled(key)}:{_spelled(each)}' for key, each in value.items()))}]"
    if isinstance(value, set | frozenset):
        return f"{name}[{','.join(sorted(map(_spelled, value)))}]"
    if isinstance(value, Foreign):
        return f"{value.kind}({_spelled(value.value)})"
    return f"{name} {value!r}"


UNDEFINED: Final = Foreign("undefined")
"""JavaScript's `undefined`; its `null` is None."""


def bigint(value: int) -> Foreign:
    """Give a BigInt."""
    return Foreign("bigint", str(value))


def date(milliseconds: float) -> Foreign:
    """Give a Date, by milliseconds since 1970 UTC."""
    return Foreign("date", milliseconds)


def js_map(pairs: Sequence[Sequence[object]]) -> Foreign:
    """Give a Map with these keys and values, in order."""
    return Foreign("map", [list(pair) for pair in pairs])


def js_set(values: Sequence[object]) -> Foreign:
    """Give a Set with these values, in order."""
    return Foreign("set", list(values))


def check(name: str, passed: object, detail: str = "") -> None:
    """Report a case: it passed if, and only if, `passed` is True itself."""
    LINE.tell({"tell": "case", "id": name, "passed": passed is True, "detail": detail})


@contextlib.contextmanager
def case(name: str) -> Iterator[None]:
    """Report a case: it passed if the block ends without an exception."""
    try:
        yield
    except (
        AssertionError,
        SubmittedError,
        ArithmeticError,
        LookupError,
        TypeError,
        ValueError,
        AttributeError,
    ) as error:
        check(name, passed=False, detail=f"{type(error).__name__}: {error}"[:500])
    else:
        check(name, passed=True)


def _outward(value: object) -> object:
    return ("cleanroom object", value.number) if isinstance(value, Remote) else value


def _value(answer: Mapping[str, Any], name: str) -> object:
    if "value" not in answer:
        _refuse(answer, name)
    try:
        return decode(answer["value"])
    except NotPlainError as error:
        raise SubmittedError(f"{name} gave {error}") from error


def _refuse(answer: Mapping[str, Any], name: str) -> NoReturn:
    match answer.get("raised"):
        case {"type": str(kind), "kinds": [*kinds], "said": str(said)}:
            raise RaisedError(kind, [str(each) for each in kinds], said)
    raise SubmittedError(f"{name} gave {answer.get('unplain', 'no value')}")


def _text(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")


def _data(text: object) -> bytes:
    if not isinstance(text, str):
        raise SubmittedError("something that is no data")
    try:
        return base64.b64decode(text, validate=True)
    except ValueError as error:
        raise SubmittedError("something that is no data") from error
