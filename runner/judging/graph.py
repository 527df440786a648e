"""Who can be compared with whom: the parts of a graph of wins. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

Edges = Mapping[str, Sequence[str]]
"""From a name to the names below it. Every name stands as a key, also without any below."""


def islands(edges: Edges) -> tuple[tuple[str, ...], ...]:
    """Give the weakly connected parts: what no comparison joins at all. Sorted by size, then by name."""
    near: dict[str, set[str]] = {name: set() for name in edges}
    for name, below in edges.items():
        for other in below:
            near[name].add(other)
            near[other].add(name)
    parts: list[tuple[str, ...]] = []
    seen: set[str] = set()
    for start in sorted(near):
        if start not in seen:
            part = _reached(start, near)
            seen |= part
            parts.append(tuple(sorted(part)))
    return tuple(sorted(parts, key=lambda part: (-len(part), part)))


def _reached(start: str, near: Mapping[str, Iterable[str]]) -> set[str]:
    seen, waiting = {start}, [start]
    while waiting:
        fresh = set(near[waiting.pop()]) - seen
        seen |= fresh
        waiting += fresh
    return seen


@dataclass(slots=True, kw_only=True)
class _Search:
    """Tarjan's search on its way: numbers by first visit, and the lowest number that each can come back to."""

    edges: Edges
    number: dict[str, int] = field(default_factory=dict)
    lowest: dict[str, int] = field(default_factory=dict)
    stack: list[str] = field(default_factory=list)
    open_: set[str] = field(default_factory=set)
    parts: list[tuple[str, ...]] = field(default_factory=list)

    def visit(self, start: str) -> None:
        """Go through all that can be reached, without recursion: a long chain of wins is no error."""
        path = [(start, iter(sorted(self.edges[start])))]
        self._open(start)
        while path:
            name, rest = path[-1]
            other = next(rest, None)
            if other is None:
                path.pop()
                self._close(name)
                if path:
                    above = path[-1][0]
                    self.lowest[above] = min(self.lowest[above], self.lowest[name])
            elif other not in self.number:
                self._open(other)
                path.append((other, iter(sorted(self.edges[other]))))
            elif other in self.open_:
                self.lowest[name] = min(self.lowest[name], self.number[other])

    def _open(self, name: str) -> None:
        self.number[name] = self.lowest[name] = len(self.number)
        self.stack.append(name)
        self.open_.add(name)

    def _close(self, name: str) -> None:
        if self.lowest[name] != self.number[name]:
            return
        at = self.stack.index(name)
        part = self.stack[at:]
        del self.stack[at:]
        self.open_ -= set(part)
        self.parts.append(tuple(sorted(part)))


def circles(edges: Edges) -> tuple[tuple[str, ...], ...]:
    """Give the strongly connected parts, those above first: within one, everybody has a way of wins to everybody.

    Source: R. Tarjan, Depth-first search and linear graph algorithms, SIAM J. Comput. 1 (1972). Its parts come out
    from the bottom up.
    """
    search = _Search(edges=edges)
    for name in sorted(edges):
        if name not in search.number:
            search.visit(name)
    return tuple(reversed(search.parts))
