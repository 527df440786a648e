"""Twin canaries: tests that must fail, made so that submitted code cannot tell them apart. Pure.

A forger that turns failures into passes turns a test and its twin into passes alike, and that shows. For it
to work, nothing may give a twin away: tests and twins get random names of one kind, stand in random order,
and are printed from one syntax tree; the literal of a twin may be one more or one less.
"""

import ast
import copy
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from evaluators.errors import EvaluatorError
from evaluators.sites import TestFunction, change, count_variants, has_opposite, is_test, oppose, sites_of

VERSION = "1"
"""Of what this module makes from a given suite; part of an evaluator's digest."""

AUTHOR = -1
"""The `site` of a twin that the nomination's author wrote."""

OPPOSITE = -2
"""The `site` of a twin that demands the opposite: for tests without a literal, and weaker than those with one."""

_TWINS_A_TEST = 6
_LETTERS = ("bcdfghjklmnprstvwz", "aeiou")


Place = tuple[tuple[str, ...], str]
"""Classes around a test, outermost first, and its name."""


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Twin:
    """A way to make a must-fail twin of one test: `variant` of the literal at `site`."""

    file: str
    scope: tuple[str, ...]
    """Classes around the test, outermost first."""
    test: str
    site: int
    variant: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Sources:
    """Test modules by path, and the author's twins by the path of the module they mirror."""

    modules: Mapping[str, str]
    authored: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Disguise:
    """Generated modules, and what their random names stand for. It never leaves the driver."""

    modules: Mapping[str, str]
    tests: Mapping[str, str]
    """Random name -> the test's name in the sources."""
    twins: Mapping[str, Twin]
    """Random name -> the twin it is."""

    def original(self, case: str) -> tuple[str, Twin | None]:
        """Give a collected case's id in the words of the sources, and the twin it belongs to, if any."""
        head, bracket, parameters = case.partition("[")
        scope, colons, name = head.rpartition("::")
        twin = self.twins.get(name)
        known = twin.test if twin else self.tests.get(name, name)
        return f"{scope}{colons}{known}{bracket}{parameters}", twin

    def readable(self, text: str) -> str:
        """Put the tests' own names back into a text."""
        for name, test in self.tests.items():
            text = text.replace(name, test)
        return text


def find_twins(sources: Sources) -> tuple[Twin, ...]:
    """List the twins that could be made, at most a handful a test; which count is proven on the solution."""
    return tuple(twin for file in sorted(sources.modules) for twin in _twins_of_module(file, sources))


def twinned(twins: Sequence[Twin]) -> frozenset[tuple[str, tuple[str, ...], str]]:
    """Give the tests that have at least one of these twins, opposites aside: a careful forger knows those."""
    return frozenset((twin.file, twin.scope, twin.test) for twin in twins if twin.site != OPPOSITE)


def pick(twins: Sequence[Twin], dice: random.Random) -> tuple[Twin, ...]:
    """Pick one twin a test: with two, the middle one of three values would be the true one."""
    by_test: dict[tuple[str, tuple[str, ...], str], list[Twin]] = {}
    for twin in sorted(twins):
        by_test.setdefault((twin.file, twin.scope, twin.test), []).append(twin)
    return tuple(dice.choice(choices) for choices in by_test.values())


def disguise(sources: Sources, twins: Sequence[Twin], dice: random.Random) -> Disguise:
    """Generate the modules with these twins in them, every test and twin under a random name."""
    trees = {file: _parse(file, text) for file, text in sources.modules.items()}
    names = _Names(dice)
    tests = {test: names.fresh() for file in sorted(trees) for _, test in _named_tests(file, trees[file])}
    called = {twin: names.fresh() for twin in twins}
    workshop = _Workshop(sources=sources, tests=tests, twins=called, dice=dice)
    return Disguise(
        modules={file: workshop.module(file, tree) for file, tree in trees.items()},
        tests={name: test for test, name in tests.items()},
        twins={name: twin for twin, name in called.items()},
    )


def _parse(file: str, text: str) -> ast.Module:
    try:
        return ast.parse(text, filename=file)
    except (SyntaxError, ValueError) as error:
        raise EvaluatorError(f"{file}: is no Python source: {error}") from error


def _bodies(node: ast.stmt) -> tuple[list[ast.stmt], ...]:
    """Give the statement lists below a statement in which pytest finds tests."""
    match node:
        case ast.ClassDef(body=body) | ast.With(body=body):
            return (body,)
        case ast.If(body=body, orelse=other):
            return (body, other)
        case ast.Try(body=body, handlers=handlers, orelse=other, finalbody=final):
            return (body, *(handler.body for handler in handlers), other, final)
        case _:
            return ()


