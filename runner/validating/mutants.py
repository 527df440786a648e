"""Mutants of a reference solution: small changes in the lines that it changed, which hidden checks should notice. Pure.

Operators as in mutation testing (DeMillo, Lipton, Sayward, "Hints on Test Data Selection", 1978): comparisons,
arithmetic, constants, boolean connectives and conditions, and statements left out. Those of JavaScript have a module of
their own.
"""

import ast
import copy
from collections.abc import Collection, Iterator
from dataclasses import dataclass

_COMPARE: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
}
_BINARY: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.FloorDiv,
    ast.FloorDiv: ast.Mult,
    ast.Div: ast.Mult,
    ast.Mod: ast.Mult,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Mutant:
    """One changed module; `line` is that of the solution's file."""

    path: str
    line: int
    what: str
    source: bytes

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.what}"


def mutants(path: str, source: bytes, lines: Collection[int], most: int) -> tuple[Mutant, ...]:
    """Give at most so many mutants of a module's changed lines, spread over all there are; none of broken code."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError):
        return ()
    plain = ast.unparse(tree)
    found = [each for each in _mutants(path, tree, frozenset(lines)) if each.source.decode() != plain]
    return thinned(found, most)


def _mutants(path: str, tree: ast.Module, lines: frozenset[int]) -> Iterator[Mutant]:
    told = {id(each.value) for each in ast.walk(tree) if isinstance(each, ast.Expr)}  # docstrings
    for place, node in enumerate(ast.walk(tree)):
        line = getattr(node, "lineno", None)
        if line not in lines or not isinstance(line, int) or id(node) in told:
            continue
        for operator in _OPERATORS:
            other = copy.deepcopy(tree)
            what = operator(next(each for at, each in enumerate(ast.walk(other)) if at == place))
            if what is not None:
                source = ast.unparse(ast.fix_missing_locations(other)).encode()
                yield Mutant(path=path, line=line, what=what, source=source)


def _compare(node: ast.AST) -> str | None:
    if not isinstance(node, ast.Compare) or type(node.ops[0]) not in _COMPARE:
        return None
    old, new = type(node.ops[0]), _COMPARE[type(node.ops[0])]
    node.ops[0] = new()
    return f"{old.__name__} becomes {new.__name__}"


def _binary(node: ast.AST) -> str | None:
    if not isinstance(node, ast.BinOp) or type(node.op) not in _BINARY:
        return None
    old, new = type(node.op), _BINARY[type(node.op)]
    node.op = new()
    return f"{old.__name__} becomes {new.__name__}"


def _connective(node: ast.AST) -> str | None:
    if not isinstance(node, ast.BoolOp):
        return None
    is_and = isinstance(node.op, ast.And)
    node.op = ast.Or() if is_and else ast.And()
    return "and becomes or" if is_and else "or becomes and"


def _constant(node: ast.AST) -> str | None:
    if not isinstance(node, ast.Constant):
        return None
    match node.value:
        case bool(value):
            node.value = not value
        case int(value):
            node.value = value + 1
        case str(value) if value:
            node.value = value + "x"
        case _:
            return None
    return f"the constant {value!r:.40} is another"


def _turned(node: ast.AST) -> str | None:
    if not isinstance(node, ast.If | ast.While | ast.IfExp):
        return None
    node.test = ast.UnaryOp(op=ast.Not(), operand=node.test)
    return "the condition is turned round"


def _nothing(node: ast.AST) -> str | None:
    if not isinstance(node, ast.Return) or node.value is None:
        return None
    node.value = ast.Constant(value=None)
    return "None is returned"


def _shortened(node: ast.AST) -> str | None:
    if not isinstance(node, ast.FunctionDef | ast.If | ast.For | ast.With) or len(node.body) == 1:
        return None
    node.body.pop()
    return "the last statement of its body is left out"


_OPERATORS = (_compare, _binary, _connective, _constant, _turned, _nothing, _shortened)


def thinned(found: list[Mutant], most: int) -> tuple[Mutant, ...]:
    """Spread what may be judged over all there are."""
    return tuple(found[at * len(found) // most] for at in range(most)) if len(found) > most else tuple(found)
