"""Pickling of expressions and Funcs: flat, so that depth costs no recursion, and shared again when they are read.

In: a node of the grammar. Out: a row for each node below it, operands first, in which operands are numbers of rows.

    rows_of(x + 1)   ->   ((Variable, (int32, "x")), (IntImm, (int32, 1)), (Binary, (int32, ADD, Row(0), Row(1))))

Nodes are built again by their classes, which find those that the process has already: equality stays identity. What a
node names (a Func, an image, a parameter, a domain) is pickled as itself, once in a pickle.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from typing import Any, NamedTuple


class Row(NamedTuple):
    """The place of an operand among the rows."""

    at: int


Rows = tuple[tuple[type, tuple[Any, ...]], ...]


def rows_of(root: Any, grammar: type) -> Rows:
    """The nodes of ``grammar`` at and below ``root``, operands before what uses them."""
    at: dict[Any, Row] = {}
    rows: list[tuple[type, tuple[Any, ...]]] = []
    stack = [root]
    while stack:
        node = stack[-1]
        values = [getattr(node, each.name) for each in fields(node)]
        waiting = [part for v in values for part in (v if isinstance(v, tuple) else (v,)) if isinstance(part, grammar)]
        missing = [part for part in waiting if part not in at]
        if missing:
            stack.extend(reversed(missing))
            continue
        stack.pop()
        if node not in at:
            at[node] = Row(len(rows))
            rows.append((type(node), tuple(_replaced(v, grammar, at.__getitem__) for v in values)))
    return tuple(rows)


def from_rows(rows: Rows) -> Any:
    """The root that the rows are of."""
    built: list[Any] = []
    for kind, values in rows:
        built.append(kind(*(_replaced(v, Row, lambda row: built[row.at]) for v in values)))
    return built[-1]


def _replaced(value: Any, kind: type, by: Callable[[Any], Any]) -> Any:
    """A field with each object of a kind in it replaced."""
    if isinstance(value, kind):
        return by(value)
    if type(value) is tuple:
        return tuple(by(part) if isinstance(part, kind) else part for part in value)
    return value
