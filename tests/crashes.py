"""What a machine that fails may leave of what was done to a disk: every state, from the trace of real code.

A file's bytes last from its sync on, a name from the sync of its folder on. Until then a crash leaves of a file its
older bytes, none of the new ones, a part of them, as many zeros, or all; and of the names what the file system
promises: any of the changes in any combination (`weak`, all that POSIX says), or the first so many, where a sync
of anything makes all changes of names before it last too (`ordered`, as journalling file systems do it).
"""

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise, product
from pathlib import Path

Node = int
"""A file or folder; 0 is the folder that all lies in."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    folder: Node
    name: str
    node: Node
    is_folder: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Move:
    folder: Node
    old: str
    new: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Unlink:
    folder: Node
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Write:
    node: Node
    data: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Cut:
    node: Node
    size: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Sync:
    node: Node


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """Not done to the disk: somebody was told that it is done."""

    what: Hashable


Event = Link | Move | Unlink | Write | Cut | Sync | Told
Left = Mapping[str, bytes | None]
"""Relative path -> the bytes of a file; None: a folder."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Crash:
    """One state that a crash leaves, and what had been told before it."""

    after: int
    """How many events there were."""
    told: tuple[Hashable, ...]
    left: Left

    def rebuild(self, place: Path) -> Path:
        """Lay the state out as folders and files."""
        place.mkdir()
        for path, data in self.left.items():
            if data is None:
                (place / path).mkdir()
            else:
                (place / path).write_bytes(data)
        return place


Names = dict[str, Node]
_Change = tuple[int, Node, dict[str, Node | None]]
"""When, in which folder, and which names mean what after it."""


@dataclass(slots=True, kw_only=True)
class _Model:
    """What lasts of a disk at one moment, and what does not yet."""

    ordered: bool
    names: dict[Node, Names] = field(default_factory=lambda: {0: {}})
    """Of each folder: what programs see."""
    lasting: dict[Node, Names] = field(default_factory=lambda: {0: {}})
    changes: list[_Change] = field(default_factory=list)
    """Of names, not lasting yet."""
    versions: dict[Node, list[bytes]] = field(default_factory=dict)
    """Of each file: the bytes that last, and then those after each change since."""

    def take(self, number: int, event: Event) -> None:
        match event:
            case Link(folder=folder, name=name, node=node):
                self._change(number, folder, {name: node})
                if event.is_folder:
                    self.names[node], self.lasting[node] = {}, {}
                else:
                    self.versions[node] = [b""]
            case Move(folder=folder, old=old, new=new):
                self._change(number, folder, {old: None, new: self.names[folder][old]})
            case Unlink(folder=folder, name=name):
                self._change(number, folder, {name: None})
            case Write() | Cut():
                self.versions[event.node].append(_changed(self.versions[event.node][-1], event))
            case Sync(node=node):
                self._sync(node)
            case Told():
                pass

    def _change(self, number: int, folder: Node, change: dict[str, Node | None]) -> None:
        self.changes.append((number, folder, change))
        _apply(self.names[folder], change)

    def _sync(self, node: Node) -> None:
        if node in self.versions:
            self.versions[node] = self.versions[node][-1:]
        for number, folder, change in list(self.changes):
            if folder == node or self.ordered:
                _apply(self.lasting[folder], change)
                self.changes.remove((number, folder, change))

    def states(self) -> Iterator[Left]:
        """Give every state that a crash may leave now; some may be given twice."""
        if not self.ordered:
            yield from self._below(0, "", self.changes)
            return
        for count in range(len(self.changes) + 1):
            names = {folder: dict(lasting) for folder, lasting in self.lasting.items()}
            for _, folder, change in self.changes[:count]:
                _apply(names[folder], change)
            yield from _Model(ordered=False, lasting=names, versions=self.versions)._below(0, "", ())

    def _below(self, folder: Node, path: str, changes: Sequence[_Change]) -> Iterator[Left]:
        for names in _subsets(self.lasting[folder], [change for _, where, change in changes if where == folder]):
            parts = [list(self._entry(node, f"{path}{name}", changes)) for name, node in sorted(names.items())]
            for chosen in product(*parts):
                yield {path: data for part in chosen for path, data in part.items()}

    def _entry(self, node: Node, path: str, changes: Sequence[_Change]) -> Iterator[Left]:
        if node in self.versions:
            yield from ({path: data} for data in _contents(self.versions[node]))
        else:
            yield from ({path: None, **below} for below in self._below(node, f"{path}/", changes))


def _changed(content: bytes, event: Write | Cut) -> bytes:
    return content + event.data if isinstance(event, Write) else content[: event.size]


def _apply(names: Names, change: Mapping[str, Node | None]) -> None:
    for name, node in change.items():
        if node is None:
            names.pop(name, None)
        else:
            names[name] = node


def _subsets(lasting: Names, changes: list[dict[str, Node | None]]) -> Iterator[Names]:
    for chosen in product((False, True), repeat=len(changes)):
        names = dict(lasting)
        for is_chosen, change in zip(chosen, changes, strict=True):
            if is_chosen:
                _apply(names, change)
        yield names


def _contents(versions: list[bytes]) -> set[bytes]:
    """Give what a file may hold whose last sync was at the first of its versions."""
    found = set(versions)
    for before, after in pairwise(versions):
        if len(after) > len(before) and after.startswith(before):
            found |= set(_torn(before, after, versions[-1]))
    return found


def _torn(before: bytes, after: bytes, last: bytes) -> Iterator[bytes]:
    """Give what may be there of bytes that were added: a part, or zeros for all of them or a part."""
    size = len(after) - len(before)
    half = len(before) + (size + 1) // 2
    yield after[:half]
    yield before + bytes(size)
    yield before + bytes(half - len(before)) + after[half:]
    if last.startswith(after):
        yield before + bytes(half - len(before)) + last[half:]


def crashes(trace: Sequence[Event], *, ordered: bool = False, known: int = 0) -> Iterator[Crash]:
    """Give what a crash after each event may leave, each different state once; `known` events are passed over."""
    model = _Model(ordered=ordered)
    told: tuple[Hashable, ...] = ()
    seen: set[Hashable] = set()
    for number, event in enumerate([*trace, None]):
        if number >= known:
            for left in model.states():
                key = told, frozenset(left.items())
                if key not in seen:
                    seen.add(key)
                    yield Crash(after=number, told=told, left=left)
        if isinstance(event, Told):
            told = (*told, event.what)
        if event is not None:
            model.take(number, event)
