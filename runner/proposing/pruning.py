"""Tests taken out of a module, by its text: those that do not pass on the solution can judge nobody. Pure."""

import ast
from collections.abc import Collection, Iterator


def without(source: str, tests: Collection[tuple[str, ...]]) -> str | None:
    """Give a module without some tests, each named by its classes and its own name; None if one is not found there."""
    tree = ast.parse(source)
    found = dict(_tests(tree.body, ()))
    if not set(tests) <= found.keys():
        return None
    lines = source.splitlines(keepends=True)
    for node in _emptied(tree.body, (), frozenset(tests)):
        first = min([node.lineno, *(each.lineno for each in getattr(node, "decorator_list", ()))])
        for number in range(first - 1, node.end_lineno or node.lineno):
            lines[number] = ""
    return "".join(lines)


def split_case(case: str) -> tuple[str, tuple[str, ...]]:
    """Part a case's id into its module, and the classes and name of its test."""
    head = case.partition("[")[0]
    module, *names = head.split("::")
    return module, tuple(names)


def _tests(body: list[ast.stmt], scope: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], ast.stmt]]:
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield (*scope, node.name), node
        elif isinstance(node, ast.ClassDef):
            yield from _tests(node.body, (*scope, node.name))


def _emptied(body: list[ast.stmt], scope: tuple[str, ...], tests: frozenset[tuple[str, ...]]) -> Iterator[ast.stmt]:
    """Give what is to go: the tests, and classes that have nothing else in them."""
    for node in body:
        if isinstance(node, ast.ClassDef):
            inner = (*scope, node.name)
            gone = tuple(_emptied(node.body, inner, tests))
            yield from (node,) if len(gone) == len(node.body) else gone
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and (*scope, node.name) in tests:
            yield node
