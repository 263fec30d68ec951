"""Edits of whole statements: dropping what records or refuses something, swapping what depends on each other.

In: a statement. Out: Edits of it and of its block.

    checks.append(c)   ->   pass
    a = f(x); b = a + 1   ->   b = a + 1; a = f(x)
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from itertools import pairwise

from tests.campaigns.mutate.mutant import Edit
from tests.campaigns.mutate.source import Source

_SIMPLE = (ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Expr)


def dropped_statement(node: ast.stmt, source: Source) -> Iterator[Edit]:
    """A call for its effect, a yield, or the raising of an error that is the user's."""
    match node:
        case ast.Raise(exc=ast.Call(func=ast.Name(id="InternalError" | "AssertionError"))):
            pass  # like ``assert``, a check of the compiler on itself
        case ast.Expr(value=ast.Call() | ast.Yield() | ast.YieldFrom()) | ast.Raise():
            yield source.replaced(node, "pass")


def dropped_elements(node: ast.List | ast.Tuple, source: Source) -> Iterator[Edit]:
    """A display that joins several sequences or adds to one, without one of its parts."""
    elements = node.elts
    if len(elements) < 2 or not isinstance(node.ctx, ast.Load) or not any(isinstance(e, ast.Starred) for e in elements):
        return
    for i in range(len(elements)):
        if len(elements) == 2 and isinstance(node, ast.Tuple):
            yield source.replaced(node, f"({source.of(elements[1 - i])},)")
        else:
            yield source.without(elements, i)


def swapped_statements(node: ast.stmt, source: Source) -> Iterator[Edit]:
    """Neighbours in the blocks of a compound statement."""
    for block in _blocks(node):
        for first, second in pairwise(block):
            if _depend(first, second):
                yield source.swapped(first, second)


def _blocks(node: ast.stmt) -> Iterator[Sequence[ast.stmt]]:
    match node:
        case ast.FunctionDef(body=body) | ast.With(body=body):
            yield body
        case ast.If(body=body, orelse=otherwise) | ast.For(body=body, orelse=otherwise):
            yield body
            yield otherwise
        case ast.While(body=body):
            yield body
        case ast.Match(cases=cases):
            for case in cases:
                yield case.body


def _depend(first: ast.stmt, second: ast.stmt) -> bool:
    """True where the order of two simple statements can matter: both have an effect on one thing, or one has an effect
    on what the other uses. That the second only uses a name that the first defines doesn't count: the mutant would
    fail at once."""
    if not isinstance(first, _SIMPLE) or not isinstance(second, _SIMPLE) or _is_text(first):
        return False
    if (_defined(first) - _used(first)) & {path.partition(".")[0] for path in _used(second)}:
        return False
    if _key(first) is not None and _key(second) is not None and _key(first) != _key(second):
        return False
    changed, also = _changed(first), _changed(second)
    return _meet(changed, also | _used(second)) or _meet(also, _used(first))


def _meet(some: set[str], others: set[str]) -> bool:
    """True where one of them is one of the others, or a part of it, or has it as a part."""
    return any(f"{a}.".startswith(f"{b}.") or f"{b}.".startswith(f"{a}.") for a in some for b in others)


def _is_text(stmt: ast.stmt) -> bool:
    return isinstance(stmt, ast.Expr) and isinstance(stmt.value, ast.Constant)


def _defined(stmt: ast.stmt) -> set[str]:
    """Names that a statement binds."""
    names = {n.id for n in ast.walk(stmt) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    return names - {n.id for c in ast.walk(stmt) if isinstance(c, ast.comprehension) for n in _names(c.target)}


def _names(node: ast.AST) -> list[ast.Name]:
    return [n for n in ast.walk(node) if isinstance(n, ast.Name)]


def _used(stmt: ast.stmt) -> set[str]:
    """The names that a statement reads, with their attributes as far as they are followed."""
    found: set[str] = set()
    _collect_used(stmt, found)
    if isinstance(stmt, ast.AugAssign):
        found |= {_root(stmt.target)}
    return found


def _collect_used(node: ast.AST, found: set[str]) -> None:
    path = _dotted(node)
    if path is not None and isinstance(node, ast.Name | ast.Attribute):
        if isinstance(node.ctx, ast.Load):
            found.add(path)
        return
    for child in ast.iter_child_nodes(node):
        _collect_used(child, found)


def _dotted(node: ast.AST) -> str | None:
    """``a.b.c`` as text."""
    match node:
        case ast.Name(id=name):
            return name
        case ast.Attribute(value=inner, attr=attr):
            path = _dotted(inner)
            return None if path is None else f"{path}.{attr}"
    return None


def _changed(stmt: ast.stmt) -> set[str]:
    """The names that a statement changes: those that it binds, and the object that a call is made on for its effect."""
    found = _defined(stmt)
    match stmt:
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=owner))):
            found |= {_root(owner)}
        case ast.Expr(value=ast.Yield()):
            found |= {"yield"}
        case ast.Assign(targets=[ast.Attribute() | ast.Subscript() as target]):
            found |= {_root(target)}
        case ast.AugAssign(target=target):
            found |= {_root(target)}
    return found


def _key(stmt: ast.stmt) -> object:
    """The constant key under which a statement stores something, if that is what it does."""
    match stmt:
        case ast.Assign(targets=[ast.Subscript(slice=ast.Constant(value=key))]):
            return key
    return None


def _root(node: ast.expr) -> str:
    """The name, with its attributes, that an expression starts from."""
    while True:
        path = _dotted(node)
        if path is not None:
            return path
        match node:
            case ast.Attribute(value=inner) | ast.Subscript(value=inner) | ast.Call(func=inner):
                node = inner
            case _:
                return "?"
