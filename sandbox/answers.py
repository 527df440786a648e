"""What raw observations say: judges that hold only what they know to be right. Pure.

Each takes whatever a unit said. None of them raises, and nothing found is believed only where something was looked at.
"""

import errno
import json
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import partial
from signal import Signals

from sandbox.proofs import Judge, Ruling

NOT_OBSERVED = "not observed"
_SHOWN = 3
_LATE_MS = 2000
"""How much longer than its bound an end may take."""
_LOWEST_ACCOUNT = 1 << 16
_MOST = 1 << 62
_KNOWN_SIGNALS = {each.value: each.name for each in Signals}


def words(text: str) -> tuple[str, ...]:
    """Give names that stand in one text."""
    return tuple(text.split())


def broken(observed: str) -> Ruling:
    """Say what was seen of a wall that did not hold."""
    return Ruling(held=False, observed=observed)


def _members(observation: object) -> dict[str, object] | None:
    """Give an observation that is an object of named members, and not empty."""
    if isinstance(observation, dict) and observation and all(isinstance(name, str) for name in observation):
        return observation
    return None


def _unknown(observation: object) -> Ruling:
    """Say that an observation is missing, or why, or that nobody understands it."""
    if observation is None:
        return broken(NOT_OBSERVED)
    return broken(
        observation if isinstance(observation, str) and observation else f"not understood: {observation!r:.80}"
    )


def _number(value: object) -> int | None:
    return value if type(value) is int else None


def answer_named(answer: object) -> str:
    """Name the kernel's answer."""
    number = _number(answer)
    if number is None:
        return "not tried"
    if number == 0:
        return "done"
    if number < 0:
        return f"killed by {_KNOWN_SIGNALS.get(-number, f'signal {-number}')}"
    return errno.errorcode.get(number, f"error {number}")


def refused(names: Iterable[str], *allowed: int, unless: Iterable[str] = ()) -> Judge:
    """Hold if each of these, and whatever else was tried, got one of the answers that are allowed.

    Those that are excepted may get any.
    """
    return partial(_refused, frozenset(names), frozenset(allowed), frozenset(unless))


def _refused(names: Collection[str], allowed: Collection[int], unless: Collection[str], observation: object) -> Ruling:
    answers = _members(observation)
    if answers is None:
        return _unknown(observation)
    answers = {name: answer for name, answer in answers.items() if name not in unless}
    missing = [f"{name}: not tried" for name in sorted(set(names) - set(answers))]
    wrong = [f"{name}: {answer_named(answer)}" for name, answer in answers.items() if _number(answer) not in allowed]
    if missing or wrong:
        return broken(_shortened([*wrong, *missing]))
    return Ruling(held=True, observed=_told(answers))


def _told(answers: Mapping[str, object]) -> str:
    if len(answers) <= _SHOWN:
        return "; ".join(f"{name}: {answer_named(answer)}" for name, answer in answers.items())
    counts = Counter(map(answer_named, answers.values()))
    return f"all {len(answers)}: " + ", ".join(f"{name} {count}" for name, count in sorted(counts.items()))


def _shortened(sentences: list[str]) -> str:
    more = len(sentences) - _SHOWN
    return "; ".join(sentences[:_SHOWN]) + (f"; and {more} more" if more > 0 else "")


def failed(names: Iterable[str]) -> Judge:
    """Hold if each of these programs ended with a failure, or is not there."""
    return partial(_failed, frozenset(names))


def _failed(names: Collection[str], observation: object) -> Ruling:
    statuses = _members(observation)
    if statuses is None:
        return _unknown(observation)
    missing = [f"{name}: not tried" for name in sorted(set(names) - set(statuses))]
    wrong = [
        f"{name}: ended with {status}"
        for name, status in statuses.items()
        if status != "absent" and (_number(status) or 0) <= 0
    ]
    if missing or wrong:
        return broken(_shortened([*wrong, *missing]))
    tried = sorted(name for name, status in statuses.items() if status != "absent")
    return Ruling(held=True, observed=f"failed: {', '.join(tried)}" if tried else "none of them is there")


