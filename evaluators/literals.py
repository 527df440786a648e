"""Literals of a syntax tree, and what each is changed to in a twin. Pure."""

import ast
import copy

Variants = tuple[ast.expr, ...]

_EXCEPTIONS = ("ValueError", "TypeError", "KeyError", "IndexError", "AttributeError", "RuntimeError")
"""Names of exceptions any of which a test may plausibly expect."""


def variants(node: ast.expr) -> Variants:
    """Give the changed forms of a literal, most ordinary first; empty where `node` cannot be changed.

    Forms come in both directions (one more, one less), so that nobody can tell which of a pair came first.
    """
    match node:
        case ast.List(elts=items) | ast.Tuple(elts=items) | ast.Set(elts=items):
            return _sequence(node, items)
        case ast.Dict(values=values):
            return _dictionary(node, values)
        case ast.Call(func=function, args=[first, *_]) if _name(function) == "approx":
            return tuple(_with_argument(node, changed) for changed in variants(first))
        case _:
            return _plain(node)


def _plain(node: ast.expr) -> Variants:
    match node:
        case ast.Constant(value=value):
            return _constant(value)
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as value)):
            return _constant(-value)
        case ast.Name(id=name) if name in _EXCEPTIONS:
            at = _EXCEPTIONS.index(name)
            others = (_EXCEPTIONS[at - 1], _EXCEPTIONS[(at + 1) % len(_EXCEPTIONS)])
            return tuple(ast.Name(id=other, ctx=ast.Load()) for other in others)
        case _:
            return ()


def _name(function: ast.expr) -> str:
    match function:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
        case _:
            return ""


def _constant(value: object) -> Variants:
    changed: tuple[bool | float | str | bytes, ...]
    match value:
        case bool():
            changed = (not value,)
        case int() | float():
            changed = (value + 1, value - 1)
        case str():
            changed = _text(value)
        case bytes():
            changed = tuple(text.encode("latin-1") for text in _text(value.decode("latin-1")))
        case _:
            changed = ()
    return tuple(ast.Constant(value=each) for each in changed if each != value)


def _text(value: str) -> tuple[str, ...]:
    if not value:
        return (" ", "0")
    last = value[-1]
    more = value + (last if last.isascii() and last.isalnum() else "s")
    return (more, value[:-1])


def _sequence(node: ast.expr, items: list[ast.expr]) -> Variants:
    changeable = [(at, forms) for at, item in enumerate(items) if (forms := variants(item))]
    if not changeable:
        return ()
    at, forms = changeable[-1]
    changed = [_with_items(node, [*items[:at], form, *items[at + 1 :]]) for form in forms[:2]]
    more = _with_items(node, [*items, forms[0]])
    fewer = [_with_items(node, items[:-1])] if len(items) > 1 else []
    return (*changed, more, *fewer)


def _dictionary(node: ast.expr, values: list[ast.expr]) -> Variants:
    for at, value in enumerate(values):
        if forms := variants(value):
            return tuple(_with_value(node, at, form) for form in forms[:2])
    return ()


def _with_items(node: ast.expr, items: list[ast.expr]) -> ast.expr:
    changed = copy.deepcopy(node)
    if isinstance(changed, ast.List | ast.Tuple | ast.Set):
        changed.elts = copy.deepcopy(items)
    return changed


def _with_value(node: ast.expr, at: int, value: ast.expr) -> ast.expr:
    changed = copy.deepcopy(node)
    if isinstance(changed, ast.Dict):
        changed.values[at] = value
    return changed


def _with_argument(node: ast.expr, value: ast.expr) -> ast.expr:
    changed = copy.deepcopy(node)
    if isinstance(changed, ast.Call):
        changed.args[0] = value
    return changed
