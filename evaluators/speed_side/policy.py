"""What code may hold that is timed in one process with its clock: a rule over its syntax tree. Pure; stands alone.

It keeps honest algorithms and nothing that reaches an interpreter's inside. What it misses is why this protocol is not
the default.
"""

import ast
import sys
from collections.abc import Iterator

DEFAULT = frozenset({"__future__", "math", "collections", "itertools", "functools", "bisect", "heapq"})
EXTRA = frozenset(
    {"random", "statistics", "json", "re", "array", "decimal", "fractions", "operator", "datetime", "calendar"}
)
"""Modules that a nomination may allow beside the default ones."""

_NAMES = frozenset(
    {
        *("__import__", "eval", "exec", "compile", "globals", "locals", "vars", "open", "input", "getattr", "setattr"),
        *("delattr", "hasattr", "breakpoint", "attrgetter", "methodcaller", "type", "dir", "memoryview", "super"),
    }
)
_PREFIXES = ("_", "f_", "gi_", "cr_", "ag_", "tb_", "co_")
"""Of attributes: private ones, and those of frames, generators, coroutines, tracebacks and code."""
_MODULES = frozenset(sys.stdlib_module_names) - DEFAULT - EXTRA - {"copy"}
"""Attributes of these names would be modules that a module has imported; `copy` is a method of lists."""
_ATTRIBUTES = _NAMES | _MODULES | {"format", "format_map", "mro"}
_DUNDERS = frozenset({"__init__", "__slots__"})


def violation(source: str, allowed: frozenset[str] = DEFAULT) -> str | None:
    """Say what a source holds that it may not; None where there is nothing."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        return f"it is no Python: {type(error).__name__}"
    return next((found for node in ast.walk(tree) for found in _wrong(node, allowed)), None)


def _wrong(node: ast.AST, allowed: frozenset[str]) -> Iterator[str]:
    if isinstance(node, ast.Import | ast.ImportFrom):
        yield from _imports(node, allowed)
    elif isinstance(node, ast.Attribute):
        yield from _attribute(node)
    elif isinstance(node, ast.MatchClass):
        yield from (f"a pattern reads {name}" for name in node.kwd_attrs if _is_closed(name))
    for name in _names(node):
        if _is_inside(name):
            yield f"it uses {name}"


def _names(node: ast.AST) -> list[str]:
    """Give the names that a node binds or reads."""
    match node:
        case ast.Name(id=name) | ast.arg(arg=name):
            return [name]
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            return [name]
        case ast.Global(names=names) | ast.Nonlocal(names=names):
            return names
        case ast.Import(names=aliases) | ast.ImportFrom(names=aliases):
            return [each.asname for each in aliases if each.asname is not None]
    return []


def _imports(node: ast.Import | ast.ImportFrom, allowed: frozenset[str]) -> Iterator[str]:
    if isinstance(node, ast.Import):
        yield from (f"it imports {each.name}" for each in node.names if each.name not in allowed)
    elif node.level or node.module not in allowed:
        yield f"it imports from {'.' * node.level}{node.module or ''}"
    elif node.module != "__future__":
        for each in node.names:
            if each.name == "*" or each.name in _ATTRIBUTES or each.name.startswith("_"):
                yield f"it imports {each.name} from {node.module}"


def _attribute(node: ast.Attribute) -> Iterator[str]:
    if _is_closed(node.attr):
        yield f"it reads the attribute {node.attr}"
    elif not isinstance(node.ctx, ast.Load):
        yield f"it sets the attribute {node.attr}"


def _is_closed(name: str) -> bool:
    return name.startswith(_PREFIXES) or name in _ATTRIBUTES


def _is_inside(name: str) -> bool:
    is_dunder = name.startswith("__") and name.endswith("__") and name not in _DUNDERS
    return is_dunder or name in _NAMES