def facts(**wanted: object) -> Judge:
    """Hold if exactly these members were seen."""
    return partial(_facts, wanted)


def _facts(wanted: Mapping[str, object], observation: object) -> Ruling:
    seen = _members(observation)
    if seen is None:
        return _unknown(observation)
    names = sorted({*wanted, *seen})
    wrong = [
        f"{name}: {_quoted(seen.get(name))}" for name in names if _quoted(seen.get(name)) != _quoted(wanted.get(name))
    ]
    if wrong:
        return broken(_shortened(wrong))
    return Ruling(held=True, observed="; ".join(f"{name}: {_quoted(value)}" for name, value in sorted(seen.items())))


def _quoted(value: object) -> str:
    """Write a value so that no two of different types look alike."""
    if isinstance(value, list):
        return "[" + ", ".join(map(_quoted, value)) + "]"
    return json.dumps(value) if isinstance(value, str | int | float | None) else repr(value)


def found_nothing(least: int = 1, beside: Iterable[str] = ()) -> Judge:
    """Hold if at least so many were looked at, and nothing was found beside what may be there."""
    return partial(_found_nothing, least, frozenset(beside))


def _found_nothing(least: int, beside: Collection[str], observation: object) -> Ruling:
    seen = _members(observation)
    if seen is None or seen.keys() != {"looked", "found"}:
        return _unknown(observation)
    looked, found = _number(seen["looked"]), seen["found"]
    if not isinstance(found, list) or looked is None:
        return _unknown(observation)
    if looked < least:
        return broken(f"looked at {looked}, which are too few")
    strange = _strangers(found, beside)
    if strange:
        return broken(f"found {_shortened(strange)}")
    return Ruling(held=True, observed=f"found {', '.join(map(str, found)) or 'nothing'}")


def _strangers(found: list[object], allowed: Collection[str]) -> list[str]:
    return [str(each) for each in found if not (isinstance(each, str) and each in allowed)]


def listed(allowed: Mapping[str, str], *, there: Collection[str] = ()) -> Judge:
    """Hold if folders hold nothing but these names; the folders that are `there` could be listed and hold some."""
    return partial(_listed, {path: frozenset(names.split()) for path, names in allowed.items()}, frozenset(there))


def _listed(allowed: Mapping[str, Collection[str]], there: Collection[str], observation: object) -> Ruling:
    seen = _members(observation)
    if seen is None:
        return _unknown(observation)
    wrong = [sentence for path, names in allowed.items() for sentence in _strange(path, names, there, seen)]
    wrong += [f"{path}: not known" for path in seen if path not in allowed]
    return broken(_shortened(wrong)) if wrong else Ruling(held=True, observed="nothing beside what was promised")


def _strange(path: str, names: Collection[str], there: Collection[str], seen: Mapping[str, object]) -> Iterator[str]:
    found = seen.get(path, NOT_OBSERVED)
    if found is None and path not in there:
        return
    if not isinstance(found, list) or (path in there and not found):
        yield f"{path}: could not be listed"
    elif strange := _strangers(found, names):
        yield f"{path}: {', '.join(strange[:_SHOWN])}"


def own_account(observation: object) -> Ruling:
    """Hold if a unit is one unprivileged account, in that account's group alone, and no neighbour's."""
    seen = _members(observation)
    if seen is None or seen.keys() != {"uids", "gids", "groups", "others"}:
        return _unknown(observation)
    own, others = (
        {number for name in ("uids", "gids", "groups") for number in _numbers(seen[name])},
        _numbers(seen["others"]),
    )
    if len(own) != 1 or own & set(others) or min(*own, *others) < _LOWEST_ACCOUNT:
        return broken(f"accounts and groups {sorted(own)}, neighbours {sorted(others)}")
    return Ruling(held=True, observed="an account of its own, and no group but its own")


