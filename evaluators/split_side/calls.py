"""Calls into submitted Python code: a module's callables, and objects that stay here and are known by a number."""

import importlib
import itertools
from collections.abc import Callable, Iterator
from typing import Any

from .plain import NotPlainError, decode, encode

Thing = Any
"""Whatever submitted code made."""

_MOST_ITEMS = 1_000_000
_MESSAGE = 500


class Calls:
    """Serves `call` requests. What is submitted is imported when it is first named."""

    def __init__(self) -> None:
        self._objects: dict[int, Thing] = {}
        self._numbers: Iterator[int] = itertools.count(1)

    def answer(self, request: dict[str, Any]) -> dict[str, Any]:
        """Call what is asked for: its value, what it raised, or why there is no plain value."""
        try:
            target = self._target(request)
            args = self._argument(decode(request.get("args", [])))
            named = self._argument(decode(request.get("named", {"dict": []})))
        except Exception as error:  # noqa: BLE001 - whatever submitted code does while it is imported is an answer
            return _raised(error)
        return self._called(lambda: target(*args, **named), request, args)

    def _called(self, call: Callable[[], Thing], request: dict[str, Any], args: Thing) -> dict[str, Any]:
        try:
            value = call()
            if request.get("listed"):
                value = list(itertools.islice(value, _MOST_ITEMS))
            if request.get("kept"):
                return self._keep(value)
            answer = {"value": encode(value)}
            if request.get("after"):
                answer["after"] = encode(args)
        except NotPlainError as error:
            return {"unplain": str(error)}
        except BaseException as error:  # noqa: BLE001 - as above; SystemExit and KeyboardInterrupt as well
            return _raised(error)
        return answer

    def _keep(self, value: Thing) -> dict[str, Any]:
        number = next(self._numbers)
        self._objects[number] = value
        return {"object": number, "type": type(value).__name__}

    def _target(self, request: dict[str, Any]) -> Thing:
        known = "object" in request
        found = self._objects[request["object"]] if known else importlib.import_module(request["module"])
        for part in request["path"]:
            found = getattr(found, part)
        return (lambda: found) if request.get("read") else found

    def _argument(self, value: Thing) -> Thing:
        """Put objects in the place of their numbers, which travel as `("cleanroom object", number)`."""
        if type(value) is list:
            return [self._argument(each) for each in value]
        if type(value) is dict:
            return {key: self._argument(each) for key, each in value.items()}
        if type(value) is tuple and len(value) == 2 and value[0] == "cleanroom object":  # noqa: PLR2004 - a pair
            return self._objects[value[1]]
        return value


def _raised(error: BaseException) -> dict[str, Any]:
    try:
        said = str(error)
    except Exception:  # noqa: BLE001 - the text of an exception is submitted code too
        said = ""
    kinds = [each.__name__ for each in type(error).__mro__ if each not in {object, BaseException, Exception}]
    return {"raised": {"type": type(error).__name__, "kinds": kinds, "said": said[:_MESSAGE]}}
