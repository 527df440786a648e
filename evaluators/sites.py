"""Where a test function compares with literals: the places a twin can differ from its test. Pure."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from evaluators.literals import variants

TestFunction = ast.FunctionDef | ast.AsyncFunctionDef

_UNITTEST_EQUALS = frozenset(
    {"assertEqual", "assertIs", "assertListEqual", "assertTupleEqual", "assertDictEqual", "assertSetEqual"}
    | {"assertSequenceEqual", "assertMultiLineEqual", "assertCountEqual"}
)


_OPPOSITES: dict[type[ast.cmpop], type[ast.cmpop]] = {
    one: other
    for pair in ((ast.Eq, ast.NotEq), (ast.Is, ast.IsNot), (ast.In, ast.NotIn), (ast.Lt, ast.GtE), (ast.Gt, ast.LtE))
    for one, other in (pair, pair[::-1])
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Slot:
    """One expression's place in its tree; the tree is changed through it."""

    parent: ast.AST
    field: str
    index: int | None = None

    def get(self) -> ast.expr:
        """Give the expression that stands there."""
        value = getattr(self.parent, self.field)
        expression: ast.expr = value if self.index is None else value[self.index]
        return expression

    def put(self, expression: ast.expr) -> None:
        """Put another expression there."""
        if self.index is None:
            setattr(self.parent, self.field, expression)
        else:
            getattr(self.parent, self.field)[self.index] = expression


Site = tuple[Slot, ...]
"""Slots that change together: one literal of an assert, or one column of a parametrised table."""


def is_test(node: ast.stmt) -> bool:
    """Whether pytest would collect this statement as a test function."""
    return (
        isinstance(node, TestFunction)
        and node.name.startswith("test")
        and not any(_decorates_as(decorator, {"fixture", "property"}) for decorator in node.decorator_list)
    )


def _decorates_as(decorator: ast.expr, names: set[str]) -> bool:
    called = decorator.func if isinstance(decorator, ast.Call) else decorator
    match called:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name in names
        case _:
            return False


def sites_of(function: TestFunction) -> tuple[Site, ...]:
    """List the places where a changed literal changes what the test demands, in the order of the source."""
    columns = _table_columns(function)
    found: list[Site] = []
    used: set[str] = set()
    for slot in _compared(function):
        expression = slot.get()
        if variants(expression):
            found.append((slot,))
        elif isinstance(expression, ast.Name) and expression.id in columns and expression.id not in used:
            used.add(expression.id)
            found.append(columns[expression.id])
    return tuple(found)


def count_variants(site: Site) -> int:
    """Count how many ways a site can be changed."""
    return max(len(variants(slot.get())) for slot in site)


def change(site: Site, variant: int) -> None:
    """Change every slot of a site that has this variant, in place."""
    for slot in site:
        forms = variants(slot.get())
        if variant < len(forms):
            slot.put(forms[variant])


def has_opposite(function: TestFunction) -> bool:
    """Whether there is an assert whose opposite can be demanded."""
    return any(isinstance(node, ast.Assert) for node in ast.walk(function))


def oppose(function: TestFunction) -> None:
    """Demand the opposite of the last assert, in place, in words that a person would have used."""
    last = [node for node in ast.walk(function) if isinstance(node, ast.Assert)][-1]
    match last.test:
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            last.test = operand
        case ast.Compare(ops=[operator]) as comparison if type(operator) in _OPPOSITES:
            comparison.ops = [_OPPOSITES[type(operator)]()]
        case other:
            last.test = ast.UnaryOp(op=ast.Not(), operand=other)


def _compared(function: TestFunction) -> Iterator[Slot]:
    for node in ast.walk(function):
        if isinstance(node, ast.Assert):
            yield from _in_condition(node.test)
        elif isinstance(node, ast.Call) and _is_unittest_equals(node):
            yield Slot(parent=node, field="args", index=1)
            yield Slot(parent=node, field="args", index=0)
        elif isinstance(node, ast.Call) and _expects_exception(node):
            yield Slot(parent=node, field="args", index=0)


def _expects_exception(call: ast.Call) -> bool:
    match call:
        case ast.Call(func=ast.Attribute(attr=name) | ast.Name(id=name), args=[ast.Name(), *_]):
            return name in {"raises", "assertRaises", "assertRaisesRegex"}
        case _:
            return False


def _is_unittest_equals(call: ast.Call) -> bool:
    match call:
        case ast.Call(func=ast.Attribute(value=ast.Name(id="self"), attr=name), args=[_, _, *_]):
            return name in _UNITTEST_EQUALS
        case _:
            return False


def _in_condition(condition: ast.expr) -> Iterator[Slot]:
    match condition:
        case ast.BoolOp(op=ast.And(), values=values):
            for value in values:
                yield from _in_condition(value)
        case ast.Compare(ops=[ast.Eq() | ast.Is()]):
            yield Slot(parent=condition, field="comparators", index=0)
            yield Slot(parent=condition, field="left")
        case ast.Compare(ops=[ast.In()]):
            yield Slot(parent=condition, field="left")
        case _:
            return


def _table_columns(function: TestFunction) -> dict[str, Site]:
    columns: dict[str, Site] = {}
    for decorator in function.decorator_list:
        match decorator:
            case ast.Call(func=ast.Attribute(attr="parametrize"), args=[names, ast.List() | ast.Tuple() as rows, *_]):
                columns |= _columns(_column_names(names), rows)
            case _:
                continue
    return columns


def _column_names(names: ast.expr) -> tuple[str, ...]:
    match names:
        case ast.Constant(value=str(text)):
            return tuple(part.strip() for part in text.split(",") if part.strip())
        case ast.List(elts=items) | ast.Tuple(elts=items):
            return tuple(item.value for item in items if isinstance(item, ast.Constant) and isinstance(item.value, str))
        case _:
            return ()


def _columns(names: tuple[str, ...], rows: ast.List | ast.Tuple) -> dict[str, Site]:
    cells: dict[str, list[Slot]] = {name: [] for name in names}
    for at, row in enumerate(rows.elts):
        for name, slot in zip(names, _row(row, Slot(parent=rows, field="elts", index=at), len(names)), strict=False):
            if variants(slot.get()):
                cells[name].append(slot)
    return {name: tuple(slots) for name, slots in cells.items() if slots}


def _row(row: ast.expr, whole: Slot, width: int) -> tuple[Slot, ...]:
    match row:
        case ast.Call(func=ast.Attribute(attr="param") | ast.Name(id="param"), args=arguments):
            return tuple(Slot(parent=row, field="args", index=at) for at in range(len(arguments)))
        case ast.Tuple(elts=items) | ast.List(elts=items) if width > 1:
            return tuple(Slot(parent=row, field="elts", index=at) for at in range(len(items)))
        case _:
            return (whole,)