def _numbers(value: object) -> list[int]:
    """Give a list of numbers; what is none makes it one that no account has."""
    if not isinstance(value, list) or not value or not all(type(each) is int for each in value):
        return [-1, -2]
    return value


def apart(*names: str) -> Judge:
    """Hold if each of these namespaces is another one than those of the host and of every neighbour."""
    return partial(_apart, names)


def _apart(names: tuple[str, ...], observation: object) -> Ruling:
    seen = _members(observation)
    if seen is None:
        return _unknown(observation)
    wrong = [f"{name}: {reason}" for name in names if (reason := _not_apart(name, seen.get(name)))]
    return broken("; ".join(wrong)) if wrong else Ruling(held=True, observed=f"own: {', '.join(names)}")


def _not_apart(name: str, links: object) -> str:
    if not isinstance(links, list) or len(links) < _SHOWN:
        return "not compared"
    if not all(isinstance(link, str) and link.startswith(f"{name}:[") for link in links):
        return "not compared with all"
    return "shared" if links[0] in links[1:] else ""


def bounded(least: int, *allowed: int) -> Judge:
    """Hold if no less than this, and no more than the limit, was to be had, and the kernel then said so."""
    return partial(_bounded, least, frozenset(allowed))


def _bounded(least: int, allowed: Collection[int], observation: object) -> Ruling:
    seen = _members(observation)
    if seen is None or seen.keys() != {"answer", "count", "limit"}:
        return _unknown(observation)
    answer, count, limit = (_number(seen[name]) for name in ("answer", "count", "limit"))
    if answer is None or count is None or limit is None:
        return _unknown(observation)
    said = f"{answer_named(answer)} after {count} of {limit}"
    return Ruling(held=answer in allowed and least <= count <= limit, observed=said)


def ended(
    cause: str, *, status: int | None = None, said: str | None = None, at_most: str = "", at_least: str = ""
) -> Judge:
    """Hold if a unit ended so, in time, with nobody left who holds its streams; the bounds are `member=number`."""
    wanted: dict[str, object] = {"cause": cause, "status": status, "succeeded": cause == "exit" and status == 0}
    if said is not None:
        wanted["said"] = said
    return partial(_ended, {**wanted, "shut": True}, at_most, at_least)


def _ended(wanted: Mapping[str, object], at_most: str, at_least: str, observation: object) -> Ruling:
    seen = _members(observation)
    if seen is None:
        return _unknown(observation)
    wrong = [
        f"{name}: {_quoted(seen.get(name))}"
        for name, value in wanted.items()
        if _quoted(seen.get(name)) != _quoted(value)
    ]
    limit = _number(seen.get("limit_ms"))
    wrong += _beyond("elapsed_ms", 0, -1 if limit is None else limit + _LATE_MS, seen)
    if at_most:
        name, _, most = at_most.partition("=")
        wrong += _beyond(name, 0, int(most), seen)
    if at_least:
        name, _, least = at_least.partition("=")
        wrong += _beyond(name, int(least), _MOST, seen)
    status = wanted["status"]
    told = f"{wanted['cause']}{'' if status is None else f' {status}'}, in time, nothing left"
    return broken("; ".join(wrong)) if wrong else Ruling(held=True, observed=told)


def _beyond(name: str, least: int, most: int, seen: Mapping[str, object]) -> list[str]:
    number = _number(seen.get(name))
    if number is not None and least <= number <= most:
        return []
    return [f"{name}: {_quoted(seen.get(name))}, expected {least} to {most}"]


def called(pattern: str) -> Judge:
    """Hold if there is a name, and every one is of this form."""
    return partial(_called, re.compile(pattern))


def _called(pattern: "re.Pattern[str]", observation: object) -> Ruling:
    seen = _members(observation)
    names = None if seen is None or seen.keys() != {"name"} else seen["name"]
    if not isinstance(names, list) or not names:
        return _unknown(observation)
    strange = [str(name) for name in names if not isinstance(name, str) or not pattern.fullmatch(name)]
    return broken(_shortened(strange)) if strange else Ruling(held=True, observed="a random name")