def _functions(body: list[ast.stmt], scope: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], TestFunction]]:
    for node in body:
        if isinstance(node, TestFunction) and is_test(node):
            yield scope, node
        inner = (*scope, node.name) if isinstance(node, ast.ClassDef) else scope
        for below in _bodies(node):
            yield from _functions(below, inner)


def _named_tests(file: str, tree: ast.Module) -> dict[Place, TestFunction]:
    found: dict[Place, TestFunction] = {}
    for scope, function in _functions(tree.body, ()):
        key = (scope, function.name)
        if key in found:
            raise EvaluatorError(f"{file}: {'::'.join((*scope, function.name))} is defined twice")
        found[key] = function
    return found


def _twins_of_module(file: str, sources: Sources) -> Iterator[Twin]:
    tests = _named_tests(file, _parse(file, sources.modules[file]))
    authored = _authored(file, sources)
    for scope, test in authored:
        if (scope, test) not in tests:
            raise EvaluatorError(f"twins/{file}: {'::'.join((*scope, test))} has no test of the same name")
    for (scope, test), function in tests.items():
        if (scope, test) in authored:
            yield Twin(file=file, scope=scope, test=test, site=AUTHOR, variant=0)
        for site, variant in _ways(function):
            yield Twin(file=file, scope=scope, test=test, site=site, variant=variant)


def _ways(function: TestFunction) -> list[tuple[int, int]]:
    ways = [(at, variant) for at, site in enumerate(sites_of(function)) for variant in range(count_variants(site))]
    # Both directions of each site before its rarer variants.
    ordered = sorted(ways, key=lambda way: (way[1] // 2, way[0], way[1]))[:_TWINS_A_TEST]
    return ordered or ([(OPPOSITE, 0)] if has_opposite(function) else [])


def _authored(file: str, sources: Sources) -> dict[Place, TestFunction]:
    text = sources.authored.get(file)
    return {} if text is None else _named_tests(f"twins/{file}", _parse(f"twins/{file}", text))


class _Names:
    """Random test names, no two alike."""

    def __init__(self, dice: random.Random) -> None:
        self._dice = dice
        self._given: set[str] = set()

    def fresh(self) -> str:
        """Give a name that was not given before."""
        name = f"test_{self._word()}_{self._word()}"
        while name in self._given:
            name = f"test_{self._word()}_{self._word()}"
        self._given.add(name)
        return name

    def _word(self) -> str:
        return "".join(self._dice.choice(_LETTERS[at % 2]) for at in range(6))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Workshop:
    """Rewrites modules: tests renamed, twins put among them."""

    sources: Sources
    tests: Mapping[str, str]
    twins: Mapping[Twin, str]
    dice: random.Random

    def module(self, file: str, tree: ast.Module) -> str:
        """Give the source of a rewritten module."""
        mine: dict[Place, list[Twin]] = {}
        for twin in sorted(self.twins):
            if twin.file == file:
                mine.setdefault((twin.scope, twin.test), []).append(twin)
        tree.body = self._body(tree.body, (), mine)
        try:
            return ast.unparse(ast.fix_missing_locations(tree)) + "\n"
        except (ValueError, RecursionError) as error:
            raise EvaluatorError(f"{file}: cannot be written anew: {error}") from error

    def _body(
        self,
        body: list[ast.stmt],
        scope: tuple[str, ...],
        twins: Mapping[Place, list[Twin]],
    ) -> list[ast.stmt]:
        # Twins are spread among neighbouring tests only: a statement between may define what they need.
        rewritten: list[ast.stmt] = []
        neighbours: list[TestFunction] = []
        for node in body:
            if isinstance(node, TestFunction) and is_test(node):
                neighbours.append(node)
                continue
            rewritten += self._mixed(neighbours, scope, twins)
            neighbours = []
            inner = (*scope, node.name) if isinstance(node, ast.ClassDef) else scope
            for below in _bodies(node):
                below[:] = self._body(below, inner, twins)
            rewritten.append(node)
        return rewritten + self._mixed(neighbours, scope, twins)

    def _mixed(
        self,
        tests: list[TestFunction],
        scope: tuple[str, ...],
        twins: Mapping[Place, list[Twin]],
    ) -> list[ast.stmt]:
        made = [self._made(test, twin) for test in tests for twin in twins.get((scope, test.name), [])]
        mixed: list[ast.stmt] = []
        for test in tests:
            test.name = self.tests[test.name]
            mixed.append(test)
        for twin in made:
            mixed.insert(self.dice.randrange(len(mixed) + 1), twin)
        return mixed

    def _made(self, test: TestFunction, twin: Twin) -> TestFunction:
        if twin.site == AUTHOR:
            made = _authored(twin.file, self.sources)[twin.scope, twin.test]
        else:
            made = copy.deepcopy(test)
            if twin.site == OPPOSITE:
                oppose(made)
            else:
                change(sites_of(made)[twin.site], twin.variant)
        made.name = self.twins[twin]
        return made
