"""What the sources say of each field: the string that stands below it."""

import ast
import inspect
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType

from runner.documents.model import Shape


def field_docs(model: type[Shape]) -> dict[str, str]:
    """Give what is said of a model's fields, by their names in the code; its own words count before its base's."""
    found: dict[str, str] = {}
    for each in reversed(model.__mro__):
        if issubclass(each, Shape):
            found |= _module_docs(Path(inspect.getfile(each))).get(each.__qualname__, {})
    return found


def model_doc(model: type[Shape]) -> str:
    """Give what a model's docstring says, a line a paragraph."""
    paragraphs = inspect.cleandoc(model.__doc__ or "").split("\n\n")
    return "\n\n".join(plain(each) for each in paragraphs)


def plain(text: str) -> str:
    """Give a text in one line, in which Markdown sees no HTML and no column."""
    return re.sub(r"(`[^`]*`)|<", lambda found: found[1] or "&lt;", " ".join(text.split())).replace("|", "\\|")


@cache
def _module_docs(path: Path) -> Mapping[str, dict[str, str]]:
    """Read every class of a module."""
    tree = ast.parse(path.read_bytes())
    return MappingProxyType({node.name: _class_docs(node) for node in tree.body if isinstance(node, ast.ClassDef)})


def _class_docs(node: ast.ClassDef) -> dict[str, str]:
    docs: dict[str, str] = {}
    for field, said in zip(node.body, node.body[1:], strict=False):
        match field, said:
            case (
                ast.AnnAssign(target=ast.Name(id=name)),
                ast.Expr(value=ast.Constant(value=str(text))),
            ):
                docs[name] = plain(text)
    return docs
