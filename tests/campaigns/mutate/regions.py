"""Where a change would mean something: everywhere but in types, texts, and checks of the compiler on itself.

In: a parsed file. Out: its functions with the nodes of each that may change.

Left alone are: annotations and what stands under TYPE_CHECKING; docstrings and f-strings; what an error is told;
decorators; ``assert``, AssertionError and InternalError, which state what types can't; functions that make text; the
files of TEXT.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

TEXT = frozenset(
    {
        "bounds/explain/latex.py",
        "bounds/query/describe.py",
        "lowering/report/explain.py",
        "lowering/report/explanation.py",
    }
)
"""Files that only make text for people."""

_TEXT_TYPES = frozenset({"str", "list[str]", "Iterator[str]", "tuple[str, ...]"})
_TEXT_FUNCTIONS = frozenset({"_repr_html_", "_repr_latex_", "to_json"})
_REPORTS = frozenset({"refuse", "warn_user"})
"""Functions whose arguments are a message."""


@dataclass(slots=True)
class Region:
    """A function, a class's or the file's own level; and the nodes in it that may change, in the order of the text.

    A function's own node is in it, too: that is where its statements can trade places.
    """

    name: str
    nodes: list[ast.AST]


def places(tree: ast.Module) -> list[Region]:
    """The functions of a file, its classes, and its top level as ``<module>``."""
    found: dict[str, Region] = {}
    _collect(tree, (), found)
    return [place for place in found.values() if place.nodes]


def _collect(node: ast.AST, inside: tuple[str, ...], found: dict[str, Region]) -> None:
    name = ".".join(inside) or "<module>"
    place = found.setdefault(name, Region(name, []))
    if isinstance(node, ast.FunctionDef):
        place.nodes.append(node)
    for child in changeable(node):
        match child:
            case ast.FunctionDef() if not _makes_text(child):
                _collect(child, (*inside, child.name), found)
            case ast.FunctionDef():
                pass
            case ast.ClassDef():
                _collect(child, (*inside, child.name), found)
            case _:
                place.nodes.append(child)
                _collect(child, inside, found)


def changeable(node: ast.AST) -> Iterator[ast.AST]:
    """The children of a node that may change."""
    match node:
        case ast.FunctionDef(args=args, body=body):
            yield from (d for d in (*args.defaults, *args.kw_defaults) if d is not None)
            yield from body
        case ast.ClassDef(body=body):
            yield from (s for s in body if not (_is_enum(node) and isinstance(s, ast.Assign)))
        case ast.AnnAssign(value=value):
            if value is not None and not _is_text_or_alias(node):
                yield value
        case ast.Raise() | ast.Assert() | ast.JoinedStr() | ast.Import() | ast.ImportFrom():
            pass
        case ast.If(test=ast.Name(id="TYPE_CHECKING")):
            pass
        case ast.Expr(value=ast.Call(func=ast.Name(id=name))) if name in _REPORTS:
            pass
        case ast.Lambda(body=lambda_body):
            yield lambda_body
        case _:
            yield from ast.iter_child_nodes(node)


def _is_text_or_alias(node: ast.AnnAssign) -> bool:
    return isinstance(node.annotation, ast.Name) and node.annotation.id in ("Text", "TypeAlias")


def _is_enum(node: ast.ClassDef) -> bool:
    """The values of an enum's members only have to differ."""
    return any(isinstance(base, ast.Name) and base.id in ("Enum", "IntEnum", "Flag") for base in node.bases)


def _makes_text(function: ast.FunctionDef) -> bool:
    if function.name in _TEXT_FUNCTIONS:
        return True
    return function.returns is not None and ast.unparse(function.returns) in _TEXT_TYPES
